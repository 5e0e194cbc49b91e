/**
 * A world of all servers from a seed, as fixtures, and what in it does not agree. Reads and writes
 * no files.
 */
import { fixtureFormat, fixtureSchema, type Fixture } from "../environment/fixture.ts";
import { freeze } from "../environment/digest.ts";
import type { JsonObject } from "../environment/json.ts";
import { canonOf, chanceFor, now } from "./shared/cast.ts";
import { counted, type Part, type Size, type World } from "./shared/generator.ts";

export interface WorldOrder {
  readonly seed: number;
  readonly size: Size;
  /** The name that its fixtures get. */
  readonly name: string;
  /** The fixtures that ship with the hand-written servers. */
  readonly shipped: (server: string, size: Size) => Fixture;
}

/**
 * The fixtures of a world, by server, in the order of the parts. Equal orders give equal bytes.
 * Throws where a part does not fit its server's schema: a bug of ours.
 */
export function makeWorld(
  parts: readonly Part[],
  { seed, size, name, shipped }: WorldOrder,
): ReadonlyMap<string, Fixture> {
  const canon = canonOf(seed);
  const world = new Map<string, JsonObject>();
  const fixtures = new Map<string, Fixture>();
  for (const part of parts) {
    const server = part.server.name;
    const state = part.make({
      canon,
      size,
      random: chanceFor(canon, server, size),
      world,
      shipped: it => shipped(it, size).state,
      id: counted(),
    });
    const fixture = {
      format: fixtureFormat,
      server,
      name,
      now,
      state: JSON.parse(JSON.stringify(state)) as JsonObject,
    };
    const parsed = fixtureSchema(part.server).safeParse(fixture);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      throw new Error(`world ${seed}: ${server} at /${issue.path.join("/")}: ${issue.message}`);
    }
    world.set(server, fixture.state);
    fixtures.set(server, freeze(fixture) as Fixture);
  }
  return fixtures;
}

/**
 * Where the servers of a world contradict one another, a line each, begun with the server's name.
 */
export function disagreementsOf(parts: readonly Part[], world: World, seed: number): string[] {
  const canon = canonOf(seed);
  return parts.flatMap(it =>
    it.disagreements(world, canon).map(line => `${it.server.name}: ${line}`),
  );
}

/** A fixture's text as it is kept in a file: tables with a row a line, to be read and compared. */
export const fixtureText = (fixture: Fixture): string => `${lines(fixture, 0)}\n`;

const rowDepth = 3;
const widest = 110;

function lines(value: unknown, depth: number): string {
  const flat = spaced(value);
  if (
    value === null ||
    typeof value !== "object" ||
    depth >= rowDepth ||
    (depth > 0 && flat.length <= widest)
  )
    return flat;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const inner = Array.isArray(value)
    ? value.map(it => lines(it, depth + 1))
    : Object.entries(value).map(([key, it]) => `${JSON.stringify(key)}: ${lines(it, depth + 1)}`);
  const margin = "  ".repeat(depth);
  return inner.length === 0
    ? flat
    : `${open}\n${inner.map(it => `${margin}  ${it}`).join(",\n")}\n${margin}${close}`;
}

/** JSON on one line, with a space after each colon and comma. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, it]) => `${JSON.stringify(key)}: ${spaced(it)}`)
    .join(", ")}}`;
}
