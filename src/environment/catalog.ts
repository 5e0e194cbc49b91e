/**
 * The servers of a program and the folders with their fixtures: everything needed to open a session
 * by names. Fixtures are read when they are first asked for.
 */
import { LRUCache } from "lru-cache";
import { UserError } from "../userError.ts";
import { type CallMemo, openSession, type PreparedCall, type Session } from "./session.ts";
import { computeDigest, deepFreeze } from "./digest.ts";
import {
  listFixtureNames,
  readFixture,
  type Fixture,
  type FixtureFolders,
  parseFixtureName,
} from "./fixture.ts";
import type { Server, Tool } from "./server.ts";
import { createVariant, createWorldFixture, createWorldText } from "./variant.ts";
import { World, hasWorldVocabulary, readWorldVocabulary, type WorldVocabulary } from "./world.ts";

export interface Catalog {
  /** Those that ship, in their fixed order. */
  readonly servers: ReadonlyMap<string, Server>;
  /** Those of the workspace, which are used only where they are named. */
  readonly own: ReadonlyMap<string, Server>;
  /** All tools of all servers, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
  hasServer(name: string): boolean;
  /** The server with that name. Throws a `UserError` that lists the names if there is none. */
  getServer(name: string): Server;
  /**
   * The fixture with that name (`full~17` is variant 17 of `full`, `full@17` world 17), deeply
   * frozen. It is the same object each time, except for a variant or world that has left the cache.
   * Throws a `UserError` if the fixture does not exist or does not match its server's schema.
   */
  getFixture(server: string, name: string): Fixture;
  /**
   * A value that names people, places or dates of the shipped fixtures, such as the templates of a
   * server, as it is in the world of a fixture. The same value if that is not of a world.
   */
  localize<T extends object>(value: T, fixture: string): T;
  /** Whether its fixtures have worlds: `full@17`. */
  readonly hasWorlds: boolean;
  /** The names of a server's fixtures, sorted. */
  listFixtures(server: string): readonly string[];
  /**
   * The hash of the tool definitions of these servers, which a task and a trajectory store as
   * `catalog`. It covers only the named servers, so that adding a server makes no task stale.
   */
  hashTools(servers: readonly string[]): string;
  /** A catalog of the same servers with the fixtures of other folders. */
  reopen(folders: FixtureFolders): Catalog;
}

/** How many variants and worlds a catalog keeps. */
export interface CatalogLimits {
  /** Each takes some 40 kB once all of its tables have been read, in a world some 60 kB. */
  readonly variants: number;
  /** Worlds have a few hundred names each. */
  readonly worlds: number;
}

const defaultLimits: CatalogLimits = { variants: 2048, worlds: 512 };

/**
 * Opens a catalog of a list of servers, whose fixtures are searched in the folders in order. It
 * keeps the fixtures that it has read, and the variants that were used last.
 */
export function openCatalog(
  list: readonly Server[],
  folders: FixtureFolders,
  limits: CatalogLimits = defaultLimits,
  own: readonly Server[] = [],
): Catalog {
  const servers = new Map(list.map(it => [it.name, it]));
  const others = new Map(own.filter(it => !servers.has(it.name)).map(it => [it.name, it]));
  const fixtures = new Map<string, Fixture>();
  const variants = new LRUCache<string, Fixture>({ max: limits.variants });
  const worlds = new LRUCache<number, World>({ max: limits.worlds });
  const toolHashes = new Map<string, string>();
  let vocabulary: WorldVocabulary | undefined;
  const getVocabulary = () => (vocabulary ??= readWorldVocabulary(folders));
  const getWorld = (number: number): World => {
    const world = worlds.get(number) ?? new World(getVocabulary(), number);
    worlds.set(number, world);
    return world;
  };
  const getServer = (name: string): Server => {
    const server = servers.get(name) ?? others.get(name);
    if (server) return server;
    throw new UserError(
      `there is no server ${name}`,
      `choose one of ${[...servers.keys(), ...others.keys()].join(", ")}`,
    );
  };
  const getFixture = (server: string, name: string): Fixture => {
    const key = `${server}/${name}`;
    const { base, world, variant } = parseFixtureName(name);
    if (base !== name && others.get(server)?.isConnected)
      throw new UserError(
        `${server} runs elsewhere, and its fixtures have neither worlds nor variants`,
        `use the fixture ${base}`,
      );
    if (world !== undefined && others.has(server))
      throw new UserError(
        `${server} does not ship, and its fixtures have no worlds`,
        `use the fixture ${base}, or a variant of it such as ${base}~1`,
      );
    const cache = base === name ? fixtures : variants;
    const cached = cache.get(key);
    if (cached) return cached;
    const fixture =
      base === name
        ? readFixture(folders, getServer(server), name)
        : world === undefined
          ? createVariant(getFixture(server, base), variant!)
          : createWorldFixture(getFixture(server, base), getWorld(world), getVocabulary(), variant);
    cache.set(key, fixture);
    return fixture;
  };
  return {
    servers,
    own: others,
    tools: new ToolMap(list, [...others.values()]),
    hasServer: name => servers.has(name) || others.has(name),
    getServer,
    getFixture,
    localize: (value, fixture) => {
      const { world } = parseFixtureName(fixture);
      return world === undefined ? value : createWorldText(value, getWorld(world), getVocabulary());
    },
    hasWorlds: hasWorldVocabulary(folders),
    listFixtures: server => listFixtureNames(folders, getServer(server).name),
    hashTools(names) {
      const sorted = names.toSorted();
      const key = sorted.join();
      let hash = toolHashes.get(key);
      if (!hash) {
        const described = sorted.map(name => describeTools(getServer(name)));
        toolHashes.set(key, (hash = computeDigest(deepFreeze(described))));
      }
      return hash;
    },
    reopen: other => openCatalog(list, other, limits, own),
  };
}

