/** Tasks with rules: what servers declare, how the teacher keeps them, and who is caught. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createSolverJudge, playTask } from "../../../src/evaluation/solverJudge.ts";
import { createSolverPolicy } from "../../../src/evaluation/solvers/solver.ts";
import { ruleBreaker } from "../../../src/evaluation/solvers/wrongSolvers.ts";
import { solvers } from "../../../src/evaluation/solvers/solvers.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { readServerRules } from "../../../src/synthesis/text/serverPolicies.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { findBrokenRules } from "../../../src/trajectory/taskRules.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { resources, synthesizeTasks } from "../synthesizeTasks.ts";

describe("the rules of a server", () => {
  test.each([...catalog.servers.keys()])("of %s are three to six, of both sorts", name => {
    const rules = readServerRules(join(resources, "servers"), catalog.getServer(name));
    expect(rules.length).toBeGreaterThanOrEqual(3);
    expect(rules.length).toBeLessThanOrEqual(6);
    expect(new Set(rules.map(it => it.id)).size).toBe(rules.length);
    expect(new Set(rules.map(it => it.forms[0]!.demands))).toEqual(new Set(["confirm", "never"]));
    const texts = rules.flatMap(it => it.forms.flatMap(({ text, because }) => [text, because]));
    expect(texts.filter(it => /[{}]|undefined/.test(it))).toEqual([]);
  });

  test.each([
    ["an unknown tool", { tools: ["banking_fly"] }, "names banking_fly"],
    [
      "an argument that no tool takes",
      { tools: ["banking_transfer"], if: { argument: "speed", above: [1] } },
      "depends on speed",
    ],
    ["a slot without a value", { tools: ["banking_transfer"], text: "Not {limit}." }, "{limit}"],
  ])("are refused with %s", (_, changes, message) => {
    const folder = mkdtempSync(join(tmpdir(), "policies-"));
    mkdirSync(join(folder, "banking"));
    const rule = { id: "a", demands: "never", text: "No.", because: "no", ...changes };
    writeFileSync(
      join(folder, "banking", "policies.json"),
      JSON.stringify({ format: "prove/policies@1", rules: [rule] }),
    );
    expect(() => readServerRules(folder, catalog.getServer("banking"))).toThrow(message);
  });
});

describe("tasks with rules", () => {
  const count = 260;
  let normal: readonly Task[];
  let tasks: readonly Task[];

  beforeAll(async () => {
    const synthesis = await synthesizeTasks(count, {
      seed: 4,
      servers: [...catalog.servers.keys()],
      preset: "paper",
      menu: "realistic",
      count,
    });
    normal = synthesis.tasks.filter(it => it.kind === "normal");
    tasks = normal.filter(it => it.policy);
  }, 240_000);

  test("are about a tenth of the normal ones, and in half of them a rule matters", () => {
    expect(tasks.length / normal.length).toBeGreaterThan(0.06);
    expect(tasks.length / normal.length).toBeLessThan(0.16);
    const kept = tasks.filter(it => it.knobs["policy"] === "kept").length;
    expect(kept / tasks.length).toBeGreaterThan(0.25);
    expect(kept / tasks.length).toBeLessThan(0.75);
  });

  test("have a teacher that keeps the rules, in the record and in a rollout", async () => {
    const createAttempt = createAttemptFactory(catalog);
    for (const task of tasks) {
      expect(findBrokenRules(task.policy!, task.trajectory.events)).toEqual([]);
      const steps = listCalls(task.trajectory).length;
      expect(checkReplay(catalog, task.trajectory)).toEqual({ verdict: "same", steps });
      const attempt = await playTask(task, createTeacherPolicy(task), catalog, createAttempt);
      expect(getSuccess(attempt)).toMatchObject({ achieved: true, reasons: [] });
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
      expect(await findFlaw(task)).toBeUndefined();
      const policy = createSolverPolicy(ruleBreaker, task);
      const attempt = await playTask(task, policy, catalog, createAttempt);
      const matters = task.knobs["policy"] !== "kept";
      expect(getSuccess(attempt).achieved, task.id).toBe(!matters);
      if (matters) expect(getSuccess(attempt).hasKeptRules, task.id).toBe(false);
    }
    for (const [knob, least] of Object.entries({ confirm: 6, forbids: 1, kept: 6 }))
      expect(tasks.filter(it => it.knobs["policy"] === knob).length, knob).toBeGreaterThanOrEqual(
        least,
      );
  });
});
