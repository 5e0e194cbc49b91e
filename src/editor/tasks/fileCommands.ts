/** What the menus of the trees do with files: open, show, rename and delete them. */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { commands, Uri } from "vscode";
import { getNotesFile } from "../../run/attemptNotes.ts";
import { getRejectedFile } from "../../synthesis/pipeline/report/report.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { confirm, moveToTrash } from "../shared/notifications.ts";
import { askText } from "../shared/quickInput.ts";

/** A row that stands for a tasks or trajectory file, a fixture, or the folder of a run. */
type FileNode =
  | { readonly file: Uri | { readonly uri: Uri } }
  | { readonly monitor: { readonly folder: string } }
  | { readonly run: string };

export const openFile = (node: FileNode) => commands.executeCommand("vscode.open", getUri(node));

export const revealFile = (node: FileNode) =>
  commands.executeCommand("revealInExplorer", getUri(node));

/** Asks for the new name of a tasks or trajectory file, whose ending stays. */
export async function renameFile(folder: ProveFolder, node: FileNode): Promise<void> {
  const file = getUri(node).fsPath;
  const [name, ending] = splitName(file);
  const getTarget = (chosen: string) => join(dirname(file), `${chosen}${ending}`);
  const note = isTasksFile(file)
    ? " (runs that were trained on it refer to it by the old name)"
    : "";
  const chosen = await askText(
    { text: `New name of ${name}${note}` },
    {
      value: name,
      validate(text) {
        if (!/^[\w.-]*\w[\w.-]*$/.test(text))
          return "use letters, digits, dots, dashes and underscores";
        return text !== name && existsSync(getTarget(text))
          ? `there is a file ${text}${ending}`
          : undefined;
      },
    },
  );
  if (chosen === name) return;
  const target = getTarget(chosen);
  await rename(file, target);
  const targets = listCompanions(target);
  for (const [i, it] of listCompanions(file).entries())
    if (existsSync(it)) await rename(it, targets[i]!);
  folder.noteChange("tasks");
}

/** Moves a tasks or trajectory file to the trash, after a question. */
export async function deleteFile(folder: ProveFolder, node: FileNode): Promise<void> {
  const uri = getUri(node);
  const name = basename(uri.fsPath);
  const agreed = await confirm({
    question: `Delete ${name}?`,
    detail: isTasksFile(uri.fsPath)
      ? `It is moved to the trash. Runs that were trained on it keep what they have recorded, but it cannot be scored again without its tasks.`
      : "It is moved to the trash.",
    button: "Move to Trash",
  });
  if (!agreed) return;
  await moveToTrash(uri, name);
  for (const it of listCompanions(uri.fsPath))
    if (existsSync(it)) await moveToTrash(Uri.file(it), basename(it));
  folder.noteChange("tasks");
}

/** The files beside a file that belong to it, if they exist. */
const listCompanions = (file: string): readonly string[] => [
  getNotesFile(file),
  ...(isTasksFile(file) ? [getRejectedFile(file)] : []),
];

const isTasksFile = (file: string) => file.endsWith(".tasks.jsonl");

function splitName(file: string): readonly [name: string, ending: string] {
  const ending = /\.(tasks|trajectory)\.jsonl$/.exec(file)?.[0] ?? "";
  return [basename(file, ending), ending];
}

function getUri(node: FileNode): Uri {
  if ("monitor" in node) return Uri.file(node.monitor.folder);
  if ("run" in node) return Uri.file(node.run);
  return node.file instanceof Uri ? node.file : node.file.uri;
}
