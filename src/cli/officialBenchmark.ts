/**
 * `benchmark`: measures a model with the official program of a published benchmark, and imports its
 * attempts.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { formatTrajectory } from "../trajectory/trajectoryLine.ts";
import { UserError } from "../userError.ts";
import {
  argument,
  defineCommand,
  option,
  type CliContext,
  type OptionValues,
  type Parser,
} from "./command.ts";
import { openEndpointFor } from "./endpoints.ts";
import {
  bfclCategories,
  bfclPackages,
  runBfcl,
  type BfclCategory,
  type BfclRun,
} from "./harness/bfclHarness.ts";
import {
  checkFolder,
  computeDifferences,
  computeOverall,
  computeShares,
  readResult,
  resultName,
  writeResult,
  type BenchmarkResult,
} from "./harness/benchmarkResult.ts";
import { formatResults } from "./harness/benchmarkText.ts";
import { prepareHarnessPython } from "./harness/harnessPython.ts";
import { countOf, oneOf, outputPath } from "./parsers.ts";
import { bfcl } from "./rollouts/bfclRollouts.ts";
import { readRollouts } from "./rollouts/readRollouts.ts";
import { createShownTrajectory } from "./rollouts/rollout.ts";
import { jsonFlag } from "./sharedOptions.ts";

const benchmarks = ["bfcl", "tau2", "t-eval"] as const;
type BenchmarkName = (typeof benchmarks)[number];

const categoryNames = Object.keys(bfclCategories) as BfclCategory[];

const categoryList: Parser<readonly BfclCategory[]> = {
  choices: categoryNames,
  parse: (text, source) => {
    const one = oneOf(categoryNames, "there is no category");
    return text.split(",").map(it => one.parse(it.trim(), source));
  },
};

const temperatureOption: Parser<number> = {
  parse(text) {
    const value = Number(text);
    if (text.trim() !== "" && value >= 0 && value <= 2) return value;
    throw new UserError(`--temperature ${text} is not from 0 to 2`, "give a number such as 0.6");
  },
};

const options = {
  model: option("--model <name>", "model to measure, as the endpoint calls it", {
    required: "a model",
    example: "qwen3-4b",
  }),
  baseUrl: option(
    "--base-url <url>",
    "address of the OpenAI-compatible endpoint (default: PROVE_BASE_URL, else http://127.0.0.1:8000/v1); its key is read from PROVE_API_KEY or OPENAI_API_KEY",
  ),
  out: option(
    "--out <folder>",
    "folder to write to, or to continue (default: prove/benchmarks/<benchmark>-<model>)",
    { parser: outputPath("prove/benchmarks/base") },
  ),
  compare: option("--compare <folder>", "folder of another model's results, to compare with"),
  categories: option("--categories <list>", "categories to run (default: all)", {
    parser: categoryList,
  }),
  count: option("--count <n>", "entries of each category, from the first on (default: all)", {
    parser: countOf("a number of entries"),
  }),
  concurrency: option("--concurrency <n>", "entries at the same time", {
    parser: countOf("a number"),
    default: 8,
  }),
  temperature: option("--temperature <number>", "temperature of the model's answers", {
    parser: temperatureOption,
    // that of bfcl-eval
    default: 0.001,
  }),
  python: option(
    "--python <command>",
    "Python that has the benchmark's packages, or with which to install them (default: python3)",
  ),
  json: jsonFlag,
};

export const benchmark = defineCommand({
  name: "benchmark",
  description:
    "Measure a model with the official program of a benchmark: BFCL's multi-turn categories. Its packages are installed into a virtual environment of their own when they are first needed; its data come with them. Prints a table in the form of the paper's and writes the attempts as trajectories. The same command continues a run that was interrupted. Exits with 1 if it could not be finished.",
  arguments: [
    argument("<benchmark>", "benchmark to run", {
      parser: oneOf(benchmarks, "there is no benchmark"),
      required: "a benchmark",
    }),
  ],
  options,
  examples: [
    "benchmark bfcl --model qwen3-4b --base-url http://127.0.0.1:8000/v1",
    "benchmark bfcl --model trained --compare prove/benchmarks/bfcl-qwen3-4b",
  ],
  async run(context, [name], values) {
    checkAvailable(name);
    return runBenchmark(context, values);
  },
});

/** Throws a `UserError` for a benchmark that cannot be run from packages. */
function checkAvailable(name: BenchmarkName): void {
  if (name === "tau2")
    throw new UserError(
      "tau2-bench is not run from here: its own package is not on the Python package index, and a second model must play its users",
      "run tau2 from its repository, and import its results with prove-rl import tau2",
    );
  if (name === "t-eval")
    throw new UserError(
      "T-Eval is not run from here: neither its program nor its data are on the Python package index",
      "run it from its repository, with the data that it names",
    );
}

