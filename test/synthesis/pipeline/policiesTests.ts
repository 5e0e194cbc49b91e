/** Tasks with rules: how the teacher keeps them, and who is caught. */
import { beforeAll, describe, expect, test } from "vitest";
import { createSolverJudge } from "../../../src/evaluation/solverJudge.ts";
import { playTask } from "../../evaluation/playTask.ts";
import { createSolverPolicy } from "../../../src/evaluation/solvers/solver.ts";
import { ruleBreaker } from "../../../src/evaluation/solvers/wrongSolvers.ts";
import { solvers } from "../../../src/evaluation/solvers/solvers.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { findBrokenRules } from "../../../src/trajectory/taskRules.ts";
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

    test("are about three in ten of the normal ones, and in half of them a rule matters", () => {
      expect(tasks.length / normal.length).toBeGreaterThan(0.2);
      expect(tasks.length / normal.length).toBeLessThan(0.4);
      const kept = tasks.filter(it => it.knobs["policy"] === "kept").length;
      expect(kept / tasks.length).toBeGreaterThan(0.25);
      expect(kept / tasks.length).toBeLessThan(0.75);
    });

    test("have a few rules, or a page of all rules of the servers on the menu", () => {
      const pages = tasks.filter(it => it.policy!.rules.length > 3);
      expect(pages.length / tasks.length).toBeGreaterThan(0.3);
      expect(pages.length / tasks.length).toBeLessThan(0.7);
      for (const { policy, servers, knobs } of pages) {
        const own = policy!.rules.filter(it => it.tools[0]!.startsWith(`${servers[0]!.name}_`));
        expect(own.some(it => it.demands === "never")).toBe(true);
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
      const forbidden = tasks.filter(it => it.knobs["policy"] === "forbids");
      expect(forbidden.length).toBeGreaterThan(0);
      for (const { turns, menu, policy } of forbidden) {
        const calls = turns.flatMap(it => it.unmet ?? []).filter(it => it.rule !== undefined);
        expect(calls.length).toBeGreaterThan(0);
        for (const { name, rule } of calls) {
          expect(menu.map(it => it.name)).toContain(name);
          expect(policy!.rules.find(it => it.id === rule)).toMatchObject({ demands: "never" });
        }
      }
    });

    test("are passed by every right solver, and failed by one that ignores the rules wherever they matter", async () => {
      const findFlaw = createSolverJudge(
        catalog,
        solvers.filter(it => it.kind === "right" && !["asker", "verifier"].includes(it.name)),
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
      for (const [knob, least] of Object.entries({ confirm: 6, forbids: 1, kept: 6 }))
        expect(tasks.filter(it => it.knobs["policy"] === knob).length, knob).toBeGreaterThanOrEqual(
          least,
        );
    });
  });
}
