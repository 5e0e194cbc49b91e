/**
 * The trainer as those outside it meet it: a process on a run folder, talked to over its socket,
 * killed and resumed.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { UserError } from "../../src/userError.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import { studentLimits } from "../../src/model/chatFormat.ts";
import {
  createConfig,
  readModelFolder,
  copyWeights,
  writeModelFolder,
} from "../../src/model/modelFolder.ts";
import { trainTokenizer } from "../../src/model/tokenizer.ts";
import { initializeModel } from "../../src/model/transformer.ts";
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
  getDiscardedFile,
  findLatestCheckpoint,
  readEnd,
  readMetrics,
} from "../../src/run/folder.ts";
import { readGroups } from "../../src/run/group.ts";
import { readTrainerLock } from "../../src/run/trainerLock.ts";
import { startTrainer } from "../../src/run/start.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { findProcessStart } from "../../src/storage/processStart.ts";
import { synthesize } from "../../src/synthesis/pipeline/synthesize.ts";
import { formatTaskLine } from "../../src/trajectory/taskLine.ts";
import { programs } from "../compute/numbers.ts";

const servers = await loadServers();

const resources = join(import.meta.dirname, "../../resources");
const fixtures = [join(resources, "servers")];

let root: string;
let start: string;
let tasks: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "prove-trainer-"));
  const catalog = openCatalog(servers, fixtures);
  const lines: string[] = [];
  for await (const it of synthesize({
    catalog,
    resources,
    seed: 4,
    servers: ["banking"],
    menu: "chain",
    preset: "student",
    split: "train",
    oneTurnShare: 1,
  })) {
    if (it.kind === "accepted") lines.push(formatTaskLine(it.task));
    if (lines.length === 8) break;
  }
  tasks = join(root, "t.tasks.jsonl");
  writeFileSync(tasks, `${lines.join("\n")}\n`);
  const tokenizer = trainTokenizer(lines, [...catalog.getServer("banking").tools.keys()], [], 700);
  await startBackend("wasm", { programs });
  const model = initializeModel(
    {
      vocabulary: tokenizer.size,
      width: 32,
      layers: 1,
      heads: 2,
      kvHeads: 1,
      headWidth: 16,
      hidden: 64,
      context: studentLimits.context,
      ropeBase: 10_000,
    },
    3,
  );
  start = join(root, "start");
  mkdirSync(start);
  await writeModelFolder(
    start,
    {
      config: createConfig("tiny", model.architecture, tokenizer),
      tokenizer,
      weights: copyWeights(model),
    },
    "F16",
  );
});

const common = {
  format: runFormat,
  version: "0",
  began: "2026-03-02T09:00:00.000Z",
  split: "train",
  seed: 3,
  backend: "wasm",
  workers: 2,
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

// a test that fails half-way leaves nobody training
afterEach(() => {
  for (let run = 1; run <= runs; run++) {
    const lock = readTrainerLock(join(root, "runs", String(run)));
    if (lock) process.kill(lock.pid, "SIGKILL");
  }
});

let runs = 0;
function newRun(config: RunConfig): string {
  const folder = join(root, "runs", String(++runs));
  createRun(folder, config, start);
  return folder;
}
const startOn = (folder: string): Promise<Attachment> =>
  startTrainer({ folder, program: join(programs, "trainer.js"), fixtures });

/** Trains to the end and gives what was said. */
async function finish(attachment: Attachment): Promise<TrainerEvent[]> {
  const said: TrainerEvent[] = [];
  for await (const fact of attachment.events) said.push(fact);
  return said;
}

/** What must be equal: weights, and all metrics but times. */
function sameness(folder: string) {
  const timeless = readMetrics(folder).lines.map(it => ({
    ...it,
    seconds: 0,
    rolloutsPerSecond: 0,
  }));
  return {
    weights: readFileSync(
      join(findLatestCheckpoint(folder).folder, "weights.safetensors"),
    ).toString("base64"),
    timeless,
  };
}

describe.each([
  ["grpo", grpo],
  ["sft", sft],
] as const)("a run of %s", (_method, config) => {
  test("says each step, keeps it, and ends with a checkpoint; resumed after a crash it equals an unbroken one", async () => {
    const unbroken = newRun(config());
    const said = await finish(await startOn(unbroken));
    expect(said.filter(it => it.kind === "stepped").map(it => it.metrics)).toEqual(
      readMetrics(unbroken).lines,
    );
    expect(readMetrics(unbroken).lines.map(it => it.step)).toEqual([1, 2, 3, 4]);
    expect(said.filter(it => it.kind === "saved").map(it => it.step)).toEqual([2, 4]);
    expect(said.at(-1)).toEqual({ kind: "finished", step: 4, by: "steps" });
    expect(readTrainerLock(unbroken)).toBeUndefined();
    expect(readEnd(unbroken)).toEqual({ by: "steps", step: 4 });

    // the trainer died after step 4 was written down and before its checkpoint was
    const broken = newRun(config());
    await finish(await startOn(broken));
    rmSync(getCheckpointFolder(broken, 4), { recursive: true });
    await finish(await startOn(broken));
    expect(listCheckpoints(broken)).toEqual([0, 2, 4]);
    expect(readFileSync(getDiscardedFile(broken), "utf8").split("\n").length).toBe(3);
    expect(sameness(broken)).toEqual(sameness(unbroken));
  });
});

