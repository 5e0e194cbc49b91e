/**
 * Synthesizes tasks from the editor: asks for the options, runs the synthesis in the command-line
 * program, answers its requests for the editor's language models, and announces the result. An
 * unfinished synthesis is remembered and can be resumed.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { commands, type Memento, Uri, workspace } from "vscode";
import type { SynthesisWork, TeacherOptions } from "../../protocol/work.ts";
import { readStartModel, shippedStart } from "../../run/startModel.ts";
import { formatProgress, type SynthesisProgress } from "../../synthesis/pipeline/report/report.ts";
import type { SynthesisResult } from "../../synthesis/pipeline/run/runSynthesis.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { showInformation } from "../shared/notifications.ts";
import { type ProgramLocation, runWork } from "../shared/program.ts";
import { type ProveFolder, requireTrust } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { getSetting } from "../shared/settings.ts";
import { formatCount } from "../shared/text.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { EndpointKeys } from "./endpointKeys.ts";
import { completeWithEditorModel, listEditorModels } from "./languageModels.ts";
import type { SynthesisPages } from "./synthesisPages.ts";
import {
  createStudentSynthesis,
  promptForSynthesis,
  type TeacherChoice,
} from "./synthesisPrompts.ts";
import type { UnfinishedSyntheses, UnfinishedSynthesis } from "./unfinishedSyntheses.ts";

interface SynthesisDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  readonly tasks: TasksTree;
  readonly pages: SynthesisPages;
  readonly keys: EndpointKeys;
  readonly workspaceState: Memento;
  readonly unfinished: UnfinishedSyntheses;
}

export class Synthesis {
  readonly #dependencies: SynthesisDependencies;

  constructor(dependencies: SynthesisDependencies) {
    this.#dependencies = dependencies;
  }

  /** Asks for the options of a new synthesis, or resumes an unfinished one. */
  async start(): Promise<void> {
    requireTrust("synthesizing tasks");
    const { folder, definitions, workspaceState } = this.#dependencies;
    const tasksFolder = folder.getPart("tasks");
    const unfinished = await this.#pickUnfinished();
    if (unfinished) return this.#run(unfinished, true);
    const { choices, file } = await promptForSynthesis({
      servers: await definitions.loadServers(),
      shipped: new Set((await definitions.loadShipped()).map(it => it.name)),
      models: await listEditorModels(),
      folder: tasksFolder,
      workspaceState,
      endpoint: { url: getSetting("endpoint.url"), model: getSetting("endpoint.model") },
      studentServers: this.#studentServers,
    });
    await this.#run({ file: file.fsPath, choices }, false);
  }

  /**
   * Synthesizes tasks for a student, without questions, and returns their file. `servers`: those
   * that it knows; those of the shipped student if there are none.
   */
  async createStudentTasks(servers: readonly string[]): Promise<Uri> {
    requireTrust("synthesizing tasks");
    const tasksFolder = this.#dependencies.folder.getPart("tasks");
    const known = servers.length > 0 ? servers : this.#studentServers;
    const { choices, file } = createStudentSynthesis(tasksFolder, known);
    await this.#synthesize({ file: file.fsPath, choices }, false);
    return file;
  }

  get #studentServers(): readonly string[] {
    const { resources } = this.#dependencies.folder;
    return readStartModel(Uri.joinPath(resources, "models", shippedStart).fsPath).servers;
  }

  /**
   * Copies the example's tasks, its run and its fixture into the workspace. What is already there
   * is kept. Returns the file with tasks of all servers.
   */
  async copyExample(): Promise<Uri> {
    requireTrust("copying the example");
    const { folder, tasks } = this.#dependencies;
    const example = Uri.joinPath(folder.resources, "example", "prove");
    for (const part of ["tasks", "runs", "fixtures"] as const)
      for (const name of listExampleEntries(Uri.joinPath(example, part).fsPath, part)) {
        const target = Uri.joinPath(folder.getPart(part), name);
        if (existsSync(target.fsPath)) continue;
        await workspace.fs.copy(Uri.joinPath(example, part, name), target, { overwrite: false });
      }
    tasks.refresh();
    return Uri.joinPath(folder.getPart("tasks"), "example.tasks.jsonl");
  }

  /** The unfinished synthesis to resume, or undefined for a new one. */
  async #pickUnfinished(): Promise<UnfinishedSynthesis | undefined> {
    const candidates = this.#dependencies.unfinished.listResumable();
    if (candidates.length === 0) return undefined;
    const items = await Promise.all(
      candidates.map(async it => ({
        label: `Resume ${getName(it)}`,
        description: await this.#describeProgress(it),
        iconPath: icons.taskFile,
        unfinished: it,
      })),
    );
    const question = { title: "Synthesize Tasks", text: "New tasks, or an unfinished file" };
    const newTasks = { label: "New tasks…", unfinished: undefined };
    return (await pickOne([newTasks, ...items], question)).unfinished;
  }

  /** Synthesizes tasks, and announces the result. */
  async #run(unfinished: UnfinishedSynthesis, isResumed: boolean): Promise<void> {
    this.#announceResult(await this.#synthesize(unfinished, isResumed));
  }

  /** Throws a `CancellationError` if the user cancels. */
  async #synthesize(synthesis: UnfinishedSynthesis, isResumed: boolean): Promise<SynthesisResult> {
    const { file, choices } = synthesis;
    const { extensionUri, folder, definitions, tasks, unfinished } = this.#dependencies;
    const teacher = await this.#resolveTeacher(choices.teacher);
    const servers = choices.servers.length
      ? choices.servers
      : (await definitions.loadShipped()).map(it => it.name);
    unfinished.begin(synthesis);
    try {
      const result = await synthesizeInProgram(
        {
          file,
          count: choices.count,
          seed: choices.seed,
          servers,
          ...(choices.preset ? { preset: choices.preset } : {}),
          ...(choices.difficulty ? { difficulty: choices.difficulty } : {}),
          fixtures: folder.fixtureFolders,
          teacher,
          ...(isResumed ? { resume: true } : {}),
        },
        `${isResumed ? "Resuming" : "Synthesizing"} ${getName(synthesis)}`,
        { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
        progress => tasks.showMaking(file, progress),
      );
      unfinished.remove(file);
      return result;
    } catch (error) {
      this.#announceUnfinished(synthesis);
      throw addKeyButton(error, choices.teacher);
    } finally {
      unfinished.end(file);
      tasks.showMaking(file, undefined);
      tasks.refresh();
    }
  }

  async #resolveTeacher(choice: TeacherChoice): Promise<TeacherOptions> {
    if (choice.kind !== "endpoint") return choice;
    const { keys } = this.#dependencies;
    await keys.confirmSending(choice.url, choice.model);
    const key = await keys.getKey(choice.url);
    return { ...choice, ...(key === undefined ? {} : { key }) };
  }

  #announceResult({ file, report }: SynthesisResult): void {
    const accepted = formatCount(report.accepted, "task");
    const rejected = formatCount(report.attempts - report.accepted, "attempt");
    const left = `${rejected} did not pass the checks and were left out, as intended`;
    const message = `${accepted} in ${workspace.asRelativePath(file)}. ${left}.`;
    const announce = async () => {
      const actions = ["Open First Task", "Start Training", "Show Synthesis"] as const;
      const chosen = await showInformation(message, ...actions);
      if (chosen === "Open First Task") await this.#openFirst(Uri.file(file));
      else if (chosen === "Start Training")
        await commands.executeCommand("prove.startTraining", Uri.file(file));
      else if (chosen) this.#dependencies.pages.show(file);
    };
    reportRejection(announce());
  }

  async #openFirst(file: Uri): Promise<void> {
    const { entries } = await this.#dependencies.tasks.readIndex(file);
    const [entry] = entries;
    if (!entry)
      throw new UserError(`${basename(file.fsPath)} has no task`, "synthesize more tasks");
    await commands.executeCommand("prove.openTranscript", { kind: "task", file, entry });
  }

  #announceUnfinished(unfinished: UnfinishedSynthesis): void {
    if (!existsSync(unfinished.file)) return;
    const announce = async () => {
      const progress = await this.#describeProgress(unfinished);
      const message = `${getName(unfinished)} is unfinished: ${progress}. The tasks are kept.`;
      const chosen = await showInformation(message, "Resume", "Show Synthesis");
      if (chosen === "Resume") await this.#run(unfinished, true);
      else if (chosen) this.#dependencies.pages.show(unfinished.file);
    };
    reportRejection(announce());
  }

  async #describeProgress({ file, choices }: UnfinishedSynthesis): Promise<string> {
    const { entries } = await this.#dependencies.tasks.rereadIndex(Uri.file(file));
    return `${entries.length.toLocaleString("en")} of ${formatCount(choices.count, "task")}`;
  }
}

