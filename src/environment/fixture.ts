/** A fixture: a named initial state of a server, as plain JSON in a file that a person can edit. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readIfExists } from "../storage/fileErrors.ts";
import { explainLongNumber, findLongNumber } from "../storage/exactJson.ts";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { deepFreeze } from "./digest.ts";
import { clock } from "./fieldSchemas.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Server } from "./server.ts";
import { readTextFile } from "../storage/textFiles.ts";

export const fixtureFormat = "prove/fixture@1";

export interface Fixture {
  readonly format: typeof fixtureFormat;
  readonly server: string;
  readonly name: string;
  /** The session's time at the start, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  readonly seed?: number;
  /** The state, as the server's schema describes it. */
  readonly state: JsonObject;
}

/** The schema of a server's fixture files, which also gives the JSON Schema for the editor. */
export const createFixtureSchema = (server: Server) =>
  z.strictObject({
    format: z.literal(fixtureFormat),
    server: z.literal(server.name),
    name: z.string().regex(/^[a-z][a-z0-9-]{0,40}$/),
    now: clock(),
    seed: z.int().min(0).optional(),
    state: server.schema,
  });

/**
 * Parses the text of a fixture file; the result is deeply frozen. Throws a `UserError` that names
 * the file and the first value that does not match.
 */
export function parseFixture(server: Server, text: string, file: string): Fixture {
  const number = findLongNumber(text);
  if (number !== undefined)
    throw new UserError(
      `${file} is not a fixture of ${server.name}: ${explainLongNumber(number)}`,
      "correct that value, or restore the shipped fixture",
    );
  const fixture = parseJson(createFixtureSchema(server), text, {
    file,
    noun: `a fixture of ${server.name}`,
    remedy: "correct that value, or restore the shipped fixture",
  });
  return deepFreeze(rebuildRecords(fixture as Json)) as unknown as Fixture;
}

/**
 * The same value with its records built anew. V8 stores the keys of such a record in a shape that
 * all its copies share, but those of a parsed record with more than some 130 keys in a hash table,
 * which makes every copy and every iteration slower.
 */
function rebuildRecords(value: Json): Json {
  if (Array.isArray(value)) return value.map((it: Json) => rebuildRecords(it));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, rebuildRecords(it)]));
}

/**
 * Folders with fixtures, in the order in which they are searched: the workspace's
 * `prove/fixtures`, then the product's `resources/servers`. `getFixtureFile` describes the layout.
 */
export type FixtureFolders = readonly string[];

/** Reads the fixture with that name from the first folder that has it. */
export function readFixture(folders: FixtureFolders, server: Server, name: string): Fixture {
  for (const folder of folders) {
    const file = getFixtureFile(folder, server.name, name);
    const text = readIfExists(file, () => readTextFile(file));
    if (text !== undefined) return parseFixture(server, text, file);
  }
  const names = listFixtureNames(folders, server.name);
  throw new UserError(
    `${server.name} has no fixture ${name}`,
    names.length ? `choose one of ${formatNames(names)}` : "add one under prove/fixtures",
  );
}

const maxNames = 20;

const formatNames = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.join(", ")
    : `${names.slice(0, maxNames).join(", ")} or ${names.length - maxNames} more`;

const extension = ".fixture.json";

/** The names of a server's fixtures in all folders, sorted. */
export function listFixtureNames(folders: FixtureFolders, server: string): readonly string[] {
  const names = new Set<string>();
  for (const folder of folders) {
    const serverFolder = getServerFolder(folder, server);
    const files = readIfExists(serverFolder, () => readdirSync(serverFolder)) ?? [];
    for (const file of files)
      if (file.endsWith(extension)) names.add(file.slice(0, -extension.length));
  }
  return [...names].sort();
}

/**
 * The file of a fixture: `<server>/<name>.fixture.json` in the folder, or
 * `<server>/fixtures/<name>.fixture.json` if the server's folder holds more than fixtures.
 */
export const getFixtureFile = (folder: string, server: string, name: string): string =>
  join(getServerFolder(folder, server), `${name}${extension}`);

function getServerFolder(folder: string, server: string): string {
  const inner = join(folder, server, "fixtures");
  return existsSync(inner) ? inner : join(folder, server);
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

// Names of fixtures that are made from a fixture file. `full@17` is world 17 of `full`: the same
// roles, with other people, places and dates. `full~3` is variant 3 of `full`, with other ids;
// `full@17~3` is variant 3 of that world.

interface FixtureName {
  /** The name of the fixture file. */
  readonly base: string;
  readonly world?: number;
  readonly variant?: number;
}

/** The parts of a fixture's name. A name without `@` and `~` is a base. */
export function parseFixtureName(name: string): FixtureName {
  const match = /^([^@~]+)(?:@([1-9]\d{0,5}))?(?:~([1-9]\d{0,5}))?$/.exec(name);
  if (!match) return { base: name };
  const [, base, world, variant] = match;
  return {
    base: base!,
    ...(world === undefined ? {} : { world: Number(world) }),
    ...(variant === undefined ? {} : { variant: Number(variant) }),
  };
}

export const formatFixtureName = ({ base, world, variant }: FixtureName): string =>
  base + (world === undefined ? "" : `@${world}`) + (variant === undefined ? "" : `~${variant}`);

/** Every how many worlds one is held out of training. */
const heldOutStep = 10;

/**
 * Whether a fixture is of a world that is held out of training: every tenth one, by its number.
 */
export function isHeldOutWorld(fixtureName: string): boolean {
  const { world } = parseFixtureName(fixtureName);
  return world !== undefined && world % heldOutStep === 0;
}
