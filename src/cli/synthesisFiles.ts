/**
 * The files that a synthesis writes: tasks, what was turned down, and the report, each whole at
 * every moment; and the lock by which no two write the same ones. Knows attempts as they come, not
 * how they are made.
 */
import { existsSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../userError.ts";
import { acquireLock } from "../storage/fileLock.ts";
import {
  rejectedFileFor,
  formatRejected,
  reportFileFor,
  writeReport,
  type Report,
} from "../synthesis/pipeline/report.ts";
import type { AttemptResult } from "../synthesis/pipeline/synthesize.ts";
import { ReportCounts } from "../synthesis/pipeline/reportCounts.ts";
import { readTasks } from "../trajectory/file.ts";
import { readJsonLines } from "../storage/jsonLines.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import type { Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/taskLine.ts";
import type { Terminal } from "./command.ts";

/**
 * Milliseconds of work after which Ctrl-C and the editor's cancel are listened for: attempts come
 * without a pause.
 */
const breath = 50;

/**
 * Appends tasks until there are as many as asked for, or no more come. What the files hold already
 * is made again and compared, not written.
 */
export async function writeSynthesis(
  file: string,
  attempts: AsyncIterable<AttemptResult>,
  options: Report["options"],
  { progress, say, signal }: Pick<Terminal, "progress" | "say" | "signal">,
): Promise<Report> {
  const releaseLock = acquireLock(`${file}.lock`, {
    createConflict: pid =>
      new UserError(
        `process ${pid} is writing ${file}`,
        "wait until it is done, or write to another file",
      ),
  });
  // a file whose tasks are gone tells of others
  if (!existsSync(file))
    for (const it of [rejectedFileFor(file), reportFileFor(file)]) rmSync(it, { force: true });
  const writer = new LineWriter(file);
  const turnedDown = new LineWriter(rejectedFileFor(file));
  const tally = new ReportCounts();
  try {
    if (writer.torn !== undefined) say(`${file} ended in a torn line, which was cut off`);
    let known = await countLines(rejectedFileFor(file), signal);
    const there = readTasks(file, { signal })[Symbol.asyncIterator]();
    const next = async () => (await there.next()).value as Task | undefined;
    let written = await next();
    const began = performance.now();
    let breathed = began;
    for await (const attempted of attempts) {
      if (performance.now() - breathed > breath) {
        await setImmediate();
        breathed = performance.now();
      }
      if (attempted.kind === "rejected") {
        tally.countRejected(attempted.rejected);
        if (known > 0) known--;
        else turnedDown.append(formatRejected(attempted.rejected));
        continue;
      }
      const line = formatTaskLine(attempted.task);
      if (written === undefined) writer.append(line);
      else if (formatTaskLine(written) !== line) throw otherwiseMade(file, written);
      if (written !== undefined) written = await next();
      tally.countAccepted(attempted.task);
      progress(
        `${tally.accepted} of ${options.count} tasks${paceOf(tally.accepted, options.count, performance.now() - began)}`,
      );
      if (tally.accepted === options.count) break;
    }
    const report = tally.createReport(options);
    await writeReport(reportFileFor(file), report);
    return report;
  } finally {
    writer.close();
    turnedDown.close();
    releaseLock();
  }
}

const otherwiseMade = (file: string, { id }: Task): UserError =>
  new UserError(
    `${file} was made with other options, servers or phrases (task ${id} differs)`,
    "repeat the command that made it, or write to another file",
  );

async function countLines(file: string, signal: AbortSignal): Promise<number> {
  let n = 0;
  for await (const _ of readJsonLines(file, { signal })) n++;
  return n;
}

/** `, 210 a second, 1 min 2 s left`, once there is something to tell it by. */
export function paceOf(done: number, count: number, milliseconds: number): string {
  if (milliseconds < 1000) return "";
  const rate = (1000 * done) / milliseconds;
  const left = Math.ceil((count - done) / rate);
  const spoken =
    left < 60
      ? `${left} s`
      : left < 3600
        ? `${Math.floor(left / 60)} min ${left % 60} s`
        : `${Math.floor(left / 3600)} h ${Math.floor((left % 3600) / 60)} min`;
  return `, ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second, ${spoken} left`;
}
