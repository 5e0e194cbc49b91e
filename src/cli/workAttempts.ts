/**
 * The work for the editor that scores the attempts of a table. The rows are kept in a file, and
 * sent from it again while nothing that they depend on has changed.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../environment/catalog.ts";
import type { ScoringWork } from "../protocol/work.ts";
import { profiles } from "../reward/profiles.ts";
import { getGroupsFile } from "../run/folder.ts";
import type { AttemptSource } from "../run/scoreAttempts.ts";
import { scoreInBatches, type ScoredRows, type ScoringResult } from "../run/scoreInBatches.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { readLines } from "../storage/jsonLines.ts";
import { version } from "../version.ts";
import type { CliContext } from "./command.ts";
import { minThreadedBytes, scoreInThreads } from "./scoringThreads.ts";

/** Scores attempts and sends the rows in batches. */
export async function scoreForTable(
  work: ScoringWork,
  { catalog, signal, program }: Pick<CliContext, "catalog" | "signal" | "program">,
  send: (rows: ScoredRows) => void,
): Promise<ScoringResult> {
  const key = createCacheKey(work);
  const known = await readCache(work.cache, key);
  if (known) {
    for (const it of known.batches) send(it);
    return { skipped: known.skipped };
  }
  const profile = profiles.find(it => it.name === work.profile);
  if (!profile) throw new Error(`unknown profile ${work.profile}`);
  const batches: ScoredRows[] = [];
  const options = {
    profile,
    signal,
    send: (it: ScoredRows) => {
      batches.push(it);
      send(it);
    },
  };
  const { fixtures } = work;
  const file = findLargeFile(work.sources);
  const { skipped } = file
    ? await scoreInThreads({ ...options, file, fixtures, program })
    : await scoreInBatches(work.sources, {
        ...options,
        catalog: openCatalog([...catalog.servers.values()], fixtures),
      });
  await writeFileAtomically(
    work.cache,
    [{ key }, ...batches, { skipped }].map(it => `${JSON.stringify(it)}\n`).join(""),
  );
  return { skipped };
}

/** The tasks file that is the only source, if it is large. */
function findLargeFile([source, ...others]: readonly AttemptSource[]): string | undefined {
  if (source?.kind !== "tasks" || others.length > 0) return undefined;
  const size = statSync(source.file, { throwIfNoEntry: false })?.size ?? 0;
  return size >= minThreadedBytes ? source.file : undefined;
}

interface Cache {
  readonly batches: readonly ScoredRows[];
  readonly skipped: number;
}

/** Undefined if the file is missing or holds other rows. */
async function readCache(file: string, key: string): Promise<Cache | undefined> {
  if (!existsSync(file)) return undefined;
  const batches: ScoredRows[] = [];
  try {
    for await (const { number, text } of readLines(file)) {
      const json = JSON.parse(text) as ScoredRows | { key: string } | { skipped: number };
      if (number === 1 && !("key" in json && json.key === key)) return undefined;
      if ("rows" in json) batches.push(json);
      if ("skipped" in json) return { batches, skipped: json.skipped };
    }
  } catch {
    // a damaged cache is written anew
  }
  return undefined;
}

/** Changes with every file that the rows depend on. */
const createCacheKey = ({ sources, profile, fixtures }: ScoringWork): string =>
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
