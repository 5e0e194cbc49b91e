/**
 * The table of attempts, the transcript, `prove-rl score`, the service and the Test Explorer give
 * the same reward and success to the attempts of a file, also to those of other programs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportTasks } from "../../src/cli/export.ts";
import { importTasks } from "../../src/cli/import.ts";
import { score } from "../../src/cli/score.ts";
import { checkSuccess } from "../../src/editor/testExplorer/attemptChecks.ts";
import { computeReward } from "../../src/editor/attempts/attemptReward.ts";
import { idlePolicy } from "../../src/policy/scripted.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { defaultProfile } from "../../src/reward/profiles.ts";
import type { Breakdown } from "../../src/reward/breakdown.ts";
import { scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { scoreInBatches } from "../../src/run/scoreAttempts.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { scoresResponse } from "../../src/service/schemas.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { readTasks, readTrajectories } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import {
  type Trajectory,
  formatTrajectory,
  formatTrajectoryLine,
} from "../../src/trajectory/trajectory.ts";
import { emptyFolder } from "../cli/program.ts";
import { runCommand } from "../cli/terminal.ts";
import { sendRequest } from "../service/countingService.ts";
import { moveFifty, moveTwice } from "../trajectory/sampleTasks.ts";
import { playAttempts, scoreOverMcp } from "../engines/attempts.ts";
import { catalog, root } from "./transports.ts";

/** The reward and the success, or why there is none. */
type Score = { readonly reward: number; readonly success: boolean } | { readonly why: string };

const createScore = (
  reward: number | null | undefined,
  success: boolean | null | undefined,
  why: string | null | undefined,
): Score =>
  typeof reward === "number" && typeof success === "boolean"
    ? { reward: Number(reward.toFixed(6)), success }
    : { why: why ?? "" };

const cwd = emptyFolder();
const rollouts = join(import.meta.dirname, "../cli/rollouts");
const tasks = new Map<string, Task>();
const tasksFile = join(cwd, "my.tasks.jsonl");
const example = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
/** Those of the tasks that are not of the example. */
let own: Task[];
let serving: RunningHttpServer;

beforeAll(async () => {
  // the last is the sample that the log of Inspect is about, as a task of the same id
  const fifty = await moveFifty();
  for (const it of [fifty, await moveTwice(), { ...fifty, id: "3" }]) tasks.set(it.id, it);
  own = [...tasks.values()];
  for await (const it of readTasks(example)) tasks.set(it.id, it);
  writeFileSync(tasksFile, [...tasks.values()].map(it => `${formatTaskLine(it)}\n`).join(""));
  serving = await startHttpServer({ catalog, tasks: await openTaskStore([tasksFile]) });
});
afterAll(() => serving.close());

async function scoreInTable(file: string): Promise<Score[]> {
  const scores: Score[] = [];
  await scoreInBatches([{ kind: "trajectories", file, tasks: [tasksFile] }], {
    catalog,
    profile: defaultProfile,
    send: ({ rows }) =>
      scores.push(...rows.map(it => createScore(it.total, it.success, it.unscorable))),
    signal: new AbortController().signal,
  });
  return scores;
}

function scoreInTranscript(trajectory: Trajectory): Score {
  const shown = computeReward(catalog, tasks.get(trajectory.header.task), trajectory);
  return "unscorable" in shown
    ? { why: shown.unscorable }
    : createScore(shown.breakdowns[0].total, shown.success.achieved, undefined);
}

async function scoreInTerminal(file: string): Promise<Score[]> {
  const { out } = await runCommand(score, [file, "--tasks", tasksFile, "--json"], { cwd });
  return out
    .map(it => JSON.parse(it) as { total?: number; success?: boolean; unscorable?: string })
    .map(it =>
      createScore(
        it.total,
        it.success,
        // where the task is to be named is said by the terminal only
        it.unscorable?.replace(": name its file with --tasks", ""),
      ),
    );
}

async function scoreOverHttp(trajectories: readonly Trajectory[]): Promise<Score[]> {
  const body = { trajectories: trajectories.map(formatTrajectoryLine) };
  const { json } = await sendRequest(`${serving.url}/v1/scores`, "POST", { body });
  return scoresResponse
    .parse(json)
    .scores.map(it =>
      "error" in it ? { why: it.error.message } : createScore(it.reward, it.success, it.unscorable),
    );
}

function testInExplorer(trajectory: Trajectory): string | boolean {
  const task = tasks.get(trajectory.header.task);
  const result = checkSuccess(catalog, { trajectory, ...(task ? { task } : {}) });
  return result.kind === "errored" ? result.message : result.kind === "passed";
}

