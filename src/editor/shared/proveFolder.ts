/**
 * The workspace's own folder, in which fixtures, tasks and runs live: where it is, what changes in
 * it, and where the shipped counterparts lie. Knows no file's content.
 */
import { EventEmitter, RelativePattern, Uri, workspace, type Disposable, type Event } from "vscode";
import type { FixtureFolders } from "../../environment/fixture.ts";
import { UserError } from "../../userError.ts";
import { ActionableError } from "./report.ts";
import { getSetting } from "./settings.ts";

const parts = ["fixtures", "tasks", "runs", "mcp.json"] as const;
export type FolderPart = (typeof parts)[number];

export class ProveFolder implements Disposable {
  readonly resources: Uri;
  readonly #changed = new EventEmitter<FolderPart>();
  /**
   * Something in one of the folder's parts was written or went away; told at most a few times a
   * second.
   */
  readonly onDidChange: Event<FolderPart> = this.#changed.event;
  readonly #pending = new Map<FolderPart, NodeJS.Timeout>();
  readonly #subscriptions: Disposable[];
  #watchers: Disposable[] = [];

  constructor(extension: Uri) {
    this.resources = Uri.joinPath(extension, "resources");
    this.#subscriptions = [
      workspace.onDidChangeWorkspaceFolders(() => this.#changeFolder()),
      workspace.onDidChangeConfiguration(
        it => it.affectsConfiguration("prove.folder") && this.#changeFolder(),
      ),
    ];
    this.#watch();
  }

  /**
   * The folder, whether it exists or not; undefined where no folder is open, or the setting names
   * none inside it.
   */
  get uri(): Uri | undefined {
    const folder = workspace.workspaceFolders?.[0];
    const uri = folder && Uri.joinPath(folder.uri, getSetting("folder", folder.uri));
    return uri?.path.startsWith(`${folder!.uri.path}/`) ? uri : undefined;
  }

  /** The workspace folder that it is in, as a path; empty where none is open. */
  get workspacePath(): string {
    return workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  }

  /** A part of the folder, or a mistake that offers to open a folder. */
  getPart(part: FolderPart): Uri {
    const { uri } = this;
    if (uri) return Uri.joinPath(uri, part);
    if (workspace.workspaceFolders?.length)
      throw new ActionableError(
        `prove.folder names ${getSetting("folder")}, which is not inside the workspace folder`,
        "correct the setting",
        {
          title: "Open Settings",
          command: "workbench.action.openSettings",
          arguments: ["prove.folder"],
        },
      );
    throw new ActionableError(`no folder is open to keep ${part} in`, "open one", {
      title: "Open Folder",
      command: "vscode.openFolder",
    });
  }

  /** Where fixtures are looked for: the workspace's own, then the shipped ones. */
  get fixtureFolders(): FixtureFolders {
    const { uri } = this;
    return [...(uri ? [Uri.joinPath(uri, "fixtures").fsPath] : []), this.shippedFixtures];
  }

  get shippedFixtures(): string {
    return Uri.joinPath(this.resources, "servers").fsPath;
  }

  dispose(): void {
    for (const it of [...this.#subscriptions, ...this.#watchers, this.#changed]) it.dispose();
    for (const it of this.#pending.values()) clearTimeout(it);
  }

  /** The folder is another one: all of it may differ. */
  #changeFolder(): void {
    this.#watch();
    for (const it of parts) this.#fireSoon(it);
  }

  #watch(): void {
    for (const it of this.#watchers.splice(0)) it.dispose();
    const { uri } = this;
    if (uri) {
      const watcher = workspace.createFileSystemWatcher(new RelativePattern(uri, "**"));
      const changed = (file: Uri) => {
        const first = file.path.slice(uri.path.length + 1).split("/")[0];
        for (const it of parts) if (first === it || first === "") this.#fireSoon(it);
      };
      this.#watchers = [
        watcher,
        watcher.onDidCreate(changed),
        watcher.onDidChange(changed),
        watcher.onDidDelete(changed),
      ];
    }
  }

  #fireSoon(part: FolderPart): void {
    if (this.#pending.has(part)) return;
    const told = setTimeout(() => {
      this.#pending.delete(part);
      this.#changed.fire(part);
    }, 250);
    this.#pending.set(part, told);
  }
}

/** Refuses what would start or call anything while the workspace is not trusted. */
export function requireTrust(what: string): void {
  if (!workspace.isTrusted)
    throw new ActionableError(`${what} is not done in an untrusted workspace`, "trust it first", {
      title: "Manage Trust",
      command: "workbench.trust.manage",
    });
}

/** The files of a folder whose names end so, sorted; none where the folder is missing. */
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
