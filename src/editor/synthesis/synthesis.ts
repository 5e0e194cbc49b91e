/**
 * Synthesizing tasks from the editor: asks what to make, hands the work to the terminal program,
 * and says what came of it. A synthesis that was ended before its time is remembered and can be
 * gone on with.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { CancellationError, Uri, window, workspace, type Memento } from "vscode";
import { UserError } from "../../userError.ts";
import type { TeacherOptions } from "../../protocol/work.ts";
import type { SynthesisResult } from "../../synthesis/pipeline/runSynthesis.ts";
import type { Definitions } from "../servers/definitions.ts";
import type { EndpointKeys } from "./endpointKeys.ts";
import { icons } from "../shared/icons.ts";
import { listEditorModels } from "./languageModels.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import { getSetting } from "../shared/settings.ts";
import {
  promptForSynthesis,
  type SynthesisRequest,
  type TeacherChoice,
} from "./synthesisPrompts.ts";
import type { SynthesisPages } from "./synthesisPages.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import { synthesizeInProgram } from "./work.ts";

/** A synthesis that has begun and is not known to be done. */
interface UnfinishedSynthesis {
  readonly file: string;
  readonly ask: SynthesisRequest;
}

const unfinishedKey = "prove.synthesis.begun";

export class Synthesis {
  readonly #dist: string;
  readonly #folder: ProveFolder;
  readonly #definitions: Definitions;
  readonly #tasks: TasksTree;
  readonly #pages: SynthesisPages;
  readonly #keys: EndpointKeys;
  readonly #workspaceState: Memento;
  /** Files that are being written from this window. */
  readonly #running = new Set<string>();

  constructor(
    extension: Uri,
    folder: ProveFolder,
    definitions: Definitions,
    tasks: TasksTree,
    pages: SynthesisPages,
    keys: EndpointKeys,
    remembered: Memento,
  ) {
    this.#dist = Uri.joinPath(extension, "dist").fsPath;
    this.#folder = folder;
    this.#definitions = definitions;
    this.#tasks = tasks;
    this.#pages = pages;
    this.#keys = keys;
    this.#workspaceState = remembered;
  }

  /**
   * Asks what to make and synthesizes it into a file of its own, or goes on with one that was
   * begun.
   */
  async start(): Promise<void> {
    requireTrust("synthesizing tasks");
    const folder = this.#folder.getPart("tasks");
    const begun = await this.#pickUnfinished();
    if (begun) return this.#synthesize(begun, true);
    const { ask, file } = await promptForSynthesis({
      servers: await this.#definitions.servers(),
      models: await listEditorModels(),
      folder,
      remembered: this.#workspaceState,
      endpoint: { url: getSetting("endpoint.url"), model: getSetting("endpoint.model") },
    });
    await this.#synthesize({ file: file.fsPath, ask }, false);
  }

