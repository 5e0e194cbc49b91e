/**
 * The trainer process on a run folder: its files, its events and requests over the socket, and runs
 * that are killed and resumed.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { UserError } from "../../src/userError.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import { parseFixtureName } from "../../src/environment/fixture.ts";
import { loadModel, readModelFolder } from "../../src/model/modelFolder.ts";
import { readWeights } from "../../src/model/weights.ts";
import type { TrainerEvent } from "../../src/protocol/trainer.ts";
import { attachTrainer, type Attachment } from "../../src/run/attach.ts";
import {
  defaultGrpoSettings,
  runFormat,
  defaultSftSettings,
  type RunConfig,
} from "../../src/run/config.ts";
import {
  getCheckpointFolder,
  listCheckpoints,
  createRun,
  extendRun,
  getDiscardedFile,
  findLatestCheckpoint,
  measureTraining,
  readEnd,
  readMetrics,
} from "../../src/run/folder.ts";
import { readGroups } from "../../src/run/group.ts";
import { readTrainerLock } from "../../src/run/locks.ts";
import { startTrainer } from "../../src/run/start.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { findProcessStart } from "../../src/storage/processes.ts";
import { synthesize } from "../../src/synthesis/pipeline/run/synthesize.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { runTrainer } from "../../src/train/trainer.ts";
import { programs } from "../compute/numbers.ts";
import { endTrainer } from "./endTrainer.ts";
import { writeTinyStudent } from "./tinyStudent.ts";

const servers = await loadServers();

const resources = join(import.meta.dirname, "../../resources");
const fixtures = [join(resources, "servers")];

let root: string;
let start: string;
let tasks: string;
/** Tasks of several turns. */
let longTasks: string;
/** More of them, so that steps pass before a task comes again. */
let manyTasks: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "prove-trainer-"));
  const catalog = openCatalog(servers, fixtures);
  const synthesizeLines = async (oneTurnShare: number, count = 8): Promise<string[]> => {
    const lines: string[] = [];
    for await (const it of synthesize({
      catalog,
      resources,
      seed: 4,
      servers: ["banking"],
      menu: "chain",
      preset: "student",
      split: "train",
      oneTurnShare,
    })) {
      if (it.kind === "accepted") lines.push(formatTaskLine(it.task));
      if (lines.length === count) break;
    }
    return lines;
  };
  const lines = await synthesizeLines(1);
  tasks = join(root, "t.tasks.jsonl");
  writeFileSync(tasks, `${lines.join("\n")}\n`);
  longTasks = join(root, "long.tasks.jsonl");
  const longLines = await synthesizeLines(0, 16);
  writeFileSync(longTasks, `${longLines.slice(0, 8).join("\n")}\n`);
  manyTasks = join(root, "many.tasks.jsonl");
  writeFileSync(manyTasks, `${longLines.join("\n")}\n`);
  start = join(root, "start");
  await writeTinyStudent(start, tasks);
});

const common = {
  format: runFormat,
  version: "0",
  began: "2026-03-02T09:00:00.000Z",
  split: "train",
  seed: 3,
  backend: "wasm",
  workers: 1,
  saveEvery: 2,
  profile: "prove-plus",
  keepGroups: 1,
} as const;
const grpo = (more: object = {}): RunConfig => ({
  ...common,
  tasks,
  method: "grpo",
  steps: 4,
  grpo: { ...defaultGrpoSettings, prompts: 2, group: 3, learningRate: 3e-3 },
  ...more,
});
const sft = (more: object = {}): RunConfig => ({
  ...common,
  tasks,
  method: "sft",
  steps: 4,
  sft: { ...defaultSftSettings, conversations: 4, slips: 1 },
  ...more,
});

afterEach(async () => {
  for (let run = 1; run <= runCount; run++) await endTrainer(join(root, "runs", String(run)));
});
// a trainer that has not locked its folder yet exits because the folder is gone
afterAll(() => rmSync(root, { recursive: true }));

let runCount = 0;
function createRunFolder(config: RunConfig, from = start): string {
  const folder = join(root, "runs", String(++runCount));
  createRun(folder, config, from);
  return folder;
}
/** Copies a run that has ended, so that what comes after its first steps can be changed. */
function copyRunFolder(folder: string): string {
  const copy = join(root, "runs", String(++runCount));
  cpSync(folder, copy, { recursive: true });
  return copy;
}
const startOn = (folder: string, from: readonly string[] = fixtures): Promise<Attachment> =>
  startTrainer({ folder, program: join(programs, "trainer.js"), fixtures: from });

