/**
 * `npm run test:gpu`: all that computes on a graphics card, on a machine that has one, and one
 * table of the results: the self-test and the parity of the backend, the training of adapters of
 * SmolLM2 and of a model of the shape of Qwen3-0.6B beside PyTorch with PEFT, and a step of GRPO
 * beside TRL. With `-- --device cpu`, all steps are tried out on the processor, with small models.
 * `--python` names a Python to use instead of the one in `.engines`, and `--models` a folder that
 * keeps the two models.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BackendCheck } from "../../src/app/backends.ts";
import {
  getBackendsFolder,
  listInstalledBackends,
  nativeBackends,
  type NativeBackend,
} from "../../src/run/backends.ts";
import { UserError } from "../../src/userError.ts";
import { createEnvironment, installBackend, runProgram } from "../backends/installBackend.ts";
import { installEnvironment, python as installedPython } from "../engines/environment.ts";
import { formatTable, type TableRow } from "./table.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** What is measured, and with what. */
interface Target {
  readonly device: "gpu" | "cpu";
  readonly backend: NativeBackend;
  /** The variables that programs need to use the backend. */
  readonly env: Readonly<Record<string, string>>;
}

/** What PROVE is measured beside, and the folder of the models. */
interface Setup {
  /** The program of a Python that has PyTorch, transformers, PEFT and TRL. */
  readonly python: string;
  readonly models: string;
}

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/**
 * The tokens that an attempt may write: as many as the measurement `backends` takes, fewer without
 * a card.
 */
const answers = { gpu: 32, cpu: 4 };

process.chdir(join(import.meta.dirname, "../.."));
const folder = mkdtempSync(join(tmpdir(), "prove-gpu-"));

function prepareProcessor(backend: NativeBackend = "tensorflow"): Target {
  installBackend(backend);
  return { device: "cpu", backend, env: createEnvironment(backend) };
}

/** A backend that computes on a graphics card. Throws an error that names all that is missing. */
function findGpu(wanted: NativeBackend | undefined, python: string): Target {
  const root = getBackendsFolder();
  const installed = listInstalledBackends(root);
  const missing: string[] = [];
  const found = listGpus();
  if (found === undefined)
    missing.push(
      "an NVIDIA driver: nvidia-smi, which comes with it, does not list a graphics card",
    );
  const script = "import torch; print(torch.__version__, torch.cuda.is_available())";
  const [version, hasCuda] = runProgram(python, ["-c", script], {}, { stdout: "pipe" })
    .trim()
    .split(" ");
  if (hasCuda !== "True")
    missing.push(`PyTorch for CUDA: ${version} of ${python} finds no graphics card`);
  const usable: NativeBackend[] = [];
  for (const name of wanted ? [wanted] : nativeBackends) {
    if (!installed.includes(name)) {
      missing.push(
        `the backend ${name}: it is not in ${root}; run prove-rl backend install ${name}`,
      );
      continue;
    }
    const { hasGpu, problem, device } = checkBackend(name);
    if (hasGpu) usable.push(name);
    else missing.push(`a graphics card for ${name}: ${problem ?? `it computes on ${device}`}`);
  }
  // one backend is enough
  if (usable.length > 0 && found !== undefined && hasCuda === "True")
    return {
      device: "gpu",
      backend: usable[0]!,
      env: { BACKEND: usable[0]!, PROVE_BACKENDS: root },
    };
  throw new UserError(
    `this machine lacks what the test needs:\n${missing.map(it => `  - ${it}\n`).join("")}`,
    "install what is missing; npm run test:gpu -- --device cpu tries out all steps on the processor",
  );
}

