/**
 * Lists and reads a session's state as MCP resources: `state://<server>` is the whole state,
 * `state://<server>/<table>` one table of it.
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

/** The current content of a resource. Throws a `JsonRpcError` if there is no such resource. */
export function readStateResource(server: Server, state: State, uri: unknown): object {
  if (typeof uri !== "string")
    throw new JsonRpcError("invalid params", "resources/read needs a uri");
  const stateUri = `state://${server.name}`;
  const serverState = state[server.name];
  if (serverState && uri === stateUri) return { uri, mimeType, text: JSON.stringify(serverState) };
  const table = uri.startsWith(`${stateUri}/`) ? uri.slice(stateUri.length + 1) : "";
  if (serverState && listTables(server, state).includes(table))
    return { uri, mimeType, text: JSON.stringify(serverState.world[table]) };
  throw new JsonRpcError(
    "no such resource",
    `there is no resource ${uri}; resources/list has them`,
  );
}

/** The records and lists of the world. Its single values are read with the whole state. */
function listTables(server: Server, state: State): readonly string[] {
  const world = state[server.name]?.world ?? {};
  return Object.keys(world).filter(it => world[it] !== null && typeof world[it] === "object");
}
