/**
 * Locates and watches the workspace's folder for fixtures, tasks and runs, and locates the shipped
 * files.
 */
import { isAbsolute, normalize } from "node:path";
import { EventEmitter, RelativePattern, Uri, workspace, type Disposable, type Event } from "vscode";
import type { FixtureFolders } from "../../environment/fixture.ts";
import { UserError } from "../../userError.ts";
import { setShippedFolder } from "./editorText.ts";
import { ActionableError } from "./report.ts";
import { getSetting } from "./settings.ts";

const parts = ["fixtures", "tasks", "runs", "models", "servers", "mcp.json"] as const;
type FolderPart = (typeof parts)[number];

export class ProveFolder implements Disposable {
  readonly resources: Uri;
  readonly #changed = new EventEmitter<FolderPart>();
  /**
   * Fires when files in a part of the folder were written or deleted, at most four times a second.
   */
  readonly onDidChange: Event<FolderPart> = this.#changed.event;
  readonly #pending = new Map<FolderPart, NodeJS.Timeout>();
  readonly #subscriptions: Disposable[];
  #watchers: Disposable[] = [];

  constructor(extension: Uri) {
    this.resources = Uri.joinPath(extension, "resources");
    setShippedFolder(extension.fsPath);
    this.#subscriptions = [
      workspace.onDidChangeWorkspaceFolders(() => this.#changeFolder()),
      workspace.onDidChangeConfiguration(
        it => it.affectsConfiguration("prove.folder") && this.#changeFolder(),
      ),
    ];
    this.#watch();
  }

  /**
   * The folder, whether it exists or not. Undefined if no workspace folder is open or the setting
   * names a path outside it.
   */
  get uri(): Uri | undefined {
    const folder = workspace.workspaceFolders?.[0];
    const uri = folder && Uri.joinPath(folder.uri, getSetting("folder", folder.uri));
    return uri?.path.startsWith(`${folder!.uri.path}/`) ? uri : undefined;
  }

  /** The path of the workspace folder; empty if none is open. */
  get workspacePath(): string {
    return workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  }

  /**
   * The URI of a part. Throws an `ActionableError` that offers to open a folder if none is open.
   */
  getPart(part: FolderPart): Uri {
    const { uri } = this;
    if (uri) return Uri.joinPath(uri, part);
    if (workspace.workspaceFolders?.length)
      throw new ActionableError(
        `the setting prove.folder names ${getSetting("folder")}, which is not inside the workspace folder`,
        "correct the setting",
        {
          title: "Open Settings",
          command: "workbench.action.openSettings",
          arguments: ["prove.folder"],
        },
      );
    throw new ActionableError(`no folder is open to store ${part} in`, "open a folder", {
      title: "Open Folder",
      command: "vscode.openFolder",
    });
  }

  /** The folders to search for fixtures: the workspace's own, then the shipped ones. */
  get fixtureFolders(): FixtureFolders {
    const { uri } = this;
    return [...(uri ? [Uri.joinPath(uri, "fixtures").fsPath] : []), this.shippedFixtures];
  }

  get shippedFixtures(): string {
    return Uri.joinPath(this.resources, "servers").fsPath;
  }

  /**
   * Fires `onDidChange` for a part soon. The extension calls it after its own changes, too, because
   * a file watcher may miss them.
   */
  noteChange(part: FolderPart): void {
    if (this.#pending.has(part)) return;
    const timer = setTimeout(() => {
      this.#pending.delete(part);
      this.#changed.fire(part);
    }, 250);
    this.#pending.set(part, timer);
  }

  dispose(): void {
    for (const it of [...this.#subscriptions, ...this.#watchers, this.#changed]) it.dispose();
    for (const it of this.#pending.values()) clearTimeout(it);
  }

  /** Watches the new folder; every part may differ. */
  #changeFolder(): void {
    this.#watch();
    for (const it of parts) this.noteChange(it);
  }

  #watch(): void {
    for (const it of this.#watchers.splice(0)) it.dispose();
    const { uri } = this;
    if (uri) {
      const watcher = workspace.createFileSystemWatcher(new RelativePattern(uri, "**"));
      const fireForFile = (file: Uri) => {
        const first = file.path.slice(uri.path.length + 1).split("/")[0];
        for (const it of parts) if (first === it || first === "") this.noteChange(it);
      };
      this.#watchers = [
        watcher,
        watcher.onDidCreate(fireForFile),
        watcher.onDidChange(fireForFile),
        watcher.onDidDelete(fireForFile),
      ];
    }
  }
}

/** Throws an `ActionableError` if the workspace is not trusted. `action` names what needs trust. */
export function requireTrust(action: string): void {
  if (!workspace.isTrusted)
    throw new ActionableError(
      `${action} requires a trusted workspace`,
      "trust this workspace first",
      {
        title: "Manage Trust",
        command: "workbench.trust.manage",
      },
    );
}

/** Returns a path that a page saved. Throws a `UserError` unless it is inside the workspace. */
export function requireWorkspacePath(path: unknown): string {
  if (
    typeof path === "string" &&
    isAbsolute(path) &&
    normalize(path) === path &&
    workspace.getWorkspaceFolder(Uri.file(path))
  )
    return path;
  throw new UserError("the file of a page is not in the workspace", "open the page again");
}

/**
 * Lists the files of a folder whose names have an ending, sorted; none if the folder is missing.
 */
export async function listFiles(folder: Uri, ending: string): Promise<Uri[]> {
  try {
    const entries = await workspace.fs.readDirectory(folder);
    return entries
      .filter(([name]) => name.endsWith(ending))
      .map(([name]) => name)
      .sort()
      .map(name => Uri.joinPath(folder, name));
  } catch (cause) {
    if ((cause as { code?: string }).code === "FileNotFound") return [];
    throw new UserError(
      `cannot list ${folder.fsPath} (${(cause as Error).message})`,
      "check the folder's permissions",
      { cause },
    );
  }
}

/** The folder of the workspace's own models, if there is a workspace. */
export const getOwnModels = (folder: ProveFolder): string | undefined =>
  folder.uri ? folder.getPart("models").fsPath : undefined;
