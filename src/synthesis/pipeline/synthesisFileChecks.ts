/**
 * Checks that the files which a synthesis is about to write are its own, so that `--resume` and a
 * name that was taken by accident change nothing of somebody else.
 */
import { statSync } from "node:fs";
import { readIfExists } from "../../storage/fileErrors.ts";
import { readLines } from "../../storage/jsonLines.ts";
import { readTextFile } from "../../storage/readTextFile.ts";
import { UserError } from "../../userError.ts";
import { getRejectedFile, getReportFile } from "./report.ts";

/** Throws a `UserError` unless each file is missing, empty, or was written by a synthesis. */
export async function checkSynthesisFiles(tasksFile: string): Promise<void> {
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
