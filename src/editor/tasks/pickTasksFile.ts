/** Asks the user to choose a tasks file. */
import { basename } from "node:path";
import { workspace, type Uri } from "vscode";
import { icons } from "../shared/icons.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";

export async function pickTasksFile(files: readonly Uri[], question: Question): Promise<Uri> {
  const items = files.map(file => ({
    label: basename(file.fsPath, ".tasks.jsonl"),
    description: workspace.asRelativePath(file),
    iconPath: icons.taskFile,
    file,
  }));
  return (await pickOne(items, question)).file;
}
