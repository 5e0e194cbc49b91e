/**
 * The trainer program. `node trainer.js RUN FIXTURES…` trains the run in a folder to its end; as a
 * worker thread, the program is one of the replicas. Only this file of the module loads the
 * servers.
 */
import { fileURLToPath } from "node:url";
import { openCatalog, type Catalog, type CatalogLimits } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { loadServers } from "../servers/catalog.ts";
import { listOwnServers } from "../servers/own/ownServers.ts";
import { StateThread } from "../mcp/connected/stateThread.ts";
import { loadConnectedServers } from "../mcp/connected/workspaceServers.ts";
import { canHaveVariants, synthesizeVariants } from "../synthesis/pipeline/variants.ts";
import { writeEnd } from "../run/folder.ts";
import { readTrainerLock } from "../run/locks.ts";
import type { MakeVariant } from "./grpo/grpo.ts";
import { train, type ReplicaMessage, type ReplicaSetup, type ReplicaCommand } from "./loop.ts";
import { runReplica } from "./replicas.ts";
import { runTrainer } from "./trainer.ts";

/** Enough for the tasks of a step: the next one attempts others. */
const catalogLimits = { variants: 64, worlds: 64 };

const isReplica = await runReplica<ReplicaSetup, ReplicaCommand, ReplicaMessage>(async replica => {
  const catalog = await openCatalogOf(replica.setup.fixtureFolders, catalogLimits);
  return train(replica, catalog, createVariantMaker(catalog));
});
if (!isReplica) {
  const [folder, ...fixtures] = process.argv.slice(2);
  if (folder === undefined || fixtures.length === 0) {
    process.stderr.write("usage: trainer.js RUN FIXTURES…\n");
    process.exit(2);
  }
  // Ctrl-C in a terminal is for the client, which requests the stop over the socket
  process.on("SIGINT", () => {});
  // where the size of files is limited, a write then fails instead of the whole trainer
  if (process.platform !== "win32") process.on("SIGXFSZ", () => {});
  process.exitCode = await trainRun(folder, fixtures);
}

/** The shipped servers, and those of the workspace. */
async function openCatalogOf(
  fixtures: readonly string[],
  limits?: CatalogLimits,
): Promise<Catalog> {
  const thread = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL("../app/thread.ts", import.meta.url)
      : new URL("thread.js", import.meta.url),
  );
  const shipped = await loadServers();
  const connected = loadConnectedServers(fixtures, new StateThread(thread));
  const own = await listOwnServers(fixtures, [...shipped, ...connected]);
  return openCatalog(shipped, fixtures, limits, [...connected, ...own]);
}

/** Makes variants that the small student can hold; none of tasks that have no variants. */
function createVariantMaker(catalog: Catalog): MakeVariant {
  const resources = fileURLToPath(new URL("../resources", import.meta.url));
  return async (task, seed) => {
    if (!canHaveVariants(task)) return undefined;
    const options = {
      catalog,
      resources,
      seed,
      preset: "student",
      count: 1,
      keepsEdges: true,
      maxFailures: 30,
    } as const;
    for await (const it of synthesizeVariants(task, options)) return it;
    return undefined;
  };
}

/** Trains to the end and returns the exit code. */
async function trainRun(folder: string, fixtures: readonly string[]): Promise<number> {
  try {
    const catalog = await openCatalogOf(fixtures);
    const program = fileURLToPath(import.meta.url);
    const end = await runTrainer({ folder, catalog, fixtures, program });
    return end.by === "failed" ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${error.what}\n  ${error.remedy}\n`);
    // a run that another process trains is left as it is
    if (!readTrainerLock(folder))
      writeEnd(folder, { by: "failed", step: 0, what: error.what, remedy: error.remedy });
    return 2;
  }
}
