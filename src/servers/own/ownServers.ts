/** The servers that a workspace defines in TypeScript, `prove/servers/NAME/server.ts`. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRestricted } from "../../environment/restriction.ts";
import type { Server } from "../../environment/server.ts";
import { readIfExists } from "../../storage/fileErrors.ts";
import type { OwnServerLimits } from "./ownServer.ts";

/**
 * Those of the workspace that the first folder of fixtures, `prove/fixtures`, belongs to, in the
 * order of their names. None is run before it is needed. One that cannot be used has no tools, and
 * says why when a session is opened on it. `others` are the other servers.
 */
export async function listOwnServers(
  fixtureFolders: readonly string[],
  others: readonly Server[],
  limits?: OwnServerLimits,
): Promise<readonly Server[]> {
  const [fixtures = ""] = fixtureFolders;
  if (isRestricted() || basename(fixtures) !== "fixtures") return [];
  const prove = dirname(fixtures);
  const folder = join(prove, "servers");
  const files = (readIfExists(folder, () => readdirSync(folder)) ?? [])
    .toSorted()
    .map(it => join(folder, it, "server.ts"))
    .filter(it => existsSync(it));
  const servers: Server[] = [];
  for (const file of files) {
    const { OwnServer } = await import("./ownServer.ts");
    servers.push(new OwnServer(file, [...others, ...servers], limits));
  }
  return servers;
}
