/**
 * Generates one consistent fixture per server from a seed, and reports inconsistencies between
 * fixtures. Does not read or write files.
 */
import { fixtureFormat, createFixtureSchema, type Fixture } from "../environment/fixture.ts";
import { deepFreeze } from "../environment/digest.ts";
import type { JsonObject } from "../environment/json.ts";
import { createCast, createServerRandom } from "./shared/cast.ts";
import {
  createIdCounter,
  type FixtureGenerator,
  type FixtureSize,
  type GeneratedStates,
} from "./shared/generator.ts";
import { startTime } from "./shared/startTime.ts";

export interface GenerationOptions {
  readonly seed: number;
  readonly size: FixtureSize;
  /** The name of the generated fixtures. */
  readonly name: string;
  /** Reads a fixture that ships with the product. */
  readonly readShipped: (server: string, size: FixtureSize) => Fixture;
}

/**
 * The fixtures by server, in the order of the generators. Equal options give equal bytes. Throws if
 * a generated state does not match its server's schema, which is a bug.
 */
export function generateFixtures(
  generators: readonly FixtureGenerator[],
  { seed, size, name, readShipped }: GenerationOptions,
): ReadonlyMap<string, Fixture> {
  const cast = createCast(seed);
  const states = new Map<string, JsonObject>();
  const fixtures = new Map<string, Fixture>();
  for (const generator of generators) {
    const server = generator.server.name;
    const state = generator.generate({
      cast,
      size,
      random: createServerRandom(cast, server, size),
      states,
      readShippedState: it => readShipped(it, size).state,
      nextId: createIdCounter(),
    });
    const fixture = {
      format: fixtureFormat,
      server,
      name,
      now: startTime,
      state: JSON.parse(JSON.stringify(state)) as JsonObject,
    };
    const parsed = createFixtureSchema(generator.server).safeParse(fixture);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      throw new Error(
        `${server} generated from seed ${seed}: /${issue.path.join("/")}: ${issue.message}`,
      );
    }
    states.set(server, fixture.state);
    fixtures.set(server, deepFreeze(fixture) as Fixture);
  }
  return fixtures;
}

/** One line for each inconsistency in or between the states, starting with the server's name. */
export function findInconsistencies(
  generators: readonly FixtureGenerator[],
  states: GeneratedStates,
  seed: number,
): string[] {
  const cast = createCast(seed);
  return generators.flatMap(it =>
    it.findInconsistencies(states, cast).map(line => `${it.server.name}: ${line}`),
  );
}

/**
 * The text of a fixture file: tables have one row per line, so that a person can read and diff it.
 */
export const formatFixture = (fixture: Fixture): string => `${formatValue(fixture, 0)}\n`;

const rowDepth = 3;
const maxLineWidth = 110;

function formatValue(value: unknown, depth: number): string {
  const inline = formatInline(value);
  const isInline = depth >= rowDepth || (depth > 0 && inline.length <= maxLineWidth);
  if (value === null || typeof value !== "object" || isInline) return inline;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map(it => formatValue(it, depth + 1))
    : Object.entries(value).map(
        ([key, it]) => `${JSON.stringify(key)}: ${formatValue(it, depth + 1)}`,
      );
  if (items.length === 0) return inline;
  const margin = "  ".repeat(depth);
  return `${open}\n${items.map(it => `${margin}  ${it}`).join(",\n")}\n${margin}${close}`;
}

/** JSON on one line, with a space after each colon and comma. */
function formatInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInline).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, it]) => `${JSON.stringify(key)}: ${formatInline(it)}`)
    .join(", ")}}`;
}
