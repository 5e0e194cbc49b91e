/**
 * A session's state as MCP resources: `state://<server>` for all of it, `state://<server>/<table>`
 * for one table. Reads only.
 */
import type { Server } from "../environment/server.ts";
import type { State } from "../environment/state.ts";
import { JsonRpcError } from "./jsonRpc.ts";

const mimeType = "application/json";

export const listStateResources = (server: Server, state: State): readonly object[] => [
  {
    uri: `state://${server.name}`,
    name: `${server.name} state`,
    description: `The whole current state of ${server.name}: its world, its clock, and how far its ids are drawn.`,
    mimeType,
  },
  ...listTables(server, state).map(table => ({
    uri: `state://${server.name}/${table}`,
    name: `${server.name} ${table}`,
    description: `${table} of ${server.name} as they are now.`,
    mimeType,
  })),
];

export const listStateTemplates = (server: Server): readonly object[] => [
  {
    uriTemplate: `state://${server.name}/{table}`,
    name: `${server.name} table`,
    description: `One table of the current state of ${server.name}.`,
    mimeType,
  },
];

/** The content of a resource as it is now. Throws a `RequestFault` where there is none. */
export function readStateResource(server: Server, state: State, uri: unknown): object {
  if (typeof uri !== "string")
    throw new JsonRpcError("invalid params", "resources/read needs a uri");
  const all = `state://${server.name}`;
  const whole = state[server.name];
  if (whole && uri === all) return { uri, mimeType, text: JSON.stringify(whole) };
  const table = uri.startsWith(`${all}/`) ? uri.slice(all.length + 1) : "";
  if (whole && listTables(server, state).includes(table))
    return { uri, mimeType, text: JSON.stringify(whole.world[table]) };
  throw new JsonRpcError(
    "no such resource",
    `there is no resource ${uri}; resources/list has them`,
  );
}

/** What the world holds by name: its records and lists; single values are read with the whole. */
function listTables(server: Server, state: State): readonly string[] {
  const world = state[server.name]?.world ?? {};
  return Object.keys(world).filter(it => world[it] !== null && typeof world[it] === "object");
}
