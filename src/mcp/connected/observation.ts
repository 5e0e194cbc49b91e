/**
 * What is observed of a sandbox: its files as a JSON value. Files of JSON and JSON Lines, SQLite
 * databases and git repositories are read as what they hold, text as text, and of all others the
 * hash.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { parseExactJson } from "../../storage/exactJson.ts";
import { isTooDeep } from "../../storage/jsonDepth.ts";
import { isGitFolder, observeGit } from "./gitFiles.ts";

/** Of a longer text, the hash is observed. */
const maxText = 100_000;

/** The files of a folder by their paths. An empty folder is null under its path with a slash. */
export async function observeFiles(folder: string): Promise<JsonObject> {
  const files: Record<string, Json> = {};
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const repositories = all.filter(it => basename(it) === ".git" && isGitFolder(join(folder, it)));
  const names = all.filter(it => !repositories.some(other => it.startsWith(`${other}${sep}`)));
  for (const name of names) {
    const path = name.replaceAll(sep, "/");
    const file = join(folder, name);
    if (repositories.includes(name)) {
      files[path] = observeGit(file);
      continue;
    }
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (!stats) continue; // a temporary file that is gone
    if (stats.isSymbolicLink()) files[path] = { link: readlinkSync(file) };
    else if (stats.isDirectory()) {
      if (!names.some(it => it.startsWith(`${name}${sep}`))) files[`${path}/`] = null;
    } else if (!isCompanion(name)) files[path] = await observeFile(file, path);
  }
  return files;
}

/** What SQLite writes beside a database, whose content a dump shows. */
const isCompanion = (name: string) => /-(wal|shm|journal)$/.test(name);

async function observeFile(file: string, path: string): Promise<Json> {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, 16).toString("latin1") === "SQLite format 3\0") {
    const tables = await dumpDatabase(file);
    if (tables) return tables;
  }
  const text = bytes.length <= maxText ? decode(bytes) : undefined;
  if (text === undefined)
    return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  if (/\.json$/i.test(path)) return parse(text) ?? text;
  if (/\.(jsonl|ndjson)$/i.test(path)) {
    const lines = text.split("\n").filter(it => it.trim() !== "");
    const values = lines.map(parse);
    if (values.every(it => it !== undefined)) return values;
  }
  return text;
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function parse(text: string): Json | undefined {
  try {
    const value = parseExactJson(text) as Json;
    return isTooDeep(value, "value") ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The rows of all tables, or undefined where this version of Node cannot read databases. */
async function dumpDatabase(file: string): Promise<JsonObject | undefined> {
  const sqlite = await loadSqlite();
  if (!sqlite) return undefined;
  const database = new sqlite.DatabaseSync(file, { readOnly: true });
  try {
    const names = database
      .prepare(
        "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
      )
      .all() as { name: string; sql: string }[];
    const tables: Record<string, Json> = {};
    for (const { name, sql } of names) {
      const statement = database.prepare(`select * from "${name.replaceAll('"', '""')}"`);
      statement.setReadBigInts(true);
      tables[name] = {
        definition: sql,
        rows: statement.all().map(it => toJson(it as Record<string, unknown>)),
      };
    }
    return tables;
  } finally {
    database.close();
  }
}

const toJson = (row: Record<string, unknown>): JsonObject =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, toJsonValue(value)]));

function toJsonValue(value: unknown): Json {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : (value as Json);
}

const importSqlite = () => import("node:sqlite");
let loading: Promise<Awaited<ReturnType<typeof importSqlite>> | undefined> | undefined;

const loadSqlite = () => (loading ??= importSqlite().catch(() => undefined));

// What differs between equal runs.

/** The value without what the pointers lead to. In a part, `*` stands for any text. */
export function removeVolatile(value: Json, pointers: readonly string[]): Json {
  return pointers.reduce((it, pointer) => removeAt(it, splitPointer(pointer)), value);
}

const splitPointer = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split("/")
    .map(it => it.replaceAll("~1", "/").replaceAll("~0", "~"));

function removeAt(value: Json, [part, ...rest]: readonly string[]): Json {
  if (part === undefined || value === null || typeof value !== "object") return value;
  const matches = createMatcher(part);
  if (rest.length > 0) return mapEntries(value, matches, it => removeAt(it, rest));
  if (Array.isArray(value)) return value.map((it, i): Json => (matches(String(i)) ? null : it));
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([key]) => !matches(key)));
}

function createMatcher(part: string): (key: string) => boolean {
  if (!part.includes("*")) return key => key === part;
  const parts = part.split("*").map(it => it.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "su");
  return key => pattern.test(key);
}

function mapEntries(
  value: Json,
  matches: (key: string) => boolean,
  map: (value: Json) => Json,
): Json {
  if (Array.isArray(value)) return value.map((it: Json, i) => (matches(String(i)) ? map(it) : it));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [key, matches(key) ? map(it) : it]),
  );
}
