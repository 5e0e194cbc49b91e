/** Calls that answer as well as the teacher's: a default may stand for an argument. */
import { expect, test } from "vitest";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import type { JsonObject } from "../../../src/environment/json.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../../src/policy/scripted.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { addAlternatives } from "../../../src/synthesis/pipeline/task/alternatives.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { createTeacherHeader, type Task } from "../../../src/trajectory/task.ts";
import type { Event } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";

const folder = { path: "~/notes" };

function createLsTask(): Task {
  const server = { name: "filesystem", fixture: "small" };
  const session = openSessionByName(catalog, { servers: [server], seed: 1 });
  const [cd, ls] = ["filesystem_cd", "filesystem_ls"];
  const call = (name: string, message: number): Event => {
    const { outcome, digest } = session.call(name, folder);
    return { kind: "call", message, name, arguments: folder, digest, outcome };
  };
  const events: Event[] = [
    { kind: "user", text: "Go to my notes and tell me what is in there." },
    { kind: "assistant", message: 0, text: "" },
    call(cd, 0),
    { kind: "assistant", message: 1, text: "" },
    call(ls, 1),
    { kind: "assistant", message: 2, text: "There are notes." },
    { kind: "ended", by: "policy" },
  ];
  const { outcome } = events[4] as Extract<Event, { kind: "call" }>;
  const { files } = (outcome as unknown as { value: { files: string[] } }).value;
  const fields = {
    format: "prove/task@4" as const,
    id: "ls",
    servers: [{ ...server, digest: "" }],
    catalog: "",
    seed: 1,
    split: "train" as const,
    kind: "normal" as const,
    persona: "",
    now: "2026-03-09T09:00",
    menu: [{ name: cd }, { name: ls }],
    hidden: [],
    turns: [{ user: "Go to my notes and tell me what is in there.", goals: [0, 1], reply: "" }],
    goals: [
      { calls: [{ name: cd, arguments: folder as JsonObject }], after: [], turn: 0 },
      {
        calls: [
          {
            name: ls,
            arguments: folder as JsonObject,
            for: "answers" as const,
            facts: files.map(entity => ({ entity, of: [folder.path] })),
          },
        ],
        after: [],
        turn: 0,
      },
    ],
    knobs: {},
    info: "complete" as const,
    chain: [],
    budget: { calls: 3, assistantMessages: 6 },
    provenance: { teacher: "graph", graph: "", log: [] },
  };
  return { ...fields, trajectory: { header: createTeacherHeader(fields), events } };
}

async function attempt(task: Task, ...calls: readonly [string, JsonObject][]) {
  const policy = createScriptedPolicy("test", [
    ...calls.map(([name, args]) => ({ text: "", calls: [{ name, arguments: args }] })),
    { text: "There are notes.", calls: [] },
  ]);
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  return getSuccess(createAttemptFactory(catalog)(task, trajectory, finalState)).achieved;
}

test("listing the current folder is as good as listing it by its path", async () => {
  const task = addAlternatives(createLsTask(), catalog);
  expect(task.goals[1]!.calls[0]!.alternatives).toContainEqual({
    name: "filesystem_ls",
    arguments: {},
  });
  expect(await attempt(task, ["filesystem_cd", folder], ["filesystem_ls", folder])).toBe(true);
  expect(await attempt(task, ["filesystem_cd", folder], ["filesystem_ls", {}])).toBe(true);
  // another folder is listed before
  expect(await attempt(task, ["filesystem_ls", {}], ["filesystem_cd", folder])).toBe(false);
});
