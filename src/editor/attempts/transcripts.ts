/**
 * The transcripts of attempts as documents, with the reward of each call. Caches the attempts of
 * open documents for the code lenses, the reward pages and the debugger.
 */
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  EventEmitter,
  Range,
  Selection,
  TabInputWebview,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  env,
  window,
  workspace,
  type Disposable,
  type TextEditor,
} from "vscode";
import { prepareCalls, type Catalog } from "../../environment/catalog.ts";
import { computeDigest } from "../../environment/digest.ts";
import { listTurns } from "../../trajectory/oneTurn.ts";
import { openStartState } from "../../trajectory/replay.ts";
import { recognizeRollouts } from "../../rollouts/recognizeRollouts.ts";
import { listCalls } from "../../trajectory/trajectory.ts";
import { formatTranscript, type Transcript } from "../../trajectory/transcript.ts";
import { UserError } from "../../userError.ts";
import { toEditorText } from "../shared/editorText.ts";
import { showInformation } from "../shared/notifications.ts";
import { formatUserError } from "../shared/report.ts";
import { getRewardProfile } from "../shared/settings.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { describeRejectedAttempt } from "./rejectedAttempts.ts";
import {
  createRolloutUri,
  getFileUri,
  getNodeUri,
  isRolloutFile,
  isTranscript,
  type AttemptNode,
} from "./attemptLocation.ts";
import { computeReward, type AttemptReward } from "./attemptReward.ts";
import { formatAttempt } from "./attemptText.ts";
import { indexTasks } from "./taskIndex.ts";
import { readAttempt, type FindTask, type StoredAttempt } from "./storedAttempt.ts";
import { readFileVersion } from "./storedLocation.ts";

export interface OpenAttempt extends StoredAttempt {
  readonly transcript: Transcript;
  readonly reward: AttemptReward;
  readonly catalog: Catalog;
}

export class Transcripts implements Disposable {
  readonly #definitions: ServerDefinitions;
  readonly #findTask: FindTask;
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #refreshed = new EventEmitter<void>();
  /** All attempts are to be read again, also those whose transcripts are closed. */
  readonly onDidRefresh = this.#refreshed.event;
  readonly #outdated = new EventEmitter<Uri>();
  /** What a held attempt was read from has changed. */
  readonly onDidOutdate = this.#outdated.event;
  /** By the address of the transcript. */
  readonly #attempts = new Map<string, Promise<OpenAttempt>>();
  /** Of the files of the attempts when they were read. */
  readonly #versions = new Map<string, string>();
  /** How often the attempts of these addresses are held, and whether they are outdated. */
  readonly #held = new Map<string, { count: number; isOutdated: boolean }>();
  readonly #subscriptions: readonly Disposable[];
  #lastShown: Uri | undefined;

  constructor(definitions: ServerDefinitions, findTask: FindTask) {
    this.#definitions = definitions;
    this.#findTask = findTask;
    this.#subscriptions = [
      workspace.onDidCloseTextDocument(it => this.#attempts.delete(it.uri.toString())),
      window.onDidChangeActiveTextEditor(it => {
        if (it && isTranscript(it.document.uri)) this.#lastShown = it.document.uri;
      }),
    ];
  }

  /** Shows the transcript of a node, a transcript, a trajectory file or a file of rollouts. */
  async open(attempt: AttemptNode | Uri | undefined, column?: ViewColumn): Promise<void> {
    const uri =
      attempt instanceof Uri && isRolloutFile(attempt)
        ? createRolloutUri(attempt.fsPath, (await recognizeRollouts(attempt.fsPath)).name, {
            attempt: 0,
          })
        : await this.findUri(attempt);
    await this.#show(uri, column);
  }

  /**
   * The transcript of a node or a file; of a tasks file, that of the task at the cursor. Without
   * one, that of the active editor.
   */
  async findUri(attempt: AttemptNode | Uri | undefined): Promise<Uri> {
    const file = attempt ?? window.activeTextEditor?.document.uri;
    if (!(file instanceof Uri) || !file.path.endsWith(".tasks.jsonl"))
      return this.resolveUri(attempt);
    const editor = window.visibleTextEditors.find(
      it => it.document.uri.toString() === file.toString(),
    );
    const line = (editor?.selection.active.line ?? 0) + 1;
    const entry = (await indexTasks(file.fsPath)).entries.find(it => it.number === line);
    if (entry) return getNodeUri({ kind: "task", file, entry });
    throw new UserError(
      `line ${line} of ${basename(file.fsPath)} has no task`,
      "go to another line",
    );
  }

