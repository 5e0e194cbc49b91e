/** Reads the rows of files with rollouts: JSON Lines, JSON documents, archives and Parquet. */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { readArchivedTexts } from "../storage/archiveRows.ts";
import { readJsonElements } from "../storage/jsonElements.ts";
import {
  formatDamage,
  isCutOff,
  isJson,
  readLines,
  tornReason,
  type Line,
} from "../storage/jsonLines.ts";
import { readParquetRows } from "../storage/parquet.ts";
import { checkJson } from "../storage/parseJson.ts";
import { parsePythonJson, replaceNonFinite, formatReplaced } from "../storage/pythonJson.ts";
import { UserError } from "../userError.ts";
import { isMessage } from "./chatRows.ts";
import {
  formatOmitted,
  type CountOmitted,
  type OmittedPart,
  type Rollout,
  type RolloutFormat,
  type Row,
} from "./rollout.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";

/**
 * Reads the rollouts of a file, or of the files in a folder. Throws a `UserError` with file, line
 * and key for a row of another shape.
 */
export async function* readRollouts(
  path: string,
  format: RolloutFormat,
  remarks: RowRemarks,
): AsyncGenerator<Rollout> {
  const ids = new Map<string, number>();
  for (const { file, name } of await listFiles(path, format)) {
    const rows = readRows(file, format, remarks);
    for await (const { json, number } of format.regroup?.(rows) ?? rows) {
      const { noun } = format;
      const rollout = format.parseRow(json, {
        check: (schema, it) =>
          checkJson(schema, it, {
            file,
            line: number,
            noun,
            remedy: `give a file that ${format.writer} wrote, or another format`,
          }),
        omit: remarks.countOmitted,
        skip: reason => remarks.reportSkipped(`${file}:${number} ${reason}`),
      });
      if (!rollout) continue;
      const id = rollout.id ?? `${name}:${number}`;
      const count = (ids.get(id) ?? 0) + 1;
      ids.set(id, count);
      yield { ...rollout, id: count === 1 ? id : `${id}#${count}` };
    }
  }
}

/** The rows of a file that other software wrote. A row that is not JSON is reported and skipped. */
export async function* readRows(
  file: string,
  { listKey, archivedRows }: Pick<RolloutFormat, "listKey" | "archivedRows">,
  remarks: RowRemarks,
): AsyncGenerator<Row> {
  if (extname(file) === ".parquet") {
    const rows = await readParquetRows(file, remarks.countReplaced);
    yield* rows.map((json, i) => ({ json, number: i + 1 }));
    return;
  }
  if (archivedRows && extname(file) === ".eval") {
    let number = 0;
    for await (const it of readArchivedTexts(file, archivedRows)) {
      number++;
      const place = `${file}: ${it.name}`;
      if ("text" in it) yield* parseRow({ text: it.text, number, whole: true }, place, remarks);
      else remarks.reportSkipped(`${place} cannot be read (${it.flaw})`);
    }
    return;
  }
  if (await hasLines(file, listKey)) {
    for await (const line of readLines(file))
      yield* parseRow(line, `${file}:${line.number}`, remarks);
    return;
  }
  const { elements, skipped } = readJsonElements(file, listKey, remarks.countReplaced);
  // one list of messages is one row
  if (elements.length > 0 && elements.every(it => isMessage(it.json)))
    yield { json: elements.map(it => it.json), number: 1 };
  else yield* elements;
  for (const { line, reason } of skipped) remarks.reportSkipped(`${file}:${line} ${reason}`);
}

function* parseRow(
  { text, number, whole }: Pick<Line, "text" | "number" | "whole">,
  place: string,
  remarks: RowRemarks,
): Generator<Row> {
  try {
    yield { json: parsePythonJson(text, remarks.countReplaced), number };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const isTorn = !whole && isCutOff(replaceNonFinite(text).text);
    remarks.reportSkipped(`${place} ${isTorn ? tornReason : formatDamage(error)}`);
  }
}

/** Whether it is JSON Lines: its first line is a row, whole or damaged, and no list of rows. */
async function hasLines(file: string, listKey: string | undefined): Promise<boolean> {
  let first: string | undefined;
  for await (const line of readLines(file)) {
    const { text } = replaceNonFinite(line.text);
    if (first !== undefined) return !isContinued(first, text);
    if (isJson(text)) return !isListOfRows(JSON.parse(text), listKey);
    first = text;
  }
  return first === undefined || !isCutOff(first);
}

function isListOfRows(json: unknown, listKey: string | undefined): boolean {
  if (Array.isArray(json)) return !json.every(isMessage);
  const list =
    listKey === undefined ? undefined : (json as Record<string, unknown> | null)?.[listKey];
  return Array.isArray(list);
}

/** Whether two lines begin a document. A row may have been cut off where another could follow. */
function isContinued(first: string, second: string): boolean {
  const both = `${first}\n${second}`;
  if (isJson(second) && getStart(first) === getStart(second)) return false;
  return isJson(both) || isCutOff(both);
}

/** The brackets and the first key of a row, which all rows of a file have. */
const getStart = (row: string): string => row.slice(0, row.indexOf(":"));

const extensions = new Set([".jsonl", ".json", ".parquet", ".eval"]);

async function listFiles(
  path: string,
  { rowFolder }: Pick<RolloutFormat, "rowFolder">,
): Promise<readonly { readonly file: string; readonly name: string }[]> {
  const stats = await stat(path).catch((cause: Error) => {
    throw new UserError(`cannot read ${path} (${cause.message})`, "check the path", { cause });
  });
  if (rowFolder !== undefined) {
    const folder = join(stats.isDirectory() ? path : dirname(path), rowFolder);
    const isIndex = stats.isDirectory() || basename(path) === "results.json";
    if (isIndex && existsSync(folder)) return listFiles(folder, {});
  }
  if (!stats.isDirectory()) return [{ file: path, name: basename(path) }];
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

export class RowRemarks {
  readonly #printNote: (note: string) => void;
  #skipped = 0;
  #replaced = 0;
  readonly #omitted = new Map<OmittedPart, number>();

  constructor(printNote: (note: string) => void) {
    this.#printNote = printNote;
  }

  /** The rows that were left out because they are not JSON, or were cut off. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Prints why a row is left out. */
  reportSkipped(remark: string): undefined {
    this.#skipped++;
    this.#printNote(escapeInvisible(`${remark} and was skipped`));
  }

  /** Counts values that were read as null because they are not JSON. */
  readonly countReplaced = (count: number): void => void (this.#replaced += count);

  /** Counts what a rollout has and its transcript does not show. */
  readonly countOmitted: CountOmitted = (part, count = 1) =>
    void (count > 0 && this.#omitted.set(part, (this.#omitted.get(part) ?? 0) + count));

  /** Prints how many values were read as null, and how much is not shown. */
  finish(): void {
    if (this.#replaced > 0) this.#printNote(formatReplaced(this.#replaced));
    if (this.#omitted.size > 0) this.#printNote(`not shown: ${formatOmitted(this.#omitted)}`);
  }
}
