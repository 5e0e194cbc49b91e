/**
 * Shows the calls of sessions as read-only documents, one for each session. An open document
 * follows its session.
 */
import { Position, Range, Selection, TextEditorRevealType, Uri, window, workspace } from "vscode";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { showWarning } from "../shared/notifications.ts";
import { truncateText } from "../shared/text.ts";
import type { CallList, ListedCall } from "./callList.ts";

/** `sessions`: on the product's own servers. `connected`: on others. */
type Folder = "sessions" | "connected";

/** Finds the calls of an open session by its number. */
type ListCalls = (session: number) => CallList | undefined;

export class CallDocuments {
  readonly #folder: Folder;
  readonly #files: ReadOnlyFiles;
  readonly #listCalls: ListCalls;

  constructor(folder: Folder, files: ReadOnlyFiles, listCalls: ListCalls) {
    this.#folder = folder;
    this.#files = files;
    this.#listCalls = listCalls;
  }

  /** Shows the calls of a session, and a warning with the reason if the new call failed. */
  async showNewCall(session: number, { name, outcome }: ListedCall): Promise<void> {
    if (outcome.kind !== "ok")
      void showWarning(
        `${name} was not accepted (${outcome.kind}): ${truncateText(outcome.message, 160)}`,
      );
    // the document may not have the call yet, but its place is at the top
    await this.#show(session, 0);
  }

  /** Shows a call among those of its session. */
  async showCall(session: number, call: ListedCall): Promise<void> {
    await this.#show(session, this.#listCalls(session)?.lines.get(call) ?? 0);
  }

  /** The text of a document; undefined if the path is not one of a session's calls. */
  read(path: string): string | undefined {
    const session = this.#findSession(path);
    if (session === undefined) return undefined;
    return this.#listCalls(session)?.text ?? `Session ${session} is not open.\n`;
  }

  /** Updates the documents of the open sessions. The calls of a closed session stay readable. */
  refresh(): void {
    for (const { uri } of workspace.textDocuments) {
      const session = uri.scheme === "prove" ? this.#findSession(uri.path) : undefined;
      if (session !== undefined && this.#listCalls(session)) this.#files.fireChange(uri);
    }
  }

  #findSession(path: string): number | undefined {
    const [, folder, number] = /^\/(\w+)\/(\d+)\/[^/]+\.calls$/.exec(path) ?? [];
    return folder === this.#folder ? Number(number) : undefined;
  }

  async #show(session: number, line: number): Promise<void> {
    const uri = Uri.from({
      scheme: "prove",
      path: `/${this.#folder}/${session}/Session ${session}.calls`,
    });
    const editor = await window.showTextDocument(uri, { preview: true, preserveFocus: true });
    const start = new Position(line, 0);
    editor.selection = new Selection(start, start);
    editor.revealRange(new Range(start, start), TextEditorRevealType.AtTop);
  }
}
