/** What a table of attempts lists: the attempts of a tasks file, a run, a step or a trajectory file. */
import { basename } from "node:path";
import { Uri, workspace } from "vscode";
import { readRun, listRecordedSteps } from "../../run/folder.ts";
import type { SelectedRow } from "../../protocol/attemptsPage.ts";
import { recognizeRollouts } from "../../rollouts/recognizeRollouts.ts";
import type { AttemptSource } from "../../run/scoreAttempts.ts";
import { UserError } from "../../userError.ts";
import type { Runs } from "../runs/runs.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { icons } from "../shared/icons.ts";
import { listFiles, type ProveFolder } from "../shared/proveFolder.ts";
import { ActionableError } from "../shared/report.ts";
import { countTrajectories, type AttemptsNode } from "../tasks/attemptNodes.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import { type AttemptSubject, getSubjectTitle } from "../attempts/attemptLocation.ts";
import { readLocation } from "../attempts/storedLocation.ts";

/** The subject of a node of a tree or of a file; undefined for anything else. */
export function findSubject(node: TasksNode | AttemptsNode | RunsNode | Uri | undefined) {
  if (node instanceof Uri) return findFileSubject(node);
  switch (node?.kind) {
    case "taskFile":
    case "taskGroup":
    case "range":
    case "task":
    case "skipped":
      return findFileSubject(node.file);
    case "trajectoryFile":
      return findFileSubject(node.file);
    case "recordedRun":
      return createRunSubject(node.run);
    case "attempts":
      return undefined;
    case "step":
    case "group":
    case "attempt":
      return createRunSubject(node.monitor.folder, node.step);
    default:
      return node && createRunSubject(node.monitor.folder);
  }
}

function findFileSubject({ path, fsPath }: Uri): AttemptSubject | undefined {
  if (path.endsWith(".tasks.jsonl")) return { kind: "tasks", path: fsPath };
  if (path.endsWith(".trajectory.jsonl")) return { kind: "trajectories", path: fsPath };
  return undefined;
}

/** The subject of a file that other software wrote. Throws a `UserError` if it is of no format. */
export const findRolloutSubject = async ({ fsPath }: Uri): Promise<AttemptSubject> => ({
  kind: "rollouts",
  path: fsPath,
  format: (await recognizeRollouts(fsPath)).name,
});

const createRunSubject = (folder: string, step?: number): AttemptSubject => ({
  kind: "run",
  path: folder,
  ...(step === undefined ? {} : { step }),
});

/**
 * The files and runs with attempts as items to choose from, and the steps of the runs if these are
 * wanted. Throws an `ActionableError` if there are none.
 */
export async function listSubjectItems(folder: ProveFolder, runs: Runs, hasSteps = false) {
  const tasks = folder.getPart("tasks");
  const files = [
    ...(await listFiles(tasks, ".tasks.jsonl")),
    ...(await listFiles(tasks, ".trajectory.jsonl")),
  ];
  const items = [
    ...files.map(it => ({
      label: basename(it.fsPath),
      description: workspace.asRelativePath(Uri.joinPath(it, "..")),
      iconPath: it.path.endsWith(".tasks.jsonl") ? icons.taskFile : icons.trajectory,
      subject: findFileSubject(it)!,
    })),
    ...runs.list().flatMap(it => {
      const steps = listRecordedSteps(it.folder);
      if (steps.length === 0) return [];
      const createItem = (description: string, step?: number) => ({
        label: getSubjectTitle(createRunSubject(it.folder, step)),
        description,
        iconPath: icons.group,
        subject: createRunSubject(it.folder, step),
      });
      return [
        createItem(hasSteps ? "all recorded steps" : it.status.activity),
        ...(hasSteps ? steps.map(step => createItem("run", step)) : []),
      ];
    }),
  ];
  if (items.length === 0)
    throw new ActionableError("there are no attempts yet", "synthesize tasks", {
      title: "Synthesize Tasks…",
      command: "prove.synthesizeTasks",
    });
  return items;
}

/** The sources of a subject's attempts. Throws a `UserError` for a run without recorded steps. */
export function listSources(
  subject: AttemptSubject,
  tasksFiles: readonly string[],
): readonly AttemptSource[] {
  const { path } = subject;
  switch (subject.kind) {
    case "tasks":
      return [{ kind: "tasks", file: path }];
    case "trajectories":
      return [{ kind: "trajectories", file: path, tasks: tasksFiles }];
    case "rollouts":
      return [{ kind: "rollouts", file: path, format: subject.format }];
    case "run": {
      const { tasks } = readRun(path);
      const steps = subject.step === undefined ? listRecordedSteps(path) : [subject.step];
      if (steps.length === 0)
        throw new UserError(
          `${basename(path)} has no recorded attempts`,
          "choose a run with recorded steps",
        );
      return steps.map(step => ({ kind: "step", run: path, step, tasks }));
    }
    default:
      throw new Error(`unknown subject ${JSON.stringify(subject satisfies never)}`);
  }
}

/** The number of attempts of a tasks or trajectory file, which their rows in the tree show, too. */
export async function countAttempts(
  { kind, path }: AttemptSubject,
  tasks: Pick<TasksTree, "readIndex">,
): Promise<number | undefined> {
  try {
    if (kind === "tasks") return (await tasks.readIndex(Uri.file(path))).entries.length;
    const count = kind === "trajectories" ? await countTrajectories(path) : undefined;
    return typeof count === "number" ? count : undefined;
  } catch (error) {
    // the table says why the file cannot be read
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** What tells the row of an attempt from others; undefined if the subject does not list it. */
export function findRow(subject: AttemptSubject, uri: Uri): SelectedRow | undefined {
  const { kind, path } = subject;
  const location = readLocation(uri);
  switch (location.kind) {
    case "task":
      return kind === "tasks" && location.file === path
        ? { line: location.line.number }
        : undefined;
    case "file":
      return kind === "trajectories" && location.file === path
        ? { attempt: location.attempt ?? 0 }
        : undefined;
    case "rollout":
      return kind === "rollouts" && location.file === path
        ? { attempt: location.place.attempt }
        : undefined;
    case "group":
      return kind === "run" && location.run === path && !location.isTeacher
        ? { step: location.step, line: location.line.number }
        : undefined;
    case "rejected":
      return undefined;
    default:
      throw new Error(`unknown location ${JSON.stringify(location satisfies never)}`);
  }
}
