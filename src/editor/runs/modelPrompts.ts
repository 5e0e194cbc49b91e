/**
 * Shows what the model of an attempt saw, as read-only documents: in the tokens of the student or
 * Hugging Face model that made it, or as the chat messages that an endpoint gets.
 */
import { basename, join } from "node:path";
import { type Disposable, Uri, window, workspace } from "vscode";
import { listMenuTools } from "../../environment/menu.ts";
import { createRules, type Conversation } from "../../policy/policy.ts";
import { getCheckpointFolder, getGroupsFile, listCheckpoints, readRun } from "../../run/folder.ts";
import { parseGroupLine } from "../../run/group.ts";
import { readStartModel } from "../../run/startModel.ts";
import { readJsonAt } from "../../storage/lineIndex.ts";
import { listOfferedItems } from "../../trajectory/task.ts";
import { describeFailure, UserError } from "../../userError.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import { readLocation, type AttemptLocation } from "../attempts/storedLocation.ts";
import type { OpenAttempt, Transcripts } from "../attempts/transcripts.ts";
import { runCountedWork } from "../shared/program.ts";
import { getOwnModels, type ProveFolder } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { icons } from "../shared/icons.ts";
import { formatChat, formatReading, type PromptHead, type TokenTraining } from "./promptText.ts";
import type { Runs } from "./runs.ts";
import { listStudents, pickStudentOrFolder, type StudentChoice } from "./studentChoices.ts";

interface ModelPromptDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly files: ReadOnlyFiles;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
}

/** What reads the attempt: a model folder, or nothing, for the chat messages of an endpoint. */
interface Reader {
  readonly model?: string;
  /** Whether it made the attempt, or has the tokenizer of the model that did. */
  readonly isOwn?: boolean;
  /** What the document says about the choice. */
  readonly note?: string;
}

const prefix = "/prompts/";

export class ModelPrompts implements Disposable {
  readonly #dependencies: ModelPromptDependencies;
  /** The texts of open documents by their addresses: a model takes a while to read one. */
  readonly #texts = new Map<string, Promise<string>>();
  readonly #subscription: Disposable;

  constructor(dependencies: ModelPromptDependencies) {
    this.#dependencies = dependencies;
    dependencies.files.provide(prefix, uri => this.#getText(uri));
    this.#subscription = workspace.onDidCloseTextDocument(it =>
      this.#texts.delete(it.uri.toString()),
    );
  }

  /** Shows what the model that made an attempt saw; asks for one where that is not known. */
  async show(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const { transcripts } = this.#dependencies;
    const uri = await transcripts.findUri(attempt);
    const opened = await transcripts.read(uri);
    if (opened.rejected)
      throw new UserError(
        "a rejected attempt has no policy that saw a prompt",
        "choose another attempt",
      );
    const location = readLocation(uri);
    const reader = this.#findReader(location, opened) ?? (await this.#askForReader(opened));
    const address = uri.with({
      path: uri.path.replace("/transcripts/", prefix).replace(/\.transcript$/, ".prompt"),
      query: JSON.stringify({ ...location, reader }),
    });
    this.#texts.delete(address.toString());
    // an error is shown here, and not in the place of the document
    await this.#getText(address);
    // the transcript stays, which a preview would replace
    await window.showTextDocument(await workspace.openTextDocument(address), { preview: false });
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #getText(address: Uri): Promise<string> {
    const key = address.toString();
    let text = this.#texts.get(key);
    if (!text) {
      this.#texts.set(key, (text = this.#createText(address)));
      text.catch(() => this.#texts.delete(key));
    }
    return text;
  }

  async #createText(address: Uri): Promise<string> {
    const { transcripts } = this.#dependencies;
    const { reader, ...location } = JSON.parse(address.query) as AttemptLocation & {
      readonly reader: Reader;
    };
    const uri = address.with({
      path: address.path.replace(prefix, "/transcripts/").replace(/\.prompt$/, ".transcript"),
      query: JSON.stringify(location),
    });
    const attempt = await transcripts.read(uri);
    const { model, note } = reader;
    const head = { trajectory: attempt.trajectory, notes: note === undefined ? [] : [note] };
    if (model === undefined)
      return formatAsChat(head, attempt, "as the chat messages that an endpoint gets");
    const { task } = attempt;
    const reason = !workspace.isTrusted
      ? "a model reads attempts in a trusted workspace only"
      : task
        ? undefined
        : "its task was not found, which has the time and the rules of the prompt";
    if (reason !== undefined || !task)
      return formatAsChat(head, attempt, `as chat messages, because ${reason}`);
    try {
      const reading = await this.#read(attempt, task, { ...reader, model });
      return formatReading(head, reading, await readTraining(location));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const why = `as chat messages, because the model cannot read it: ${describeFailure(error)}`;
      return formatAsChat(head, attempt, why);
    }
  }

