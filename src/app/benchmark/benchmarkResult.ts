/** The result of an official benchmark: which entries were right, in a file of its own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  computeInterval,
  computeMean,
  type Interval,
  type Observation,
} from "../../evaluation/interval.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";

const format = "prove/benchmark@1";

const entrySchema = z.strictObject({
  id: z.string(),
  category: z.string(),
  valid: z.boolean(),
  /** From 0 to 1, where an entry can be right in part. */
  score: z.number().min(0).max(1).optional(),
  /** The kind of error in the harness's words, and its message. */
  error: z.string().nullable(),
  message: z.string().nullable(),
  /**
   * Why the entry has no answer, and is wrong: `context_length_exceeded`, or what the endpoint
   * said.
   */
  refusal: z.string().optional(),
});
export type EntryScore = z.infer<typeof entrySchema>;

const resultSchema = z.strictObject({
  format: z.literal(format),
  benchmark: z.string(),
  /** The package of the harness and its version. */
  harness: z.string(),
  model: z.string(),
  temperature: z.number(),
  /** The model that played the users, for benchmarks that have users. */
  user: z.string().optional(),
  entries: z.array(entrySchema),
});
export type BenchmarkResult = Omit<z.infer<typeof resultSchema>, "format">;

export const resultName = "benchmark.json";

export const writeResult = (folder: string, result: BenchmarkResult): void =>
  writeFileAtomicallySync(
    join(folder, resultName),
    `${JSON.stringify({ format, ...result }, null, 2)}\n`,
  );

/** Where a trial is: the first one in the benchmark's folder, and the others in folders in it. */
export const getTrialFolder = (folder: string, trial: number): string =>
  trial === 1 ? folder : join(folder, `trial-${trial}`);

/** The results of all trials. Throws a `UserError` if the folder has no valid result. */
export function readTrials(folder: string): readonly BenchmarkResult[] {
  const trials = [readResult(folder)];
  for (let n = 2; existsSync(join(getTrialFolder(folder, n), resultName)); n++)
    trials.push(readResult(getTrialFolder(folder, n)));
  return trials;
}

/** One result of several trials, in which each entry has the mean of its scores. */
export function combineTrials(trials: readonly BenchmarkResult[]): BenchmarkResult {
  const [first, ...others] = trials;
  if (others.length === 0) return first!;
  const byId = groupBy(
    trials.flatMap(it => it.entries),
    it => it.id,
  );
  const entries = [...byId.values()].map(them => ({
    // one that was not answered says why
    ...(them.find(it => it.refusal !== undefined) ?? them[0]!),
    valid: them.every(it => it.valid),
    score: computeMean(them.map(getScore)),
  }));
  return { ...first!, entries };
}

/** Throws a `UserError` if the folder has no valid result. */
export function readResult(folder: string): BenchmarkResult {
  const file = join(folder, resultName);
  if (!existsSync(file))
    throw new UserError(
      `${folder} is not the folder of a benchmark: it has no ${resultName}`,
      "give the folder that prove-rl benchmark wrote",
    );
  return readJsonFile(resultSchema, file, { noun: "the result of a benchmark", format });
}

/**
 * Throws a `UserError` unless the folder is new or has results of the same model and harness, which
 * are then continued.
 */
export function checkFolder(folder: string, expected: Omit<BenchmarkResult, "entries">): void {
  if (!existsSync(join(folder, resultName))) return;
  const found = readResult(folder);
  for (const key of ["benchmark", "harness", "model", "temperature", "user"] as const)
    if (found[key] !== expected[key])
      throw new UserError(
        `${folder} has results for ${key} ${found[key]}, not ${expected[key]}`,
        "write to another folder with --out",
      );
}

export const getScore = ({ valid, score }: EntryScore): number => score ?? Number(valid);

/** The refusal of a conversation that is too long for the model. */
const tooLong = "context_length_exceeded";

/** Entries that were not answered for one reason. */
export interface RefusalCount {
  readonly reason: string;
  readonly entries: number;
}

/** The entries without an answer by reason, the most frequent one first. Numbers may differ. */
export function countRefusals({ entries }: BenchmarkResult): readonly RefusalCount[] {
  const refusals = entries.flatMap(it => it.refusal ?? []);
  return [...groupBy(refusals, it => it.replaceAll(/\d+/g, "0")).values()]
    .map(them => ({
      reason: them[0] === tooLong ? "the conversation was too long for the model" : them[0]!,
      entries: them.length,
    }))
    .toSorted((a, b) => b.entries - a.entries);
}

