/**
 * Scores the attempts of a table for the editor, and keeps the rows in a file. The tasks of a large
 * file are scored in worker threads, to use all cores: the main thread reads the lines; each thread
 * parses and scores one chunk of them at a time.
 */
import { statSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parentPort, Worker, workerData } from "node:worker_threads";
import type { Catalog } from "../environment/catalog.ts";
import type { ScoringWork } from "../protocol/work.ts";
import { profiles, type Profile } from "../reward/profiles.ts";
import {
  createCacheKey,
  writeCachedRows,
  type AttemptSource,
  scoreInBatches,
  type ScoredRows,
  type ScoringResult,
  createTaskScorer,
} from "../run/scoreAttempts.ts";
import type { AppContext } from "./context.ts";
import type { AttemptRow, PartWeights } from "../run/attemptRow.ts";
import { readLines, type Line } from "../storage/jsonLines.ts";
import { checkRegularFile } from "../storage/textFiles.ts";

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
  const ownCatalog = catalog.reopen(fixtures);
  const file = findLargeFile(work.sources);
  const result = file
    ? await scoreInThreads({ ...options, file, fixtures, program, catalog: ownCatalog })
    : await scoreInBatches(work.sources, { ...options, catalog: ownCatalog });
  await writeCachedRows(work.cache, key, { batches, ...result });
  return result;
}

/** The tasks file that is the only source, if it is large. */
function findLargeFile([source, ...others]: readonly AttemptSource[]): string | undefined {
  if (source?.kind !== "tasks" || others.length > 0) return undefined;
  const size = statSync(source.file, { throwIfNoEntry: false })?.size ?? 0;
  return size >= minThreadedBytes ? source.file : undefined;
}

/** In a smaller file, a thread takes longer to start than it saves. */
const minThreadedBytes = 4_000_000;

/** Each takes some 150 MB. */
const maxThreads = 4;

/** Lines that a thread gets at once: a third of a second of work. */
const chunkLines = 100;

/** Lines that the main thread scores while the others start, so that a screenful is there soon. */
const firstLines = 30;

/** As for threads of a synthesis: V8's default takes more memory and is no faster. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 };

/** What a thread needs to score like the program that starts it. */
interface ScoringSetup {
  readonly kind: "scoring";
  readonly file: string;
  readonly profile: Profile;
  readonly fixtures: readonly string[];
}

/** The scored lines of a chunk. */
interface ScoredChunk extends ScoredRows {
  readonly skipped: number;
}

interface ThreadedScoring extends Omit<ScoringSetup, "kind"> {
  /** The file of the program of worker threads. */
  readonly program: string;
  readonly threads?: number;
  /** The catalog with the fixtures, for the main thread. */
  readonly catalog: Catalog;
  readonly signal: AbortSignal;
  readonly send: (rows: ScoredRows) => void;
}

/** Scores a tasks file; the rows are sent in the order of the file. */
export async function scoreInThreads({
  program,
  threads = Math.min(maxThreads, availableParallelism()),
  catalog,
  signal,
  send,
  ...setup
}: ThreadedScoring): Promise<ScoringResult> {
  await checkRegularFile(setup.file);
  const chunks = readChunks(setup.file);
  const sender = createOrderedSender(send);
  const data: ScoringSetup = { kind: "scoring", ...setup };
  const workers = Array.from(
    { length: threads },
    () => new Worker(program, { workerData: data, resourceLimits }),
  );
  let position = 0;
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const feed = async (worker: Worker) => {
    for (;;) {
      const own = position++;
      const { value: lines, done } = await chunks.next();
      if (done) return;
      worker.postMessage(lines);
      const [scored] = (await once(worker, "message", { signal: stop })) as [ScoredChunk];
      sender.add(own, scored);
    }
  };
  for (const it of workers)
    it.on("exit", () => failure.abort(new Error("a thread of the scoring ended")));
  try {
    const { value: first } = await chunks.next();
    if (first) sender.add(position++, createChunkScorer(setup, catalog)(first));
    signal.throwIfAborted();
    await Promise.all(workers.map(feed));
    return { skipped: sender.skipped };
  } catch (error) {
    signal.throwIfAborted();
    throw (error as Error).name === "AbortError" ? failure.signal.reason : error;
  } finally {
    await Promise.all(workers.map(it => it.terminate()));
  }
}

/** The lines of a file, a chunk at a time. Calls of `next` are answered in their order. */
async function* readChunks(file: string): AsyncGenerator<readonly Line[]> {
  let lines: Line[] = [];
  let size = firstLines;
  for await (const it of readLines(file)) {
    if (lines.push(it) < size) continue;
    yield lines;
    lines = [];
    size = chunkLines;
  }
  if (lines.length > 0) yield lines;
}

/** Passes chunks on in the order of their positions. */
function createOrderedSender(send: (rows: ScoredRows) => void) {
  const waiting = new Map<number, ScoredChunk>();
  let next = 0;
  const sender = {
    skipped: 0,
    add(position: number, scored: ScoredChunk): void {
      waiting.set(position, scored);
      for (let chunk = waiting.get(next); chunk; chunk = waiting.get(next)) {
        waiting.delete(next++);
        sender.skipped += chunk.skipped;
        if (chunk.rows.length > 0) send({ rows: chunk.rows, weights: chunk.weights });
      }
    },
  };
  return sender;
}

/** The program of a thread: answers each chunk of lines with its rows. */
export async function runScoringThread(
  openCatalog: (fixtureFolders: readonly string[]) => Promise<Catalog>,
): Promise<void> {
  const setup = workerData as ScoringSetup;
  const port = parentPort!;
  const scoreChunk = createChunkScorer(setup, await openCatalog(setup.fixtures));
  port.on("message", (lines: readonly Line[]) => port.postMessage(scoreChunk(lines)));
}

/** Returns a function that scores lines. */
function createChunkScorer(
  { file, profile }: Pick<ScoringSetup, "file" | "profile">,
  catalog: Catalog,
): (lines: readonly Line[]) => ScoredChunk {
  let skipped = 0;
  let weights: PartWeights = {};
  const score = createTaskScorer(file, {
    catalog,
    profile,
    onSkipped: count => (skipped += count),
    signal: new AbortController().signal,
  });
  return lines => {
    skipped = 0;
    const rows: AttemptRow[] = [];
    for (const line of lines) {
      const scored = score(line);
      if (!scored) continue;
      rows.push(scored.row);
      weights = { ...weights, ...scored.weights };
    }
    return { rows, weights, skipped };
  };
}