  /** Copies the example's tasks into the workspace. */
  async copyExample(): Promise<void> {
    requireTrust("copying the example");
    const from = Uri.joinPath(this.#folder.resources, "example", "prove", "tasks");
    for (const [name] of await workspace.fs.readDirectory(from))
      await workspace.fs.copy(
        Uri.joinPath(from, name),
        Uri.joinPath(this.#folder.getPart("tasks"), name),
        { overwrite: true },
      );
    this.#tasks.refresh();
  }

  /**
   * One that is unfinished and that the person wants to go on with; undefined where they want
   * another.
   */
  async #pickUnfinished(): Promise<UnfinishedSynthesis | undefined> {
    const begun = this.#unfinished.filter(it => existsSync(it.file) && !this.#running.has(it.file));
    if (begun.length === 0) return undefined;
    const items = await Promise.all(
      begun.map(async it => ({
        label: `Go on with ${getName(it)}`,
        description: await this.#describeProgress(it),
        iconPath: icons.taskFile,
        begun: it,
      })),
    );
    return (
      await pickOne([{ label: "New tasks…", begun: undefined }, ...items], {
        title: "Synthesize Tasks",
        text: "New tasks, or those that were begun",
      })
    ).begun;
  }

  async #synthesize(begun: UnfinishedSynthesis, resume: boolean): Promise<void> {
    const { file, ask } = begun;
    const teacher = await this.#resolveTeacher(ask.teacher);
    const servers = ask.servers.length
      ? ask.servers
      : (await this.#definitions.servers()).map(it => it.name);
    await this.#saveUnfinished([...this.#unfinished.filter(it => it.file !== file), begun]);
    this.#running.add(file);
    try {
      const result = await synthesizeInProgram(
        {
          file,
          count: ask.count,
          seed: ask.seed,
          servers,
          ...(ask.preset ? { preset: ask.preset } : {}),
          fixtures: this.#folder.fixtureFolders,
          teacher,
          ...(resume ? { resume } : {}),
        },
        `${resume ? "Going on with" : "Synthesizing"} ${getName(begun)}`,
        { dist: this.#dist, cwd: this.#folder.resources.fsPath },
      );
      await this.#saveUnfinished(this.#unfinished.filter(it => it.file !== file));
      this.#announceResult(result);
    } catch (error) {
      this.#announceUnfinished(begun);
      // the cancel was the person's own
      if (!(error instanceof CancellationError)) throw addKeyButton(error, ask.teacher);
    } finally {
      this.#running.delete(file);
      this.#tasks.refresh();
    }
  }

  async #resolveTeacher(choice: TeacherChoice): Promise<TeacherOptions> {
    if (choice.kind !== "endpoint") return choice;
    await this.#keys.confirmSending(choice.url, choice.model);
    const key = await this.#keys.getKey(choice.url);
    return { ...choice, ...(key === undefined ? {} : { key }) };
  }

  #announceResult({ file, report }: SynthesisResult): void {
    const where = workspace.asRelativePath(file);
    const words = `${formatCount(report.accepted, "task")} in ${where}; ${formatCount(report.attempts - report.accepted, "attempt")} rejected.`;
    const told = window.showInformationMessage(words, "Show Synthesis");
    reportRejection(Promise.resolve(told).then(chosen => chosen && this.#pages.show(file)));
  }

  #announceUnfinished(begun: UnfinishedSynthesis): void {
    if (!existsSync(begun.file)) return;
    const told = this.#describeProgress(begun).then(it =>
      window.showInformationMessage(
        `${getName(begun)} is unfinished: ${it}. What is written stands.`,
        "Go On",
        "Show Synthesis",
      ),
    );
    reportRejection(
      told.then(chosen =>
        chosen === "Go On" ? this.#synthesize(begun, true) : chosen && this.#pages.show(begun.file),
      ),
    );
  }

  async #describeProgress({ file, ask }: UnfinishedSynthesis): Promise<string> {
    const { entries } = await this.#tasks.rereadIndex(Uri.file(file));
    return `${entries.length.toLocaleString("en")} of ${formatCount(ask.count, "task")}`;
  }

  get #unfinished(): readonly UnfinishedSynthesis[] {
    return this.#workspaceState.get<readonly UnfinishedSynthesis[]>(unfinishedKey) ?? [];
  }

  async #saveUnfinished(begun: readonly UnfinishedSynthesis[]): Promise<void> {
    // those whose files are gone are forgotten
    await this.#workspaceState.update(
      unfinishedKey,
      begun.filter(it => existsSync(it.file) || this.#running.has(it.file) || it === begun.at(-1)),
    );
  }
}

/** In the editor a key that lacks is given by a command. */
const addKeyButton = (error: unknown, { kind }: TeacherChoice): unknown =>
  error instanceof UserError && kind === "endpoint" && /\bkey\b/.test(error.remedy)
    ? new ActionableError(
        error.what,
        "store a key for that address, then go on with it",
        { title: "Set Endpoint Key…", command: "prove.setEndpointKey" },
        { cause: error },
      )
    : error;

const getName = ({ file }: UnfinishedSynthesis) => basename(file, ".tasks.jsonl");

const formatCount = (n: number, noun: string) =>
  `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
