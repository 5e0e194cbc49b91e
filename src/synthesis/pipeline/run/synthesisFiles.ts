/**
 * Writes the files of a synthesis: tasks, rejected attempts, and the report. The files are valid
 * even if the synthesis is interrupted, and a lock keeps two programs from writing the same files.
 */
import { existsSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { acquireLock } from "../../../storage/fileLock.ts";
import { readJsonLines, readLines } from "../../../storage/jsonLines.ts";
import { LineWriter } from "../../../storage/lineWriter.ts";
import { readTasks } from "../../../trajectory/file.ts";
import { type Task, formatTaskLine } from "../../../trajectory/task.ts";
import { UserError } from "../../../userError.ts";
import {
  formatRejected,
  getRejectedFile,
  getReportFile,
  writeReport,
  type RejectedAttempt,
  type Report,
  measureProgress,
  type SynthesisProgress,
} from "../report/report.ts";
import { ReportCounts } from "../report/reportCounts.ts";
import type { AttemptResult } from "../task/attemptTask.ts";
import { readIfExists } from "../../../storage/fileErrors.ts";
import { readTextFile } from "../../../storage/textFiles.ts";

/**
 * Milliseconds after which pending input, such as a cancellation, is processed: attempts come one
 * after the other without yielding.
 */
const yieldInterval = 50;

export interface SynthesisListeners {
  /** Milliseconds from any origin, for progress only: no clock affects what is synthesized. */
  readonly readClock: () => number;
  readonly onProgress: (progress: SynthesisProgress) => void;
  /** Receives remarks for the user, such as that a torn line was removed. */
  readonly onRemark: (remark: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Appends tasks until there are as many as the options request, or no attempts are left. Attempts
 * that the files already contain are compared with them instead of written.
 */
export async function writeSynthesis(
  file: string,
  attempts: AsyncIterable<AttemptResult>,
  options: Report["options"],
  listeners: SynthesisListeners,
): Promise<Report> {
  const releaseLock = acquireLock(`${file}.lock`, {
    createConflict: pid =>
      new UserError(
        `process ${pid} is writing ${file}`,
        "wait until it is done, or write to another file",
      ),
  });
  try {
    const counts = new ReportCounts();
    await writeAttempts(file, attempts, counts, options, listeners);
    const report = counts.createReport(options);
    await writeReport(getReportFile(file), report);
    return report;
  } finally {
    releaseLock();
  }
}

async function writeAttempts(
  file: string,
  attempts: AsyncIterable<AttemptResult>,
  counts: ReportCounts,
  { count: total, maxTokens }: Report["options"],
  { onProgress, onRemark, readClock, signal }: SynthesisListeners,
): Promise<void> {
  await checkSynthesisFiles(file);
  // rejections and a report without their tasks belong to a file that was deleted
  if (!existsSync(file))
    for (const it of [getRejectedFile(file), getReportFile(file)]) rmSync(it, { force: true });
  const writers = new SynthesisWriters(file, onRemark);
  try {
    let storedRejections = await countLines(getRejectedFile(file), signal);
    const storedTasks = readStoredTasks(file, signal);
    let stored = await nextTask(storedTasks);
    if (stored === undefined) writers.open();
    const started = readClock();
    let yielded = started;
    const overLong: number[] = [];
    let brokenCount = 0;
    for await (const attempt of attempts) {
      if (readClock() - yielded > yieldInterval) {
        await setImmediate();
        yielded = readClock();
      }
      if (attempt.kind === "rejected") {
        counts.countRejected(attempt.rejected);
        const { tokens, reason, why } = attempt.rejected;
        // while a request is planned, too
        const isBroken = reason === "broken" || / broke: /.test(why);
        if (isBroken && ++brokenCount >= manyBroken && counts.accepted === 0)
          throw new UserError(`no task can be made: ${why}`, "correct that, and run it again");
        if (tokens !== undefined) overLong.push(tokens);
        if (storedRejections > 0) storedRejections--;
        else writers.appendRejected(attempt.rejected);
        if (tokens !== undefined && fitsNearlyNothing(overLong, counts.accepted))
          throw createTokensError(overLong, counts.accepted, maxTokens!);
        continue;
      }
      if (stored === undefined) writers.appendTask(formatTaskLine(attempt.task));
      else {
        if (formatTaskLine(attempt.task) !== formatTaskLine(stored))
          throw createDifferenceError(file, stored);
        stored = await nextTask(storedTasks);
        if (stored === undefined) writers.open();
      }
      counts.countAccepted(attempt.task);
      onProgress(measureProgress(counts.accepted, total, readClock() - started));
      if (counts.accepted === total) break;
    }
    writers.open();
  } finally {
    writers.close();
  }
}

/** After so many calls that broke, and no task, a synthesis ends. */
const manyBroken = 5;

/** With so many tasks that take too many tokens, and fewer than 2% that fit, a synthesis ends. */
const manyOverLong = 100;

const fitsNearlyNothing = (overLong: readonly number[], accepted: number): boolean =>
  overLong.length >= manyOverLong && accepted < overLong.length / 50;

const createTokensError = (
  overLong: readonly number[],
  accepted: number,
  maxTokens: number,
): UserError =>
  new UserError(
    `of ${overLong.length + accepted} tasks, ${accepted} fit into ${maxTokens} tokens; the shortest of the others takes ${Math.min(...overLong)}`,
    "raise --max-tokens, offer fewer tools with --menu chain, or make shorter tasks with --preset student",
  );

/**
 * Appends tasks and rejected attempts. The files are opened, which cuts off a torn last line, once
 * they are known to belong to this synthesis.
 */
class SynthesisWriters {
  readonly #file: string;
  readonly #onRemark: (remark: string) => void;
  #tasks: LineWriter | undefined;
  #rejections: LineWriter | undefined;
  /** Lines that are written when the files are opened. */
  readonly #earlyRejections: string[] = [];

  constructor(file: string, onRemark: (remark: string) => void) {
    this.#file = file;
    this.#onRemark = onRemark;
  }

  open(): void {
    if (this.#rejections) return;
    this.#tasks = new LineWriter(this.#file);
    if (this.#tasks.torn !== undefined)
      this.#onRemark(`${this.#file} ended in a torn line, which was cut off`);
    this.#rejections = new LineWriter(getRejectedFile(this.#file));
    for (const it of this.#earlyRejections) this.#rejections.append(it);
  }

  appendTask(line: string): void {
    this.#tasks!.append(line);
  }

  appendRejected(rejected: RejectedAttempt): void {
    const line = formatRejected(rejected);
    if (this.#rejections) this.#rejections.append(line);
    else this.#earlyRejections.push(line);
  }

  close(): void {
    this.#tasks?.close();
    this.#rejections?.close();
  }
}

async function* readStoredTasks(file: string, signal: AbortSignal): AsyncGenerator<Task> {
  if (existsSync(file)) yield* readTasks(file, { signal });
}

const nextTask = async (tasks: AsyncGenerator<Task>): Promise<Task | undefined> =>
  (await tasks.next()).value as Task | undefined;

const createDifferenceError = (file: string, { id }: Task): UserError =>
  new UserError(
    `${file} was made with other options, servers or phrases, or by another version (task ${id} differs)`,
    "repeat the command that made it with the version that made it, or write to another file",
  );

async function countLines(file: string, signal: AbortSignal): Promise<number> {
  let n = 0;
  if (!existsSync(file)) return n;
  for await (const _ of readJsonLines(file, { signal })) n++;
  return n;
}

// Checks that the files which a synthesis is about to write are its own, so that `--resume` and a
// name that was taken by accident change nothing of somebody else.

/** Throws a `UserError` unless each file is missing, empty, or was written by a synthesis. */
async function checkSynthesisFiles(tasksFile: string): Promise<void> {
  await checkLines(tasksFile, "task");
  await checkLines(getRejectedFile(tasksFile), "rejected");
  const report = getReportFile(tasksFile);
  const text = readIfExists(report, () => readTextFile(report));
  if (text !== undefined && !hasFormat(text, "report")) throw createError(report);
}

/** Checks the first line, and a torn last one, which resuming cuts off. */
async function checkLines(file: string, kind: string): Promise<void> {
  const stats = readIfExists(file, () => statSync(file));
  if (!stats) return;
  if (!stats.isFile()) throw createError(file);
  let isFirst = true;
  for await (const { text, whole } of readLines(file)) {
    const isOwn = hasFormat(text, kind) || (!whole && isTorn(text));
    if ((isFirst || !whole) && !isOwn) throw createError(file);
    isFirst = false;
  }
}

function hasFormat(text: string, kind: string): boolean {
  try {
    const { format } = JSON.parse(text) as { readonly format?: unknown };
    return typeof format === "string" && format.startsWith(`prove/${kind}@`);
  } catch {
    return false; // not JSON, or null
  }
}

/** Whether a text can be the beginning of a line that was cut off while it was written. */
function isTorn(text: string): boolean {
  const beginning = `{"format":"prove/`;
  return beginning.startsWith(text) || text.startsWith(beginning);
}

const createError = (file: string): UserError =>
  new UserError(
    `${file} was not written by a synthesis; it is left as it is`,
    "write to another file, or move this one away",
  );
