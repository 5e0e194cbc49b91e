/** `engine prepare`: the files of folders for TRL and verl, and what it refuses. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { engine } from "../../src/cli/engine.ts";
import { readRun } from "../../src/run/folder.ts";
import { readParquetRows } from "../../src/storage/parquet.ts";
import { formatTaskLine } from "../../src/trajectory/taskLine.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

async function writeTasks(split: "train" | "heldout-chain"): Promise<string> {
  const file = join(emptyFolder(), "some.tasks.jsonl");
  writeFileSync(file, `${formatTaskLine({ ...(await moveFifty()), split })}\n`);
  return file;
}

const prepareFor = (name: string, tasks: string, out: string, more: readonly string[]) =>
  runCommand(engine, ["prepare", name, "--tasks", tasks, "--model", "m", "--out", out, ...more]);

const prepare = (tasks: string, out: string, ...more: readonly string[]) =>
  prepareFor("trl", tasks, out, more);

const prepareVerl = (tasks: string, out: string, ...more: readonly string[]) =>
  prepareFor("verl", tasks, out, more);

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));

test("the folder has the data, the programs and the paper's settings for the GPUs", async () => {
  const tasks = await writeTasks("train");
  const out = join(emptyFolder(), "trl");
  const { code, out: lines } = await prepare(tasks, out, "--gpus", "4", "--lora", "16");
  expect(code).toBe(0);
  expect(lines.join("\n")).toContain(`python ${join(out, "launch.py")}`);
  expect(readdirSync(out).sort()).toEqual([
    "README.md",
    "accelerate.yaml",
    "config.json",
    "data",
    "launch.py",
    "prove_client.py",
    "prove_groups.py",
    "prove_launch.py",
    "prove_run.py",
    "prove_trl.py",
    "requirements.txt",
    "run.json",
    "some.tasks.jsonl",
    "train.py",
  ]);
  const { grpo, lora, model, serve } = readJson(out, "config.json");
  expect(model).toBe("m");
  expect(lora.r).toBe(16);
  // 16 attempts at each of 16 tasks in a step
  const { per_device_train_batch_size: batch, gradient_accumulation_steps: rounds } = grpo;
  expect(batch * rounds * 4).toBe(16 * 16);
  expect(grpo).toMatchObject({ num_generations: 16, beta: 0.01, max_steps: 350 });
  expect(serve.slice(-2)).toEqual(["--tasks", basename(tasks)]);
  expect(readFileSync(join(out, "accelerate.yaml"), "utf8")).toContain("num_processes: 4\n");
  const run = readRun(out);
  expect(run).toMatchObject({ method: "grpo", from: "m", tasks: join(out, basename(tasks)) });
  expect(run).toMatchObject({ steps: 350, grpo: { group: 16, prompts: 16, learningRate: 1e-6 } });
  const [row] = readFileSync(join(out, "data/train.jsonl"), "utf8").split("\n");
  expect(JSON.parse(row!)).toHaveProperty("task_id");
});

test.each([
  ["Qwen/Qwen3-8B", 5e-8],
  ["Qwen/Qwen2.5-7B-Instruct", 3e-7],
  ["Qwen/Qwen3-4B-Instruct-2507", 1e-6],
])("%s has the learning rate of the paper", async (model, rate) => {
  const out = join(emptyFolder(), "trl");
  await prepare(await writeTasks("train"), out, "--model", model);
  expect(readJson(out, "config.json").grpo.learning_rate).toBe(rate);
});

test("a folder for verl has the data, the programs and the paper's settings", async () => {
  const tasks = await writeTasks("train");
  const out = join(emptyFolder(), "verl");
  const { code, out: lines } = await prepareVerl(tasks, out, "--model", "Qwen/Qwen3-8B");
  expect(code).toBe(0);
  expect(lines.join("\n")).toContain(`python ${join(out, "launch.py")}`);
  expect(readdirSync(out).sort()).toEqual([
    "README.md",
    "agent_loops.yaml",
    "config.json",
    "data",
    "launch.py",
    "prove_client.py",
    "prove_groups.py",
    "prove_launch.py",
    "prove_verl.py",
    "requirements.txt",
    "run.json",
    "some.tasks.jsonl",
  ]);
  const { model, verl } = readJson(out, "config.json");
  expect(model).toBe("Qwen/Qwen3-8B");
  expect(verl).toMatchObject({
    "actor_rollout_ref.actor.optim.lr": 5e-8,
    "actor_rollout_ref.actor.kl_loss_coef": 0.01,
    "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
    "actor_rollout_ref.rollout.n": 16,
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 2,
    "data.max_prompt_length": 12_384,
    "data.max_response_length": 16_384,
    "trainer.n_gpus_per_node": 8,
    "trainer.total_training_steps": 350,
    // one task only
    "data.train_batch_size": 1,
    "trainer.total_epochs": 351,
  });
  const loops = readFileSync(join(out, "agent_loops.yaml"), "utf8");
  expect(loops).toContain("_target_: prove_verl.ProveAgentLoop\n  profile: prove-plus\n");
  const [row] = await readParquetRows(join(out, "data/train.parquet"));
  expect(row).toHaveProperty("extra_info.task_id", "t-move");
  expect(readRun(out)).toMatchObject({ engine: "verl", steps: 350, grpo: { learningRate: 5e-8 } });
});

test("LoRA in verl needs the weights that the adapters belong to", async () => {
  const out = join(emptyFolder(), "verl");
  await prepareVerl(await writeTasks("train"), out, "--lora", "16", "--gpus", "1");
  expect(readJson(out, "config.json").verl).toMatchObject({
    "actor_rollout_ref.model.lora_rank": 16,
    "actor_rollout_ref.rollout.load_format": "safetensors",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
  });
});

test("verl does not train on a CPU", async () => {
  const out = join(emptyFolder(), "verl");
  await expect(prepareVerl(await writeTasks("train"), out, "--gpus", "0")).rejects.toThrow(
    "verl does not train on a CPU",
  );
  expect(existsSync(out)).toBe(false);
});

test("a model in a folder is found from anywhere, and the CPU gets small settings", async () => {
  const tasks = await writeTasks("train");
  const [model, out] = [emptyFolder(), join(emptyFolder(), "trl")];
  await prepare(tasks, out, "--gpus", "0", "--model", model);
  const config = readJson(out, "config.json");
  expect(config).toMatchObject({ model, lora: null, grpo: { use_cpu: true } });
  expect(readFileSync(join(out, "requirements.txt"), "utf8")).not.toContain("vllm");
});

test("a folder that is not empty is left as it is", async () => {
  const out = emptyFolder();
  writeFileSync(join(out, "mine.txt"), "mine");
  await expect(prepare(await writeTasks("train"), out)).rejects.toThrow(`${out} is not empty`);
  expect(readdirSync(out)).toEqual(["mine.txt"]);
});

test("tasks of other splits only are refused, and nothing is left behind", async () => {
  const out = join(emptyFolder(), "trl");
  await expect(prepare(await writeTasks("heldout-chain"), out)).rejects.toThrow(
    "has no rows of the split train",
  );
  expect(existsSync(out)).toBe(false);
});

test("an engine that is not supported is named", async () => {
  await expect(runCommand(engine, ["prepare", "nemo"])).rejects.toThrow("there is no engine nemo");
});
