/** The work for the editor that scores the attempts of a table, and keeps the rows in a file. */
import { statSync } from "node:fs";
import { openCatalog } from "../../environment/catalog.ts";
import type { ScoringWork } from "../../protocol/work.ts";
import { profiles } from "../../reward/profiles.ts";
import {
  createCacheKey,
  writeCachedRows,
  type AttemptSource,
  scoreInBatches,
  type ScoredRows,
  type ScoringResult,
} from "../../run/scoreAttempts.ts";
import type { AppContext } from "../context.ts";
import { minThreadedBytes, scoreInThreads } from "../scoringThreads.ts";

/** Scores attempts and sends the rows in batches. */
export async function scoreForTable(
  work: ScoringWork,
  {
    catalog,
    signal,
    program,
  }: Pick<AppContext, "catalog" | "signal"> & { readonly program: string },
  send: (rows: ScoredRows) => void,
): Promise<ScoringResult> {
  const key = createCacheKey(work);
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
  const ownCatalog = openCatalog([...catalog.servers.values()], fixtures);
  const file = findLargeFile(work.sources);
  const { skipped } = file
    ? await scoreInThreads({ ...options, file, fixtures, program, catalog: ownCatalog })
    : await scoreInBatches(work.sources, { ...options, catalog: ownCatalog });
  await writeCachedRows(work.cache, key, { batches, skipped });
  return { skipped };
}

/** The tasks file that is the only source, if it is large. */
function findLargeFile([source, ...others]: readonly AttemptSource[]): string | undefined {
  if (source?.kind !== "tasks" || others.length > 0) return undefined;
  const size = statSync(source.file, { throwIfNoEntry: false })?.size ?? 0;
  return size >= minThreadedBytes ? source.file : undefined;
}
