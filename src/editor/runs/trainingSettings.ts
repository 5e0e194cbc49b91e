/** Asks for the settings of a training, with the tasks, the students and the checks to choose by. */
import { Uri, type Memento } from "vscode";
import type { FitResult } from "../../protocol/work.ts";
import type { StartModel } from "../../run/startModel.ts";
import type { TrainingSettings } from "../../run/config.ts";
import { getOwnModels, type ProveFolder } from "../shared/proveFolder.ts";
import { runCountedWork } from "../shared/program.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import { studentTasks } from "../synthesis/synthesisPrompts.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import { listFittingFiles } from "./fittingFiles.ts";
import type { Runs } from "./runs.ts";
import { listStudents } from "./studentChoices.ts";
import { promptForTraining, type OtherTraining, type TasksSource } from "./trainingPrompts.ts";

export interface SettingsDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly tasks: TasksTree;
  readonly synthesis: Synthesis;
  readonly runs: Runs;
  readonly workspaceState: Memento;
}

/** The settings of a training on known tasks. */
export type SettingsWithTasks = TrainingSettings & Record<"tasks" | "model", string>;

/** The folder of the models that ship. */
export const getModelsFolder = ({ resources }: ProveFolder): string =>
  Uri.joinPath(resources, "models").fsPath;

/**
 * Asks for the settings of a training. `file`: the tasks file, if it is known; `others`: other ways
 * to train.
 */
export async function askForSettings(
  dependencies: SettingsDependencies,
  title: string,
  file: Uri | undefined,
  others: readonly OtherTraining[] = [],
): Promise<SettingsWithTasks> {
  const { folder, tasks: tree, runs, workspaceState } = dependencies;
  const { tasks, student, objective, ...choices } = await promptForTraining({
    title,
    tasks: file,
    listFiles: () => tree.listFiles(),
    listFitting: async model =>
      listFittingFiles(file ? [file] : await tree.listFiles(), model, it => tree.readIndex(it)),
    sources: listSources(dependencies),
    students: listStudents(getModelsFolder(folder), runs.list(), getOwnModels(folder)),
    checkFit: (chosen, model) => checkFit(dependencies, chosen, model),
    workspaceState,
    others,
  });
  return {
    tasks: tasks.fsPath,
    model: student.folder,
    ...(choices.onlyFitting ? { onlyFitting: true } : {}),
    ...(choices.rank === undefined ? {} : { lora: { rank: choices.rank } }),
    ...choices.length,
    ...(choices.backend === "auto" ? {} : { backend: choices.backend }),
    profile: choices.profile,
    grpo: { objective },
  };
}

const checkFit = (
  { extensionUri, folder }: SettingsDependencies,
  tasks: Uri,
  { name, folder: model }: StartModel,
): Promise<FitResult> =>
  runCountedWork(
    "checkFit",
    { tasks: tasks.fsPath, model, fixtures: folder.fixtureFolders },
    `Checking which tasks fit ${name}`,
    { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
  );

/** Where the tasks of an empty folder come from. */
const listSources = ({ synthesis }: SettingsDependencies): readonly TasksSource[] => [
  {
    label: studentTasks.label,
    description: studentTasks.description,
    create: student => synthesis.createStudentTasks(student?.servers ?? []),
  },
  {
    label: "The example tasks",
    description: "copied into this folder",
    create: () => synthesis.copyExample(),
  },
];
