/** The responses to `GET /health` and `GET /v1/catalog`. */
import type { Catalog } from "../environment/catalog.ts";
import { partNames } from "../reward/breakdown.ts";
import { version } from "../version.ts";
import type { SessionTable } from "./sessionTable.ts";
import type { TaskStore } from "./taskStore.ts";

export const describeHealth = (
  catalog: Catalog,
  table: SessionTable,
  tasks: TaskStore,
  isDraining: boolean,
): object => ({
  status: isDraining ? "draining" : "healthy",
  sessions: table.size,
  capacity: table.capacity,
  tasks: tasks.size,
  version,
  catalog_hash: computeCatalogHash(catalog),
});

/** Every server's tools as function definitions, in their fixed order. */
export const describeCatalog = (catalog: Catalog): object => ({
  protocol: "prove/1",
  tools: [...catalog.tools.values()].map(({ name, summary, inputSchema }) => ({
    type: "function",
    function: { name, description: summary, parameters: inputSchema },
  })),
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