/** Trains in this process. */
const train = (folder: string) =>
  runTrainer({
    folder,
    catalog: openCatalog(servers, fixtures),
    fixtures,
    program: join(programs, "trainer.js"),
  });

/** Waits for the end of the training and returns all events. */
async function readEvents(attachment: Attachment): Promise<TrainerEvent[]> {
  const events: TrainerEvent[] = [];
  for await (const event of attachment.events) events.push(event);
  return events;
}

const finishedRuns = new Map<() => RunConfig, Promise<FinishedRun>>();
interface FinishedRun {
  readonly folder: string;
  readonly events: readonly TrainerEvent[];
}

/** Trains to the end, once for all tests that only read the run. */
function finishRun(config: () => RunConfig): Promise<FinishedRun> {
  const start = async (): Promise<FinishedRun> => {
    const folder = createRunFolder(config());
    return { folder, events: await readEvents(await startOn(folder)) };
  };
  const found = finishedRuns.get(config) ?? start();
  finishedRuns.set(config, found);
  return found;
}

/** The weights, and all metrics except times. */
function readResults(folder: string) {
  const metrics = readMetrics(folder).lines.map(it => ({
    ...it,
    seconds: 0,
    rolloutsPerSecond: 0,
  }));
  const checkpoint = findLatestCheckpoint(folder).folder;
  const weights = readdirSync(checkpoint)
    .filter(it => it.endsWith(".safetensors"))
    .map(it => [it, readFileSync(join(checkpoint, it)).toString("base64")]);
  return { weights, metrics };
}

const listGoalTools = ({ goals }: Task) => goals.map(it => it.calls.map(({ name }) => name));

/** Finds the tasks of a file by their ids. */
async function readTaskFinder(file: string): Promise<(id: string) => Task | undefined> {
  const found = new Map<string, Task>();
  for await (const it of readTasks(file)) found.set(it.id, it);
  return id => found.get(id);
}

// a worker takes half a second of processor time to start
const grpoOfTwoWorkers = (): RunConfig => grpo({ workers: 2 });
const sftOfTwoWorkers = (): RunConfig => sft({ workers: 2 });

/** Settings whose steps depend on the steps before, and on all workers. */
const grpoWithAllSettings = (): RunConfig =>
  grpo({
    steps: 4,
    workers: 2,
    grpo: {
      ...defaultGrpoSettings,
      prompts: 2,
      group: 3,
      learningRate: 3e-3,
      temperature: 0.9,
      decay: "cosine",
      advantageScale: "batch-std",
      credit: "call",
      normalization: "attempts",
      resample: 3,
      failedGroups: 0.5,
      overlong: 64,
      curriculum: 0.5,
      constrained: true,
    },
  });

const grpoOfTurns = (): RunConfig =>
  grpo({
    tasks: longTasks,
    grpo: { ...defaultGrpoSettings, prompts: 2, group: 3, learningRate: 3e-3, turns: "one" },
  });

const grpoConstrained = (): RunConfig =>
  grpo({
    grpo: {
      ...defaultGrpoSettings,
      prompts: 2,
      group: 3,
      learningRate: 3e-3,
      temperature: 0.9,
      constrained: true,
    },
  });

const lora = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "down_proj"] };
const grpoOfAdapters = (): RunConfig => grpo({ lora });
const sftOfAdapters = (): RunConfig =>
  sft({ lora, sft: { ...defaultSftSettings, conversations: 4, learningRate: 0.03, warmUp: 1 } });