/** The columns of categories, where some share one. */
type Columns = Readonly<Record<string, string>>;

/** A category, which is a column of the table or a part of one. */
interface CategoryShare {
  readonly category: string;
  readonly entries: number;
  /** The share of right entries, or the mean of their scores. */
  readonly share: number;
}

/** The shares of the categories, in the order in which these first occur. */
export const computeShares = ({ entries }: BenchmarkResult): readonly CategoryShare[] =>
  [...groupBy(entries, it => it.category)].map(([category, them]) => ({
    category,
    entries: them.length,
    share: computeMean(them.map(getScore)),
  }));

/** As in the harnesses: the mean of the categories of each column, in the columns' order. */
export function computeColumns(
  shares: readonly CategoryShare[],
  columns: Columns,
): ReadonlyMap<string, number> {
  const found = [...new Set(Object.values(columns))].flatMap(column => {
    const own = shares.filter(it => columns[it.category] === column);
    return own.length === 0 ? [] : [[column, computeMean(own.map(it => it.share))] as const];
  });
  return new Map(found);
}

/** The mean of the columns, whatever their numbers of entries. */
export const computeOverall = (shares: readonly CategoryShare[], columns: Columns): number =>
  computeMean([...computeColumns(shares, columns).values()]);

/** A difference in a column, or in all if `column` is undefined. */
export interface Difference {
  readonly column: string | undefined;
  readonly entries: number;
  /** Undefined if there are too few entries. */
  readonly change: Interval | undefined;
}

/**
 * After − before on the entries that both have, with 95% intervals of a paired bootstrap. Entries
 * of one scenario are drawn together.
 */
export function computeDifferences(
  before: BenchmarkResult,
  after: BenchmarkResult,
  columns: Columns,
): readonly Difference[] {
  if (before.harness !== after.harness || before.benchmark !== after.benchmark)
    throw new UserError(
      `${before.model} was measured with ${before.harness}, and ${after.model} with ${after.harness}`,
      "measure both with the same version",
    );
  const old = new Map(before.entries.map(it => [it.id, it]));
  const pairs = after.entries.flatMap(it => {
    const other = old.get(it.id);
    if (!other) return [];
    const value = getScore(it) - getScore(other);
    return [{ category: it.category, cluster: getScenario(after.benchmark, it.id), value }];
  });
  if (pairs.length === 0)
    throw new UserError(
      "the two results have no entries in common",
      "measure both on the same categories",
    );
  const byCategory = groupBy(pairs, it => it.category);
  const byColumn = groupBy([...byCategory], ([category]) => columns[category] ?? category);
  // categories and columns count the same, whatever their numbers of entries, as in the table
  const weigh = (groups: readonly (readonly Observation[])[], total: number) =>
    groups.flatMap(them =>
      them.map(it => ({ ...it, value: (it.value * total) / (groups.length * them.length) })),
    );
  const weighted = [...byColumn].map(([column, categories]) => {
    const groups = categories.map(([, them]) => them);
    return { column, entries: weigh(groups, groups.flat().length) };
  });
  return [
    ...weighted.map(({ column, entries }) => ({
      column,
      entries: entries.length,
      change: computeInterval(entries),
    })),
    {
      column: undefined,
      entries: pairs.length,
      change: computeInterval(
        weigh(
          weighted.map(it => it.entries),
          pairs.length,
        ),
      ),
    },
  ];
}

/** Entries with the same scenario are not independent of each other. */
function getScenario(benchmark: string, id: string): string {
  // the number of BFCL's entries, which the variants of a scenario share
  if (benchmark === "bfcl") return /\d+$/.exec(id)?.[0] ?? id;
  // the number of T-Eval's query, of which cases in several categories are made
  if (benchmark === "t-eval") return /\d+/.exec(id)?.[0] ?? id;
  return id;
}

function groupBy<T>(rows: readonly T[], getKey: (row: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const it of rows) {
    const key = getKey(it);
    const group = groups.get(key);
    if (group) group.push(it);
    else groups.set(key, [it]);
  }
  return groups;
}

/** The columns of a benchmark's table. */
export interface BenchmarkTable {
  /** The categories in their order, with the columns that they belong to. */
  readonly categories: Columns;
  /** The name of the mean of the columns. */
  readonly overall: string;
}
