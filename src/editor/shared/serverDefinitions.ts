/**
 * The server definitions of the editor. They are loaded when they are first needed, so that
 * activation is fast. Catalogs read the fixtures as they are saved.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Server } from "../../environment/server.ts";
import { loadServers } from "../../servers/catalog.ts";
import type { EdgeVerdicts } from "../../synthesis/graph/dependencyGraph.ts";
import type { ProveFolder } from "./proveFolder.ts";

export class ServerDefinitions {
  readonly #folder: ProveFolder;
  #servers: Promise<readonly Server[]> | undefined;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  loadServers(): Promise<readonly Server[]> {
    return (this.#servers ??= loadServers());
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
    return openCatalog(await this.loadServers(), this.#folder.fixtureFolders);
  }

  /** Opens a catalog that reads each fixture again whenever it is requested. */
  async openLiveCatalog(): Promise<Catalog> {
    const { openCatalog } = await import("../../environment/catalog.ts");
    const servers = await this.loadServers();
    const openCurrent = () => openCatalog(servers, this.#folder.fixtureFolders);
    return {
      ...openCurrent(),
      getFixture: (server, name) => openCurrent().getFixture(server, name),
      listFixtures: server => openCurrent().listFixtures(server),
    };
  }
}