describe.each([
  ["grpo with all settings", grpoWithAllSettings],
  ["grpo of single turns", grpoOfTurns],
  ["grpo of adapters", grpoOfAdapters],
  ["sft", sftOfTwoWorkers],
] as const)("a run of %s", (_method, config) => {
  test("publishes and stores each step and ends with a checkpoint; resumed after a crash, it equals an uninterrupted run", async () => {
    const { folder: uninterrupted, events } = await finishRun(config);
    expect(events.filter(it => it.kind === "stepped").map(it => it.metrics)).toEqual(
      readMetrics(uninterrupted).lines,
    );
    expect(readMetrics(uninterrupted).lines.map(it => it.step)).toEqual([1, 2, 3, 4]);
    expect(events.filter(it => it.kind === "saved").map(it => it.step)).toEqual([2, 4]);
    expect(events.at(-1)).toEqual({ kind: "finished", step: 4, by: "steps" });
    expect(readTrainerLock(uninterrupted)).toBeUndefined();
    expect(readEnd(uninterrupted)).toEqual({ by: "steps", step: 4 });

    // as if the trainer had been killed between the metrics of step 4 and its checkpoint
    const interrupted = copyRunFolder(uninterrupted);
    rmSync(getCheckpointFolder(interrupted, 4), { recursive: true });
    await readEvents(await startOn(interrupted));
    expect(listCheckpoints(interrupted)).toEqual([0, 2, 4]);
    expect(readFileSync(getDiscardedFile(interrupted), "utf8").split("\n").length).toBe(3);
    expect(readResults(interrupted)).toEqual(readResults(uninterrupted));
  });
});

test("a run with a limit of seconds that is killed and resumed equals another one in the steps of both", async () => {
  const uninterrupted = createRunFolder(grpo({ steps: undefined, seconds: 600 }));
  const attachment = await startOn(uninterrupted);
  for await (const event of attachment.events) if (event.kind === "saved" && event.step >= 4) break;
  await attachment.request("stop");
  while (readTrainerLock(uninterrupted)) await sleep(20);
  const interrupted = createRunFolder(grpo({ steps: undefined, seconds: 600 }));
  const killed = await startOn(interrupted);
  for await (const { kind } of killed.events) if (kind === "saved") break;
  process.kill(killed.pid, "SIGKILL");
  while (readTrainerLock(interrupted)) await sleep(20);
  extendRun(interrupted, { seconds: measureTraining(interrupted).seconds + 1 });
  await readEvents(await startOn(interrupted));
  expect(readEnd(interrupted)).toMatchObject({ by: "time" });
  const runs = [uninterrupted, interrupted];
  const last = Math.min(...runs.map(it => readMetrics(it).lines.length));
  const [a, b] = runs.map(it => readResults(it).metrics.slice(0, last));
  expect(b).toEqual(a);
  const saved = last - (last % 2);
  const [x, y] = runs.map(it =>
    readFileSync(join(getCheckpointFolder(it, saved), "weights.safetensors")),
  );
  expect(y!.equals(x!)).toBe(true);
});

describe("a run that trains adapters", () => {
  const listFiles = (folder: string) => readdirSync(folder).toSorted();

  test("has checkpoints of adapters only; another run goes on with them", async () => {
    const folder = createRunFolder(sftOfAdapters());
    const events = await readEvents(await startOn(folder));
    expect(events.at(-1)).toEqual({ kind: "finished", step: 4, by: "steps" });
    expect(listFiles(getCheckpointFolder(folder, 0))).toEqual([
      "adapter_config.json",
      "config.json",
    ]);
    const last = getCheckpointFolder(folder, 4);
    expect(listFiles(last)).toEqual([
      "adapter_config.json",
      "adapter_model.safetensors",
      "config.json",
      "optimizer.safetensors",
      "state.json",
    ]);
    const stored = readModelFolder(last);
    expect(stored.adapters).toMatchObject({ base: join(folder, "base"), config: { rank: 4 } });
    expect(stored.config.training).toMatchObject([{ method: "sft", steps: 4, from: "tiny" }]);
    // B of an adapter is 0 before it is trained
    const { arrays } = await readWeights(join(last, "adapter_model.safetensors"));
    const added = [...arrays].filter(([name]) => name.includes("lora_B"));
    expect(added).toHaveLength(3);
    for (const [name, { values }] of added)
      expect(
        values.some(it => it !== 0),
        name,
      ).toBe(true);

    const { grpo: settings } = grpoConstrained() as Extract<RunConfig, { method: "grpo" }>;
    const still = { ...settings, prompts: 8, group: 6, learningRate: 1e-12 };
    const second = createRunFolder(grpo({ lora, steps: 2, grpo: still }), last);
    expect((await readEvents(await startOn(second))).at(-1)).toMatchObject({ by: "steps" });
    const trained = readModelFolder(findLatestCheckpoint(second).folder);
    expect(trained.adapters!.base).toBe(join(second, "base"));
    expect(trained.config.training.map(it => it.method)).toEqual(["sft", "grpo"]);
    // the reference model is the one that the run began with
    const { lines } = readMetrics(second);
    const measured = lines.flatMap(it => (it.method === "grpo" ? (it.kl ?? []) : []));
    expect(measured).not.toEqual([]);
    for (const kl of measured) expect(kl).toBeLessThan(1e-7);

    const file = join(second, "base", "weights.safetensors");
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
    await expect(loadModel(trained)).rejects.toThrow(/has changed since the adapters/);
    rmSync(join(second, "base"), { recursive: true });
    expect(() => readModelFolder(findLatestCheckpoint(second).folder)).toThrow(
      /belong to the model .*base, which is not there/,
    );
  });

  test("is refused if the model has no such layers", async () => {
    const folder = createRunFolder(sft({ lora: { rank: 4, alpha: 8, targets: ["lm_head"] } }));
    const events = await readEvents(await startOn(folder));
    expect(events.at(-1)).toMatchObject({ kind: "failed", what: /no linear layer lm_head/ });
  });
});

