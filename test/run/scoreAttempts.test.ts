/** The rows of the table of attempts: of tasks files, steps of runs and trajectory files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openCatalog } from "../../src/environment/catalog.ts";
import { paperProfile, provePlusProfile, type Profile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { createScorer, scoreRecorded } from "../../src/reward/scorer.ts";
import { getSuccess } from "../../src/reward/success.ts";
import type { AttemptRow } from "../../src/run/attemptRow.ts";
import { groupFormat, writeGroups } from "../../src/run/group.ts";
import { type AttemptSource, scoreInBatches } from "../../src/run/scoreAttempts.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import {
  asFinished,
  noTask,
  type Trajectory,
  formatTrajectory,
} from "../../src/trajectory/trajectory.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "prove-rows-"));
afterAll(() => rmSync(folder, { recursive: true }));
const catalog = openCatalog(await loadServers(), [join(root, "resources/servers")]);
const tasks: Task[] = [];
for await (const it of readTasks(join(root, "resources/example/prove/tasks/example.tasks.jsonl")))
  tasks.push(it);
/** A task whose teacher makes several calls, all of which are accepted. */
const task = tasks.find(
  ({ goals, turns, trajectory: { events } }) =>
    goals.length > 1 &&
    turns.length === 1 &&
    events.every(it => it.kind !== "call" || it.outcome.kind === "ok"),
)!;
const tasksFile = join(folder, "few.tasks.jsonl");
writeFileSync(tasksFile, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));

/** The task's teacher without its calls. */
const idle: Trajectory = {
  ...task.trajectory,
  events: task.trajectory.events.filter(it => it.kind !== "call"),
};

const score = async (source: AttemptSource, profile: Profile = provePlusProfile) => {
  const rows: AttemptRow[] = [];
  const weights: Record<string, number> = {};
  const { skipped } = await scoreInBatches([source], {
    catalog,
    profile,
    send: it => {
      rows.push(...it.rows);
      Object.assign(weights, it.weights);
    },
    signal: new AbortController().signal,
  });
  return { rows, weights, skipped };
};

