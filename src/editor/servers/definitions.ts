/**
 * The servers as the editor uses them. Their definitions are loaded when first asked for, so that
 * activation stays light, and every catalog reads fixtures anew, so that a saved fixture is what
 * the next session starts from.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Server } from "../../environment/server.ts";
import { loadServers } from "../../servers/catalog.ts";
import type { EdgeVerdicts } from "../../synthesis/graph/edgeVerdicts.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";

export class Definitions {
  readonly #folder: ProveFolder;
  #servers: Promise<readonly Server[]> | undefined;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  servers(): Promise<readonly Server[]> {
    return (this.#servers ??= loadServers());
  }

  /** What was said of the dependency graphs' edges: what ships, and the workspace's own over it. */
  async audit(): Promise<EdgeVerdicts> {
    const { listVerdictFiles: auditFiles, readVerdicts: readAudit } =
      await import("../../synthesis/graph/edgeVerdicts.ts");
    return readAudit(auditFiles(this.#folder.resources.fsPath, this.#folder.uri?.fsPath));
  }

  /** A catalog over the fixtures as they are saved now. */
  async catalog(): Promise<Catalog> {
    const { openCatalog } = await import("../../environment/catalog.ts");
    return openCatalog(await this.servers(), this.#folder.fixtureFolders);
  }

  /** A catalog that outlives edits: it reads each fixture as it is saved when it is asked for. */
  async followingCatalog(): Promise<Catalog> {
    const { openCatalog } = await import("../../environment/catalog.ts");
    const servers = await this.servers();
    const now = () => openCatalog(servers, this.#folder.fixtureFolders);
    return {
      ...now(),
      getFixture: (server, name) => now().getFixture(server, name),
      listFixtures: server => now().listFixtures(server),
    };
  }
}
