/** Reads the attempts of a run's steps, and finds the tasks of attempts. */
import { basename } from "node:path";
import { getGroupsFile, listRecordedSteps } from "../run/folder.ts";
import { parseGroupLine, type GroupLine } from "../run/group.ts";
import { TaskFinder } from "../run/scoreAttempts.ts";
import { readLines } from "../storage/jsonLines.ts";
import type { Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import type { WorkspaceFiles } from "./workspaceFiles.ts";

/** The attempts of a step. Throws a `UserError` if none were stored. */
export async function readStep(
  folder: string,
  step: number,
  files: WorkspaceFiles,
): Promise<readonly GroupLine[]> {
  const file = files.findOptionalFile(getGroupsFile(folder, step));
  if (file === undefined) {
    const stored = listRecordedSteps(folder).toReversed();
    throw new UserError(
      `run ${basename(folder)} has no stored attempts of step ${step}`,
      stored.length === 0 ? "none of its steps has" : `steps with attempts: ${formatSteps(stored)}`,
    );
  }
  const lines: GroupLine[] = [];
  for await (const { text } of readLines(file)) {
    const line = parseJsonLine(text);
    if (line) lines.push(line);
  }
  return lines;
}

function parseJsonLine(text: string): GroupLine | undefined {
  try {
    return parseGroupLine(JSON.parse(text));
  } catch {
    // a line that was cut off
    return undefined;
  }
}

/** Such as "1, 2, 3 … 48, 49, 50". */
export const formatSteps = (steps: readonly number[]): string =>
  steps.length <= 12
    ? steps.join(", ")
    : `${steps.slice(0, 5).join(", ")} … ${steps.slice(-5).join(", ")} (${steps.length} in all)`;

/** A task of one of some files, or why it was not found. */
export async function findTask(
  id: string,
  candidates: readonly string[],
  files: WorkspaceFiles,
): Promise<{ readonly task?: Task; readonly missing?: string }> {
  const readable: string[] = [];
  let missing = `task ${id} was not found`;
  for (const it of candidates)
    try {
      readable.push(files.findFile(it));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      missing = error.what;
    }
  const task = await new TaskFinder(readable).find(id);
  return task ? { task } : { missing };
}
