/** Asks the user to choose a training file. */
import { basename } from "node:path";
import { workspace, type Uri } from "vscode";
import { trainingFileExtension } from "../../run/trainingFile.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { pickOne } from "../shared/quickInput.ts";

/** Throws a `UserError` if the workspace has none, and a `CancellationError` on Escape. */
export async function pickTrainingFile(): Promise<Uri> {
  const files = await workspace.findFiles(`**/*${trainingFileExtension}`, "**/node_modules/**");
  if (files.length === 0)
    throw new UserError(
      `there is no training file (*${trainingFileExtension}) in this folder`,
      "write one with PROVE: Create Training File…",
    );
  const items = files
    .toSorted((a, b) => a.fsPath.localeCompare(b.fsPath))
    .map(file => ({
      label: basename(file.fsPath, trainingFileExtension),
      description: workspace.asRelativePath(file),
      iconPath: icons.taskFile,
      file,
    }));
  const question = { title: "Start Training From File", text: "Which training to start" };
  return (await pickOne(items, question)).file;
}
