/**
 * One server's share in a world: how its state is made from the canon, and what in it has to agree
 * with the other servers. Knows no other part.
 */
import type { Random } from "../../environment/random.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { Server } from "../../environment/server.ts";
import type { Canon } from "./cast.ts";

/**
 * `small`: under 8 KB, to read and to test by hand. `full`: 25 to 60 KB, for thousands of different
 * tasks.
 */
export type Size = "small" | "full";

/** The states of a world's servers, by server name. */
export type World = ReadonlyMap<string, JsonObject>;

export interface Scene {
  readonly canon: Canon;
  readonly size: Size;
  readonly random: Random;
  /** The states that stand already: banking, calendar and filesystem come before all others. */
  readonly world: World;
  /** The state of this size that ships with the server. */
  readonly shipped: (server: string) => JsonObject;
  /**
   * The next id of this prefix: `inv_101`, `inv_104`, … Ids of a fixture stay under 1000, and those
   * of a session begin there.
   */
  readonly id: (prefix: string) => string;
}

export interface Part {
  readonly server: Server;
  /** The server's state in this world. Equal scenes give equal bytes. */
  make(scene: Scene): object;
  /**
   * Where the state contradicts itself or another server's (an invoice to nobody in the address
   * book), a line each.
   */
  disagreements(world: World, canon: Canon): readonly string[];
}

/** A part that knows its server's state by type. */
export const partOf = <State extends object>(part: {
  server: Server;
  make(scene: Scene): State;
  disagreements(state: State, world: World, canon: Canon): readonly string[];
}): Part => ({
  server: part.server,
  make: scene => part.make(scene),
  disagreements: (world, canon) =>
    part.disagreements(world.get(part.server.name) as State, world, canon),
});

const step = 3;
const first = 101;

/** Ids by prefix, counted from the beginning. */
export function counted(): (prefix: string) => string {
  const next = new Map<string, number>();
  return prefix => {
    const n = next.get(prefix) ?? first;
    if (n > 999)
      throw new Error(
        `a fixture has at most ${Math.floor((1000 - first) / step)} ids of ${prefix}`,
      );
    next.set(prefix, n + step);
    return `${prefix}_${n}`;
  };
}
