/**
 * Finds the tasks files that a student can be trained on, by the servers of their tasks. Whether
 * single tasks are too long for it is checked before the training.
 */
import { statSync } from "node:fs";
import type { Uri } from "vscode";
import type { StartModel } from "../../run/startModel.ts";
import { UserError } from "../../userError.ts";
import type { TaskEntry, TaskIndex } from "../tasks/taskIndex.ts";

/** The files with tasks to train on whose servers the student knows, the newest first. */
export async function listFittingFiles(
  files: readonly Uri[],
  student: Pick<StartModel, "kind" | "servers">,
  readIndex: (file: Uri) => Promise<TaskIndex>,
): Promise<readonly Uri[]> {
  const known = new Set(student.servers);
  const fits = ({ split, servers }: TaskEntry) =>
    split === "train" &&
    (student.kind === "hugging-face" || servers.every(server => known.has(server)));
  const fitting: { readonly file: Uri; readonly changed: number }[] = [];
  for (const file of files)
    try {
      const { entries } = await readIndex(file);
      if (entries.some(fits)) fitting.push({ file, changed: readTime(file) });
    } catch (error) {
      // its row in the Tasks view says why it cannot be read
      if (!(error instanceof UserError)) throw error;
    }
  return fitting.toSorted((a, b) => b.changed - a.changed).map(it => it.file);
}

/** When a file was written last; 0 if it is gone. */
const readTime = ({ fsPath }: Uri): number =>
  statSync(fsPath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
