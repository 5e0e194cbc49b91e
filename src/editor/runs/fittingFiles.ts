/**
 * Finds the tasks files that a student can be trained on, by the servers of their tasks, and says
 * whether they have enough. Whether single tasks are too long is checked before the training.
 */
import { statSync } from "node:fs";
import type { Uri } from "vscode";
import type { StartModel } from "../../run/startModel.ts";
import { UserError } from "../../userError.ts";
import { formatCount } from "../shared/text.ts";
import type { TaskEntry, TaskIndex } from "../attempts/taskIndex.ts";

/** How many tasks fit a student: to train on, and held out. */
export interface FitCount {
  readonly train: number;
  readonly heldOut: number;
}

/** A file, and how many of its tasks are on servers that the student knows. */
export interface FittingFile extends FitCount {
  readonly file: Uri;
}

/** Fewer tasks to train on teach little. */
const minTasks = 100;

/** Whether a training would learn little, or what it learned could not be measured. */
export const hasTooFew = ({ train, heldOut }: FitCount): boolean =>
  train < minTasks || heldOut === 0;

/** Such as "2 tasks, none held out". */
export const formatCounts = ({ train, heldOut }: FitCount): string =>
  `${formatCount(train + heldOut, "task")}, ${heldOut === 0 ? "none" : heldOut.toLocaleString("en")} held out`;

/** What a training on too few tasks lacks. */
export const describeShortage = ({ train }: FitCount): string =>
  train < minTasks ? "too few to learn from" : "success could not be measured";

/** The files with tasks to train on whose servers the student knows, the newest first. */
export async function listFittingFiles(
  files: readonly Uri[],
  student: Pick<StartModel, "kind" | "servers">,
  readIndex: (file: Uri) => Promise<TaskIndex>,
): Promise<readonly FittingFile[]> {
  const known = new Set(student.servers);
  const fits = ({ servers }: TaskEntry) =>
    student.kind === "hugging-face" || servers.every(server => known.has(server));
  const fitting: FittingFile[] = [];
  for (const file of files)
    try {
      const entries = (await readIndex(file)).entries.filter(fits);
      const train = entries.filter(it => it.split === "train").length;
      if (train > 0) fitting.push({ file, train, heldOut: entries.length - train });
    } catch (error) {
      // its row in the Tasks view says why it cannot be read
      if (!(error instanceof UserError)) throw error;
    }
  return fitting.toSorted((a, b) => readTime(b.file) - readTime(a.file));
}

/** When a file was written last; 0 if it is gone. */
const readTime = ({ fsPath }: Uri): number =>
  statSync(fsPath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
