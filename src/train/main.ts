/**
 * The trainer program. `node trainer.js RUN FIXTURES…` trains the run in a folder to its end; as a
 * worker thread, the program is one of the replicas. Only this file of the module loads the
 * servers.
 */
import { openCatalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { loadServers } from "../servers/catalog.ts";
import { writeEnd } from "../run/folder.ts";
import { readTrainerLock } from "../run/trainerLock.ts";
import { train, type ReplicaMessage, type ReplicaSetup, type ReplicaCommand } from "./loop.ts";
import { runReplica } from "./replicas.ts";
import { runTrainer } from "./trainer.ts";

const isReplica = await runReplica<ReplicaSetup, ReplicaCommand, ReplicaMessage>(async replica =>
  train(replica, openCatalog(await loadServers(), replica.setup.fixtureFolders)),
);
if (!isReplica) {
  const [folder, ...fixtures] = process.argv.slice(2);
  if (folder === undefined || fixtures.length === 0) {
    process.stderr.write("usage: trainer.js RUN FIXTURES…\n");
    process.exit(2);
  }
  // Ctrl-C in a terminal is for the client, which requests the stop over the socket
  process.on("SIGINT", () => {});
  process.exitCode = await trainRun(folder, fixtures);
}

/** Trains to the end and returns the exit code. */
async function trainRun(folder: string, fixtures: readonly string[]): Promise<number> {
  try {
    const end = await runTrainer(folder, openCatalog(await loadServers(), fixtures), fixtures);
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
