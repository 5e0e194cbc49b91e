/**
 * Lets a student attempt a task, and forks an attempt where the debugger stands: the person goes on
 * by hand in a session, or a student or an endpoint does. The new attempt opens beside the other
 * one.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Memento, Uri, ViewColumn } from "vscode";
import { takeFirstEvents } from "../../policy/scripted.ts";
import type { AttemptWork } from "../../protocol/work.ts";
import { UserError } from "../../userError.ts";
import { openAttemptDiff } from "../attempts/attemptDiff.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import type { ForkPoint, TrajectoryDebugger } from "../attempts/debug/trajectoryDebugger.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { icons } from "../shared/icons.ts";
import { runCountedWork } from "../shared/program.ts";
import { getOwnModels, type ProveFolder, requireTrust } from "../shared/proveFolder.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";
import { getSetting } from "../shared/settings.ts";
import type { EndpointKeys } from "../synthesis/endpointKeys.ts";
import { askForEndpointUrl, askForModel } from "../synthesis/synthesisPrompts.ts";
import type { Runs } from "./runs.ts";
import { listStudents, pickStudentOrFolder, type StudentChoice } from "./studentChoices.ts";

interface StudentAttemptDependencies {
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
    const uri = await transcripts.findUri(attempt);
    const { task } = await transcripts.read(uri);
    if (!task)
      throw new UserError(
        "the task of this attempt was not found",
        "open the task from the Tasks view",
      );
    const { label, folder: model } = await pickStudent(this.#dependencies, {
      title: "Try Student on This Task",
      text: "Which student, the model that learns, attempts the task",
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
async function pickStudent(
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
function findUnusedFile(folder: string, name: string): string {
  const base = name.replaceAll(/[^\w.-]+/g, "-");
  for (let n = 1; ; n++) {
    const file = join(folder, `${base}-${n}.trajectory.jsonl`);
    if (!existsSync(file)) return file;
  }
}

interface AttemptForkDependencies extends StudentAttemptDependencies {
  readonly trajectoryDebugger: TrajectoryDebugger;
  readonly keys: EndpointKeys;
}

/** A policy that goes on, and its name in the name of the file. */
interface ChosenPolicy {
  readonly name: string;
  readonly policy: AttemptWork["policy"];
}

export class AttemptForks {
  readonly #dependencies: AttemptForkDependencies;

  constructor(dependencies: AttemptForkDependencies) {
    this.#dependencies = dependencies;
  }

  /** Asks who goes on from a position in an attempt, and lets them. */
  async start(fork: ForkPoint, title = "Fork From Here…"): Promise<void> {
    const { trajectoryDebugger } = this.#dependencies;
    const items = [
      {
        label: "By hand",
        description: "in a session, in which you call tools",
        iconPath: icons.session,
        choose: undefined,
      },
      {
        label: "A student…",
        description: "one that ships, or a checkpoint of a run",
        iconPath: icons.checkpoint,
        choose: () => this.#chooseStudent(title),
      },
      {
        label: "An endpoint…",
        description: "a model behind an OpenAI-compatible address",
        iconPath: icons.connection,
        choose: () => this.#chooseEndpoint(title),
      },
    ];
    const { choose } = await pickOne(items, { title, text: "Who makes the next calls" });
    if (!choose) return trajectoryDebugger.openFork(fork);
    requireTrust("running a policy");
    if (!fork.task)
      throw new UserError("the task of this attempt was not found", "go on by hand instead");
    await this.#goOn(fork, fork.task, await choose());
  }

  async #goOn(
    { uri, position, trajectory }: ForkPoint,
    task: AttemptWork["task"],
    { name, policy }: ChosenPolicy,
  ): Promise<void> {
    const { extensionUri, folder, transcripts } = this.#dependencies;
    const tasksFolder = folder.getPart("tasks").fsPath;
    mkdirSync(tasksFolder, { recursive: true });
    const file = findUnusedFile(tasksFolder, `${task.id} ${name} fork`);
    const { header } = trajectory;
    const events = takeFirstEvents(trajectory.events, position);
    await runCountedWork(
      "attempt",
      {
        task,
        policy,
        from: { header, events },
        file,
        fixtures: folder.fixtureFolders,
      },
      `${name} goes on with ${header.id}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
    );
    const continued = transcripts.resolveUri(Uri.file(file));
    const { transcript } = await transcripts.read(continued);
    await openAttemptDiff(uri, continued, transcript.ranges[events.length]?.first);
  }

  async #chooseStudent(title: string): Promise<ChosenPolicy> {
    const question = { title, text: "Which student goes on" };
    const { label, folder } = await pickStudent(this.#dependencies, question);
    return { name: label, policy: { kind: "student", model: folder } };
  }

  async #chooseEndpoint(title: string): Promise<ChosenPolicy> {
    const { keys } = this.#dependencies;
    const url = await askForEndpointUrl({ title }, getSetting("endpoint.url"));
    const current = { kind: "endpoint", url, model: getSetting("endpoint.model") } as const;
    const model = await askForModel({ title }, current, [], current.model);
    await keys.confirmSending(url, model);
    const key = await keys.getKey(url);
    return { name: model, policy: { ...current, model, ...(key === undefined ? {} : { key }) } };
  }
}
