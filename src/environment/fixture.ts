/**
 * A fixture is a named starting state, plain JSON in a file that a person can edit. Knows where
 * fixtures lie, not who uses them.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { minute } from "./fieldSchemas.ts";
import { computeDigest, deepFreeze, type Digest } from "./digest.ts";
import type { JsonObject } from "./json.ts";
import type { Server } from "./server.ts";

export const fixtureFormat = "prove/fixture@1";

export interface Fixture {
  readonly format: typeof fixtureFormat;
  readonly server: string;
  readonly name: string;
  /** The session's time at the start, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  readonly seed?: number;
  /** The world, as the server's schema describes it. */
  readonly state: JsonObject;
}

/**
 * The shape of a fixture file of one server; also the source of the JSON Schema that the editor
 * completes with.
 */
export const createFixtureSchema = (server: Server) =>
  z.strictObject({
    format: z.literal(fixtureFormat),
    server: z.literal(server.name),
    name: z.string().regex(/^[a-z][a-z0-9-]{0,40}$/),
    now: minute(),
    seed: z.int().min(0).optional(),
    state: server.schema,
  });

/**
 * A fixture of a file's text, deeply frozen. Throws a `UserError` that names the file and the first
 * place that does not fit.
 */
export const parseFixture = (server: Server, text: string, file: string): Fixture =>
  deepFreeze(
    parseJson(createFixtureSchema(server), text, {
      file,
      noun: `a fixture of ${server.name}`,
      remedy: "correct that value, or restore the shipped fixture",
    }),
  ) as unknown as Fixture;

/**
 * Folders with fixtures, in the order in which they are searched: the workspace's
 * `prove/fixtures`, then the product's `resources/servers`. `fixtureFile` gives the layout of both.
 */
export type FixtureFolders = readonly string[];

/** Finds and reads a fixture by name. */
export function readFixture(folders: FixtureFolders, server: Server, name: string): Fixture {
  for (const folder of folders) {
    const file = getFixtureFile(folder, server.name, name);
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") continue;
      throw new UserError(
        `cannot read ${file} (${(cause as Error).message})`,
        "check the file's permissions",
        { cause },
      );
    }
    return parseFixture(server, text, file);
  }
  const names = listFixtureNames(folders, server.name);
  throw new UserError(
    `${server.name} has no fixture ${name}`,
    names.length ? `choose one of ${names.join(", ")}` : "add one under prove/fixtures",
  );
}

/** The names of a server's fixtures over all folders, sorted. */
export function listFixtureNames(folders: FixtureFolders, server: string): readonly string[] {
  const names = new Set<string>();
  for (const folder of folders) {
    let files: string[];
    try {
      files = readdirSync(serverFolder(folder, server));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") continue;
      throw new UserError(
        `cannot list ${serverFolder(folder, server)} (${(cause as Error).message})`,
        "check the folder's permissions",
        { cause },
      );
    }
    for (const file of files)
      if (file.endsWith(".fixture.json")) names.add(file.slice(0, -".fixture.json".length));
  }
  return [...names].sort();
}

/**
 * The file of a fixture: `<server>/<name>.fixture.json` in the folder, or
 * `<server>/fixtures/<name>.fixture.json` where the server's folder holds more than fixtures.
 */
export const getFixtureFile = (folder: string, server: string, name: string): string =>
  join(serverFolder(folder, server), `${name}.fixture.json`);

function serverFolder(folder: string, server: string): string {
  const inner = join(folder, server, "fixtures");
  return existsSync(inner) ? inner : join(folder, server);
}

/** The digest by which a task pins the fixture it was made on. */
export const fixtureDigest = (fixture: Fixture): Digest => computeDigest(fixture);
