/** The third-party servers that are environments: those with a file in prove/servers. */
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { isRestricted } from "../../environment/restriction.ts";
import type { Server } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import { findServerEntry } from "../mcpConfig.ts";
import { getCassetteFile } from "./cassette.ts";
import { createConnectedServer } from "./connectedServer.ts";
import { hasConsent } from "./consents.ts";
import { createRecordedServer } from "./recordedServer.ts";
import { getTextFolder, readServerFiles } from "./serverFile.ts";
import type { StateThread } from "./stateThread.ts";

/**
 * Creates the servers of the workspace that the first folder of fixtures, `prove/fixtures`, belongs
 * to. Nothing is started before a call is made, and never without the user's agreement. `thread`
 * is where they run.
 */
export function loadConnectedServers(
  fixtureFolders: readonly string[],
  thread: StateThread,
): readonly Server[] {
  const [fixtures = ""] = fixtureFolders;
  if (isRestricted() || basename(fixtures) !== "fixtures") return [];
  const prove = dirname(fixtures);
  return readServerFiles(prove).map(read =>
    "error" in read
      ? createFaultyServer(read.name, read.error)
      : read.restore === "recording"
        ? createRecordedServer({
            known: read,
            file: getCassetteFile(prove, read.server),
            folder: getTextFolder(prove, read.server),
          })
        : createConnectedServer({
            file: read,
            folder: getTextFolder(prove, read.server),
            thread,
            getEntry() {
              const entry = findServerEntry(join(prove, "mcp.json"), dirname(prove), read.entry);
              if (!entry.reset)
                throw new UserError(
                  `${entry.name} has no reset in prove/mcp.json any more`,
                  "add it again: sessions need a state of their own",
                );
              if (!hasConsent(entry))
                throw new UserError(
                  `${entry.name} starts only with your consent, and its entry is new or has changed`,
                  `run prove-rl connect ${entry.name}, which shows what is started and asks`,
                );
              return entry;
            },
          }),
  );
}

/** A server whose file is faulty: the others can be used. */
const createFaultyServer = (name: string, error: UserError): Server => ({
  name,
  category: "Connected",
  summary: error.what,
  schema: z.record(z.string(), z.json()),
  references: {},
  tools: new Map(),
  invariants: [],
  isConnected: true,
  checkAccess() {
    throw error;
  },
});
