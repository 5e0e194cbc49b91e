/**
 * What the use cases work with: the servers, the folders, and where results, remarks and progress
 * go.
 */
import type { Catalog } from "../environment/catalog.ts";

export interface AppContext {
  /** The servers. A fixture of the workspace comes before the shipped one with the same name. */
  readonly catalog: Catalog;
  /** Aborted when the work is no longer wanted. */
  readonly signal: AbortSignal;
  /** The current folder, against which paths are resolved. */
  readonly cwd: string;
  /** The product's own `resources` folder. */
  readonly resources: string;
  /** The file of the terminal program. */
  readonly program: string;
  /** The file of the program of worker threads. */
  readonly thread: string;
  /** The folder of the built programs. */
  readonly dist: string;
  /** The workspace's `prove` folder: `<cwd>/prove`, whether it exists or not. */
  readonly prove: string;
  /** Called with one line of the result. */
  readonly print: (line: string) => void;
  /** Called with one line for the user. */
  readonly printNote: (line: string) => void;
  /** Called with a line that replaces the one before it. */
  readonly showProgress: (line: string) => void;
}

/**
 * Loads the shipped servers and opens their catalog, with the servers of the workspace whose
 * fixtures are in the first folder. `thread` is the file of the program of worker threads, and
 * `processes` how many of each third-party server may run at once.
 */
export async function openShippedCatalog(
  fixtureFolders: readonly string[],
  thread: string,
  processes?: number,
): Promise<Catalog> {
  const { openCatalog } = await import("../environment/catalog.ts");
  const { loadServers } = await import("../servers/catalog.ts");
  const { listOwnServers } = await import("../servers/own/ownServers.ts");
  const { StateThread } = await import("../mcp/connected/stateThread.ts");
  const { loadConnectedServers } = await import("../mcp/connected/workspaceServers.ts");
  const shipped = await loadServers();
  const connected = loadConnectedServers(fixtureFolders, new StateThread(thread, processes));
  const own = await listOwnServers(fixtureFolders, [...shipped, ...connected]);
  return openCatalog(shipped, fixtureFolders, undefined, [...connected, ...own]);
}
