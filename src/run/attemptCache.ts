/**
 * Keeps the rows of a table of attempts in a file, from which they are read again while nothing
 * that they depend on has changed.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { readLines } from "../storage/jsonLines.ts";
import { version } from "../version.ts";
import { getGroupsFile } from "./folder.ts";
import type { AttemptSource, ScoredRows, ScoringResult } from "./scoreAttempts.ts";

/** What the rows of a table depend on, and where they are kept. */
export interface CachedScoring {
  readonly sources: readonly AttemptSource[];
  /** The name of the profile. */
  readonly profile: string;
  /** Folders of fixtures; the shipped ones come last. */
  readonly fixtures: readonly string[];
  /** The file that keeps the rows until a file that they depend on changes. */
  readonly cache: string;
}

interface CachedRows extends ScoringResult {
  readonly batches: readonly ScoredRows[];
}

/** Undefined if the file is missing, is damaged, or holds other rows. */
export async function readCachedRows(scoring: CachedScoring): Promise<CachedRows | undefined> {
  const file = scoring.cache;
  if (!existsSync(file)) return undefined;
  const key = createCacheKey(scoring);
  const batches: ScoredRows[] = [];
  try {
    for await (const { number, text } of readLines(file)) {
      const json = JSON.parse(text) as ScoredRows | { key: string } | ScoringResult;
      if (number === 1 && !("key" in json && json.key === key)) return undefined;
      if ("rows" in json) batches.push(json);
      if ("skipped" in json) return { batches, skipped: json.skipped };
    }
  } catch {
    // a damaged cache is written anew
  }
  return undefined;
}

/** Keeps rows. `key` is the scoring's key from before they were scored. */
export const writeCachedRows = (
  file: string,
  key: string,
  { batches, skipped }: CachedRows,
): Promise<void> =>
  writeFileAtomically(
    file,
    [{ key }, ...batches, { skipped }].map(it => `${JSON.stringify(it)}\n`).join(""),
  );

/** Changes with every file that the rows depend on. */
export const createCacheKey = ({ sources, profile, fixtures }: CachedScoring): string =>
  JSON.stringify([
    version,
    profile,
    sources.map(it => [it, ...listFiles(it).map(describeFile)]),
    // the shipped fixtures, which come last, change with the version only
    fixtures.slice(0, -1).flatMap(listDescribedFiles),
  ]);

function listFiles(source: AttemptSource): readonly string[] {
  switch (source.kind) {
    case "tasks":
      return [source.file];
    case "step":
      return [getGroupsFile(source.run, source.step), source.tasks];
    case "trajectories":
      return [source.file, ...source.tasks];
    default:
      throw new Error(`unknown source ${JSON.stringify(source satisfies never)}`);
  }
}

function describeFile(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeMs}` : "missing";
}

const listDescribedFiles = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .toSorted()
        .map(it => `${it} ${describeFile(join(folder, it))}`)
    : [];
