/**
 * SmolLM2-135M computed here, against transformers and PEFT: logits, a greedy continuation, a
 * training of adapters, the adapters that PEFT loads, and the model with them merged. `npm run
 * test:engines` installs what this needs.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import { initializeAdapters } from "../../src/model/transformer/adapters.ts";
import { openDecoder } from "../../src/model/transformer/decoder.ts";
import {
  readHuggingFaceSettings,
  writeHuggingFaceSettings,
} from "../../src/model/huggingface/folder.ts";
import { loadHuggingFaceModel } from "../../src/model/huggingface/weights.ts";
import {
  copyWeights,
  readModelFolder,
  writeMergedModel,
  writeStoredModel,
} from "../../src/model/modelFolder.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  addAdapters,
  computeLogits,
  withoutAdapters,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { readWeights } from "../../src/model/weights.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import type { GrpoConfig, SftConfig } from "../../src/run/config.ts";
import { createRunConfigFrom } from "../../src/run/createRunConfig.ts";
import type { GrpoStep, SftStep } from "../../src/run/metrics.ts";
import { readStartModel } from "../../src/run/startModel.ts";
import { buildCorpus } from "../../src/train/sft/corpus.ts";
import { openGrpo } from "../../src/train/grpo/grpo.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import { openSft } from "../../src/train/sft/sft.ts";
import { readTrajectories } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { emptyFolder } from "../cli/program.ts";
import { programs as builtPrograms } from "../compute/numbers.ts";
import { root } from "../contracts/transports.ts";
import { createBoxCatalog, createBoxTasks } from "../train/boxes.ts";
import { python } from "./environment.ts";

const folder = join(emptyFolder(), "smollm2");
const lora = { rank: 8, alpha: 16, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] };

/** Runs the Python program that writes what transformers computes. */
function runReference(...args: readonly string[]): void {
  const program = join(import.meta.dirname, "smollm2_reference.py");
  const env = {
    ...process.env,
    HF_HUB_OFFLINE: "1",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: join(root, "resources/python"),
  };
  const { status, stderr } = spawnSync(python, [program, ...args], { env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
}

async function readExpected(file: string) {
  const { arrays } = await readWeights(file);
  return (name: string) => arrays.get(name)!.values;
}

/** The logits after every token, (N, vocabulary). */
const computeAllLogits = (model: Model, ids: readonly number[]) =>
  computeLogits(model, packSequence(ids, [...ids.slice(1), 0]));

const packSequence = (ids: readonly number[], targets: readonly number[]) =>
  packGroups([
    { prefix: ids.slice(0, 1), branches: [{ ids: targets, mask: targets.map(() => 1) }] },
  ]);

const largestDifference = (actual: Float32Array, expected: Float32Array): number =>
  actual.reduce((most, it, i) => Math.max(most, Math.abs(it - expected[i]!)), 0);

let model: Model;
let ids: readonly number[];
beforeAll(async () => {
  runReference("model", folder);
  await startBackend("wasm", { programs: builtPrograms });
  model = await loadHuggingFaceModel(folder);
  ids = [...(await readExpected(join(folder, "expected.bin")))("ids")];
}, 600_000);
afterAll(() => model.dispose());

test("logits are those of transformers to 1e-3", async () => {
  const expected = (await readExpected(join(folder, "expected.bin")))("logits");
  const logits = await computeAllLogits(model, ids);
  expect(logits.length).toBe(expected.length);
  expect(largestDifference(logits, expected)).toBeLessThan(1e-3);
});

test("a greedy continuation has the same 100 tokens", async () => {
  const expected = [...(await readExpected(join(folder, "expected.bin")))("greedy")];
  const decoder = openDecoder(model, { slots: 1, context: 256 });
  const slot = decoder.open();
  const tokens: number[] = [];
  for (let next = [...ids]; tokens.length < 100; next = [tokens.at(-1)!]) {
    const choose = { temperature: 0, uniform: 0 };
    const [chosen] = await decoder.feed([{ slot, ids: next, choose }]);
    tokens.push(chosen!.id);
  }
  decoder.dispose();
  expect(expected).toHaveLength(100);
  expect(tokens).toEqual(expected);
}, 300_000);

/** A task with one call: to find a box. Its conversation takes about 350 tokens. */
async function createShortTasks(catalog: Catalog): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const task of (await createBoxTasks(catalog)).slice(0, 3)) {
    const goals = task.goals.slice(0, 1);
    const turns = [{ ...task.turns[0]!, user: "Find the red box.", goals: [0] }];
    const short = { ...task, menu: [{ name: "box_find" }], goals, turns, chain: ["box_find"] };
    const messages = [
      { text: "", calls: [...goals[0]!.calls] },
      { text: "Done.", calls: [] },
    ];
    const teacher = createScriptedPolicy("teacher", messages);
    tasks.push({ ...short, trajectory: (await rollout(short, teacher, catalog)).trajectory });
  }
  return tasks;
}

