/**
 * The students that a training can start from: those that ship, the checkpoints of runs, and the
 * models in the folder prove/models. Asks for one of them, or for the folder of a model.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { CancellationError, window } from "vscode";
import { findModelFolder, getCheckpointFolder } from "../../run/folder.ts";
import { readStartModel } from "../../run/startModel.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";
import { formatList } from "../shared/text.ts";
import type { RunMonitor } from "./runMonitor.ts";

export interface StudentChoice {
  /** Names the student; it is the same in other windows and versions. */
  readonly label: string;
  readonly description: string;
  readonly folder: string;
}

/**
 * The shipped students, the one that training improves most first, then the checkpoints, then the
 * models in the workspace's own folder.
 */
export const listStudents = (
  modelsFolder: string,
  runs: readonly RunMonitor[],
  ownModels: string | undefined,
): readonly StudentChoice[] => [
  ...listShippedStudents(modelsFolder),
  ...runs.flatMap(listCheckpoints),
  ...(ownModels === undefined ? [] : listModelFolders(ownModels)),
];

/** The folders of models in a folder; others are left out. */
function listModelFolders(parent: string): readonly StudentChoice[] {
  const folders = existsSync(parent) ? readdirSync(parent, { withFileTypes: true }) : [];
  return folders
    .filter(it => it.isDirectory())
    .flatMap(({ name }): readonly StudentChoice[] => {
      try {
        return [describeModelFolder(join(parent, name))];
      } catch (error) {
        if (error instanceof UserError) return [];
        throw error;
      }
    });
}

/** Throws a `UserError` if the folder has no model. */
function describeModelFolder(folder: string): StudentChoice {
  const { kind, adapters } = readStartModel(folder);
  const model = kind === "hugging-face" ? "a Hugging Face model" : "a student";
  return {
    label: basename(folder),
    description: adapters ? `adapters of ${model}` : model,
    folder,
  };
}

export function listShippedStudents(modelsFolder: string): readonly StudentChoice[] {
  const students = readdirSync(modelsFolder)
    .map(it => readStartModel(join(modelsFolder, it)))
    .toSorted((a, b) => b.careless - a.careless);
  return students.map(({ name, servers, careless, folder }) => {
    const teacher = careless > 0 ? "improves within minutes" : "its teacher made no errors";
    return { label: name, description: `${teacher} · ${formatList(servers)}`, folder };
  });
}

/** The checkpoints after the start, newest first. */
const listCheckpoints = ({ folder, checkpoints }: RunMonitor): readonly StudentChoice[] =>
  checkpoints
    .filter(it => it > 0)
    .toReversed()
    .map(step => ({
      label: `${basename(folder)}, step ${step}`,
      description: "checkpoint",
      folder: getCheckpointFolder(folder, step),
    }));

/** The item that was chosen the last time first, then the others. */
export const moveToFront = <Item>(
  items: readonly Item[],
  isLast: (item: Item) => boolean,
): readonly Item[] => items.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a)));

/**
 * `last`: the label of the student that was chosen the last time, which comes first. Throws a
 * `CancellationError` on Escape, and a `UserError` if the folder that is chosen has no model.
 */
export async function pickStudentOrFolder(
  students: readonly StudentChoice[],
  question: Question,
  last: unknown,
): Promise<StudentChoice> {
  const items = moveToFront(students, it => it.label === last).map(student => ({
    label: student.label,
    description: student.description,
    iconPath: icons.checkpoint,
    choose: () => Promise.resolve(student),
  }));
  const other = {
    label: "Choose Folder…",
    description: "of a Hugging Face model, or of a student",
    choose: chooseFolder,
  };
  return (await pickOne([...items, other], question)).choose();
}

/** Asks for the folder of a model. Throws as `pickStudentOrFolder` does. */
export const chooseFolder = async (): Promise<StudentChoice> =>
  describeModelFolder(findModelFolder(await chooseModelFolder()));

/** The path of a folder. Throws a `CancellationError` on Escape. */
export async function chooseModelFolder(): Promise<string> {
  const chosen = await window.showOpenDialog({
    title: "Model Folder",
    canSelectFiles: false,
    canSelectFolders: true,
  });
  const [folder] = chosen ?? [];
  if (!folder) throw new CancellationError();
  return folder.fsPath;
}
