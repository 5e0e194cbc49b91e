/**
 * Reads the attempts of a tasks file, of a step of a run or of a trajectory file, and scores each
 * under a profile, one by one or in batches. An attempt of a run whose profile it is has its reward
 * stored. The rows of a table can be kept in a file, from which they are read again while nothing
 * that they depend on has changed.
 */
import type { Catalog } from "../environment/catalog.ts";
import { paperProfile, type Profile } from "../reward/profiles.ts";
import { createScorer, scoreRecorded, type Scorer } from "../reward/scorer.ts";
import { getSuccess, isAchieved } from "../reward/success.ts";
import { findFormat } from "../rollouts/formats.ts";
import { readPlacedRollouts, RowRemarks } from "../rollouts/readRollouts.ts";
import { showRollout } from "../rollouts/rollout.ts";
import { readLines, type Line } from "../storage/jsonLines.ts";
import { readJsonAt, type LineRange } from "../storage/lineIndex.ts";
import { checkRegularFile } from "../storage/textFiles.ts";
import { describeReplaced } from "../trajectory/attempt.ts";
import { parseTask, readTrajectories } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import {
  createAttemptRow,
  listWeights,
  type AttemptRow,
  type PartWeights,
  type RowPlace,
  type RowReward,
} from "./attemptRow.ts";
import { getGroupsFile } from "./folder.ts";
import { parseGroupLine } from "./group.ts";
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { version } from "../version.ts";

/** Where attempts are stored. */
export type AttemptSource =
  | { readonly kind: "tasks"; readonly file: string }
  /** The tasks file of the run is searched for the tasks. */
  | { readonly kind: "step"; readonly run: string; readonly step: number; readonly tasks: string }
  /** The tasks files are searched for the tasks. */
  | { readonly kind: "trajectories"; readonly file: string; readonly tasks: readonly string[] }
  /** A file that other software wrote, in one of the formats that `import` reads. */
  | { readonly kind: "rollouts"; readonly file: string; readonly format: string };

interface ScoredRow {
  readonly row: AttemptRow;
  /** Of the parts of this attempt's reward. */
  readonly weights: PartWeights;
}

