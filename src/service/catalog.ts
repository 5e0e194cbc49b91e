/** The responses to `GET /health` and `GET /v1/catalog`. */
import type { Catalog } from "../environment/catalog.ts";
import { partNames } from "../reward/breakdown.ts";
import { version } from "../version.ts";
import { formatTool } from "./servedAttempt.ts";
import type { SessionTable } from "./sessionTable.ts";
import type { TaskStore } from "./taskStore.ts";

/** How much of its capacity a process uses. */
export interface Use {
  readonly sessions: number;
  readonly capacity: number;
  readonly isDraining: boolean;
}

export const describeUse = ({ size, capacity }: SessionTable, isDraining: boolean): Use => ({
  sessions: size,
  capacity,
  isDraining,
});

/** The health of a service, from the use of each of its processes that answers. */
export const describeHealth = (
  catalog: Catalog,
  tasks: TaskStore,
  uses: readonly Use[],
): object => ({
  status: uses.some(it => it.isDraining) ? "draining" : "healthy",
  sessions: uses.reduce((sum, it) => sum + it.sessions, 0),
  capacity: uses[0]!.capacity,
  workers: uses.length,
  tasks: tasks.size,
  version,
  catalog_hash: computeCatalogHash(catalog),
});

/** Every server's tools as function definitions, in their fixed order. */
export const describeCatalog = (catalog: Catalog): object => ({
  protocol: "prove/1",
  tools: [...catalog.tools.values()].map(formatTool),
  servers: [...catalog.servers.values()].map(({ name, category, summary, tools }) => ({
    name,
    category,
    summary,
    tools: [...tools.keys()],
    fixtures: catalog.listFixtures(name),
  })),
  components: partNames,
  catalog_hash: computeCatalogHash(catalog),
});

const computeCatalogHash = (catalog: Catalog) => catalog.hashTools([...catalog.servers.keys()]);