const getBreakdown = (trajectory: Trajectory, profile: Profile) => {
  const attempt = createAttemptFactory(catalog)(task, asFinished(trajectory)!);
  const breakdown = scoreAttempt(attempt, profile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  return breakdown;
};

const getReason = (trajectory: Trajectory) =>
  getSuccess(createAttemptFactory(catalog)(task, asFinished(trajectory)!)).reasons[0];

test("a tasks file has one row per task, in order, and its teachers succeed", async () => {
  const { rows, skipped } = await score({ kind: "tasks", file: tasksFile });
  expect(skipped).toBe(0);
  expect(rows.map(it => it.task)).toEqual(tasks.map(it => it.id));
  expect(rows.every(it => it.success)).toBe(true);
  expect(rows.find(it => it.task === task.id)).toMatchObject({
    servers: task.servers.map(it => it.name),
    kind: task.kind,
    policy: task.trajectory.header.policy,
    calls: task.trajectory.events.filter(it => it.kind === "call").length,
    budget: task.budget.calls,
    paper: getBreakdown(task.trajectory, paperProfile).total,
  });
});

test("a line that is nested too deeply is skipped, and the others have their rows", async () => {
  const [first, ...others] = tasks.map(formatTaskLine);
  const deep = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
  const file = join(folder, "deep.tasks.jsonl");
  const lines = [first!.replace('"arguments":{', `"arguments":{"deep":${deep},`), ...others];
  writeFileSync(file, lines.join("\n"));
  const { rows, skipped } = await score({ kind: "tasks", file });
  expect(skipped).toBe(1);
  expect(rows.map(it => it.task)).toEqual(tasks.slice(1).map(it => it.id));
});

test("a bug while an attempt is scored is the reason of its row", () => {
  const fail = () => {
    throw new TypeError("x is undefined");
  };
  expect(scoreRecorded(fail, { task, trajectory: task.trajectory }, paperProfile)).toMatchObject({
    unscorable: "PROVE has a bug, please report it (TypeError: x is undefined)",
  });
});

test.each([
  ["no servers", []],
  ["other servers", [{ name: "email", fixture: "small", digest: "" }]],
])("an attempt that was recorded on %s is not scored, and the row says why", (_, servers) => {
  const header = { ...task.trajectory.header, servers };
  const recorded = { task, trajectory: { ...task.trajectory, header } };
  const scored = scoreRecorded(createScorer(catalog), recorded, paperProfile);
  const name = task.servers
    .map(it => it.name)
    .toSorted()
    .join(", ");
  expect(scored).toEqual({
    unscorable: expect.stringMatching(
      `attempt .* was made on (no server|email), and its task on ${name}\\b`,
    ) as string,
  });
});

test("the total of a row is the sum of its parts times their weights", async () => {
  for (const profile of [paperProfile, provePlusProfile]) {
    const { rows, weights } = await score({ kind: "tasks", file: tasksFile }, profile);
    const withParts = rows.filter(it => Object.keys(it.scores).length > 0);
    expect(withParts.length).toBeGreaterThan(10);
    for (const { scores, total } of withParts)
      expect(
        Object.entries(scores).reduce((sum, [name, it]) => sum + it * weights[name]!, 0),
      ).toBeCloseTo(total!, 4);
  }
});

test("lines that hold no attempt are skipped and counted", async () => {
  const file = join(folder, "damaged.tasks.jsonl");
  writeFileSync(file, `not json\n{"format":"prove/task@9"}\n${formatTaskLine(task)}\n`);
  const { rows, skipped } = await score({ kind: "tasks", file });
  expect(rows.map(it => [it.line.number, it.task])).toEqual([[3, task.id]]);
  expect(skipped).toBe(2);
});

test("a task whose goals no longer run has a row that says so", async () => {
  const file = join(folder, "moved.tasks.jsonl");
  const servers = task.servers.map(it => ({ ...it, fixture: "gone" }));
  writeFileSync(file, `${formatTaskLine({ ...task, servers })}\n`);
  const { rows } = await score({ kind: "tasks", file });
  expect(rows).toMatchObject([{ unscorable: expect.stringContaining("gone") as string }]);
  expect(rows[0]).not.toHaveProperty("total");
});

test("the attempts of a trajectory file find their tasks, and failures say their first error", async () => {
  const file = join(folder, "two.trajectory.jsonl");
  // recorded as accepted
  const refused: Trajectory = {
    ...task.trajectory,
    events: task.trajectory.events.map(it =>
      it.kind === "call" ? { ...it, arguments: { nonsense: true } } : it,
    ),
  };
  const lost = { ...idle, header: { ...idle.header, task: "lost" } };
  const session = { ...idle, header: { ...idle.header, task: noTask } };
  writeFileSync(file, [idle, refused, lost, session].map(it => formatTrajectory(it)).join(""));
  const { rows } = await score({ kind: "trajectories", file, tasks: [tasksFile] });
  const { name } = task.trajectory.events.find(it => it.kind === "call")!;
  const whyIdle = getReason(idle);
  expect(whyIdle).toMatch(/\w+ \w+/);
  expect(rows).toMatchObject([
    { attempt: 0, success: false, calls: 0, kind: task.kind, reason: whyIdle },
    {
      attempt: 1,
      success: false,
      error: expect.stringContaining(`${name}: `) as string,
      note: expect.stringContaining("not what the servers return") as string,
    },
    { attempt: 2, task: "lost", unscorable: "its task lost was not found" },
    { attempt: 3, unscorable: "it was made in a session, without a task" },
  ]);
});

test("an attempt of a run has the reward that was stored, under another profile a new one", async () => {
  const run = join(folder, "run");
  const stored = { ...getBreakdown(idle, provePlusProfile), total: 0.123 };
  writeGroups(run, 3, [
    {
      format: groupFormat,
      step: 3,
      task: task.id,
      attempt: 1,
      advantage: -0.5,
      success: false,
      paper: 0,
      breakdown: stored,
      clipped: [],
      trajectory: idle,
    },
  ]);
  const source = { kind: "step", run, step: 3, tasks: tasksFile } as const;
  expect((await score(source)).rows).toMatchObject([
    {
      step: 3,
      attempt: 1,
      advantage: -0.5,
      total: 0.123,
      paper: 0,
      success: false,
      reason: getReason(idle),
      kind: task.kind,
    },
  ]);
  expect((await score(source, paperProfile)).rows).toMatchObject([
    { total: getBreakdown(idle, paperProfile).total, success: false },
  ]);
});