  /**
   * The transcript of a node or a file; without one, that of the active editor. While a page is
   * active, such as the walkthrough, it is the transcript that was shown last.
   */
  resolveUri(attempt: AttemptNode | Uri | undefined): Uri {
    const uri =
      attempt instanceof Uri
        ? attempt
        : attempt
          ? getNodeUri(attempt)
          : window.activeTextEditor
            ? window.activeTextEditor.document.uri
            : this.#lastShown;
    if (uri && isTranscript(uri)) return uri;
    if (uri?.path.endsWith(".trajectory.jsonl")) return getFileUri(uri);
    throw new UserError("no trajectory is open", "open a task from the Tasks view first");
  }

  /** The attempt of a transcript, read once while its document is open. */
  getAttempt(uri: Uri): Promise<OpenAttempt> {
    const key = uri.toString();
    const known = this.#attempts.get(key);
    if (known) return known;
    this.#versions.set(key, readFileVersion(uri));
    const attempt = this.read(uri);
    this.#attempts.set(key, attempt);
    attempt.catch(() => this.#attempts.delete(key));
    return attempt;
  }

  /** Reads and scores an attempt without keeping it. */
  async read(uri: Uri): Promise<OpenAttempt> {
    const attempt = await readAttempt(uri, this.#findTask);
    // reading and scoring each take a while: other work can run in between
    await setImmediate();
    const catalog = await this.#definitions.openCatalog();
    const { trajectory, task, rejected } = attempt;
    if (rejected)
      return {
        ...attempt,
        catalog,
        reward: { unscorable: `it was rejected (${rejected.reason})` },
        transcript: formatTranscript(trajectory, describeRejectedAttempt(rejected)),
      };
    if (!trajectory.header.imported)
      await prepareCalls(catalog, trajectory.header, listCalls(trajectory));
    if (task) await prepareCalls(catalog, task, listCalls(task.trajectory));
    const computed = computeReward(catalog, task, trajectory, getRewardProfile());
    const reward =
      "unscorable" in computed ? { unscorable: toEditorText(computed.unscorable) } : computed;
    const transcript = formatAttempt(trajectory, task, reward);
    return { ...attempt, transcript, reward, catalog };
  }

  /** The text of the document; the reason if the attempt cannot be read. */
  async getText(uri: Uri): Promise<string> {
    try {
      return (await this.getAttempt(uri)).transcript.text;
    } catch (error) {
      if (error instanceof UserError)
        return `This attempt cannot be shown.\n\n${formatUserError(error, "close this transcript")}\n`;
      throw error;
    }
  }

  /** Shows a call, by its position among the calls, in the transcript. */
  async reveal(uri: Uri, call: number): Promise<void> {
    const { trajectory } = await this.getAttempt(uri);
    const calls = trajectory.events.flatMap((it, index) => (it.kind === "call" ? [index] : []));
    const event = calls[call];
    if (event === undefined)
      throw new UserError(`the attempt has no call ${call + 1}`, `it has ${calls.length} calls`);
    await this.#revealEvent(uri, event);
  }

  /** Shows the last message of a turn of the task, or of what there is of the attempt. */
  async revealTurn(uri: Uri, turn: number): Promise<void> {
    const { trajectory, task } = await this.getAttempt(uri);
    const turns = task ? listTurns(task, trajectory.events) : [];
    const event = trajectory.events.findLastIndex(
      (it, i) => it.kind === "assistant" && turns[i]! <= turn,
    );
    if (event >= 0) await this.#revealEvent(uri, event);
  }

  async #revealEvent(uri: Uri, event: number): Promise<void> {
    const { transcript } = await this.getAttempt(uri);
    const { first, last } = transcript.ranges[event]!;
    const editor = await this.#show(uri);
    editor.selection = new Selection(first, 0, first, 0);
    editor.revealRange(
      new Range(first, 0, last, 0),
      TextEditorRevealType.InCenterIfOutsideViewport,
    );
  }

  /** Copies a call, by its position among the calls, as JSON to the clipboard. */
  async copyCall(uri: Uri, call: number): Promise<void> {
    const { name, arguments: args } = listCalls((await this.getAttempt(uri)).trajectory)[call]!;
    await env.clipboard.writeText(JSON.stringify({ name, arguments: args }, null, 2));
    void showInformation("The call is on the clipboard, as JSON.");
  }

  /** Reads and scores the open attempts again, after the profile has changed. */
  refresh(): void {
    const addresses = [...this.#attempts.keys()];
    for (const it of addresses) this.#forget(it);
    this.#refreshed.fire();
  }

  /** Reads and scores the open attempts again, after a fixture has changed. */
  async refreshFixtures(): Promise<void> {
    this.#refreshed.fire();
    const catalog = await this.#definitions.openCatalog();
    const attempts = [...this.#attempts];
    for (const [address, attempt] of attempts)
      if (!this.#held.has(address) || startsElsewhere(await attempt, catalog))
        this.#outdate(address);
  }

  /**
   * Reads the attempts of open transcripts, and of others that are shown, again if their files have
   * changed.
   */
  async refreshFiles(others: readonly Uri[]): Promise<void> {
    const open = workspace.textDocuments.map(it => it.uri).filter(isTranscript);
    const uris = new Map([...open, ...others].map(it => [it.toString(), it]));
    for (const [address, uri] of uris) {
      const version = readFileVersion(uri);
      const attempt = this.#attempts.get(address);
      if (attempt && this.#versions.get(address) === version) continue;
      this.#versions.set(address, version);
      // most files only grow
      if (!attempt || !(await isStored(await attempt, uri, this.#findTask))) this.#outdate(address);
    }
  }

  /** Keeps an attempt and its text as they are, such as for the debugger, until it is released. */
  hold(uri: Uri): Disposable {
    const address = uri.toString();
    const held = this.#held.get(address) ?? { count: 0, isOutdated: false };
    this.#held.set(address, held);
    held.count++;
    return {
      dispose: () => {
        held.count--;
        if (held.count > 0) return;
        this.#held.delete(address);
        if (held.isOutdated) this.#forget(address);
      },
    };
  }

  #outdate(address: string): void {
    const held = this.#held.get(address);
    if (!held) return this.#forget(address);
    if (held.isOutdated) return;
    held.isOutdated = true;
    this.#outdated.fire(Uri.parse(address, true));
  }

  #forget(address: string): void {
    this.#attempts.delete(address);
    this.#changed.fire(Uri.parse(address, true));
  }

  dispose(): void {
    for (const it of this.#subscriptions) it.dispose();
    this.#changed.dispose();
    this.#refreshed.dispose();
    this.#outdated.dispose();
  }

  /** Without a column, a transcript that is visible stays where it is. */
  async #show(uri: Uri, column?: ViewColumn): Promise<TextEditor> {
    // an attempt that cannot be read throws here, before a document is opened
    await this.getAttempt(uri);
    const editor = window.visibleTextEditors.find(
      it => it.document.uri.toString() === uri.toString(),
    );
    const document = await workspace.openTextDocument(uri);
    return window.showTextDocument(document, {
      viewColumn: column ?? editor?.viewColumn ?? chooseColumn(),
    });
  }
}

/** Whether an attempt starts from another state with the fixtures of a catalog. */
function startsElsewhere({ trajectory, catalog, rejected }: OpenAttempt, current: Catalog) {
  if (rejected) return false;
  const [before, now] = [catalog, current].map(it => {
    try {
      return computeDigest(openStartState(it, trajectory));
    } catch (error) {
      if (error instanceof UserError) return error.what;
      throw error;
    }
  });
  return before !== now;
}

/** Whether the file of an attempt still contains it. */
async function isStored(
  { trajectory, task }: OpenAttempt,
  uri: Uri,
  findTask: FindTask,
): Promise<boolean> {
  try {
    const stored = await readAttempt(uri, findTask);
    return isDeepStrictEqual([stored.trajectory, stored.task], [trajectory, task]);
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** From a page beside the editor, the transcript opens in the first column. */
function chooseColumn(): ViewColumn {
  const { activeTabGroup } = window.tabGroups;
  const isPageBeside =
    activeTabGroup.activeTab?.input instanceof TabInputWebview &&
    activeTabGroup.viewColumn > ViewColumn.One;
  return isPageBeside ? ViewColumn.One : ViewColumn.Active;
}