/** The scores of a file's attempts, after a check that they are the same everywhere. */
async function scoreEverywhere(file: string): Promise<Score[]> {
  const trajectories: Trajectory[] = [];
  for await (const it of readTrajectories(file)) trajectories.push(it);
  expect(trajectories.length).toBeGreaterThan(0);
  const inTable = await scoreInTable(file);
  expect(trajectories.map(scoreInTranscript), "transcript").toEqual(inTable);
  expect(await scoreInTerminal(file), "prove-rl score").toEqual(inTable);
  expect(trajectories.map(testInExplorer), "Test Explorer").toEqual(
    inTable.map(it => ("why" in it ? it.why : it.success)),
  );
  // the service refuses attempts without a task or an end in words of its own
  const whole = (scores: readonly Score[]) =>
    scores.map(it =>
      "why" in it && /not found|no task|no end|not ended/.test(it.why) ? null : it,
    );
  expect(whole(await scoreOverHttp(trajectories)), "service").toEqual(whole(inTable));
  return inTable;
}

async function importFile(format: string, from: string, ...args: string[]): Promise<string> {
  const out = `${format}-${args.length}.trajectory.jsonl`;
  await runCommand(importTasks, [format, from, "--out", out, ...args], { cwd });
  return join(cwd, out);
}

test("attempts of our own", async () => {
  const idle = (await rollout(tasks.get("t-move")!, idlePolicy, catalog)).trajectory;
  const cut = { ...idle, events: idle.events.slice(0, -1) };
  const faulty: Trajectory = {
    ...idle,
    events: [...cut.events, { kind: "ended", by: "fault", fault: "the endpoint is down" }],
  };
  const gone = { ...idle, header: { ...idle.header, task: "t-gone" } };
  const teachers = own.map(it => it.trajectory);
  const file = join(cwd, "own.trajectory.jsonl");
  writeFileSync(file, [...teachers, idle, cut, faulty, gone].map(formatTrajectory).join(""));
  const scores = await scoreEverywhere(file);
  expect(scores).toMatchObject([
    { success: true },
    { success: true },
    { success: true },
    { success: false },
    { why: "it has not ended" },
    { why: "the endpoint is down" },
    { why: "its task t-gone was not found" },
  ]);
});

test("scripted attempts with answers that are right, wrong or missing", async () => {
  const file = join(cwd, "scripted.trajectory.jsonl");
  const lines: string[] = [];
  const here: Score[] = [];
  const overMcp: Score[] = [];
  const spoken: Score[] = [];
  // one task has several turns and a call that the server refuses the teacher
  const played = playAttempts(example, ["banking-11-0", "shopping-11-1"]);
  for await (const { task, policy, messages, trajectory, finalState } of played) {
    lines.push(formatTrajectory(trajectory));
    const attempt = createAttemptFactory(catalog)(task, trajectory, finalState);
    const { total } = scoreAttempt(attempt, defaultProfile) as Breakdown;
    const score = createScore(total, getSuccess(attempt).achieved, undefined);
    here.push(score);
    // what is said, also beside calls, does not go over MCP: it is sent when the user is to hear it
    if (!policy.startsWith("scripted")) continue;
    const { reward, success } = await scoreOverMcp(serving.url, task, messages);
    overMcp.push(createScore(reward, success, undefined));
    spoken.push(score);
  }
  writeFileSync(file, lines.join(""));
  expect(await scoreEverywhere(file)).toEqual(here);
  expect(overMcp, "MCP").toEqual(spoken);
  const failures = here.filter(it => "success" in it && !it.success);
  expect(failures.length).toBeGreaterThan(20);
  expect(failures.length).toBeLessThan(here.length - 20);
});

const inputs: Readonly<Record<string, () => string | Promise<string>>> = {
  trl: () => join(rollouts, "completions_00003.parquet"),
  inspect: () => join(rollouts, "sums.eval"),
  verl: () => {
    const file = join(cwd, "1.jsonl");
    const input = "user\nMove 50 euros from acc_101 to my savings.\nassistant\n";
    const row = { input, output: "Moved.", gts: "", score: 1.4, step: 1, task_id: "t-move" };
    writeFileSync(file, `${JSON.stringify(row)}\n`);
    return file;
  },
  openai: async () => {
    mkdirSync(join(cwd, "exported"), { recursive: true });
    const out = join(cwd, "exported", "openai");
    await runCommand(exportTasks, ["--tasks", tasksFile, "--to", "openai", "--out", out]);
    return join(out, "train.jsonl");
  },
};

test.each(Object.keys(inputs))("attempts of another program that are only shown: %s", async it => {
  const scores = await scoreEverywhere(await importFile(it, await inputs[it]!()));
  for (const score of scores)
    expect(score).toEqual({ why: expect.stringMatching(`imported \\(${it}`) });
});

test.each(["trl", "verl"])("attempts of another program that are executed: %s", async it => {
  const file = await importFile(it, await inputs[it]!(), "--tasks", tasksFile);
  const scores = await scoreEverywhere(file);
  expect(scores[0]).toHaveProperty("reward");
});
