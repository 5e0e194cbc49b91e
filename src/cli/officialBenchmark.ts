/**
 * `benchmark`: measures a model with the official program of a published benchmark, and imports its
 * attempts.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { computeMean } from "../evaluation/interval.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { writeFileOver } from "../storage/writtenFiles.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { formatTrajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import {
  argument,
  defineCommand,
  option,
  type CliContext,
  type OptionValues,
  type Parser,
} from "./command.ts";
import { openEndpointFor } from "../app/endpoints.ts";
import {
  bfclHarness,
  tau2Harness,
  checkParts,
  commit,
  listMeasurable,
  tEvalHarness,
  whatIsNeeded,
} from "../app/benchmark/harnesses.ts";
import {
  checkFolder,
  computeDifferences,
  computeOverall,
  combineTrials,
  computeShares,
  countRefusals,
  getScore,
  getTrialFolder,
  readResult,
  readTrials,
  resultName,
  writeResult,
  type BenchmarkResult,
  type EntryScore,
  computeColumns,
  type BenchmarkTable,
  type Difference,
  type RefusalCount,
} from "../app/benchmark/benchmarkResult.ts";
import {
  runHarness,
  type Harness,
  type HarnessParts,
  type HarnessRequest,
  type HarnessRun,
} from "../app/benchmark/harness.ts";
import { prepareHarnessPython } from "../app/benchmark/harnessPython.ts";
import { countOf, oneOf, outputPath, jsonFlag } from "./options.ts";
import { readRollouts, RowRemarks } from "../rollouts/readRollouts.ts";
import { createShownTrajectory } from "../rollouts/rollout.ts";
import { getVerdict } from "../evaluation/compare.ts";
import { alignColumns } from "./evaluationText.ts";

const harnesses = [bfclHarness, tau2Harness, tEvalHarness];
const benchmarks = harnesses.map(it => it.name);

const categoryNames = harnesses.flatMap(it => Object.keys(it.table.categories));

const categoryList: Parser<readonly string[]> = {
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
  userModel: option(
    "--user-model <name>",
    "tau2: model that plays the users (default: the model that is measured)",
  ),
  userBaseUrl: option(
    "--user-base-url <url>",
    "tau2: address of that model's endpoint (default: the same); its key is read from PROVE_USER_API_KEY",
  ),
  categories: option(
    "--categories <list>",
    "categories to run, or domains of tau2 (default: those of the paper)",
    { parser: categoryList },
  ),
  harness: option("--harness <folder>", "t-eval: its repository, which you have fetched"),
  data: option("--data <folder>", "t-eval: its data, which you have fetched"),
  embeddings: option(
    "--embeddings <folder>",
    "t-eval: the model that compares sentences, for Plan and Reason",
  ),
  count: option("--count <n>", "entries of each category, from the first on (default: all)", {
    parser: countOf("a number of entries"),
  }),
  trials: option("--trials <n>", "times to run it, to see by how much results differ by chance", {
    parser: countOf("a number of trials"),
    default: 1,
  }),
  concurrency: option("--concurrency <n>", "entries at the same time", {
    parser: countOf("a number"),
    default: 8,
  }),
  temperature: option(
    "--temperature <number>",
    "temperature of the model's answers (default: that of the benchmark's own program)",
    { parser: temperatureOption },
  ),
  python: option(
    "--python <command>",
    "Python that has the benchmark's packages, or with which to install them (default: python3)",
  ),
  json: jsonFlag,
};

export const benchmark = defineCommand({
  name: "benchmark",
  description:
    "Measure a model with the official program of a benchmark: BFCL's multi-turn categories, τ²-bench, where a second model plays the users, or T-Eval, whose program and data you fetch. Its packages are installed into a virtual environment of their own when they are first needed; except for T-Eval, its data come with them. Prints a table in the form of the paper's and writes the attempts as trajectories. The same command continues a run that was interrupted. Entries that the endpoint refused, for example because the conversation is too long for the model, are counted by reason. Exits with 1 if it could not be finished, or if no entry was answered.",
  arguments: [
    argument("<benchmark>", "benchmark to run", {
      parser: oneOf(benchmarks, "there is no benchmark"),
      required: "a benchmark",
    }),
  ],
  options,
  examples: [
    "benchmark bfcl --model qwen3-4b --base-url http://127.0.0.1:8000/v1",
    "benchmark bfcl --model qwen3-4b --trials 5",
    "benchmark bfcl --model trained --compare prove/benchmarks/bfcl-qwen3-4b",
    "benchmark tau2 --model qwen3-4b --user-model qwen3-vl-235b --categories airline --count 5",
    "benchmark t-eval --model qwen3-4b --harness T-Eval --data T-Eval/data",
  ],
  async run(context, [name], values) {
    const harness = harnesses.find(it => it.name === name)!;
    return runBenchmark(harness, context, values);
  },
});

async function runBenchmark(
  harness: Harness,
  context: CliContext,
  values: OptionValues<typeof options>,
): Promise<number> {
  const { cwd, prove, print, printNote } = context;
  const { model, temperature = harness.temperature } = values;
  const categories = chooseCategories(harness, values);
  const parts = findParts(harness, categories, values, context);
  if (!harness.hasUsers && (values.userModel ?? values.userBaseUrl) !== undefined)
    throw new UserError(
      `no model plays users in ${harness.name}`,
      "leave out --user-model and --user-base-url",
    );
  const folder =
    values.out === undefined
      ? join(prove, "benchmarks", `${harness.name}-${model.replaceAll(/[^\w.-]+/g, "-")}`)
      : resolve(cwd, values.out);
  const { packages } = harness;
  const userModel = harness.hasUsers ? (values.userModel ?? model) : undefined;
  const identity = {
    benchmark: harness.name,
    harness: parts ? `${harness.title} ${commit}` : `${packages.name} ${packages.version}`,
    model,
    temperature,
    ...(userModel === undefined ? {} : { user: userModel }),
  };
  // what cannot work is reported before anything is installed or asked
  const other =
    values.compare === undefined ? [] : [combineTrials(readTrials(resolve(cwd, values.compare)))];
  const folders = Array.from({ length: values.trials }, (_, i) => getTrialFolder(folder, i + 1));
  for (const it of folders) checkFolder(it, identity);
  const url = findUrl(values.baseUrl);
  const key = findKey(url);
  const baseUrl = openAddress(model, url, key, context);
  const user = userModel === undefined ? undefined : openUser(userModel, values, context);
  if (user && values.userModel === undefined)
    printNote(
      `the users are played by ${escapeInvisible(model)} itself, and scores depend on who plays them; --user-model names another`,
    );
  const python = await prepareHarnessPython(packages, values.python, context);
  const { count, concurrency: threads } = values;
  const request = { model, baseUrl, key, user, parts, categories, count, threads, temperature };
  const trials: Trial[] = [];
  for (const [i, it] of folders.entries()) {
    if (folders.length > 1) printNote(`trial ${i + 1} of ${folders.length}`);
    trials.push(await runTrial(harness, python, { ...request, folder: it }, identity, context));
    if (trials.at(-1)!.run.stopped !== undefined) break;
  }
  const results = trials.map(it => it.result);
  const result = combineTrials(results);
  const { run, attempts } = trials.at(-1)!;
  const all = [...other, result];
  if (values.json)
    print(
      JSON.stringify({
        ...toJson(all, harness, run, attempts),
        ...(results.length > 1 ? { spread: computeSpread(results, harness.table) } : {}),
      }),
    );
  else if (result.entries.length > 0) {
    for (const it of formatResults(all, harness.table)) print(it);
    if (results.length > 1) for (const it of formatSpread(results, harness.table)) print(it);
  }
  for (const it of trials) printNote(`attempts: ${it.attempts}`);
  if (run.stopped === undefined) {
    if (run.scores.length === 0 || run.scores.some(it => it.refusal === undefined)) return 0;
    printNote("no entry was answered, so that the scores do not measure the model");
    return 1;
  }
  printNote(
    `stopped after ${run.done} of ${run.total} entries: ${escapeInvisible(run.stopped)}\n  check the endpoint, and run the same command again to continue`,
  );
  return 1;
}

interface Trial {
  readonly run: HarnessRun;
  readonly result: BenchmarkResult;
  /** The file of the attempts. */
  readonly attempts: string;
}

