/** The commands train and evaluate with the folder of a Hugging Face model. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { evaluate } from "../../src/cli/evaluate.ts";
import { model } from "../../src/cli/model.ts";
import { plan, train } from "../../src/cli/train.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { loadModel, readModelFolder } from "../../src/model/modelFolder.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import { computeLogits } from "../../src/model/transformer/transformer.ts";
import { findLatestCheckpoint, getCheckpointFolder, readRun } from "../../src/run/folder.ts";
import { readWeights, writeWeights } from "../../src/model/weights.ts";
import { checkClose, programs } from "../compute/numbers.ts";
import { root } from "../contracts/transports.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { endTrainer } from "../train/endTrainer.ts";
import { runCommand } from "./terminal.ts";

test("a run starts from the folder, and its checkpoint is evaluated", async () => {
  await startBackend("wasm", { programs });
  const cwd = mkdtempSync(join(tmpdir(), "prove-models-"));
  const folder = await writeTinyModel({ longest: 16_384 });
  const described = await runCommand(model, [folder, "--context", "12000", "--json"], { cwd });
  expect(JSON.parse(described.out[0]!)).toMatchObject({
    kind: "hugging-face",
    calls: "hermes",
    limits: { context: 12_000, prompt: 11_488 },
  });

  const example = join(root, "resources/example/prove/tasks/student.tasks.jsonl");
  const lines = readFileSync(example, "utf8").split("\n").slice(0, 2);
  const tasks = join(cwd, "two.tasks.jsonl");
  writeFileSync(tasks, `${lines.join("\n")}\n`);
  const run = join(cwd, "run");
  const options = ["--tasks", tasks, "--from", folder, "--run", run, "--steps", "1"];
  const trained = await runCommand(train, [...options, "--method", "sft"], { cwd });
  expect(trained.code).toBe(0);
  await endTrainer(run);
  expect(readRun(run)).toMatchObject({ workers: 1, sft: { conversations: 4, learningRate: 1e-5 } });
  const { config, chat } = readModelFolder(findLatestCheckpoint(run).folder);
  const name = basename(folder);
  expect(readRun(run).from).toBe(name);
  expect(config.name).toBe(name);
  expect(config.training).toMatchObject([{ method: "sft", steps: 1, tasks: 2, from: name }]);
  expect(readModelFolder(getCheckpointFolder(run, 0)).config.name).toBe(name);
  expect(chat.limits.context).toBe(12_000);

  const attempt = ["--tasks", tasks, "--policy", run, "--split", "train", "--limit", "1"];
  const evaluated = await runCommand(evaluate, [...attempt, "--json"], { cwd });
  expect(JSON.parse(evaluated.out[0]!)).toMatchObject({ attempts: 1, unscorable: 0 });

  await checkAdapters({ cwd, folder, tasks });
  for (const it of [cwd, folder]) rmSync(it, { recursive: true });
});

/** A run of adapters, its files, its evaluation, a run that goes on with it, and the merged model. */
async function checkAdapters({ cwd, folder, tasks }: Record<"cwd" | "folder" | "tasks", string>) {
  const [run, second, merged] = ["lora", "more", "merged"].map(it => join(cwd, it)) as [
    string,
    string,
    string,
  ];
  const common = ["--tasks", tasks, "--method", "sft", "--steps", "1"];
  const start = (options: readonly string[]) => runCommand(train, [...common, ...options], { cwd });
  const refuse = (options: readonly string[], message: RegExp) =>
    expect(start(["--from", folder, "--run", run, ...options])).rejects.toThrow(message);
  await refuse(["--lora", "0"], /--lora 0 is not a rank/);
  await refuse(
    ["--lora", "64"],
    /rank 64 are larger than the linear layer k_proj, which is 16 x 32/,
  );
  await refuse(["--lora", "4", "--lora-targets", "w_q"], /no linear layer w_q/);
  await refuse(["--lora-alpha", "4"], /none are trained/);
  const incomplete = join(cwd, "incomplete");
  cpSync(folder, incomplete, { recursive: true });
  truncateSync(join(incomplete, "model.safetensors"), 9000);
  await refuse(["--from", incomplete, "--lora", "4"], /is not a whole safetensors file/);
  const describing = runCommand(model, [incomplete], { cwd });
  await expect(describing).rejects.toThrow(/is not a whole safetensors file/);
  const broken = join(cwd, "broken");
  cpSync(folder, broken, { recursive: true });
  const weights = await readWeights(join(folder, "model.safetensors"));
  weights.arrays.get("model.norm.weight")!.values[3] = NaN;
  await writeWeights(join(broken, "model.safetensors"), weights, "BF16");
  await refuse(
    ["--from", broken],
    /broken.model.safetensors has NaN in model.norm.weight, at index 3/,
  );
  rmSync(join(incomplete, "tokenizer.json"));
  await refuse(["--from", incomplete], /has no tokenizer.json/);
  expect(existsSync(run)).toBe(false);

  const lora = ["--lora", "4", "--lora-targets", "q_proj,down_proj"];
  const planned = await runCommand(plan, ["--tasks", tasks, "--from", folder, ...lora, "--json"], {
    cwd,
  });
  expect(JSON.parse(planned.out[0]!)).toMatchObject({
    method: "grpo",
    lengths: { tasks: 2 },
    trained: 1280,
    fits: true,
    seconds: expect.any(Number) as number,
    gpus: [
      expect.stringMatching(
        /^each of 8 GPUs needs .* for weights and 24 GB for vLLM .*, of 80 GB/,
      ) as string,
    ],
  });
  await start(["--from", folder, "--run", run, ...lora]);
  await endTrainer(run);
  const adapters = { rank: 4, alpha: 8, targets: ["q_proj", "down_proj"] };
  expect(readRun(run)).toMatchObject({ lora: adapters, sft: { learningRate: 1e-4 } });
  const checkpoint = findLatestCheckpoint(run).folder;
  expect(readdirSync(checkpoint).filter(it => it !== "state.json")).toEqual([
    "adapter_config.json",
    "adapter_model.safetensors",
    "optimizer.safetensors",
    "prove.json",
  ]);
  const attempt = ["--tasks", tasks, "--policy", run, "--split", "train", "--limit", "1"];
  const evaluated = await runCommand(evaluate, [...attempt, "--json"], { cwd });
  expect(JSON.parse(evaluated.out[0]!)).toMatchObject({ attempts: 1, unscorable: 0 });

  const cut = join(cwd, "cut");
  cpSync(checkpoint, cut, { recursive: true });
  truncateSync(join(cut, "adapter_model.safetensors"), 2000);
  await expect(start(["--from", cut, "--run", second])).rejects.toThrow(/not a whole safetensors/);
  expect(existsSync(second)).toBe(false);
  const more = ["--from", run, "--run", second];
  await expect(start([...more, "--lora", "2"])).rejects.toThrow(
    /have rank 4, alpha 8 .* and others are asked for/,
  );
  await start(more);
  await endTrainer(second);
  expect(readRun(second)).toMatchObject({ lora: adapters });
  expect(readModelFolder(findLatestCheckpoint(second).folder).config.training).toHaveLength(2);

  const described = await runCommand(model, [second, "--merge", merged, "--json"], { cwd });
  expect(JSON.parse(described.out[0]!)).toMatchObject({ kind: "hugging-face", trainings: 2 });
  const ids = { prefix: [5, 9, 2], branches: [{ ids: [7, 1], mask: [1, 1] }] };
  const [expected, actual] = await Promise.all(
    [findLatestCheckpoint(second).folder, merged].map(async it => {
      const loaded = await loadModel(readModelFolder(it));
      const logits = await computeLogits(loaded, packGroups([ids]));
      loaded.dispose();
      return logits;
    }),
  );
  checkClose(actual!, expected!, 1e-5);
}