/** The graphics cards by name, if there are some. */
function listGpus(): string | undefined {
  try {
    const query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"];
    return runProgram("nvidia-smi", query, {}, { stdout: "pipe" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function checkBackend(name: NativeBackend, env: Target["env"] = {}): BackendCheck {
  const [line] = readLines(["dist/cli.js", "backend", "check", name, "--json"], env);
  return JSON.parse(line!) as BackendCheck;
}

/** The JSON lines that a program prints. */
const readLines = (args: readonly string[], env: Target["env"]): string[] =>
  runProgram("node", args, env, { stdout: "pipe", mayFail: true })
    .split("\n")
    .filter(it => it.startsWith("{"));

function measure(target: Target, { python, models }: Setup): void {
  const { device, backend, env } = target;
  const rows: TableRow[] = [];
  say(`checking ${backend}`);
  const check = checkBackend(backend, env);
  if (check.problem !== undefined)
    throw new UserError(`${backend} does not work here: ${check.problem}`, "install it again");
  const pass = `${check.milliseconds!.toFixed(1)} ms a pass`;
  rows.push({ step: "self-test", figure: pass, other: "-" });
  runProgram("vitest", ["run", "--config", "test/backends/vitest.config.ts"], env);
  rows.push({
    step: "log-probabilities, gradients, a step and tokens",
    figure: "those of wasm",
    other: "-",
  });

  const [smollm2, qwen3] = ["SmolLM2-135M", "Qwen3-0.6B-shape"].map(it => join(models, it)) as [
    string,
    string,
  ];
  if (existsSync(smollm2) !== existsSync(qwen3))
    throw new UserError(
      `${models} has only one of the models SmolLM2-135M and Qwen3-0.6B-shape`,
      "give an empty folder, in which both are written, or one that has both",
    );
  if (!existsSync(smollm2)) {
    say("writing SmolLM2 and a model of the shape of Qwen3-0.6B");
    const program = "test/engines/gpu_models.py";
    const small = device === "cpu" ? ["--small"] : [];
    const pythonEnv = { HF_HUB_OFFLINE: "1", PYTHONPATH: "resources/python" };
    runProgram(python, [program, smollm2, qwen3, ...small], pythonEnv);
  }
  // little to compute: sequences of 2,000 tokens are left out, too
  const limits = device === "cpu" ? ["--context", "1500", "--answers", String(answers.cpu)] : [];
  for (const it of [smollm2, qwen3])
    runProgram("node", ["dist/cli.js", "model", it, ...limits], {}, { stdout: "pipe" });

  const ofSmollm2 = measureModel(smollm2, target, python);
  const ofQwen3 = measureModel(qwen3, target, python);
  const stepSeconds = measureTrl(smollm2, target, python);
  rows.push(...listRows("SmolLM2-135M", ofSmollm2, backend, stepSeconds));
  rows.push(...listRows("shape of Qwen3-0.6B", ofQwen3, backend));
  say("");
  say(`${check.device}${device === "gpu" ? ` (${listGpus()})` : ", with small models"}`);
  for (const line of formatTable(rows)) say(line);
}

function measureModel(
  model: string,
  { backend, env }: Target,
  python: string,
): ReadonlyMap<string, Figure> {
  say(`measuring ${model}`);
  const options = ["--backend", backend, "--model", model, "--python", python];
  const figures = readLines(["dist/lab/main.js", "backends", ...options], env).map(
    it => JSON.parse(it) as Figure,
  );
  // the table comes last, and what follows may fail
  for (const { name, value, unit } of figures) say(`  ${name} ${value} ${unit}`);
  return new Map(figures.map(it => [it.name, it]));
}

/** Seconds of a step of TRL: as many attempts as in the step of `backends`, and adapters. */
function measureTrl(model: string, { device }: Target, python: string): number {
  say("training with TRL");
  const [tasks, out] = ["banking.tasks.jsonl", "trl"].map(it => join(folder, it)) as [
    string,
    string,
  ];
  const cli = (...args: string[]) =>
    runProgram("node", ["dist/cli.js", ...args], {}, { stdout: "pipe" });
  const chosen = ["--preset", "student", "--menu", "chain", "--servers", "banking"];
  cli("synthesize", ...chosen, "--count", "20", "--seed", "1", "--out", tasks);
  const prepared = ["--tasks", tasks, "--model", model, "--out", out, "--lora", "8"];
  cli("engine", "prepare", "trl", ...prepared, "--gpus", "0");
  const file = join(out, "config.json");
  const config = JSON.parse(readFileSync(file, "utf8")) as { grpo: Record<string, unknown> };
  const isProcessor = device === "cpu";
  Object.assign(config.grpo, {
    use_cpu: isProcessor,
    beta: 0.01,
    num_generations: 4,
    per_device_train_batch_size: 8,
    max_completion_length: answers[device],
    max_steps: 2,
    save_steps: 10,
  });
  writeFileSync(file, JSON.stringify(config));
  const accelerate = join(out, "accelerate.yaml");
  const text = readFileSync(accelerate, "utf8");
  writeFileSync(accelerate, text.replace("use_cpu: true", `use_cpu: ${isProcessor}`));
  runProgram(python, [join(out, "launch.py")], { HF_HUB_OFFLINE: "1" }, { stdout: "pipe" });
  const metrics = join(out, "metrics.jsonl");
  if (!existsSync(metrics))
    throw new UserError("TRL took no step", "see above what is wrong with the training");
  // the first step compiles
  const last = readFileSync(metrics, "utf8").trim().split("\n").at(-1)!;
  return (JSON.parse(last) as { seconds: { total: number } }).seconds.total;
}

/** Rows of a model. On a processor, those of the clock: as TRL's are. */
function listRows(
  model: string,
  figures: ReadonlyMap<string, Figure>,
  backend: string,
  trlSeconds?: number,
): TableRow[] {
  const find = (row: string, end = "") => {
    const name = `training.model.${row}.${backend}${end}`;
    return figures.get(`${name}.clock`) ?? figures.get(name);
  };
  const format = (it: Figure | undefined) =>
    it ? `${Number(it.value.toPrecision(3)).toLocaleString("en")} ${it.unit}` : "-";
  const compare = (step: string, row: string) =>
    find(row)
      ? [
          {
            step: `${model}: ${step}`,
            figure: format(find(row)),
            other: format(find(row, ".peft")),
          },
        ]
      : [];
  const parts = ["sampling", "learning"].map(it => find(`step-${it}`)!.value);
  const seconds = parts.reduce((sum, it) => sum + it, 0);
  return [
    ...compare("adapters, a sequence of 256 tokens", "learning-256"),
    ...compare("memory of the process", "memory-256"),
    ...compare("memory of the card", "card-memory-256"),
    ...compare("adapters, a sequence of 2,000 tokens", "learning-2000"),
    ...compare("memory of the process", "memory-2000"),
    ...compare("memory of the card", "card-memory-2000"),
    ...compare("sampling, 4 sequences", "sampling"),
    {
      step: `${model}: a step of GRPO, ${find("step-tokens")!.value} tokens sampled`,
      figure: `${seconds.toPrecision(3)} s (${parts[0]!.toPrecision(3)} s sampling)`,
      other: trlSeconds === undefined ? "-" : `${trlSeconds.toPrecision(3)} s in TRL`,
    },
    ...compare("memory of the process with it", "step-memory"),
    ...compare("memory of the card with it", "step-card-memory"),
  ];
}

try {
  const { values } = parseArgs({
    options: {
      device: { type: "string", default: "gpu" },
      backend: { type: "string" },
      python: { type: "string" },
      models: { type: "string", default: folder },
    },
  });
  const { device, backend, python = installedPython } = values;
  if (device !== "gpu" && device !== "cpu")
    throw new UserError(`there is no device ${device}`, "give gpu or cpu");
  if (device === "cpu" && values.models !== folder)
    throw new UserError(
      "the processor measures small models, which are not kept",
      "leave out --models",
    );
  const name = nativeBackends.find(it => it === backend);
  if (backend !== undefined && !name)
    throw new UserError(`there is no backend ${backend}`, `give ${nativeBackends.join(" or ")}`);
  runProgram("npm", ["run", "--silent", "build"]);
  runProgram("node", ["esbuild.mjs", "--lab"]);
  if (python === installedPython) installEnvironment(say);
  const target = device === "cpu" ? prepareProcessor(name) : findGpu(name, python);
  measure(target, { python, models: resolve(values.models) });
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`test:gpu: ${error.what}\n  ${error.remedy}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