  #read(
    { trajectory }: OpenAttempt,
    task: NonNullable<OpenAttempt["task"]>,
    { model, isOwn = false }: Reader & { readonly model: string },
  ) {
    const { extensionUri, folder } = this.#dependencies;
    return runCountedWork(
      "readAttempt",
      { task, trajectory, model, isOwn, fixtures: folder.fixtureFolders },
      `${basename(model)} reads ${trajectory.header.id}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
    );
  }

  /** Who made an attempt, as far as its header and its place say; undefined otherwise. */
  #findReader(location: AttemptLocation, { trajectory }: OpenAttempt): Reader | undefined {
    const { policy } = trajectory.header;
    if (policy.startsWith("endpoint:")) return {};
    if (location.kind === "group" && !location.isTeacher)
      return this.#findRunModel(location.run, location.step);
    const [, name] = /^student:(.+?)(?: after .*)?$/.exec(policy) ?? [];
    if (name === undefined) return undefined;
    const model = this.#listStudents().find(it => readName(it) === name);
    return model && { model: model.folder, isOwn: true };
  }

  /**
   * The checkpoint of a run that is nearest to the weights of a step. The tokenizer is that of any
   * of them, and of the model that the run started from.
   */
  #findRunModel(run: string, step: number): Reader | undefined {
    const checkpoints = listCheckpoints(run);
    const before = checkpoints.filter(it => it < step).at(-1) ?? checkpoints[0];
    if (before !== undefined)
      return {
        model: getCheckpointFolder(run, before),
        isOwn: true,
        note: `read by the checkpoint after step ${before} of ${basename(run)}; the attempt was made in step ${step}`,
      };
    const { from } = readRun(run);
    if (from === undefined) return undefined;
    const model = /^[\w-]+$/.test(from)
      ? join(this.#dependencies.folder.resources.fsPath, "models", from)
      : from;
    return {
      model,
      isOwn: true,
      note: `${basename(run)} has no checkpoint here; read by ${from}, from which it started`,
    };
  }

  async #askForReader({ trajectory }: OpenAttempt): Promise<Reader> {
    const { policy } = trajectory.header;
    const title = "Show What the Model Saw";
    const items = [
      {
        label: "Chat messages",
        description: "as an endpoint gets them",
        iconPath: icons.connection,
        choose: async (): Promise<Reader> => ({}),
      },
      {
        label: "A student or a model…",
        description: "that reads it as if it had made the attempt",
        iconPath: icons.checkpoint,
        choose: async (): Promise<Reader> => {
          const question = { title, text: "Which model reads the attempt" };
          const { folder } = await pickStudentOrFolder(this.#listStudents(), question, undefined);
          return { model: folder, note: `made by ${policy}, and read by another model` };
        },
      },
    ];
    const text = `How the attempt of ${policy} is shown`;
    return (await pickOne(items, { title, text })).choose();
  }

  #listStudents(): readonly StudentChoice[] {
    const { folder, runs } = this.#dependencies;
    const models = Uri.joinPath(folder.resources, "models").fsPath;
    return listStudents(models, runs.list(), getOwnModels(folder));
  }
}

/** The name that a policy of the model has; undefined if the folder is damaged. */
function readName({ folder }: StudentChoice): string | undefined {
  try {
    return readStartModel(folder).name;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function formatAsChat(head: PromptHead, { trajectory, task, catalog }: OpenAttempt, why: string) {
  const { header, events } = trajectory;
  const menu = task ? listOfferedItems(task) : header.menu.map(name => ({ name }));
  const conversation: Conversation = {
    header,
    events,
    tools: listMenuTools(catalog.tools, menu, task?.tools),
    now: task?.now ?? "",
    ...(task
      ? createRules(task)
      : { instructions: "(its task was not found, which has the time and the rules)" }),
  };
  return formatChat(head, conversation, why);
}

/** What the step of a run did with the tokens of its attempt. */
async function readTraining(location: AttemptLocation): Promise<TokenTraining | undefined> {
  if (location.kind !== "group" || location.isTeacher) return undefined;
  const line = parseGroupLine(
    await readJsonAt(getGroupsFile(location.run, location.step), location.line),
  );
  return line && { advantage: line.advantage, clipped: line.clipped };
}