describe("a run of grpo", () => {
  test("keeps every attempt of a step with its breakdown, its advantage and its tokens", async () => {
    const folder = newRun(grpo({ steps: 2 }));
    await finish(await startOn(folder));
    const { lines, skipped } = readGroups(folder, 1);
    expect(skipped).toEqual([]);
    expect(lines.map(it => it.attempt)).toEqual([0, 1, 2, 0, 1, 2]);
    const metrics = readMetrics(folder).lines[0]!;
    const mean = lines.reduce((sum, it) => sum + it.breakdown.total, 0) / lines.length;
    expect(metrics.method === "grpo" && metrics.reward.mean).toBeCloseTo(mean, 5);
    const sampled = lines[0]!.trajectory.events.filter(it => it.kind === "assistant");
    expect(sampled[0]!.tokens!.length).toBe(sampled[0]!.logprobs!.length);
  });

  test("leaves a model that says what it has seen and how it came about", async () => {
    const folder = newRun(grpo({ steps: 2 }));
    await finish(await startOn(folder));
    const { saw, training } = readModelFolder(findLatestCheckpoint(folder).folder).config;
    expect(Object.keys(saw.servers)).toContain("banking");
    expect(saw.chains.length).toBeGreaterThan(2);
    expect(training).toMatchObject([
      { method: "grpo", steps: 2, tasks: 8, profile: "prove-plus", from: "tiny" },
    ]);
  });
});

describe("a trainer", () => {
  test("pauses, goes on and stops when asked, and can be attached to again", async () => {
    const folder = newRun(grpo({ steps: 100_000 }));
    const first = await startOn(folder);
    for await (const fact of first.events) if (fact.kind === "stepped") break;
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
    for await (const fact of again.events)
      if (fact.kind === "stepped" && fact.metrics.step > status.step) break;
    const asked = performance.now();
    await again.request("stop");
    while (readTrainerLock(folder)) await sleep(20);
    expect(performance.now() - asked).toBeLessThan(4_000);
    expect(readEnd(folder)).toMatchObject({ by: "stop" });
    expect(findLatestCheckpoint(folder).step).toBe(readMetrics(folder).lines.at(-1)!.step);
  });

  test("trains on and exits at the end, whatever its clients send", async () => {
    const folder = newRun(grpo({ steps: 100_000 }));
    const attachment = await startOn(folder);
    const { address, pid } = readTrainerLock(folder)!;
    const texts = ["hello\r\n\r\n", 'Content-Length: 99\r\n\r\n{"jsonrpc"', "Content-"];
    for (const text of texts) {
      const client = connect(address).on("error", () => {});
      client.end(text);
      await once(client.resume(), "close");
    }
    const halfway = connect(address).on("error", () => {});
    halfway.write('Content-Length: 99\r\n\r\n{"jsonrpc"');
    for await (const event of attachment.events) if (event.kind === "stepped") break;
    await attachment.request("stop");
    while (findProcessStart(pid) !== undefined) await sleep(20);
    expect(readEnd(folder)).toMatchObject({ by: "stop" });
  });

  test("keeps a second one out of its folder, and leaves it when it is killed", async () => {
    const folder = newRun(grpo({ steps: 100_000 }));
    const attachment = await startOn(folder);
    await expect(startOn(folder)).rejects.toThrow("is being trained already");
    for await (const fact of attachment.events) if (fact.kind === "saved") break;
    process.kill(readTrainerLock(folder)!.pid, "SIGKILL");
    while (readTrainerLock(folder)) await sleep(20);
    expect(readEnd(folder)).toBeUndefined();
    const next = await startOn(folder);
    for await (const fact of next.events) if (fact.kind === "stepped") break;
    const { lines } = readMetrics(folder);
    expect(lines.map(it => it.step)).toEqual(lines.map((_, i) => i + 1));
    await next.request("stop");
    while (readTrainerLock(folder)) await sleep(20);
  });
});

describe("a run that cannot begin says why", () => {
  /**
   * A failure comes as the mistake of starting, or as the last that is said; either is in the
   * folder too.
   */
  const check = async (folder: string, why: RegExp) => {
    const failing = startOn(folder).then(async it => {
      const last = (await finish(it)).at(-1)!;
      if (last.kind === "failed") throw new UserError(last.what, last.remedy);
    });
    await expect(failing).rejects.toThrow(why);
    expect(readEnd(folder)).toMatchObject({
      by: "failed",
      what: expect.stringMatching(why) as string,
    });
  };

  test("no tasks of its split", () =>
    check(newRun(grpo({ split: "heldout-server" })), /holds no tasks of the split heldout-server/));
  test("no tasks file", () => check(newRun(grpo({ tasks: join(root, "none") })), /none/));
  test("a checkpoint that is torn", () => {
    const folder = newRun(grpo());
    writeFileSync(join(getCheckpointFolder(folder, 0), "weights.safetensors"), "torn");
    return check(folder, /weights\.safetensors/);
  });
  test("tools that have changed since it learned them", () => {
    const folder = newRun(grpo());
    const file = join(getCheckpointFolder(folder, 0), "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as {
      saw: { servers: Record<string, string> };
    };
    config.saw.servers["banking"] = "other";
    writeFileSync(file, JSON.stringify(config));
    return check(folder, /learned the tools of banking as they were/);
  });
  test("a chat format that has changed", () => {
    const folder = newRun(grpo());
    const file = join(getCheckpointFolder(folder, 0), "config.json");
    writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), chat: "other" }),
    );
    return check(folder, /learned to read conversations in another way/);
  });
  test("no checkpoint at all", async () => {
    const folder = newRun(grpo());
    for (const name of readdirSync(join(folder, "checkpoints")))
      rmSync(join(folder, "checkpoints", name), { recursive: true });
    await check(folder, /has no checkpoint/);
  });
});
