/**
 * Attempts as documents: their transcripts with what each call earned, opened, revealed and
 * refreshed. Keeps what is open, so that lenses, pages and the debugger speak of the same attempt.
 */
import { setImmediate } from "node:timers/promises";
import {
  EventEmitter,
  Range,
  Selection,
  TabInputWebview,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  window,
  workspace,
  type Disposable,
  type TextEditor,
} from "vscode";
import type { Catalog } from "../../environment/catalog.ts";
import { UserError } from "../../userError.ts";
import { describeCall } from "../../reward/words.ts";
import { formatTranscript, type Transcript } from "../../trajectory/transcript.ts";
import {
  createTranscriptUri,
  isTranscript,
  getNodeUri,
  readAttempt,
  type AttemptNode,
  type FindTask,
  type StoredAttempt,
} from "./attempts.ts";
import type { Definitions } from "../servers/definitions.ts";
import { formatRewardLines, scoreAttempt, type AttemptReward } from "./attemptReward.ts";
import { describeRejectedAttempt } from "../synthesis/rejectedAttempts.ts";

export interface OpenAttempt extends StoredAttempt {
  readonly transcript: Transcript;
  readonly reward: AttemptReward;
  readonly catalog: Catalog;
}

export class Transcripts implements Disposable {
  readonly #definitions: Definitions;
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #open = new Map<string, Promise<OpenAttempt>>();
  readonly #closing: Disposable;
  readonly #find: FindTask;

  constructor(definitions: Definitions, find: FindTask) {
    this.#definitions = definitions;
    this.#find = find;
    this.#closing = workspace.onDidCloseTextDocument(it => this.#open.delete(it.uri.toString()));
  }

  /** Shows the transcript of a node, or of a trajectory file that the person has open. */
  async open(node: AttemptNode | Uri | undefined): Promise<void> {
    await this.#show(this.resolveUri(node));
  }

  /** The address that a command is about: the node's, the one given, or the active editor's. */
  resolveUri(node: AttemptNode | Uri | undefined): Uri {
    const given =
      node instanceof Uri ? node : node ? getNodeUri(node) : window.activeTextEditor?.document.uri;
    if (given && isTranscript(given)) return given;
    if (given?.path.endsWith(".trajectory.jsonl"))
      return createTranscriptUri(
        { kind: "file", file: given.fsPath },
        given.path.split("/").at(-1)!.replace(".trajectory.jsonl", ""),
      );
    throw new UserError("no trajectory is shown", "open a task from the Tasks view first");
  }

  /** The attempt of a transcript's address, read once while its document is open. */
  getAttempt(uri: Uri): Promise<OpenAttempt> {
    const key = uri.toString();
    const known = this.#open.get(key);
    if (known) return known;
    const reading = this.#read(uri);
    this.#open.set(key, reading);
    reading.catch(() => this.#open.delete(key));
    return reading;
  }

  async getText(uri: Uri): Promise<string> {
    return (await this.getAttempt(uri)).transcript.text;
  }

  /** Shows a call, by its position among the calls, in its transcript. */
  async reveal(address: string, call: number): Promise<void> {
    const uri = Uri.parse(address, true);
    const { trajectory, transcript } = await this.getAttempt(uri);
    const events = trajectory.events.flatMap((it, index) => (it.kind === "call" ? [index] : []));
    const span = transcript.ranges[events[call]!]!;
    const editor = await this.#show(uri);
    editor.selection = new Selection(span.first, 0, span.first, 0);
    editor.revealRange(
      new Range(span.first, 0, span.last, 0),
      TextEditorRevealType.InCenterIfOutsideViewport,
    );
  }

  /** Grades what is open anew: a fixture or a file was written. */
  refresh(): void {
    const open = [...this.#open.keys()];
    this.#open.clear();
    for (const it of open) this.#changed.fire(Uri.parse(it, true));
  }

  dispose(): void {
    this.#closing.dispose();
    this.#changed.dispose();
  }

  async #read(uri: Uri): Promise<OpenAttempt> {
    const kept = await readAttempt(uri, this.#find);
    // reading and grading are each a stretch of work: the host breathes between them
    await setImmediate();
    const catalog = await this.#definitions.catalog();
    if (kept.rejected)
      return {
        ...kept,
        catalog,
        reward: { unscorable: `it was rejected (${kept.rejected.reason})` },
        transcript: formatTranscript(kept.trajectory, describeRejectedAttempt(kept.rejected)),
      };
    const reward = scoreAttempt(catalog, kept.task, kept.trajectory);
    const paper = "breakdowns" in reward ? reward.breakdowns[0] : undefined;
    const transcript = formatTranscript(kept.trajectory, {
      ...(kept.task ? { task: kept.task } : {}),
      ...(paper ? { describeCall: call => describeCall(paper, call) } : {}),
      closing: formatRewardLines(reward),
    });
    return { ...kept, transcript, reward, catalog };
  }

  async #show(uri: Uri): Promise<TextEditor> {
    // read first: what cannot be read says why, and opens nothing
    await this.getAttempt(uri);
    const shown = window.visibleTextEditors.find(
      it => it.document.uri.toString() === uri.toString(),
    );
    const document = await workspace.openTextDocument(uri);
    return window.showTextDocument(document, { viewColumn: shown?.viewColumn ?? chooseColumn() });
  }
}

/** Beside a page the transcript goes to the other column; else where the person is. */
function chooseColumn(): ViewColumn {
  const { activeTabGroup } = window.tabGroups;
  const isOnReward =
    activeTabGroup.activeTab?.input instanceof TabInputWebview &&
    activeTabGroup.viewColumn > ViewColumn.One;
  return isOnReward ? ViewColumn.One : ViewColumn.Active;
}

/** What the user asked first. */
export const getFirstRequest = ({ trajectory }: StoredAttempt): string =>
  trajectory.events.find(it => it.kind === "user")?.text ?? trajectory.header.task;
