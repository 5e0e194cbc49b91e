/** `engine prepare`: the files of folders for TRL and verl, and what it refuses. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { engine } from "../../src/cli/engine.ts";
import {
  readHuggingFaceFolder,
  readHuggingFaceSettings,
  writeHuggingFaceSettings,
} from "../../src/model/huggingface/folder.ts";
import { readRun } from "../../src/run/folder.ts";
import { readParquetRows } from "../../src/storage/parquet.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";
import { createConversation } from "../../src/train/sft/corpus.ts";
import { catalog } from "../contracts/transports.ts";
import { getFamilyFolder } from "../model/huggingface/families.ts";
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
    "prove_rl",
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

test("supervised fine-tuning before GRPO has settings and conversations of its own", async () => {
  const tasks = await writeTasks("train");
  const out = join(emptyFolder(), "trl");
  const { out: lines } = await prepare(tasks, out, "--stages", "sft,grpo", "--model", "a/m-4B");
  const { stages, sft, grpo, evaluated } = readJson(out, "config.json");
  expect(stages).toEqual(["sft", "grpo"]);
  expect(evaluated).toBeGreaterThan(0);
  expect(grpo).toMatchObject({ num_generations_eval: 1 });
  expect(sft.max_length).toBe(grpo.vllm_max_model_length);
  expect(sft.per_device_train_batch_size * sft.gradient_accumulation_steps * 8).toBe(32);
  const [row] = readFileSync(join(out, "data/sft/train.jsonl"), "utf8").split("\n");
  expect(JSON.parse(row!).messages.at(-1)).toMatchObject({ role: "assistant" });
  // 16 bytes for each of 4 billion parameters, on eight cards
  expect(lines.join("\n")).toContain(
    "each of 8 GPUs needs about 8.0 GB for weights, gradients and optimizer and 24 GB for vLLM",
  );
  const verl = join(emptyFolder(), "verl");
  await expect(prepareVerl(tasks, verl, "--stages", "sft,grpo")).rejects.toThrow(
    "has the stage grpo only",
  );
});

test("a model that needs more memory than there is is told", async () => {
  const tasks = await writeTasks("train");
  const prepareLarge = async (...more: string[]) => {
    const out = join(emptyFolder(), "trl");
    return (await prepare(tasks, out, "--model", "a/m-32B", "--gpus", "2", ...more)).notes;
  };
  expect(await prepareLarge()).toEqual([
    expect.stringContaining("a training of a/m-32B does not fit: train adapters"),
  ]);
});

test("a model that reads tools as signatures gets them in its prompts", async () => {
  const model = emptyFolder();
  for (const file of ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"])
    copyFileSync(join(getFamilyFolder("qwen"), file), join(model, file));
  const config = {
    model_type: "qwen3",
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 16,
    max_position_embeddings: 8192,
    vocab_size: 8192,
    tie_word_embeddings: true,
  };
  writeFileSync(join(model, "config.json"), JSON.stringify(config));
  writeHuggingFaceSettings(model, { ...readHuggingFaceSettings(model), tools: "compact" });
  const tasks = await writeTasks("train");
  const out = join(emptyFolder(), "trl");
  await prepare(tasks, out, "--gpus", "0", "--model", model);
  const [line] = readFileSync(join(out, "data/train.jsonl"), "utf8").split("\n");
  const { prompt, menu } = JSON.parse(line!) as { prompt: { content: string }[]; menu: string };
  expect(menu).toBe("[]");
  const task = await moveFifty();
  const conversation = createConversation(catalog, task, { ...task.trajectory, events: [] });
  const { chat } = readHuggingFaceFolder(model);
  const read = chat.decode(chat.encode(conversation).ids);
  expect(prompt[0]!.content).toMatch(/banking_\w+\(.*\) {2}# \w/);
  expect(read).toContain(prompt[0]!.content);
  const other = join(emptyFolder(), "verl");
  await expect(prepareVerl(tasks, other, "--model", model)).rejects.toThrow(
    "reads them as signatures",
  );
  expect(existsSync(other)).toBe(false);
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
    "prove_rl",
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
  expect(loops).toContain("_target_: prove_rl.verl.ProveAgentLoop\n  profile: prove-plus\n");
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
  const requirements = readFileSync(join(out, "requirements.txt"), "utf8").split("\n");
  expect(requirements).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^torch==/),
      expect.stringMatching(/^requests==/),
      expect.stringMatching(/^trl==1\.16\./),
    ]),
  );
  expect(requirements.join()).not.toContain("vllm");
});

test("a model given relative to the current folder is found from anywhere", async () => {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "models/tiny"), { recursive: true });
  writeFileSync(join(cwd, "models/tiny/config.json"), "{}");
  const tasks = await writeTasks("train");
  for (const [i, model] of ["models/tiny", "./models/tiny/", "../tiny"].entries()) {
    const at = i === 2 ? join(cwd, "models/tiny") : cwd;
    const out = join(cwd, `trl${i}`);
    const args = ["prepare", "trl", "--tasks", tasks, "--model", model, "--out", out];
    const { notes } = await runCommand(engine, args, { cwd: at });
    expect(readJson(out, "config.json").model).toBe(join(cwd, "models/tiny"));
    expect(notes).toEqual([]);
  }
});

test("a model folder that does not exist is refused, and a file is none", async () => {
  const tasks = await writeTasks("train");
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "m.gguf"), "GGUF");
  const out = join(cwd, "trl");
  const prepareModel = (model: string) =>
    runCommand(engine, ["prepare", "trl", "--tasks", tasks, "--model", model, "--out", out], {
      cwd,
    });
  for (const model of ["../gone", "./gone", "/gone/model", "~/gone", "a/b/c", "gone/"])
    await expect(prepareModel(model), model).rejects.toThrow("there is no model folder");
  await expect(prepareModel("m.gguf")).rejects.toThrow("m.gguf is not a folder");
  expect(existsSync(out)).toBe(false);
  // it may be a name on the hub, so it is only noted
  mkdirSync(join(cwd, "models"));
  const { notes } = await prepareModel("models/gone");
  expect(notes).toEqual([expect.stringContaining("is taken for a name on the Hugging Face hub")]);
  expect(readJson(out, "config.json").model).toBe("models/gone");
});

test("a folder without a model is noted", async () => {
  const model = emptyFolder();
  const { notes } = await prepare(
    await writeTasks("train"),
    join(emptyFolder(), "trl"),
    "--model",
    model,
  );
  expect(notes).toEqual([
    `${model} has no config.json: put the model there before you start the training`,
  ]);
});

interface VllmSettings {
  readonly max_completion_length: number;
  readonly vllm_max_model_length: number;
  readonly vllm_gpu_memory_utilization: number;
}

test("vLLM's length and share of a card follow from the data and the model", async () => {
  const tasks = await writeTasks("train");
  const read = async (model: string): Promise<VllmSettings> => {
    const out = join(emptyFolder(), "trl");
    await prepare(tasks, out, "--model", model);
    return readJson(out, "config.json").grpo;
  };
  const small = await read("Qwen/Qwen3-4B-Instruct-2507");
  const large = await read("Qwen/Qwen3-8B");
  // the whole attempt after a prompt of some hundred tokens
  expect(small.max_completion_length).toBe(16_384);
  expect(small.vllm_max_model_length).toBeGreaterThan(16_384 + 256);
  expect(small.vllm_max_model_length).toBeLessThan(16_384 + 4_096);
  expect(small.vllm_max_model_length % 1024).toBe(0);
  // the weights alone take a tenth and a fifth of 80 GB
  expect(small.vllm_gpu_memory_utilization).toBe(0.3);
  expect(large.vllm_gpu_memory_utilization).toBe(0.4);
  // a model with fewer keys and values needs less, and one for short texts gets short attempts
  const folder = emptyFolder();
  const config = {
    num_hidden_layers: 28,
    num_attention_heads: 28,
    num_key_value_heads: 4,
    hidden_size: 3584,
    max_position_embeddings: 8192,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const short = await read(folder);
  expect(short.vllm_max_model_length).toBe(8192);
  expect(short.max_completion_length).toBeLessThan(8192 - 256);
  expect(short.vllm_gpu_memory_utilization).toBe(0.3);
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({ ...config, max_position_embeddings: 512 }),
  );
  await expect(read(folder)).rejects.toThrow(/was made for 512 tokens, and the longest prompt/);
  writeFileSync(join(folder, "config.json"), "{");
  await expect(read(folder)).rejects.toThrow("config.json:1 is not JSON");
});

test("a model with PROVE's chat template takes it along", async () => {
  const model = emptyFolder();
  writeFileSync(join(model, "config.json"), "{}");
  const out = join(emptyFolder(), "trl");
  await prepare(await writeTasks("train"), out, "--model", model);
  expect(existsSync(join(out, "chat_template.jinja"))).toBe(false);
  writeFileSync(
    join(model, "prove.json"),
    JSON.stringify({ format: "prove/huggingface@1", template: "default" }),
  );
  const other = join(emptyFolder(), "trl");
  await prepare(await writeTasks("train"), other, "--model", model);
  expect(readFileSync(join(other, "chat_template.jinja"), "utf8")).toContain("<tool_call>");
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
  await expect(runCommand(engine, ["prepare", "nemo"])).rejects.toThrow(
    "there is no training framework nemo",
  );
});