/**
 * BFCL's conversations are longer than the context of a policy, 4,096 tokens by default, and more
 * would take minutes on a CPU. The endpoint says so, and bfcl-eval counts the entries as wrong.
 */
test("bfcl-eval measures it as a policy behind an endpoint, and its attempts import", async () => {
  const cwd = emptyFolder();
  const program = join(root, "dist/cli.js");
  const env = { ...process.env, XDG_CACHE_HOME: join(root, ".engines", "cache") };
  const service = spawn(process.execPath, [program, "serve", "--port", "0", "--policy", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(service.stdout, "data")) as [Buffer];
    const { url } = JSON.parse(String(line)) as { url: string };
    const run = async (...args: readonly string[]) => {
      const ran = promisify(execFile)(process.execPath, [program, ...args], { cwd, env });
      return ran.catch((error: unknown) => error as Awaited<typeof ran> & { code: number });
    };
    const options = ["--model", "smollm2", "--base-url", `${url}/v1`, "--out", "out"];
    const measured = await run("benchmark", "bfcl", ...options, "--count", "1", "--python", python);
    // an entry that is too long for the model counts as wrong, and none was answered
    expect(measured).toMatchObject({ code: 1 });
    expect(measured.stdout).toMatch(/^smollm2 +0\.0 +0\.0 +0\.0 +0\.0 +0\.0 +4 +4$/m);
    const attempts = join(cwd, "out/attempts.trajectory.jsonl");
    const faults: (string | undefined)[] = [];
    for await (const { events } of readTrajectories(attempts)) {
      const end = events.at(-1)!;
      faults.push(end.kind === "ended" ? end.fault : undefined);
    }
    expect(faults).toHaveLength(4);
    for (const it of faults)
      expect(it).toMatch(
        /the conversation is too long for smollm2: the prompt has \d{4,} tokens, and the limit is \d+/,
      );
    const results = "out/result/model/multi_turn";
    const imported = await run("import", "bfcl", results, "--out", "again.trajectory.jsonl");
    expect(imported.stdout).toContain("4 rollouts");
  } finally {
    service.kill();
  }
}, 300_000);

test("adapters learn tasks in 20 steps, take a step of GRPO within 4 GB, and PEFT and transformers compute the same logits with them", async () => {
  const catalog = createBoxCatalog();
  const tasks = await createShortTasks(catalog);
  const limits = { template: "default", context: 1024, answers: 64 } as const;
  writeHuggingFaceSettings(folder, { ...readHuggingFaceSettings(folder), ...limits });
  const stored = readModelFolder(folder);
  const base = { ...model, dispose: () => {} };
  const adapted = addAdapters(base, initializeAdapters(model.architecture, lora, 1));
  const optimizer = createAdamW(adapted);
  const group = createSingleReplica(undefined);
  const context = { group, model: adapted, chat: stored.chat, optimizer };
  const common = { startedAt: new Date("2026-03-02T09:00:00Z"), tasks: "", lora };
  const start = readStartModel(folder);

  const sftConfig = createRunConfigFrom(start, {
    ...common,
    steps: 20,
    method: "sft",
    sft: { conversations: 1, learningRate: 1e-3, warmUp: 1, slips: 0 },
  }) as SftConfig;
  const corpusOptions = { catalog, chat: stored.chat, settings: sftConfig.sft, seed: 1 };
  const { corpus } = await buildCorpus(tasks, corpusOptions);
  const sft = openSft(context, sftConfig, corpus);
  const losses: number[] = [];
  for (let step = 1; step <= 20; step++)
    losses.push(((await sft.step(step, step / 21))!.metrics as SftStep).loss);
  expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);

  const config = createRunConfigFrom(start, {
    ...common,
    steps: 1,
    grpo: { prompts: 1, group: 2 },
  }) as GrpoConfig;
  const reference = withoutAdapters(adapted);
  const profile = provePlusProfile;
  const grpo = openGrpo({ ...context, catalog, tasks, reference, profile }, config);
  const { metrics } = (await grpo.step(1, 0))!;
  grpo.dispose();
  optimizer.dispose();
  expect(metrics as GrpoStep).toMatchObject({ attempts: 2, faults: 0 });
  // of this process since it began, in kilobytes
  expect(process.resourceUsage().maxRSS).toBeLessThan(4 * 2 ** 20);

  const [adapters, merged] = [join(folder, "adapters"), join(folder, "merged")] as const;
  for (const it of [adapters, merged]) mkdirSync(it);
  const trained = { ...stored, adapters: { config: lora, base: folder, hasWeights: true } };
  await writeStoredModel(adapters, trained, await copyWeights(adapted));
  await writeMergedModel(merged, trained, adapted);
  const logits = await computeAllLogits(adapted, ids);
  runReference("adapters", folder, adapters, merged);
  const expected = await readExpected(join(adapters, "expected.bin"));
  for (const it of ["adapted", "merged"])
    expect(largestDifference(logits, expected(it)), it).toBeLessThan(1e-3);
  adapted.adapters!.dispose();
}, 900_000);