/** A server with tools. Throws the `UserError` that says why one of the workspace has none. */
export function getUsableServer(catalog: Catalog, name: string): Server {
  const server = catalog.getServer(name);
  if (server.tools.size === 0) server.checkAccess?.();
  return server;
}

/** The tools of all servers. Those of the workspace's own are loaded when they are asked for. */
class ToolMap implements ReadonlyMap<string, Tool> {
  readonly #shipped: ReadonlyMap<string, Tool>;
  readonly #own: readonly Server[];
  #all: ReadonlyMap<string, Tool> | undefined;

  constructor(shipped: readonly Server[], own: readonly Server[]) {
    this.#shipped = new Map(shipped.flatMap(it => [...it.tools]));
    this.#own = own;
  }

  get(name: string): Tool | undefined {
    const shipped = this.#shipped.get(name);
    if (shipped) return shipped;
    for (const server of this.#own) {
      const tool = name.startsWith(`${server.name}_`) && server.tools.get(name);
      if (tool) return tool;
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get size(): number {
    return this.#getAll().size;
  }
  keys = () => this.#getAll().keys();
  values = () => this.#getAll().values();
  entries = () => this.#getAll().entries();
  [Symbol.iterator] = () => this.#getAll()[Symbol.iterator]();
  forEach: ReadonlyMap<string, Tool>["forEach"] = (callback, self) =>
    this.#getAll().forEach(callback, self);

  #getAll(): ReadonlyMap<string, Tool> {
    return (this.#all ??= new Map([...this.#shipped, ...this.#own.flatMap(it => [...it.tools])]));
  }
}

/**
 * The names in a task and in a trajectory's header that determine a session, and the memo of calls
 * that it may share.
 */
export interface SessionPins {
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly seed: number;
  readonly menu?: readonly string[];
  readonly memo?: CallMemo | undefined;
}

/** Opens a session from the names of its servers and fixtures. */
export function openSessionByName(
  catalog: Catalog,
  { servers, seed, menu, memo }: SessionPins,
): Session {
  const missing = servers.find(it => !catalog.hasServer(it.name));
  // a file names it, so a list of the names to choose from would not help
  if (missing)
    throw new UserError(
      `there is no server ${missing.name}`,
      "use the version of PROVE that the file was made with, or write down the server with prove-rl connect",
    );
  return openSession({
    servers: servers.map(({ name, fixture }) => ({
      server: catalog.getServer(name),
      fixture: catalog.getFixture(name, fixture),
    })),
    seed,
    ...(menu ? { menu } : {}),
    memo,
  });
}

/**
 * Asks the servers that run elsewhere what calls return that are made one after the other, so that
 * to repeat them does not wait. What cannot be opened is left to the repetition, which reports it.
 */
export async function prepareCalls(
  catalog: Catalog,
  { servers, seed }: Pick<SessionPins, "servers" | "seed">,
  calls: readonly PreparedCall[],
): Promise<void> {
  if (!servers.some(it => catalog.servers.get(it.name)?.isConnected)) return;
  let session: Session;
  try {
    session = openSessionByName(catalog, { servers, seed });
  } catch (error) {
    if (error instanceof UserError) return;
    throw error;
  }
  await session.prepare(calls);
}

const descriptions = new WeakMap<Server, object>();

/** Everything about a server's tools that a policy or a replay can notice, without their code. */
function describeTools(server: Server): object {
  let description = descriptions.get(server);
  if (!description) {
    const tools = [...server.tools.values()].map(describeTool);
    description = deepFreeze({ server: server.name, tools: structuredClone(tools) });
    descriptions.set(server, description);
  }
  return description;
}

const describeTool = ({
  name,
  effect,
  summary,
  destructive,
  idempotent,
  requires,
  inputSchema,
  outputSchema,
}: Tool): object => ({
  name,
  effect,
  summary,
  destructive,
  idempotent,
  requires,
  inputSchema,
  outputSchema,
});
