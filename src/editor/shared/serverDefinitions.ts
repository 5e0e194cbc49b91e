/**
 * The server definitions of the editor: those that ship, and in a trusted workspace its own. They
 * are loaded when they are first needed, so that activation is fast. Catalogs read the fixtures as
 * they are saved.
 */
import { existsSync } from "node:fs";
import { type Disposable, EventEmitter, Uri, workspace } from "vscode";
import type { Catalog } from "../../environment/catalog.ts";
import type { Server } from "../../environment/server.ts";
import type { StateThread } from "../../mcp/connected/stateThread.ts";
import { loadServers } from "../../servers/catalog.ts";
import type { EdgeVerdicts } from "../../synthesis/graph/dependencyGraph.ts";
import type { ProveFolder } from "./proveFolder.ts";
import { reportRejection } from "./report.ts";

export class ServerDefinitions implements Disposable {
  readonly #folder: ProveFolder;
  /** The file of the program of worker threads. */
  readonly #program: string;
  readonly #changed = new EventEmitter<void>();
  /** Fires when the workspace's own servers may be other ones. */
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: readonly Disposable[];
  #shipped: Promise<readonly Server[]> | undefined;
  #own: Promise<readonly Server[]> | undefined;
  /** Those of its own that were loaded last. */
  #lastOwn: readonly Server[] = [];
  #thread: StateThread | undefined;

  constructor(folder: ProveFolder, extension: Uri) {
    this.#folder = folder;
    this.#program = Uri.joinPath(extension, "dist", "thread.js").fsPath;
    this.#subscriptions = [
      folder.onDidChange(part => {
        if (part === "servers" || part === "mcp.json") this.#forgetOwn();
      }),
      workspace.onDidGrantWorkspaceTrust(() => this.#forgetOwn()),
    ];
  }

  /** The servers that ship. */
  loadShipped(): Promise<readonly Server[]> {
    return (this.#shipped ??= loadServers());
  }

  /** Whether the workspace has servers of its own that are not loaded, as it is not trusted. */
  get areOwnWithheld(): boolean {
    const { uri } = this.#folder;
    return !workspace.isTrusted && !!uri && existsSync(Uri.joinPath(uri, "servers").fsPath);
  }

  /** The workspace's own servers; none if it is not trusted. */
  loadOwn(): Promise<readonly Server[]> {
    return (this.#own ??= this.#loadOwn());
  }

  /** The servers that ship, then the workspace's own. */
  async loadServers(): Promise<readonly Server[]> {
    return [...(await this.loadShipped()), ...(await this.loadOwn())];
  }

  /**
   * Reads the verdicts on edges of dependency graphs: the shipped ones, then the workspace's own.
   */
  async readVerdicts(): Promise<EdgeVerdicts> {
    const { listVerdictFiles, readVerdicts } =
      await import("../../synthesis/graph/dependencyGraph.ts");
    return readVerdicts(listVerdictFiles(this.#folder.resources.fsPath, this.#folder.uri?.fsPath));
  }

  /** Opens a catalog of the fixtures as they are saved now. */
  async openCatalog(): Promise<Catalog> {
    const { openCatalog } = await import("../../environment/catalog.ts");
    const own = await this.loadOwn();
    return openCatalog(await this.loadShipped(), this.#folder.fixtureFolders, undefined, own);
  }

  /** Opens a catalog that reads each fixture, and finds each own server, as it is now. */
  async openLiveCatalog(): Promise<Catalog> {
    const { openCatalog } = await import("../../environment/catalog.ts");
    const shipped = await this.loadShipped();
    await this.loadOwn();
    const openCurrent = () =>
      openCatalog(shipped, this.#folder.fixtureFolders, undefined, this.#lastOwn);
    return {
      ...openCurrent(),
      hasServer: name => openCurrent().hasServer(name),
      getServer: name => openCurrent().getServer(name),
      getFixture: (server, name) => openCurrent().getFixture(server, name),
      listFixtures: server => openCurrent().listFixtures(server),
    };
  }

  dispose(): void {
    for (const it of [...this.#subscriptions, this.#changed]) it.dispose();
    this.#thread?.close();
  }

  async #loadOwn(): Promise<readonly Server[]> {
    if (!workspace.isTrusted || !this.#folder.uri) return (this.#lastOwn = []);
    const shipped = await this.loadShipped();
    const { fixtureFolders } = this.#folder;
    const { loadConnectedServers } = await import("../../mcp/connected/workspaceServers.ts");
    const { listOwnServers } = await import("../../servers/own/ownServers.ts");
    const { StateThread: Thread } = await import("../../mcp/connected/stateThread.ts");
    const connected = loadConnectedServers(
      fixtureFolders,
      (this.#thread ??= new Thread(this.#program)),
    );
    const own = await listOwnServers(fixtureFolders, [...shipped, ...connected]);
    return (this.#lastOwn = [...connected, ...own]);
  }

  #forgetOwn(): void {
    const wasLoaded = this.#own !== undefined;
    this.#own = undefined;
    if (wasLoaded) reportRejection(this.loadOwn());
    this.#changed.fire();
  }
}
