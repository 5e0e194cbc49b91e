/**
 * Puts messages of modules that the command-line program shares into the words of the editor: what
 * an option or a command does there is named as in the editor, and files by short paths.
 */
import { homedir } from "node:os";
import { basename, sep } from "node:path";
import { workspace } from "vscode";

const modelSettings = "in prove.json of the model's folder";

/** What messages say for the command-line program, and what they say in the editor. */
const words: readonly (readonly [RegExp, string])[] = [
  [/add --resume to continue it/g, "resume it"],
  [/continue (?:it )?with --resume/g, "resume it"],
  [/ with --resume/g, " when it is resumed"],
  [/with prove-rl model .+? --(?:context N|answers N|template default)/g, modelSettings],
  [/ with prove-rl model .+? --merge FOLDER/g, ""],
  [/with prove-rl model FOLDER/g, modelSettings],
  [/prove-rl model FOLDER --context N lets/g, `a longer context ${modelSettings} lets`],
  [/remake it with prove-rl warm-start, or use the version/g, "choose another one, or the version"],
  [/choose a folder that prove-rl train wrote/g, "restore the file, or delete the folder"],
  [
    /find out with prove-rl backend check whether the native backend (.+?) ends it, and remove that/g,
    "try without the native backend $1 (Remove GPU Backend…)",
  ],
  [/with prove-rl backend remove \w+/g, "with Remove GPU Backend…"],
  [/run prove-rl backend install \w+/g, "install it with Install GPU Backend…"],
  [
    /compare the memory that prove-rl plan prints with that of this machine/g,
    "start a training with fewer workers",
  ],
  [/; prove-rl plan prints what is needed/g, ""],
  [/; prove-rl report counts them/g, ""],
  [/`prove-rl tools SERVER` lists/g, "the Servers view lists"],
  [
    /, on as many GPUs as --gpus says \(8 by default\):(?:\n\s*prove-rl engine prepare .*)?/g,
    " with Train with TRL or verl….",
  ],
  [/ with --gpus/g, ""],
  [/adapters with --lora/g, "adapters"],
  [/--lora (\d+)/g, "LoRA adapters of rank $1"],
  [/--only-fitting leaves them out/g, "a training on the tasks that fit leaves them out"],
  [/synthesize with --preset student/g, "synthesize tasks for the student that ships"],
  [/ with --preset student/g, ""],
  [/, or omit --split/g, ""],
  [/, or with --split train/g, ""],
];

/** A message with the names of the editor instead of those of the command line. */
export const toEditorWords = (text: string): string =>
  words.reduce((message, [pattern, replacement]) => message.replace(pattern, replacement), text);

let shippedFolder: string | undefined;

/** Sets the folder of the extension, whose files are called by their names alone. */
export function setShippedFolder(folder: string): void {
  shippedFolder = folder;
}

/**
 * A message with short paths: those of the workspace relative to its folder, those of the extension
 * as names, and others of the user with a tilde.
 */
export function shortenPaths(text: string): string {
  let message = text;
  for (const { uri } of workspace.workspaceFolders ?? [])
    message = message
      .replaceAll(`${uri.fsPath}${sep}`, "")
      .replaceAll(createWholePath(uri.fsPath), basename(uri.fsPath));
  if (shippedFolder !== undefined)
    message = message.replace(
      new RegExp(`${toPattern(shippedFolder)}[\\\\/][^\\s:,;"'()]*`, "g"),
      path => basename(path),
    );
  const home = homedir();
  return home.length > 1 ? message.replaceAll(`${home}${sep}`, `~${sep}`) : message;
}

/** A path that nothing continues. */
const createWholePath = (path: string): RegExp =>
  new RegExp(`${toPattern(path)}(?![\\w-]|\\.\\w)`, "g");

const toPattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A message in the words of the editor, with short paths. */
export const toEditorText = (text: string): string => shortenPaths(toEditorWords(text));