interface ScoringOptions {
  readonly catalog: Catalog;
  readonly profile: Profile;
  /** Receives the number of lines, or rows, that hold no attempt. */
  readonly onSkipped: (count: number) => void;
  /** Receives what is to be said about a file of other software. */
  readonly onNote?: (note: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Scores the attempts of a source, in the order of the file. A line that holds no attempt is
 * skipped. Throws a `UserError` if the file cannot be read.
 */
async function* scoreAttempts(
  source: AttemptSource,
  options: ScoringOptions,
): AsyncGenerator<ScoredRow> {
  const scorer = new LineScorer(options);
  switch (source.kind) {
    case "tasks":
      return yield* scoreTasks(source.file, scorer);
    case "step":
      return yield* scoreStep(source, scorer);
    case "trajectories":
      return yield* scoreTrajectories(source, scorer);
    case "rollouts":
      return yield* scoreRollouts(source, scorer);
    default:
      throw new Error(`unknown source ${JSON.stringify(source satisfies never)}`);
  }
}

/** Scores single attempts, and reports lines without one. */
class LineScorer {
  readonly options: ScoringOptions;
  readonly #score: Scorer;

  constructor(options: ScoringOptions) {
    this.options = options;
    this.#score = createScorer(options.catalog);
  }

  score(place: RowPlace, trajectory: Trajectory, task: Task | undefined): ScoredRow {
    const { profile } = this.options;
    const scored = scoreRecorded(this.#score, { trajectory, task }, profile, paperProfile);
    if ("unscorable" in scored) return createScored(place, trajectory, task, scored);
    const [breakdown, { total: paper }] = scored.breakdowns;
    const { attempt } = scored;
    const [success, note] = [isAchieved(attempt, profile), describeReplaced(attempt)];
    const reason = success ? undefined : getSuccess(attempt, profile).reasons[0];
    const reward = { breakdown, paper, success, reason, note };
    return createScored(place, attempt.trajectory, task, reward);
  }

  /** Why a recorded attempt failed; undefined if it cannot be made again. */
  explain(trajectory: Trajectory, task: Task | undefined): string | undefined {
    const { profile } = this.options;
    const scored = scoreRecorded(this.#score, { trajectory, task }, profile);
    return "unscorable" in scored ? undefined : getSuccess(scored.attempt, profile).reasons[0];
  }

  /** The lines of a file as JSON. */
  async *readJson(file: string): AsyncGenerator<{ readonly line: LineRange; json: unknown }> {
    await checkRegularFile(file);
    for await (const line of readLines(file)) {
      this.options.signal.throwIfAborted();
      const json = this.parse(line);
      if (json !== undefined) yield { line: pickRange(line), json };
    }
  }

  parse(line: Line): unknown {
    return this.attempt(() => JSON.parse(line.text) as unknown);
  }

  /** The result of reading a line; if it throws, the line is skipped. */
  attempt<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch {
      this.options.onSkipped(1);
      return undefined;
    }
  }
}

async function* scoreTasks(file: string, scorer: LineScorer): AsyncGenerator<ScoredRow> {
  for await (const { line, json } of scorer.readJson(file)) {
    const scored = scoreTask({ file, line, json }, scorer);
    if (scored) yield scored;
  }
}

/**
 * Creates a function that scores the teacher's attempt at the task of a line, for programs that
 * read the lines themselves. It returns undefined for a line that holds no task.
 */
export function createTaskScorer(
  file: string,
  options: ScoringOptions,
): (line: Line) => ScoredRow | undefined {
  const scorer = new LineScorer(options);
  return line => {
    const json = scorer.parse(line);
    return json === undefined
      ? undefined
      : scoreTask({ file, line: pickRange(line), json }, scorer);
  };
}

function scoreTask(
  { file, line, json }: { file: string; line: LineRange; json: unknown },
  scorer: LineScorer,
): ScoredRow | undefined {
  const task = scorer.attempt(() => parseTask(json, { file, line: line.number }));
  return task && scorer.score({ line }, task.trajectory, task);
}

async function* scoreStep(
  { run, step, tasks }: Extract<AttemptSource, { kind: "step" }>,
  scorer: LineScorer,
): AsyncGenerator<ScoredRow> {
  const file = getGroupsFile(run, step);
  const finder = new TaskFinder([tasks]);
  for await (const { line, json } of scorer.readJson(file)) {
    const stored = parseGroupLine(json);
    if (!stored) {
      scorer.options.onSkipped(1);
      continue;
    }
    const { trajectory, attempt, advantage, breakdown, paper, success, variant } = stored;
    const place = { line, step, attempt, advantage };
    const task = variant ?? (await finder.find(trajectory.header.task));
    if (breakdown.profile !== scorer.options.profile.name)
      yield scorer.score(place, trajectory, task);
    else {
      const reason = success ? undefined : scorer.explain(trajectory, task);
      yield createScored(place, trajectory, task, { breakdown, paper, success, reason });
    }
  }
}

async function* scoreTrajectories(
  { file, tasks }: Extract<AttemptSource, { kind: "trajectories" }>,
  scorer: LineScorer,
): AsyncGenerator<ScoredRow> {
  await checkRegularFile(file);
  const finder = new TaskFinder(tasks);
  let attempt = 0;
  for await (const trajectory of readTrajectories(file, { signal: scorer.options.signal })) {
    const place = { line: { number: 0, offset: 0, bytes: 0 }, attempt: attempt++ };
    yield scorer.score(place, trajectory, await finder.find(trajectory.header.task));
  }
}

/** The attempts of other software have no reward, but perhaps a score in the file. */
async function* scoreRollouts(
  { file, format: name }: Extract<AttemptSource, { kind: "rollouts" }>,
  scorer: LineScorer,
): AsyncGenerator<ScoredRow> {
  await checkRegularFile(file);
  const { onSkipped, onNote, signal } = scorer.options;
  const format = findFormat(name);
  const remarks = new RowRemarks(it => onNote?.(it.replace(file, basename(file))));
  try {
    for await (const { rollout, place } of readPlacedRollouts(file, format, remarks)) {
      signal.throwIfAborted();
      const row = { line: { number: 0, offset: 0, bytes: 0 }, ...place };
      yield createScored(row, showRollout(rollout, format), undefined, {});
    }
  } finally {
    remarks.finish();
    onSkipped(remarks.skipped);
  }
}

const createScored = (
  place: RowPlace,
  trajectory: Trajectory,
  task: Task | undefined,
  reward: RowReward,
): ScoredRow => ({
  row: createAttemptRow(place, trajectory, task, reward),
  weights: "breakdown" in reward ? listWeights(reward.breakdown) : {},
});

const pickRange = ({ number, offset, bytes }: Line): LineRange => ({ number, offset, bytes });

/** Finds tasks in files by their ids. The files are indexed when the first task is needed. */
export class TaskFinder {
  readonly #files: readonly string[];
  #places: Promise<ReadonlyMap<string, { file: string; line: LineRange }>> | undefined;
  /** The attempts of a group follow each other. */
  #last: { readonly id: string; readonly task: Task | undefined } | undefined;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Undefined if no file has the task, or the task is not valid. */
  async find(id: string): Promise<Task | undefined> {
    if (this.#last?.id !== id) this.#last = { id, task: await this.#read(id) };
    return this.#last.task;
  }

  async #read(id: string): Promise<Task | undefined> {
    const place = (await (this.#places ??= this.#index())).get(id);
    if (!place) return undefined;
    const { file, line } = place;
    try {
      return parseTask(await readJsonAt(file, line), { file, line: line.number });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return undefined;
    }
  }

  async #index(): Promise<ReadonlyMap<string, { file: string; line: LineRange }>> {
    const places = new Map<string, { file: string; line: LineRange }>();
    for (const file of this.#files)
      try {
        for await (const line of readLines(file)) {
          const id = readId(line.text);
          if (id !== undefined && !places.has(id)) places.set(id, { file, line: pickRange(line) });
        }
      } catch (error) {
        // a file that is gone has no task
        if (!(error instanceof UserError)) throw error;
      }
    return places;
  }
}

function readId(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { readonly id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    // not a task
    return undefined;
  }
}

/** Scored attempts, in the order of their sources. */
export interface ScoredRows {
  readonly rows: readonly AttemptRow[];
  /** The weights of the parts that occurred so far. */
  readonly weights: PartWeights;
}

export interface ScoringResult {
  /** The number of lines that hold no attempt. */
  readonly skipped: number;
  /** What is to be said about a file of other software, such as why rows were skipped. */
  readonly notes?: readonly string[];
}

interface BatchOptions extends Omit<ScoringOptions, "onSkipped" | "onNote"> {
  readonly send: (rows: ScoredRows) => void;
  /** Lets other work run after an attempt, where this is not a process of its own. */
  readonly pause?: () => Promise<void>;
}

/** Rows that are sent together: a few milliseconds of work for the receiver. */
const batchRows = 200;
/** Milliseconds after which fewer rows are sent. */
const batchInterval = 150;

/** Throws a `UserError` if a source cannot be read, and the signal's reason when it is aborted. */
export async function scoreInBatches(
  sources: readonly AttemptSource[],
  { send, pause, ...options }: BatchOptions,
): Promise<ScoringResult> {
  let skipped = 0;
  const notes: string[] = [];
  const onSkipped = (count: number) => (skipped += count);
  const onNote = (note: string) => {
    notes.push(note);
    // the first of them are enough, and the last two sum up
    if (notes.length > 7) notes.splice(5, notes.length - 7, "…");
  };
  let rows: AttemptRow[] = [];
  let weights: PartWeights = {};
  let lastSent = performance.now();
  const flush = () => {
    if (rows.length > 0) send({ rows, weights });
    rows = [];
    lastSent = performance.now();
  };
  for (const source of sources)
    for await (const it of scoreAttempts(source, { ...options, onSkipped, onNote })) {
      rows.push(it.row);
      weights = { ...weights, ...it.weights };
      if (rows.length >= batchRows || performance.now() - lastSent > batchInterval) flush();
      await pause?.();
    }
  flush();
  return { skipped, ...(notes.length > 0 ? { notes } : {}) };
}

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
      if ("skipped" in json) return { batches, ...json };
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
  { batches, ...result }: CachedRows,
): Promise<void> =>
  writeFileAtomically(
    file,
    [{ key }, ...batches, result].map(it => `${JSON.stringify(it)}\n`).join(""),
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
    case "rollouts":
      return [source.file];
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
