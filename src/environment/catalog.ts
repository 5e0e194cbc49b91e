/**
 * Which servers there are and where their fixtures lie: all that is needed to open a session by
 * names. The list itself is handed in. Does not know tasks, and reads a fixture only when it is
 * first asked for.
 */
import { UserError } from "../userError.ts";
import { readFixture, listFixtureNames, type Fixture, type FixtureFolders } from "./fixture.ts";
import { computeDigest, deepFreeze } from "./digest.ts";
import { openSession, type Session } from "./session.ts";
import type { Server, Tool } from "./server.ts";
import { parseVariantName, createVariant } from "./variant.ts";

export interface Catalog {
  /** In their fixed order. */
  readonly servers: ReadonlyMap<string, Server>;
  /** All tools of all servers, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The server of that name, or a `Mistake` that lists the ones there are. */
  getServer(name: string): Server;
  /**
   * The fixture of that name (`full~17`: variant 17 of `full`), deeply frozen; the same object each
   * time, but for variants that have not been asked for lately. Throws a `Mistake` where there is
   * none or it does not fit.
   */
  getFixture(server: string, name: string): Fixture;
  /** The names of a server's fixtures, sorted. */
  listFixtures(server: string): readonly string[];
  /**
   * The hash of the tool definitions of these servers: what a task and a trajectory pin as
   * `catalog`. It covers only the servers named, so that a new server elsewhere makes no task
   * stale.
   */
  hashTools(servers: readonly string[]): string;
}

/**
 * Variants that are remembered: thousands of them would fill the memory, and each is made again in
 * a moment.
 */
const mostVariants = 256;

/**
 * A catalog over a list of servers, with fixtures from folders, the first match winning. Remembers
 * the fixtures it has read, and the variants used last.
 */
export function openCatalog(list: readonly Server[], folders: FixtureFolders): Catalog {
  const servers = new Map(list.map(it => [it.name, it]));
  const read = new Map<string, Fixture>();
  const variants = new Map<string, Fixture>();
  const server = (name: string): Server => {
    const found = servers.get(name);
    if (found) return found;
    throw new UserError(
      `there is no server ${name}`,
      `choose one of ${[...servers.keys()].join(", ")}`,
    );
  };
  return {
    servers,
    tools: new Map(list.flatMap(it => [...it.tools])),
    getServer: server,
    getFixture(of, name) {
      const key = `${of}/${name}`;
      const variant = parseVariantName(name);
      const known = (variant ? variants : read).get(key);
      const fixture =
        known ??
        (variant
          ? createVariant(this.getFixture(of, variant.of), variant.number)
          : readFixture(folders, server(of), name));
      if (!variant) read.set(key, fixture);
      else remember(variants, key, fixture, mostVariants);
      return fixture;
    },
    listFixtures: of => listFixtureNames(folders, server(of).name),
    hashTools: names =>
      computeDigest(deepFreeze(names.toSorted().map(name => definitionsOf(server(name))))),
  };
}

/** Opens a session by names: what a task and a trajectory's header pin. */
export function openSessionByName(
  catalog: Catalog,
  pins: {
    readonly servers: readonly { readonly name: string; readonly fixture: string }[];
    readonly seed: number;
    readonly menu?: readonly string[];
  },
): Session {
  const servers = pins.servers.map(it => ({
    server: catalog.getServer(it.name),
    fixture: catalog.getFixture(it.name, it.fixture),
  }));
  return openSession({ servers, seed: pins.seed, ...(pins.menu ? { menu: pins.menu } : {}) });
}

/** Puts a value last, and forgets the first where there are too many. */
export function remember<T>(values: Map<string, T>, key: string, value: T, most: number): void {
  values.delete(key);
  values.set(key, value);
  if (values.size > most) values.delete(values.keys().next().value!);
}

const definitions = new WeakMap<Server, object>();

/** What a policy and a replay can notice of a server's tools, without the code that runs. */
function definitionsOf(server: Server): object {
  let known = definitions.get(server);
  if (!known) {
    const tools = [...server.tools.values()].map(
      ({
        name,
        effect,
        summary,
        destructive,
        idempotent,
        requires,
        inputSchema,
        outputSchema,
      }) => ({
        name,
        effect,
        summary,
        destructive,
        idempotent,
        requires,
        inputSchema,
        outputSchema,
      }),
    );
    definitions.set(
      server,
      (known = deepFreeze({ server: server.name, tools: structuredClone(tools) })),
    );
  }
  return known;
}