describe("a run of grpo", () => {
  test("keeps fixtures that are deleted while it trains; resumed, it goes on without their tasks", async () => {
    const folders = join(root, "servers");
    cpSync(fixtures[0]!, folders, { recursive: true });
    // a curriculum records outcomes; with one task a step, this one only replaces mastered tasks.
    // With this seed, the first three steps have tasks on the same fixture
    const settings = { ...defaultGrpoSettings, prompts: 1, group: 2, curriculum: 0.4 };
    const folder = createRunFolder(grpo({ steps: 8, grpo: settings, seed: 2 }));
    const all: Task[] = [];
    for await (const it of readTasks(tasks)) all.push(it);
    const getBase = (task: Task) => parseFixtureName(task.servers[0]!.fixture).base;
    let gone: string | undefined;
    for await (const it of (await startOn(folder, [folders])).events) {
      if (it.kind !== "stepped" || gone !== undefined) continue;
      // one that no task has needed yet
      const [line] = readGroups(folder, 1).lines;
      const used = getBase(all.find(task => task.id === line!.task)!);
      gone = all.map(getBase).find(base => base !== used)!;
      rmSync(join(folders, `banking/fixtures/${gone}.fixture.json`));
    }
    expect(readEnd(folder)).toEqual({ by: "steps", step: 8 });
    extendRun(folder, { steps: 14 });
    await readEvents(await startOn(folder, [folders]));
    expect(readEnd(folder)).toEqual({ by: "steps", step: 14 });
    const isGone = (task: Task) => getBase(task) === gone;
    expect(all.some(isGone)).toBe(true);
    for (const metrics of readMetrics(folder).lines) {
      if (metrics.method !== "grpo") throw new Error("not GRPO");
      const attempted = metrics.outcomes!.map(it => all[it.task]!);
      const { lines } = readGroups(folder, metrics.step);
      expect(new Set(attempted.map(it => it.id))).toEqual(new Set(lines.map(it => it.task)));
      if (metrics.step > 8) expect(attempted.filter(isGone)).toEqual([]);
    }
  });

  test("counts groups that were attempted in place of others, and records outcomes of tasks", async () => {
    const { folder } = await finishRun(grpoWithAllSettings);
    for (const metrics of readMetrics(folder).lines) {
      const { lines } = readGroups(folder, metrics.step);
      if (metrics.method !== "grpo") throw new Error("not GRPO");
      const { attempted, resampled } = metrics.groups!;
      expect(attempted).toBe(2 + resampled);
      expect(lines.length).toBe(3 * attempted);
      expect(metrics.outcomes!.map(it => it.attempts)).toEqual(
        Array.from({ length: attempted }, () => 3),
      );
      expect(metrics.outcomes!.reduce((sum, it) => sum + it.successes, 0)).toBe(
        lines.filter(it => it.success).length,
      );
    }
  });

  test("attempts one turn of each task, after those of the teacher, whose tokens are not trained", async () => {
    const { folder } = await finishRun(grpoOfTurns);
    const lines = [1, 2, 3, 4].flatMap(step => readGroups(folder, step).lines);
    const turns = lines.map(it => it.trajectory.header.turn!);
    expect(new Set(turns).size).toBeGreaterThan(1);
    for (const { task, trajectory, breakdown } of lines) {
      const { events } = trajectory;
      const start = events.findLastIndex(it => it.kind === "user" && !it.answers);
      const given = events.slice(0, start);
      expect(given.filter(it => it.kind === "user" && !it.answers).length, task).toBe(
        trajectory.header.turn,
      );
      expect(given.some(it => it.kind === "assistant" && it.tokens !== undefined)).toBe(false);
      const own = events.slice(start).filter(it => it.kind === "assistant");
      expect(own.every(it => it.logprobs !== undefined)).toBe(true);
      expect(breakdown.n).toBe(events.slice(start).filter(it => it.kind === "call").length);
    }
    // all attempts of a group are at the same turn
    for (let i = 0; i < lines.length; i += 3)
      expect(new Set(turns.slice(i, i + 3)).size, String(i)).toBe(1);
  });

  test("attempts variants of undecided tasks instead of the tasks, also when it is resumed", async () => {
    const config = grpo({
      steps: 8,
      // variants are attempted from step 6 on
      saveEvery: 7,
      workers: 2,
      tasks: manyTasks,
      grpo: {
        ...defaultGrpoSettings,
        prompts: 2,
        group: 4,
        learningRate: 1e-6,
        curriculum: 1,
        variants: true,
      },
    });
    const small = join(resources, "models", "small");
    const uninterrupted = createRunFolder(config, small);
    await readEvents(await startOn(uninterrupted));
    const readTask = await readTaskFinder(manyTasks);
    let variants = 0;
    for (const it of readMetrics(uninterrupted).lines) {
      if (it.method !== "grpo") throw new Error("not GRPO");
      const { lines } = readGroups(uninterrupted, it.step);
      const own = lines.filter(line => line.variant);
      expect(own.length).toBe(4 * it.groups!.variants!);
      variants += it.groups!.variants!;
      for (const { task, trajectory, variant } of own) {
        expect([task, trajectory.header.task]).toEqual([variant!.id, variant!.id]);
        const original = readTask(task.replace(/-v\d+-\d+$/, ""))!;
        expect(listGoalTools(variant!)).toEqual(listGoalTools(original));
        expect(variant!.turns[0]!.user).not.toBe(original.turns[0]!.user);
      }
    }
    expect(variants).toBeGreaterThan(0);

    const interrupted = copyRunFolder(uninterrupted);
    rmSync(getCheckpointFolder(interrupted, 8), { recursive: true });
    await readEvents(await startOn(interrupted));
    expect(readResults(interrupted)).toEqual(readResults(uninterrupted));
    expect(readGroups(interrupted, 8)).toEqual(readGroups(uninterrupted, 8));
  });

  test("stores every attempt of a step with its breakdown, advantage and tokens", async () => {
    const { folder } = await finishRun(grpoOfTwoWorkers);
    const { lines, skipped } = readGroups(folder, 1);
    expect(skipped).toEqual([]);
    expect(lines.map(it => it.attempt)).toEqual([0, 1, 2, 0, 1, 2]);
    const metrics = readMetrics(folder).lines[0]!;
    const mean = lines.reduce((sum, it) => sum + it.breakdown.total, 0) / lines.length;
    expect(metrics.method === "grpo" && metrics.reward.mean).toBeCloseTo(mean, 5);
    const sampled = lines[0]!.trajectory.events.filter(it => it.kind === "assistant");
    expect(sampled[0]!.tokens!.length).toBe(sampled[0]!.logprobs!.length);
  });

  test("writes what the model has seen and how it was trained to its configuration", async () => {
    const { folder } = await finishRun(grpoOfTwoWorkers);
    const { saw, training } = readModelFolder(findLatestCheckpoint(folder).folder).config;
    expect(Object.keys(saw.servers)).toContain("banking");
    expect(saw.chains.length).toBeGreaterThan(2);
    expect(training).toMatchObject([
      { method: "grpo", steps: 4, tasks: 8, profile: "prove-plus", from: "tiny" },
    ]);
  });
});

