/** Asks the user to choose a tasks file. */
import { basename } from "node:path";
import { workspace, type Uri } from "vscode";
import { icons } from "../shared/icons.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";

/** `last` is the path of the file that was chosen the last time, which comes first. */
export async function pickTasksFile(
  files: readonly Uri[],
  question: Question,
  last?: string,
): Promise<Uri> {
  const lastFirst = files.toSorted((a, b) => Number(b.fsPath === last) - Number(a.fsPath === last));
  const items = lastFirst.map(file => ({
    label: basename(file.fsPath, ".tasks.jsonl"),
    description: workspace.asRelativePath(file),
    iconPath: icons.taskFile,
    file,
  }));
  return (await pickOne(items, question)).file;
}
