/**
 * The sessions of one connection, and the requests that open, read, restore and close them. These
 * are custom requests rather than tools, so that an agent cannot reset its own environment.
 */
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import type { Server } from "../environment/server.ts";
import { openSession, type Session } from "../environment/session.ts";
import { parseState, type State } from "../environment/state.ts";
import type { RequestMethod } from "./exposedServer.ts";
import { JsonRpcError, type Params } from "./jsonRpc.ts";

/** What sessions start from when `prove/open` does not say otherwise. */
export interface SessionDefaults {
  readonly catalog: Catalog;
  readonly fixture: string;
  readonly seed: number;
}

/** How many sessions a connection may have. Opening another one is refused; none is evicted. */
export const maxSessions = 16_384;

export interface ConnectionSessions {
  readonly getSession: (id: string | undefined) => Session;
  readonly methods: Readonly<Record<string, RequestMethod>>;
}

/** The id of the connection's own session, which requests without an id are about. */
const ownId = "";

interface OpenedSession {
  readonly session: Session;
  readonly initialState: State;
}

export function createConnectionSessions(
  server: Server,
  defaults: SessionDefaults,
): ConnectionSessions {
  const sessions = new Map<string, OpenedSession>();

  const open = (id: string, fixture: string, seed: number): OpenedSession => {
    if (!sessions.has(id) && sessions.size >= maxSessions)
      throw new JsonRpcError(
        "invalid request",
        `limit_exceeded: this connection holds ${maxSessions} sessions; close one first`,
      );
    const session = openSession({
      servers: [{ server, fixture: defaults.catalog.getFixture(server.name, fixture) }],
      seed,
    });
    const opened = { session, initialState: session.state };
    sessions.set(id, opened);
    return opened;
  };
  /**
   * The connection's own session opens on first use, so that it works for clients that know no
   * custom requests. Others are opened by `prove/open`.
   */
  const find = (id = ownId): OpenedSession => {
    const opened = sessions.get(id);
    if (opened) return opened;
    if (id !== ownId)
      throw new JsonRpcError(
        "no such session",
        `there is no session ${id}; open it with prove/open`,
      );
    return open(ownId, defaults.fixture, defaults.seed);
  };

  return {
    getSession: id => find(id).session,
    methods: {
      "prove/open": (params, id = ownId) => {
        const { fixture = defaults.fixture, seed = defaults.seed } = parseOpenParams(params);
        return { digest: open(id, fixture, seed).session.digest };
      },
      "prove/state": (_, id) => describeState(find(id)),
      "prove/restore": ({ state }, id) => {
        const opened = find(id);
        const { session, initialState } = opened;
        session.restore(state === undefined ? initialState : parseState([server], state));
        return describeState(opened);
      },
      "prove/close": (_, id = ownId) => {
        sessions.delete(id);
        return {};
      },
    },
  };
}

const describeState = ({ session: { state, digest } }: OpenedSession) => ({ state, digest });

const openParams = z.object({
  fixture: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,40}(@[1-9]\d{0,5})?(~[1-9]\d{0,5})?$/)
    .optional(),
  seed: z.int().min(0).optional(),
});

function parseOpenParams(params: Params): z.output<typeof openParams> {
  const { success, data, error } = openParams.safeParse(params);
  if (success) return data;
  const issue = error.issues[0]!;
  throw new JsonRpcError("invalid params", `${issue.path.join(".")}: ${issue.message}`);
}