async function runBenchmark(
  context: CliContext,
  values: OptionValues<typeof options>,
): Promise<number> {
  const { cwd, prove, print, printNote } = context;
  const { model, temperature, categories = categoryNames } = values;
  const folder =
    values.out === undefined
      ? join(prove, "benchmarks", `bfcl-${model.replaceAll(/[^\w.-]+/g, "-")}`)
      : resolve(cwd, values.out);
  const harness = `${bfclPackages.name} ${bfclPackages.version}`;
  const identity = { benchmark: "bfcl", harness, model, temperature };
  // what cannot work is reported before anything is installed or asked
  const other = values.compare === undefined ? [] : [readResult(resolve(cwd, values.compare))];
  checkFolder(folder, identity);
  const key = findKey(values.baseUrl);
  const { address } = openEndpointFor({ model, url: values.baseUrl, key }, sent, context).endpoint;
  const python = await prepareHarnessPython(bfclPackages, values.python, context);
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  const earlier = existsSync(join(folder, resultName)) ? readResult(folder).entries : [];
  writeResult(folder, { ...identity, entries: earlier });
  const run = await runBfcl(
    python,
    {
      model,
      // the client of the harness adds the path of the completions itself
      baseUrl: address.origin + address.pathname.replace(/\/chat\/completions$/, ""),
      key,
      categories,
      count: values.count,
      threads: values.concurrency,
      temperature,
      folder,
    },
    context,
  );
  // entries of categories that were not asked for this time stay
  const scored = new Set(run.scores.map(it => it.id));
  const entries = [...earlier.filter(it => !scored.has(it.id)), ...run.scores];
  const result: BenchmarkResult = { ...identity, entries };
  writeResult(folder, result);
  const attempts = await writeAttempts(folder, result, context);
  const all = [...other, result];
  if (values.json) print(JSON.stringify(toJson(all, run, attempts)));
  else if (result.entries.length > 0)
    for (const it of formatResults(all, bfclCategories)) print(it);
  printNote(`attempts: ${attempts}`);
  if (run.stopped === undefined) return 0;
  printNote(
    `stopped after ${run.done} of ${run.total} entries: ${escapeInvisible(run.stopped)}\n  check the endpoint, and run the same command again to continue`,
  );
  return 1;
}

const sent = "the conversations of the benchmark and its tools";

/** The key for OpenAI is sent only to an address that was chosen. */
function findKey(url: string | undefined, env = process.env): string | undefined {
  const chosen = url ?? (env["PROVE_BASE_URL"] || undefined);
  const openAiKey = chosen === undefined ? undefined : env["OPENAI_API_KEY"];
  return env["PROVE_API_KEY"] || openAiKey || undefined;
}

/** Writes the attempts with the harness's verdicts, and returns the path of their file. */
async function writeAttempts(
  folder: string,
  { model, entries }: BenchmarkResult,
  { printNote, signal }: CliContext,
): Promise<string> {
  const file = join(folder, "attempts.trajectory.jsonl");
  const verdicts = new Map(entries.map(it => [it.id, it]));
  const lines: string[] = [];
  const results = join(folder, "result", "model", "multi_turn");
  if (existsSync(results))
    for await (const rollout of readRollouts(results, bfcl, { onTorn: printNote, signal })) {
      const verdict = verdicts.get(rollout.id);
      const why = [verdict?.error, verdict?.message].filter(it => it != null).join(": ");
      const judged = verdict
        ? { ...rollout, score: Number(verdict.valid), ...(why === "" ? {} : { why }) }
        : rollout;
      const names = { id: rollout.id, format: "bfcl", policy: model };
      lines.push(formatTrajectory(createShownTrajectory(judged, names)));
    }
  withWriteErrors(file, () => {
    rmSync(file, { force: true });
    writeFileSync(file, lines.join(""));
  });
  return file;
}

function toJson(all: readonly BenchmarkResult[], run: BfclRun, attempts: string): object {
  const [before, after] = all;
  return {
    results: all.map(it => {
      const shares = computeShares(it);
      const overall = shares.length === 0 ? null : computeOverall(shares);
      const { benchmark: name, harness, model } = it;
      return { benchmark: name, harness, model, categories: shares, overall };
    }),
    ...(before && after ? { differences: computeDifferences(before, after) } : {}),
    done: run.done,
    total: run.total,
    stopped: run.stopped ?? null,
    attempts,
  };
}
