/** The result of an official benchmark: which entries were right, in a file of its own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { computeInterval, computeMean, type Interval } from "../../evaluation/interval.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";

const format = "prove/benchmark@1";

const entrySchema = z.strictObject({
  id: z.string(),
  category: z.string(),
  valid: z.boolean(),
  /** The kind of error in the harness's words, and its message. */
  error: z.string().nullable(),
  message: z.string().nullable(),
});
export type EntryScore = z.infer<typeof entrySchema>;

const resultSchema = z.strictObject({
  format: z.literal(format),
  benchmark: z.string(),
  /** The package of the harness and its version. */
  harness: z.string(),
  model: z.string(),
  temperature: z.number(),
  entries: z.array(entrySchema),
});
export type BenchmarkResult = Omit<z.infer<typeof resultSchema>, "format">;

export const resultName = "benchmark.json";

export const writeResult = (folder: string, result: BenchmarkResult): void =>
  writeFileAtomicallySync(
    join(folder, resultName),
    `${JSON.stringify({ format, ...result }, null, 2)}\n`,
  );

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
  for (const key of ["benchmark", "harness", "model", "temperature"] as const)
    if (found[key] !== expected[key])
      throw new UserError(
        `${folder} has results for ${key} ${found[key]}, not ${expected[key]}`,
        "write to another folder with --out",
      );
}

/** A column of the table. */
export interface CategoryShare {
  readonly category: string;
  readonly entries: number;
  /** The share of right entries. */
  readonly share: number;
}

/** The shares of the categories, in the order in which these first occur. */
export const computeShares = ({ entries }: BenchmarkResult): readonly CategoryShare[] =>
  [...groupByCategory(entries)].map(([category, them]) => ({
    category,
    entries: them.length,
    share: computeMean(them.map(it => Number(it.valid))),
  }));

/** As in the harness: the mean of the categories, whatever their numbers of entries. */
export const computeOverall = (shares: readonly CategoryShare[]): number =>
  computeMean(shares.map(it => it.share));

/** A difference in a category, or in all if `category` is undefined. */
export interface Difference {
  readonly category: string | undefined;
  readonly entries: number;
  /** Undefined if there are too few entries. */
  readonly change: Interval | undefined;
}

/**
 * After − before on the entries that both have, with 95% intervals of a paired bootstrap. Entries
 * with one number in several categories are variants of one scenario and are drawn together.
 */
export function computeDifferences(
  before: BenchmarkResult,
  after: BenchmarkResult,
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
    const value = Number(it.valid) - Number(other.valid);
    return [{ category: it.category, cluster: /\d+$/.exec(it.id)?.[0] ?? it.id, value }];
  });
  if (pairs.length === 0)
    throw new UserError(
      "the two results have no entries in common",
      "measure both on the same categories",
    );
  const byCategory = groupByCategory(pairs);
  return [
    ...[...byCategory].map(([category, them]) => ({
      category,
      entries: them.length,
      change: computeInterval(them),
    })),
    { category: undefined, entries: pairs.length, change: computeInterval(pairs) },
  ];
}

function groupByCategory<T extends { readonly category: string }>(
  rows: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const it of rows) {
    const group = groups.get(it.category);
    if (group) group.push(it);
    else groups.set(it.category, [it]);
  }
  return groups;
}
