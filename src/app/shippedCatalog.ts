/** Opens the catalog of the shipped servers, which are loaded for it. */
import type { Catalog } from "../environment/catalog.ts";

/** Loads the shipped servers and opens their catalog. */
export async function openShippedCatalog(fixtureFolders: readonly string[]): Promise<Catalog> {
  const { openCatalog } = await import("../environment/catalog.ts");
  const { loadServers } = await import("../servers/catalog.ts");
  return openCatalog(await loadServers(), fixtureFolders);
}