test("says how far the first step is, of all workers", async () => {
  const listActivities = ({ events }: FinishedRun) =>
    events.flatMap(it => (it.kind === "status" ? it.status.doing : []));
  expect(listActivities(await finishRun(grpoOfTurns))).toContain("step 1 of 4: 0 of 6 attempts");
  expect(listActivities(await finishRun(sftOfTwoWorkers))).toContainEqual(
    expect.stringMatching(/^step 1 of 4: \d of 4 conversations$/),
  );
});

describe("a trainer", () => {
  // a trainer that outlives this process, because that was killed, ends after a while
  const endless = { steps: 100_000, seconds: 600 };

  test("keeps training whatever its clients send, pauses, resumes and stops on request, and can be attached to again", async () => {
    const folder = createRunFolder(grpo(endless));
    const first = await startOn(folder);
    const { address, pid } = readTrainerLock(folder)!;
    const texts = ["hello\r\n\r\n", 'Content-Length: 99\r\n\r\n{"jsonrpc"', "Content-"];
    for (const text of texts) {
      const client = connect(address).on("error", () => {});
      client.end(text);
      await once(client.resume(), "close");
    }
    const halfway = connect(address).on("error", () => {});
    halfway.write('Content-Length: 99\r\n\r\n{"jsonrpc"');
    for await (const event of first.events) if (event.kind === "stepped") break;
    await first.request("pause");
    first.close();

    const again = (await attachTrainer(folder))!;
    let status = await again.request("status");
    while (status.state !== "paused") {
      await sleep(20);
      status = await again.request("status");
    }
    expect(status).toMatchObject({ run: folder, method: "grpo", steps: 100_000 });
    await again.request("resume");
    for await (const event of again.events)
      if (event.kind === "stepped" && event.metrics.step > status.step) break;
    await again.request("stop");
    while (readTrainerLock(folder)) await sleep(20);
    expect(readEnd(folder)).toMatchObject({ by: "stop" });
    expect(findLatestCheckpoint(folder).step).toBe(readMetrics(folder).lines.at(-1)!.step);
    // also with a client that is connected still
    while (findProcessStart(pid) !== undefined) await sleep(20);
  });

  test("stops while it reads tasks", async () => {
    const file = join(root, "many.tasks.jsonl");
    writeFileSync(file, readFileSync(tasks, "utf8").repeat(2000));
    const folder = createRunFolder(grpo({ tasks: file }));
    // another process could have read all of them before it gets the request
    const ended = train(folder);
    await expect.poll(() => readTrainerLock(folder), { interval: 1 }).toBeDefined();
    const attachment = (await attachTrainer(folder))!;
    const isReading = (it: TrainerEvent) =>
      it.kind === "status" && it.status.doing.startsWith("reading tasks: ");
    for await (const it of attachment.events) if (isReading(it)) break;
    await attachment.request("stop");
    const events = await readEvents(attachment);
    expect(events.at(-1)).toEqual({ kind: "finished", step: 0, by: "stop" });
    const doing = events.flatMap(it => (it.kind === "status" ? it.status.doing : []));
    expect(doing).not.toContain("reading tasks: 16000");
    expect(await ended).toEqual({ by: "stop", step: 0 });
    expect(readEnd(folder)).toEqual({ by: "stop", step: 0 });
  });

  test("keeps a second trainer out of its folder until it is killed", async () => {
    const folder = createRunFolder(grpo(endless));
    const attachment = await startOn(folder);
    await expect(startOn(folder)).rejects.toThrow("is being trained already");
    expect(readEnd(folder)).toBeUndefined();
    for await (const event of attachment.events) if (event.kind === "saved") break;
    process.kill(readTrainerLock(folder)!.pid, "SIGKILL");
    while (readTrainerLock(folder)) await sleep(20);
    expect(readEnd(folder)).toBeUndefined();
    const next = await startOn(folder);
    for await (const event of next.events) if (event.kind === "stepped") break;
    const { lines } = readMetrics(folder);
    expect(lines.map(it => it.step)).toEqual(lines.map((_, i) => i + 1));
    await next.request("stop");
    while (readTrainerLock(folder)) await sleep(20);
  });
});

