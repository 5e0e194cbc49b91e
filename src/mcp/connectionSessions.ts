/**
 * The sessions that one connection holds of its own, and the requests by which their owner opens,
 * reads, restores and closes them. They are custom requests and never tools: the agent gets tools,
 * only we get reset. Knows no transport.
 */
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import type { Server } from "../environment/server.ts";
import { openSession, type Session } from "../environment/session.ts";
import { parseState, type State } from "../environment/state.ts";
import type { RequestMethod } from "./exposedServer.ts";
import { JsonRpcError, type Params } from "./jsonRpc.ts";

/** What a connection's own session, and those it opens without saying otherwise, start from. */
export interface SessionDefaults {
  readonly catalog: Catalog;
  readonly fixture: string;
  readonly seed: number;
}

/** How many sessions one connection may hold; one more is refused, none is ever evicted. */
export const maxSessions = 16_384;

export interface ConnectionSessions {
  readonly getSession: (id: string | undefined) => Session;
  readonly methods: Readonly<Record<string, RequestMethod>>;
}

const own = "";

export function createConnectionSessions(
  server: Server,
  start: SessionDefaults,
): ConnectionSessions {
  const held = new Map<string, { readonly session: Session; readonly first: State }>();

  const open = (id: string, fixture: string, seed: number) => {
    if (!held.has(id) && held.size >= maxSessions)
      throw new JsonRpcError(
        "invalid request",
        `limit_exceeded: this connection holds ${maxSessions} sessions; close one first`,
      );
    const session = openSession({
      servers: [{ server, fixture: start.catalog.getFixture(server.name, fixture) }],
      seed,
    });
    const opened = { session, first: session.state };
    held.set(id, opened);
    return opened;
  };
  /**
   * The connection's own session is opened on first use, so that ordinary clients just work; others
   * by `prove/open`.
   */
  const find = (id = own) => {
    const known = held.get(id);
    if (known) return known;
    if (id !== own)
      throw new JsonRpcError(
        "no such session",
        `there is no session ${id}; open it with prove/open`,
      );
    return open(own, start.fixture, start.seed);
  };
  const standing = ({ session }: { session: Session }) => ({
    state: session.state,
    digest: session.digest,
  });

  return {
    getSession: id => find(id).session,
    methods: {
      "prove/open": (params, id = own) => {
        const { fixture = start.fixture, seed = start.seed } = parsed(opening, params);
        return { digest: open(id, fixture, seed).session.digest };
      },
      "prove/state": (_, id) => standing(find(id)),
      "prove/restore": (params, id) => {
        const it = find(id);
        it.session.restore(
          params["state"] === undefined ? it.first : parseState([server], params["state"]),
        );
        return standing(it);
      },
      "prove/close": (_, id = own) => {
        held.delete(id);
        return {};
      },
    },
  };
}

const opening = z.object({
  fixture: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,40}(~[1-9]\d{0,5})?$/)
    .optional(),
  seed: z.int().min(0).optional(),
});

function parsed<T>(schema: z.ZodType<T>, params: Params): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw new JsonRpcError("invalid params", `${issue.path.join(".")}: ${issue.message}`);
}