/** Runs the benchmark once, or continues that, in a folder. */
async function runTrial(
  harness: Harness,
  python: string,
  request: HarnessRequest,
  identity: Omit<BenchmarkResult, "entries">,
  context: CliContext,
): Promise<Trial> {
  const { folder } = request;
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  const earlier = existsSync(join(folder, resultName)) ? readResult(folder).entries : [];
  writeResult(folder, { ...identity, entries: earlier });
  const run = await runHarness(harness, python, request, context);
  // entries of categories that were not asked for this time stay
  const scored = new Set(run.scores.map(it => it.id));
  const entries = [...earlier.filter(it => !scored.has(it.id)), ...run.scores];
  const result: BenchmarkResult = { ...identity, entries };
  writeResult(folder, result);
  return { run, result, attempts: await writeAttempts(harness, folder, result, context) };
}

/** The mean, the least and the most of the trials in a column. */
interface Spread {
  readonly column: string;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

function computeSpread(
  trials: readonly BenchmarkResult[],
  { categories, overall }: BenchmarkTable,
): readonly Spread[] {
  const columns = trials.map(it => computeColumns(computeShares(it), categories));
  const names = [...new Set(columns.flatMap(it => [...it.keys()]))];
  const values = names.map(name => columns.flatMap(it => it.get(name) ?? []));
  const describe = (column: string, of: readonly number[]) => ({
    column,
    mean: computeMean(of),
    min: Math.min(...of),
    max: Math.max(...of),
  });
  return [
    ...names.map((name, i) => describe(name, values[i]!)),
    describe(
      overall,
      columns.map(it => computeMean([...it.values()])),
    ),
  ];
}

/** The spread of several trials of one model, in percent. */
export const formatSpread = (
  trials: readonly BenchmarkResult[],
  table: BenchmarkTable,
): readonly string[] => [
  "",
  `${trials.length} trials of ${escapeInvisible(trials[0]!.model)}; the table has the means`,
  ...alignColumns(
    [
      ["", "mean", "min", "max"],
      ...computeSpread(trials, table).map(({ column, mean, min, max }) => [
        column,
        ...[mean, min, max].map(formatShare),
      ]),
    ],
    1,
  ),
];

function chooseCategories(
  harness: Harness,
  { categories, embeddings }: OptionValues<typeof options>,
): readonly string[] {
  for (const it of categories ?? [])
    if (!(it in harness.table.categories))
      throw new UserError(
        `${harness.name} has no category ${it}`,
        `choose from ${Object.keys(harness.table.categories).join(", ")}`,
      );
  return categories ?? (harness.hasParts ? listMeasurable({ embeddings }) : harness.usual);
}

/** The folders that the user has fetched. */
function findParts(
  { hasParts, name }: Harness,
  categories: readonly string[],
  { harness, data, embeddings, categories: chosen }: OptionValues<typeof options>,
  { cwd, printNote }: CliContext,
): HarnessParts | undefined {
  if (!hasParts) {
    if ((harness ?? data ?? embeddings) === undefined) return undefined;
    throw new UserError(
      `${name} comes in a package`,
      "leave out --harness, --data and --embeddings, which are for t-eval",
    );
  }
  const toPath = (it: string | undefined) => (it === undefined ? undefined : resolve(cwd, it));
  const folders = { harness: toPath(harness), data: toPath(data), embeddings: toPath(embeddings) };
  try {
    checkParts(folders, categories);
  } catch (error) {
    for (const it of whatIsNeeded) printNote(it);
    throw error;
  }
  if (embeddings === undefined && chosen === undefined)
    printNote(
      "Plan and Reason are left out: they need --embeddings, a model that compares sentences",
    );
  return folders;
}

/** Checks the address of an endpoint, and says what it is sent. */
function openAddress(
  model: string,
  url: string | undefined,
  key: string | undefined,
  context: CliContext,
): string {
  const sent = "the conversations of the benchmark and its tools";
  // no key of the environment is added to the one that was chosen
  const { address } = openEndpointFor({ model, url, key }, sent, context, {}).endpoint;
  // the client of the harness adds the path of the completions itself
  return address.origin + address.pathname.replace(/\/chat\/completions$/, "");
}

/** The model that plays the users. The measured model's key is sent to no other address. */
function openUser(
  model: string,
  { baseUrl, userBaseUrl }: OptionValues<typeof options>,
  context: CliContext,
): NonNullable<HarnessRequest["user"]> {
  const url = userBaseUrl ?? findUrl(baseUrl);
  const own = process.env["PROVE_USER_API_KEY"] || undefined;
  const key = own ?? (userBaseUrl === undefined ? findKey(url) : undefined);
  return { model, key, baseUrl: openAddress(model, url, key, context) };
}

const findUrl = (url: string | undefined, env = process.env): string | undefined =>
  url ?? (env["PROVE_BASE_URL"] || undefined);

/** The key for OpenAI is sent only to an address that was chosen. */
function findKey(url: string | undefined, env = process.env): string | undefined {
  const openAiKey = url === undefined ? undefined : env["OPENAI_API_KEY"];
  return env["PROVE_API_KEY"] || openAiKey || undefined;
}

/** Writes the attempts with the harness's verdicts, and returns the path of their file. */
async function writeAttempts(
  { name, format, results }: Harness,
  folder: string,
  { model, entries }: BenchmarkResult,
  { printNote, signal }: CliContext,
): Promise<string> {
  const file = join(folder, "attempts.trajectory.jsonl");
  const verdicts = new Map(entries.map(it => [it.id, it]));
  const lines: string[] = [];
  const remarks = new RowRemarks(printNote);
  for (const { path, toAttempt, toEntries } of results) {
    const source = join(folder, path);
    if (!existsSync(source)) continue;
    for await (const rollout of readRollouts(source, format, remarks)) {
      signal.throwIfAborted();
      const id = toAttempt(rollout.id);
      const own = toEntries(id).flatMap(it => verdicts.get(it) ?? []);
      const why = own.map(explain).filter(it => it !== "");
      const judged =
        own.length === 0
          ? rollout
          : {
              ...rollout,
              score: computeMean(own.map(getScore)),
              ...(why.length === 0 ? {} : { why: why.join(", ") }),
            };
      const names = { id, format: name, policy: model };
      lines.push(formatTrajectory(createShownTrajectory(judged, names)));
    }
  }
  remarks.finish();
  writeFileOver(file, lines.join(""));
  return file;
}

/** What is wrong in an entry, or its score if it is right in part. */
function explain({ category, score, error, message }: EntryScore): string {
  const faults = [error, message].filter(it => it !== null);
  if (faults.length > 0) return faults.join(": ");
  return score === undefined || score === 1 ? "" : `${category} ${score.toFixed(2)}`;
}

function toJson(
  all: readonly BenchmarkResult[],
  { table }: Harness,
  run: HarnessRun,
  attempts: string,
): object {
  const [before, after] = all;
  return {
    results: all.map(it => {
      const shares = computeShares(it);
      const overall = shares.length === 0 ? null : computeOverall(shares, table.categories);
      const { benchmark: name, harness, model } = it;
      const unanswered = countRefusals(it);
      return { benchmark: name, harness, model, categories: shares, overall, unanswered };
    }),
    ...(before && after
      ? { differences: computeDifferences(before, after, table.categories) }
      : {}),
    done: run.done,
    total: run.total,
    stopped: run.stopped ?? null,
    attempts,
  };
}

const formatShare = (share: number | undefined): string =>
  share === undefined ? "–" : (100 * share).toFixed(1);

/** A row for each result, in percent, and the differences of the second from the first. */
export function formatResults(
  results: readonly BenchmarkResult[],
  { categories, overall }: BenchmarkTable,
): readonly string[] {
  const rows = results.map(it => computeColumns(computeShares(it), categories));
  const columns = [...new Set(Object.values(categories))].filter(it =>
    rows.some(row => row.has(it)),
  );
  const heading = ["", ...columns, overall, "entries"];
  const refused = results.map(it => countRefusals(it));
  const hasRefusals = refused.some(it => it.length > 0);
  const [before, after] = results;
  const table = alignColumns(
    [
      hasRefusals ? [...heading, "unanswered"] : heading,
      ...results.map((result, i) => [
        escapeInvisible(result.model),
        ...columns.map(it => formatShare(rows[i]!.get(it))),
        formatShare(computeMean([...rows[i]!.values()])),
        String(result.entries.length),
        ...(hasRefusals ? [String(countEntries(refused[i]!))] : []),
      ]),
    ],
    1,
  );
  const lines = [...table, ...results.flatMap((it, i) => formatRefusals(it, refused[i]!))];
  if (!before || !after) return lines;
  const differences = computeDifferences(before, after, categories);
  return [
    ...lines,
    "",
    `${escapeInvisible(after.model)} − ${escapeInvisible(before.model)}, in points (95% intervals: paired bootstrap over scenarios)`,
    ...differences.map(it => formatDifference(it, it.column ?? overall)),
    ...(before.user === after.user
      ? []
      : [
          `  the users were played by ${escapeInvisible(before.user ?? "")} and by ${escapeInvisible(after.user ?? "")}, which is part of the differences`,
        ]),
  ];
}

const countEntries = (refusals: readonly RefusalCount[]): number =>
  refusals.reduce((sum, it) => sum + it.entries, 0);

/** Entries without an answer count as wrong. */
const formatRefusals = (
  { model, entries }: BenchmarkResult,
  refusals: readonly RefusalCount[],
): readonly string[] =>
  refusals.map(
    it =>
      `${escapeInvisible(model)}: ${it.entries} of ${entries.length} entries were not answered: ${escapeInvisible(it.reason)}`,
  );

function formatDifference(
  { entries, change }: Pick<Difference, "entries" | "change">,
  column: string,
): string {
  const name = column.padEnd(10);
  if (!change) return `  ${name} too few entries (${entries})`;
  const [mean, low, high] = [change.mean, change.low, change.high].map(it => {
    const points = (100 * it).toFixed(1);
    return it < 0 ? points.replace("-", "−") : `+${points}`;
  });
  return `  ${name} ${mean} (${low} … ${high}) on ${entries} entries: ${getVerdict(change)}`;
}
