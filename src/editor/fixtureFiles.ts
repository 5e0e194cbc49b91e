/**
 * A server's fixtures as files: which are shipped and which the workspace has copied, and how a
 * copy is made and taken back. Knows no fixture's content.
 */
import { Uri, commands, window, workspace, type TextDocument } from "vscode";
import { fixtureNames } from "../environment/fixture.ts";
import { Mistake } from "../mistake.ts";
import { mustBeTrusted, type ProveFolder } from "./proveFolder.ts";

/**
 * `shipped`: only with the product. `copy`: the workspace's copy of a shipped one, which wins.
 * `own`: only in the workspace.
 */
export interface FixtureFile {
  readonly server: string;
  readonly name: string;
  readonly is: "shipped" | "copy" | "own";
  /** What is read when a session opens. */
  readonly uri: Uri;
}

export class FixtureFiles {
  readonly #folder: ProveFolder;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  of(server: string): readonly FixtureFile[] {
    const shipped = new Set(fixtureNames([this.#folder.shippedFixtures], server));
    const mine = new Set(
      this.#folder.uri ? fixtureNames([this.#folder.part("fixtures").fsPath], server) : [],
    );
    return [...new Set([...shipped, ...mine])].sort().map(name => ({
      server,
      name,
      is: !mine.has(name) ? "shipped" : shipped.has(name) ? "copy" : "own",
      uri: mine.has(name) ? this.#mine(server, name) : this.#shipped(server, name),
    }));
  }

  find(server: string, name: string): FixtureFile | undefined {
    return this.of(server).find(it => it.name === name);
  }

  /**
   * The fixture that a document shows, whether the file itself or a shipped one's read-only view.
   */
  ofDocument(uri: Uri): FixtureFile | undefined {
    const [, server, name] =
      /\/fixtures\/([a-z0-9_]+)\/([a-z0-9-]+)\.fixture\.json$/.exec(uri.path) ?? [];
    return server && name ? this.find(server, name) : undefined;
  }

  /** The fixture that a command is about: a node's, a document's, or the active editor's. */
  meant(of: { readonly file: FixtureFile } | Uri | undefined): FixtureFile {
    if (of && !(of instanceof Uri)) return of.file;
    const uri = of ?? window.activeTextEditor?.document.uri;
    const file = uri && this.ofDocument(uri);
    if (file) return file;
    throw new Mistake("no fixture is shown", "open one from the Servers view first");
  }

  /** Whether a document is a file of the workspace's own fixtures folder. */
  isMine(uri: Uri): boolean {
    return (
      this.#folder.uri !== undefined &&
      uri.toString().startsWith(`${this.#folder.part("fixtures").toString()}/`)
    );
  }

  /**
   * Shows a fixture: the workspace's as a file, a shipped one as a view that cannot be typed into.
   */
  async open(file: FixtureFile): Promise<void> {
    await window.showTextDocument(file.is === "shipped" ? viewOf(file) : file.uri);
  }

  /** Opens a fixture for editing; a shipped one is copied into the workspace first. */
  async edit(file: FixtureFile): Promise<TextDocument> {
    if (file.is === "shipped") {
      mustBeTrusted("copying a fixture");
      await workspace.fs.copy(file.uri, this.#mine(file.server, file.name), { overwrite: false });
    }
    const editor = await window.showTextDocument(this.#mine(file.server, file.name), {
      preview: false,
    });
    await closeTabs(viewOf(file));
    return editor.document;
  }

  /**
   * Deletes the workspace's copy, so that the shipped fixture is used again. Asks first where
   * something would be lost.
   */
  async restore(file: FixtureFile): Promise<void> {
    if (file.is !== "copy")
      throw new Mistake(
        `${file.server}/${file.name} is no copy of a shipped fixture`,
        "choose one that is marked as your copy",
      );
    const mine = await workspace.fs.readFile(file.uri);
    const shipped = await workspace.fs.readFile(this.#shipped(file.server, file.name));
    if (Buffer.compare(mine, shipped) !== 0) {
      const detail = "Your copy is deleted, and sessions start from the shipped fixture again.";
      const chosen = await window.showWarningMessage(
        `Restore ${file.server}/${file.name}?`,
        { modal: true, detail },
        "Restore",
      );
      if (chosen !== "Restore") return;
    }
    await workspace.fs.delete(file.uri);
    await closeTabs(file.uri);
  }

  /** The text behind a shipped fixture's view. */
  async shippedText(path: string): Promise<string> {
    return new TextDecoder().decode(
      await workspace.fs.readFile(Uri.joinPath(this.#folder.resources, path)),
    );
  }

  #mine(server: string, name: string): Uri {
    return Uri.joinPath(this.#folder.part("fixtures"), server, `${name}.fixture.json`);
  }

  #shipped(server: string, name: string): Uri {
    return Uri.joinPath(this.#folder.resources, "fixtures", server, `${name}.fixture.json`);
  }
}

const viewOf = ({ server, name }: FixtureFile) =>
  Uri.from({ scheme: "prove", path: `/fixtures/${server}/${name}.fixture.json` });

async function closeTabs(uri: Uri): Promise<void> {
  for (const tab of window.tabGroups.all.flatMap(it => it.tabs)) {
    const { input } = tab;
    if (
      typeof input !== "object" ||
      input === null ||
      !("uri" in input) ||
      String(input.uri) !== uri.toString()
    )
      continue;
    if (tab.isDirty) await commands.executeCommand("workbench.action.files.revert", uri);
    await window.tabGroups.close(tab);
  }
}
