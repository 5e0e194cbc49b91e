/**
 * The state of a session: its first state, from fixtures, and a state from outside, which is
 * checked before a session uses it.
 */
import { z } from "zod";
import { checkJson } from "../storage/parseJson.ts";
import { deepFreeze } from "./digest.ts";
import { clock } from "./fieldSchemas.ts";
import type { Fixture } from "./fixture.ts";
import type { JsonObject } from "./json.ts";
import type { Server, StateHistory } from "./server.ts";

/**
 * The state of one server: its world, its time, and how often its generator has been drawn from.
 */
export interface ServerState {
  readonly world: JsonObject;
  readonly clock: string;
  readonly draws: number;
  /** Of a server that runs elsewhere: how its process gets to this state. */
  readonly history?: StateHistory;
}

/** The whole state of a session, by server name. Deeply frozen. */
export type State = Readonly<Record<string, ServerState>>;

export interface SessionServer {
  readonly server: Server;
  readonly fixture: Fixture;
}

interface InitialState {
  readonly fixtures: readonly Fixture[];
  readonly state: State;
}

/** How many sets of fixtures with the same first fixture are kept. */
const maxCachedStates = 16;

/** The initial states of sessions that were opened on the same fixtures, by the first fixture. */
const initialStates = new WeakMap<Fixture, readonly InitialState[]>();

/** The first state of a session: the same object, with its digest, for equal fixtures. */
export function getInitialState(servers: readonly SessionServer[]): State {
  const first = servers[0]?.fixture;
  if (!first) return Object.freeze({});
  const known = initialStates.get(first) ?? [];
  const found = known.find(
    ({ fixtures }) =>
      fixtures.length === servers.length && fixtures.every((it, i) => it === servers[i]!.fixture),
  );
  if (found) return found.state;
  const state = Object.freeze(
    Object.fromEntries(
      servers.map(({ server, fixture }) => [server.name, getServerState(server, fixture)]),
    ),
  );
  const added = { fixtures: servers.map(it => it.fixture), state };
  initialStates.set(first, [...known.slice(1 - maxCachedStates), added]);
  return state;
}

const serverStates = new WeakMap<Fixture, ServerState>();

/** A fixture as the first state of a server, shared by every session that starts from it. */
function getServerState(server: Server, fixture: Fixture): ServerState {
  let state = serverStates.get(fixture);
  if (!state) {
    const history = server.isConnected && { history: { fixture: fixture.name, calls: [] } };
    state = deepFreeze({ world: fixture.state, clock: fixture.now, draws: 0, ...history });
    serverStates.set(fixture, state);
  }
  return state;
}

/**
 * A value from outside as the state of exactly these servers, deeply frozen. Throws a `UserError`
 * that names the first place that does not match.
 */
export function parseState(servers: readonly Server[], value: unknown): State {
  const schema = z.strictObject(
    Object.fromEntries(servers.map(it => [it.name, getStateSchema(it)])),
  );
  const state = checkJson(schema, value, {
    file: "the value",
    noun: "a state of these servers",
    remedy: "send a state that a session of the same servers returned",
  });
  return deepFreeze(state) as unknown as State;
}

const historySchema = z.strictObject({
  fixture: z.string(),
  calls: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()) })),
});

const stateSchemas = new WeakMap<Server, z.ZodType>();

function getStateSchema(server: Server): z.ZodType {
  let schema = stateSchemas.get(server);
  if (!schema) {
    schema = z.strictObject({
      world: server.schema,
      clock: clock(),
      draws: z.int().min(0),
      ...(server.isConnected ? { history: historySchema } : {}),
    });
    stateSchemas.set(server, schema);
  }
  return schema;
}
