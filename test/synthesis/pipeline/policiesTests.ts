/** Tasks with rules: how the teacher keeps them, and who is caught. */
import { beforeAll, describe, expect, test } from "vitest";
import { createSolverJudge } from "../../../src/evaluation/solverJudge.ts";
import { playTask } from "../../evaluation/playTask.ts";
import { createSolverPolicy } from "../../../src/evaluation/solvers/solver.ts";
import { ruleBreaker } from "../../../src/evaluation/solvers/wrongSolvers.ts";
import { solvers } from "../../../src/evaluation/solvers/solvers.ts";
import type { PolicyEffect } from "../../../src/synthesis/pipeline/report/demands.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { appliesTo, findBrokenRules } from "../../../src/trajectory/taskRules.ts";
import { listCalls, type Event } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";

const isAnswer = (event: Event | undefined): boolean =>
  event?.kind === "user" && event.answers === true;

/** Tests the tasks with rules among realistic tasks. */
export function testPolicies(readTasks: () => readonly Task[]): void {
  describe("tasks with rules", () => {
    let normal: readonly Task[];
    let tasks: readonly Task[];

    beforeAll(() => {
      normal = readTasks().filter(it => it.kind === "normal");
      tasks = normal.filter(it => it.policy);
    });

    const count = (...effects: readonly PolicyEffect[]) =>
      tasks.filter(it => effects.some(effect => effect === it.knobs["policy"])).length;

    test("decide in a fifth to a quarter of the normal ones, and half of these the outcome", () => {
      expect(tasks.length / normal.length).toBeLessThan(0.5);
      const outcomes = count("forbids", "unproven", "alternative", "proven");
      const deciding = outcomes + count("confirm");
      // of about 300 tasks
      expect(deciding / normal.length).toBeGreaterThan(0.17);
      expect(deciding / normal.length).toBeLessThan(0.28);
      expect(outcomes / deciding).toBeGreaterThan(0.4);
      expect(outcomes / deciding).toBeLessThan(0.75);
      expect(count("kept") / tasks.length).toBeGreaterThan(0.25);
    });

    test("have a few rules, or a page of all rules of the servers on the menu", () => {
      const pages = tasks.filter(it => it.policy!.page !== undefined);
      expect(pages.length / tasks.length).toBeGreaterThan(0.3);
      expect(pages.length / tasks.length).toBeLessThan(0.7);
      for (const { policy, servers, knobs } of pages) {
        const own = policy!.rules.filter(it => it.tools[0]!.startsWith(`${servers[0]!.name}_`));
        expect(own.some(it => it.demands !== "confirm")).toBe(true);
        for (const it of policy!.rules) expect(policy!.page).toContain(`\n- ${it.text}`);
        expect(policy!.page!.split(/\s+/).length).toBeGreaterThan(300);
        if (own.some(it => it.id === "all-confirmed") && knobs["policy"] === "kept")
          expect(own.filter(it => it.demands === "confirm")).toHaveLength(1);
      }
    });

    test("have a teacher that keeps the rules, in the record and in a rollout", async () => {
      const createAttempt = createAttemptFactory(catalog);
      for (const task of tasks) {
        expect(findBrokenRules(task, task.trajectory.events, catalog.tools)).toEqual([]);
        const steps = listCalls(task.trajectory).length;
        expect(checkReplay(catalog, task.trajectory)).toEqual({ verdict: "same", steps });
        const attempt = await playTask(task, createTeacherPolicy(task), catalog, createAttempt);
        expect(getSuccess(attempt)).toMatchObject({ achieved: true, reasons: [] });
      }
    });

    test.each([
      "May I?",
      "Would you like me to do nothing at all and keep everything as it is?",
      "Shall I not do that?",
      'Shall I go ahead with the "Quixotic Zebra Gala"?',
    ])("are failed by an agreement to another question: %s", question => {
      const asked = tasks.filter(it => it.knobs["policy"] === "confirm");
      expect(asked.length).toBeGreaterThan(0);
      for (const task of asked) {
        const { events } = task.trajectory;
        const changed = events.map((it, i) =>
          it.kind === "assistant" && isAnswer(events[i + 1]) ? { ...it, text: question } : it,
        );
        expect(findBrokenRules(task, changed, catalog.tools), task.id).not.toEqual([]);
      }
    });

    test("record what a rule forbids, with its tool on the menu", () => {
      const refusing: readonly unknown[] = ["forbids", "unproven"];
      const forbidden = tasks.filter(it => refusing.includes(it.knobs["policy"]));
      expect(forbidden.length).toBeGreaterThan(0);
      for (const { turns, menu, policy } of forbidden) {
        const calls = turns.flatMap(it => it.unmet ?? []).filter(it => it.rule !== undefined);
        expect(calls.length).toBeGreaterThan(0);
        for (const { name, rule } of calls) {
          expect(menu.map(it => it.name)).toContain(name);
          expect(["never", "proof"]).toContain(policy!.rules.find(it => it.id === rule)!.demands);
        }
      }
    });

    test("have a user who says a proof when asked, or something that is not accepted", async () => {
      const createAttempt = createAttemptFactory(catalog);
      const asked = tasks.filter(it => it.turns.some(turn => turn.proofs));
      for (const task of asked) {
        const { events } = task.trajectory;
        for (const proof of task.turns.flatMap(it => it.proofs ?? [])) {
          const at = events.findIndex(it => it.kind === "user" && it.text === proof.say);
          expect(isAnswer(events[at]), task.id).toBe(true);
          const question = events[at - 1];
          expect(question?.kind === "assistant" && question.text, task.id).toMatch(/\?$/);
          const { tools } = task.policy!.rules.find(it => it.id === proof.rule)!;
          const after = events.slice(at + 1);
          const end = after.findIndex(it => it.kind === "user" && !it.answers);
          const calls = after.slice(0, end < 0 ? undefined : end).filter(it => it.kind === "call");
          expect(
            calls.some(it => tools.includes(it.name)),
            task.id,
          ).toBe(proof.isAccepted === true);
        }
        const attempt = await playTask(task, createTeacherPolicy(task), catalog, createAttempt);
        expect(getSuccess(attempt).achieved, task.id).toBe(true);
      }
    });

    test("have users who insist in vain, and users who say at once what they want instead", () => {
      const insisting = tasks.filter(it => it.knobs["insists"] === true);
      for (const { turns } of insisting)
        expect(
          turns.some(
            ({ unmet, goals }, i) =>
              goals.length === 0 && unmet?.[0]!.rule === turns[i - 1]?.unmet?.at(-1)!.rule,
          ),
        ).toBe(true);
      const alternatives = tasks.filter(it => it.knobs["policy"] === "alternative");
      for (const { turns, policy } of alternatives)
        expect(
          turns.some(it =>
            it.conditional?.some(call =>
              policy!.rules.some(rule => rule.demands === "never" && appliesTo(rule, call)),
            ),
          ),
        ).toBe(true);
      expect(insisting.length).toBeGreaterThan(0);
    });

    test("are passed by every right solver, and failed by one that ignores the rules wherever they matter", async () => {
      // other calls and another order can change a temperature, or the minute of a call
      const others = ["asker", "verifier", "reorderer", "merger"];
      const findFlaw = createSolverJudge(
        catalog,
        solvers.filter(it => it.kind === "right" && !others.includes(it.name)),
      );
      const createAttempt = createAttemptFactory(catalog);
      for (const task of tasks) {
        expect(await findFlaw(task), task.id).toBeUndefined();
        const policy = createSolverPolicy(ruleBreaker, task);
        const attempt = await playTask(task, policy, catalog, createAttempt);
        const matters = task.knobs["policy"] !== "kept";
        // where no rule matters, it still leaves out refused calls, of which the reply may tell
        expect(getSuccess(attempt, { ignoresAnswers: true }).achieved, task.id).toBe(!matters);
        if (matters) expect(getSuccess(attempt).hasKeptRules, task.id).toBe(false);
      }
      for (const [knob, least] of Object.entries({
        confirm: 6,
        forbids: 1,
        proven: 3,
        unproven: 1,
        kept: 6,
      }))
        expect(tasks.filter(it => it.knobs["policy"] === knob).length, knob).toBeGreaterThanOrEqual(
          least,
        );
    });
  });
}
