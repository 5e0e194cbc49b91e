/** Lets a student attempt a task, and opens its attempt beside the teacher's. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Uri, ViewColumn, type Memento } from "vscode";
import { UserError } from "../../userError.ts";
import { getOwnModels, requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import type { Question } from "../shared/quickInput.ts";
import { runCountedWork } from "../shared/program.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import type { Runs } from "./runs.ts";
import { pickStudentOrFolder } from "./pickStudent.ts";
import { listStudents, type StudentChoice } from "./studentChoices.ts";

export interface StudentAttemptDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
  readonly workspaceState: Memento;
}

const storedKey = "prove.attempt.student";

export class StudentAttempts {
  readonly #dependencies: StudentAttemptDependencies;

  constructor(dependencies: StudentAttemptDependencies) {
    this.#dependencies = dependencies;
  }

  /** Attempts the task of a node or of a transcript; without one, that of the active editor. */
  async start(attempt: AttemptNode | Uri | undefined): Promise<void> {
    requireTrust("trying a student");
    const { extensionUri, folder, transcripts } = this.#dependencies;
    const tasksFolder = folder.getPart("tasks").fsPath;
    const uri = transcripts.resolveUri(attempt);
    const { task } = await transcripts.read(uri);
    if (!task)
      throw new UserError(
        "the task of this attempt was not found",
        "open the task from the Tasks view",
      );
    const { label, folder: model } = await pickStudent(this.#dependencies, {
      title: "Try Student on This Task",
      text: "Which student attempts the task",
    });
    mkdirSync(tasksFolder, { recursive: true });
    const file = findUnusedFile(tasksFolder, `${task.id} ${label}`);
    await runCountedWork(
      "attempt",
      { task, policy: { kind: "student", model }, file, fixtures: folder.fixtureFolders },
      `${label} attempts ${task.id}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
    );
    await transcripts.open(uri, ViewColumn.One);
    await transcripts.open(Uri.file(file), ViewColumn.Two);
  }
}

/** Asks for a student; the last answer comes first. */
export async function pickStudent(
  {
    folder,
    runs,
    workspaceState,
  }: Pick<StudentAttemptDependencies, "folder" | "runs" | "workspaceState">,
  question: Question,
): Promise<StudentChoice> {
  const models = Uri.joinPath(folder.resources, "models").fsPath;
  const students = listStudents(models, runs.list(), getOwnModels(folder));
  const student = await pickStudentOrFolder(students, question, workspaceState.get(storedKey));
  await workspaceState.update(storedKey, student.label);
  return student;
}

/** The first file of this name, with a number, that does not exist. */
export function findUnusedFile(folder: string, name: string): string {
  const base = name.replaceAll(/[^\w.-]+/g, "-");
  for (let n = 1; ; n++) {
    const file = join(folder, `${base}-${n}.trajectory.jsonl`);
    if (!existsSync(file)) return file;
  }
}
