/** New files from the attempts that are selected in a table: their tasks, or their conversations. */
import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { CancellationError, commands, Uri } from "vscode";
import { LineWriter } from "../../storage/lineWriter.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import type { AttemptRow } from "../../protocol/attemptsPage.ts";
import { readTrajectories } from "../../trajectory/file.ts";
import { formatTaskLine, type Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import { type AttemptSubject, getRowUri, getSubjectTitle } from "../attempts/attemptLocation.ts";
import { readAttempt } from "../attempts/storedAttempt.ts";
import type { ScoringDependencies } from "../shared/attemptScoring.ts";
import { showInformation, showProgress } from "../shared/notifications.ts";
import { runCountedWork } from "../shared/program.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { askText } from "../shared/quickInput.ts";
import { formatCount } from "../shared/text.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";

interface Selection {
  readonly subject: AttemptSubject;
  readonly rows: readonly AttemptRow[];
}

interface SelectionDependencies extends ScoringDependencies {
  readonly tasks: Pick<TasksTree, "findTask">;
}

interface TaskAttempt {
  readonly task: Task;
  readonly trajectory: Trajectory;
}

/** Writes the tasks of the attempts, each once, as a tasks file that the user names. */
export async function writeTasks(
  selection: Selection,
  dependencies: SelectionDependencies,
): Promise<void> {
  const file = await askForFile(selection, dependencies, ".tasks.jsonl");
  const attempts = await readAttempts(selection, dependencies);
  const tasks = [...new Map(attempts.map(it => [it.task.id, it.task])).values()];
  const writer = new LineWriter(file);
  try {
    for (const it of tasks) writer.append(formatTaskLine(it).trimEnd());
  } finally {
    writer.close();
  }
  dependencies.folder.noteChange("tasks");
  const left = describeLeft(selection.rows.length - attempts.length, "their tasks were not found");
  void showInformation(`${formatCount(tasks.length, "task")} in ${basename(file)}.${left}`);
}

/** Writes the conversations of the attempts as a file for fine-tuning that the user names. */
export async function writeConversations(
  selection: Selection,
  dependencies: SelectionDependencies,
): Promise<void> {
  requireTrust("writing a file for fine-tuning");
  const { folder, extensionUri } = dependencies;
  const file = await askForFile(selection, dependencies, ".sft.jsonl");
  const attempts = await readAttempts(selection, dependencies);
  const { lines, leftOut, reason } = await runCountedWork(
    "createConversations",
    { attempts, fixtures: folder.fixtureFolders },
    `Writing ${basename(file)}`,
    { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.workspacePath },
  );
  if (lines.length === 0)
    throw new UserError(
      `the attempts give no conversations${reason === undefined ? "" : `: ${reason}`}`,
      "select other attempts",
    );
  writeFileAtomicallySync(file, lines.map(it => `${it}\n`).join(""));
  const left = selection.rows.length - attempts.length + leftOut;
  const why = reason ?? "their tasks were not found";
  const text = `${formatCount(lines.length, "conversation")} in ${basename(file)}.${describeLeft(left, why)}`;
  if ((await showInformation(text, "Open")) === "Open")
    await commands.executeCommand("vscode.open", Uri.file(file));
}

const describeLeft = (count: number, why: string) =>
  count === 0 ? "" : ` ${formatCount(count, "attempt")} left out: ${why}.`;

async function askForFile(
  { subject, rows }: Selection,
  { folder }: SelectionDependencies,
  ending: string,
): Promise<string> {
  const tasks = folder.getPart("tasks").fsPath;
  const getFile = (name: string) => join(tasks, `${name}${ending}`);
  const base = `${getSubjectTitle(subject).replaceAll(/[^\w.-]+/g, "-")}-selection`;
  let value = base;
  for (let n = 2; existsSync(getFile(value)); n++) value = `${base}-${n}`;
  const name = await askText(
    { text: `Name of the file with ${formatCount(rows.length, "selected attempt")}` },
    {
      value,
      validate(text) {
        if (!/^[\w.-]*\w[\w.-]*$/.test(text))
          return "use letters, digits, dots, dashes and underscores";
        return existsSync(getFile(text)) ? `there is a file ${text}${ending}` : undefined;
      },
    },
  );
  const file = getFile(name);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** The attempts whose tasks were found. Throws a `UserError` if there is none. */
async function readAttempts(
  selection: Selection,
  { tasks }: SelectionDependencies,
): Promise<readonly TaskAttempt[]> {
  const { length } = selection.rows;
  const attempts = await showProgress("Reading the selected attempts", async (progress, token) => {
    const found: TaskAttempt[] = [];
    let count = 0;
    for await (const { task, trajectory } of readSelected(selection, id => tasks.findTask(id))) {
      if (token.isCancellationRequested) throw new CancellationError();
      if (task) found.push({ task, trajectory });
      if (++count % 50 > 0) continue;
      progress.report({ message: `${count} of ${length}`, increment: 5000 / length });
      await setImmediate();
    }
    return found;
  });
  if (attempts.length > 0) return attempts;
  throw new UserError(
    "the tasks of the selected attempts were not found",
    "add their tasks file to the tasks folder",
  );
}

async function* readSelected(
  { subject, rows }: Selection,
  findTask: (id: string) => Promise<Task | undefined>,
): AsyncGenerator<{ readonly task?: Task | undefined; readonly trajectory: Trajectory }> {
  if (subject.kind !== "trajectories") {
    for (const it of rows) yield readAttempt(getRowUri(subject, it), findTask);
    return;
  }
  // the file is read once, whatever the number of attempts
  const numbers = new Set(rows.map(it => it.attempt));
  let number = 0;
  for await (const trajectory of readTrajectories(subject.path))
    if (numbers.has(number++)) yield { trajectory, task: await findTask(trajectory.header.task) };
}
