/** Reads the rows of files with rollouts: JSON Lines, JSON documents and Parquet. */
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { readArchivedJson } from "../../storage/archiveRows.ts";
import { readJsonElements } from "../../storage/jsonElements.ts";
import { readJsonLines, readLines, isJson } from "../../storage/jsonLines.ts";
import { readParquetRows } from "../../storage/parquet.ts";
import { checkJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import type { Rollout } from "./rollout.ts";
import type { RolloutFormat } from "./rolloutFormat.ts";

export interface ReadRolloutsOptions {
  /** Receives a remark about a row that was cut off, which is skipped. */
  readonly onTorn: (remark: string) => void;
  readonly signal: AbortSignal;
}

interface Row {
  readonly json: unknown;
  /** From 1. */
  readonly number: number;
}

/**
 * Reads the rollouts of a file, or of the files in a folder. Throws a `UserError` with file, line
 * and key for a row of another shape.
 */
export async function* readRollouts(
  path: string,
  format: RolloutFormat,
  options: ReadRolloutsOptions,
): AsyncGenerator<Rollout> {
  const ids = new Map<string, number>();
  for (const { file, name } of await listFiles(path))
    for await (const { json, number } of readRows(file, format, options)) {
      options.signal.throwIfAborted();
      const { noun } = format;
      const rollout = format.parseRow(json, (schema, it) =>
        checkJson(schema, it, {
          file,
          line: number,
          noun,
          remedy: `give a file that ${format.writer} wrote, or another format`,
        }),
      );
      if (!rollout) continue;
      const id = rollout.id ?? `${name}:${number}`;
      const count = (ids.get(id) ?? 0) + 1;
      ids.set(id, count);
      yield { ...rollout, id: count === 1 ? id : `${id}#${count}` };
    }
}

async function* readRows(
  file: string,
  { listKey, archivedRows }: RolloutFormat,
  { onTorn, signal }: ReadRolloutsOptions,
): AsyncGenerator<Row> {
  if (extname(file) === ".parquet") {
    for (const [i, json] of (await readParquetRows(file)).entries()) yield { json, number: i + 1 };
    return;
  }
  if (archivedRows && extname(file) === ".eval") {
    let number = 0;
    for await (const { json } of readArchivedJson(file, archivedRows))
      yield { json, number: ++number };
    return;
  }
  if (await hasLines(file, listKey)) {
    yield* readJsonLines(file, { onTorn, signal });
    return;
  }
  const { elements, tornLine } = readJsonElements(file, listKey);
  // one list of messages is one row
  if (elements.length > 0 && elements.every(it => isMessage(it.json)))
    yield { json: elements.map(it => it.json), number: 1 };
  else yield* elements;
  if (tornLine !== undefined)
    onTorn(`${file}:${tornLine} is torn (a write was cut off) and was skipped`);
}

/** Whether it is JSON Lines: the first line is a row by itself, and not the only list of rows. */
async function hasLines(file: string, listKey: string | undefined): Promise<boolean> {
  for await (const { text } of readLines(file)) {
    if (!isJson(text)) return false;
    const json = JSON.parse(text) as unknown;
    if (Array.isArray(json)) return json.every(isMessage);
    return listKey === undefined || !Array.isArray((json as Record<string, unknown>)[listKey]);
  }
  return true;
}

const isMessage = (json: unknown): boolean =>
  json !== null && typeof json === "object" && "role" in json;

const extensions = new Set([".jsonl", ".json", ".parquet", ".eval"]);

async function listFiles(
  path: string,
): Promise<readonly { readonly file: string; readonly name: string }[]> {
  const stats = await stat(path).catch((cause: Error) => {
    throw new UserError(`cannot read ${path} (${cause.message})`, "check the path", { cause });
  });
  if (!stats.isDirectory()) return [{ file: path, name: path.split(/[\\/]/).at(-1)! }];
  const names = (await readdir(path)).filter(it => extensions.has(extname(it)));
  if (names.length === 0)
    throw new UserError(
      `there are no files with rollouts in ${path}`,
      "give a folder with .jsonl, .json or .parquet files",
    );
  return names
    .toSorted(new Intl.Collator("en", { numeric: true }).compare)
    .map(name => ({ file: join(path, name), name }));
}