describe("a run that cannot start fails with the reason", () => {
  /** The failure is the error of starting or the last event; either way it is in the folder. */
  const check = async (folder: string, reason: RegExp) => {
    const failing = startOn(folder).then(async it => {
      const last = (await readEvents(it)).at(-1)!;
      if (last.kind === "failed") throw new UserError(last.what, last.remedy);
    });
    await expect(failing).rejects.toThrow(reason);
    expect(readEnd(folder)).toMatchObject({
      by: "failed",
      what: expect.stringMatching(reason) as string,
    });
  };

  /** The same of a trainer in this process, which is started sooner. */
  const checkHere = async (folder: string, reason: RegExp) => {
    const end = await train(folder);
    const what = expect.stringMatching(reason) as string;
    expect(end).toMatchObject({ by: "failed", what });
    expect(readEnd(folder)).toEqual(end);
  };

  test("no tasks of its split", () =>
    check(
      createRunFolder(grpo({ split: "heldout-server" })),
      /holds no tasks of the split heldout-server/,
    ));
  test("no tasks file", () =>
    checkHere(createRunFolder(grpo({ tasks: join(root, "none") })), /none/));
  test("tasks that have changed since it began, and its steps are kept", async () => {
    const file = join(root, "changed.tasks.jsonl");
    writeFileSync(file, readFileSync(tasks));
    const folder = createRunFolder(sft({ tasks: file, steps: 2 }));
    await readEvents(await startOn(folder));
    // resumed, it would take its steps again
    rmSync(getCheckpointFolder(folder, 2), { recursive: true });
    const metrics = readFileSync(join(folder, "metrics.jsonl"), "utf8");
    writeFileSync(file, readFileSync(tasks, "utf8").split("\n").slice(1).join("\n"));
    await checkHere(folder, /changed\.tasks\.jsonl has changed since the run in .* began/);
    expect(readFileSync(join(folder, "metrics.jsonl"), "utf8")).toBe(metrics);
  });
  test("a checkpoint that is incomplete", () => {
    const folder = createRunFolder(grpo());
    writeFileSync(join(getCheckpointFolder(folder, 0), "weights.safetensors"), "torn");
    return check(folder, /weights\.safetensors/);
  });
  test("a folder of a newer version, which is left as it is", async () => {
    const folder = createRunFolder(sft());
    writeFileSync(join(folder, "run.json"), JSON.stringify({ ...sft(), format: "prove/run@9" }));
    writeFileSync(join(folder, "ended.json"), "of the newer version");
    const list = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
    const before = list();
    await expect(startOn(folder)).rejects.toThrow(/format prove\/run@9, which is newer than/);
    expect(list()).toEqual(before);
    expect(readFileSync(join(folder, "ended.json"), "utf8")).toBe("of the newer version");
  });
  test("a checkpoint of a newer version, whose steps are kept", async () => {
    const folder = createRunFolder(sft());
    const file = join(getCheckpointFolder(folder, 0), "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...config, format: "prove/model@9" }));
    const kept = {
      "metrics.jsonl": '{"step":1,"unknown":"figure"}\n',
      "groups/1.jsonl": "{}\n",
      "checkpoints/2.77.tmp": "half",
    };
    for (const [name, text] of Object.entries(kept)) writeFileSync(join(folder, name), text);
    await checkHere(folder, /checkpoints\/0\/config\.json has the format prove\/model@9, .*newer/);
    for (const [name, text] of Object.entries(kept))
      expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
  });
  test("tools that have changed since the model learned them", () => {
    const folder = createRunFolder(grpo());
    const file = join(getCheckpointFolder(folder, 0), "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as {
      saw: { servers: Record<string, string> };
    };
    config.saw.servers["banking"] = "other";
    writeFileSync(file, JSON.stringify(config));
    return checkHere(folder, /learned the tools of banking as they were/);
  });
  test("a chat format that has changed", () => {
    const folder = createRunFolder(grpo());
    const file = join(getCheckpointFolder(folder, 0), "config.json");
    writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), chat: "other" }),
    );
    return checkHere(folder, /learned to read conversations in another way/);
  });
  test("a limit on the size of files that a checkpoint exceeds", async () => {
    const folder = createRunFolder(grpo());
    const args = [process.execPath, join(programs, "trainer.js"), folder, ...fixtures];
    // in units of 512 bytes
    spawnSync("sh", ["-c", 'ulimit -f 180; exec "$0" "$@"', ...args]);
    expect(readEnd(folder)).toMatchObject({
      by: "failed",
      step: 2,
      what: expect.stringMatching(/the disk is full: .*checkpoints\/2 could not be/) as string,
      remedy: "free some space, then continue with --resume",
    });
    expect(readMetrics(folder).lines.length).toBe(2);
    const events = await readEvents(await startOn(folder));
    expect(events.at(-1)).toEqual({ kind: "finished", step: 4, by: "steps" });
  });
  test("no checkpoint at all", async () => {
    const folder = createRunFolder(grpo());
    for (const name of readdirSync(join(folder, "checkpoints")))
      rmSync(join(folder, "checkpoints", name), { recursive: true });
    await checkHere(folder, /has no checkpoint/);
  });
});