/** Adds a button for the command that stores a key to an error about a missing key. */
const addKeyButton = (error: unknown, { kind }: TeacherChoice): unknown =>
  error instanceof UserError && kind === "endpoint" && /\bkey\b/.test(error.remedy)
    ? new ActionableError(
        error.what,
        "store a key for that address, then resume the synthesis",
        { title: "Set Endpoint Key…", command: "prove.setEndpointKey" },
        { cause: error },
      )
    : error;

const getName = ({ file }: UnfinishedSynthesis) => basename(file, ".tasks.jsonl");

/** What is copied of a part of the example; fixtures are in the folders of their servers. */
const listExampleEntries = (path: string, part: string): readonly string[] =>
  part === "fixtures"
    ? readdirSync(path).flatMap(server =>
        readdirSync(join(path, server)).map(it => `${server}/${it}`),
      )
    : readdirSync(path);

/**
 * Synthesizes tasks. Throws a `CancellationError` when the user cancels; what was written stays
 * valid.
 */
const synthesizeInProgram = (
  request: SynthesisWork,
  title: string,
  location: ProgramLocation,
  onProgress: (progress: SynthesisProgress) => void,
): Promise<SynthesisResult> =>
  runWork(title, location, ({ channel, progress, signal }) => {
    let reported = 0;
    channel.listen("progress", it => {
      const increment = (100 * (it.done - reported)) / Math.max(1, it.total);
      reported = it.done;
      progress.report({ message: formatProgress(it), increment });
      onProgress(it);
    });
    channel.handle("complete", completeWithEditorModel);
    channel.open();
    return channel.request("synthesize", request, signal);
  });
