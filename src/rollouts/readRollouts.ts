/** Reads the rows of files with rollouts: JSON Lines, JSON documents, archives and Parquet. */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { readArchivedTexts } from "../storage/archiveRows.ts";
import { readJsonElements } from "../storage/jsonElements.ts";
import {
  fileStart,
  formatDamage,
  isCutOff,
  isJson,
  readLines,
  tooLongReason,
  tornReason,
  type Line,
} from "../storage/jsonLines.ts";
import { readTextsAt, type LineRange } from "../storage/lineIndex.ts";
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
  type RolloutPlace,
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
  for (const { file, name } of await listFiles(path, format))
    for await (const { rollout } of readPlacedRollouts(file, format, remarks)) {
      const id = rollout.id || name;
      const count = (ids.get(id) ?? 0) + 1;
      ids.set(id, count);
      yield { ...rollout, id: count === 1 ? id : `${id}#${count}` };
    }
}

/** A rollout and where it is. Several may have the same id. */
interface PlacedRollout {
  readonly rollout: Rollout;
  readonly place: RolloutPlace;
}

/** Reads the rollouts of a file with their places. */
export async function* readPlacedRollouts(
  file: string,
  format: RolloutFormat,
  remarks: RowRemarks,
): AsyncGenerator<PlacedRollout> {
  yield* parseRows(readRows(file, format, remarks), { file, format, remarks });
}

/** Reads the rollout at a place, and of a large file as little as is possible. */
export async function readRolloutAt(
  file: string,
  format: RolloutFormat,
  { attempt, line, part = 0 }: RolloutPlace,
): Promise<Rollout> {
  let reason = "";
  const remarks = new RowRemarks(note => (reason = ` (${note})`));
  const rows = line ? readRowAt(file, format, line, remarks) : readRows(file, format, remarks);
  let left = line ? part : attempt;
  for await (const { rollout } of parseRows(rows, { file, format, remarks }))
    if (left-- === 0) return rollout;
  throw new UserError(
    `${file} has no attempt ${attempt + 1} any longer${reason}`,
    "open the file again",
  );
}

async function* readRowAt(
  file: string,
  format: RolloutFormat,
  line: LineRange,
  remarks: RowRemarks,
): AsyncGenerator<Row> {
  if (line.bytes === 0) return yield* readArchive(file, format, remarks, line.number);
  for await (const { text } of readTextsAt(file, [line]))
    yield* parseRow({ ...line, text, whole: true }, `${file}:${line.number}`, remarks);
}

interface RowSource {
  readonly file: string;
  readonly format: RolloutFormat;
  readonly remarks: RowRemarks;
}

async function* parseRows(
  rows: AsyncIterable<Row>,
  { file, format, remarks }: RowSource,
): AsyncGenerator<PlacedRollout> {
  const { noun, writer, regroup } = format;
  let [attempt, part, last] = [0, 0, 0];
  for await (const { json, number, line } of regroup?.(rows) ?? rows) {
    const rollout = format.parseRow(json, {
      check: (schema, it) =>
        checkJson(schema, it, {
          file,
          line: number,
          noun,
          remedy: `give a file that ${writer} wrote, or another format`,
        }),
      omit: remarks.countOmitted,
      skip: reason => remarks.reportSkipped(`${file}:${number} ${reason}`),
    });
    if (!rollout) continue;
    if (line) part = line.number === last ? part + 1 : 0;
    last = number;
    yield {
      rollout: { ...rollout, id: rollout.id ?? `${basename(file)}:${number}` },
      place: { attempt: attempt++, ...(line ? { line, part } : {}) },
    };
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
  if (archivedRows && extname(file) === ".eval")
    return yield* readArchive(file, { archivedRows }, remarks);
  if (await hasLines(file, listKey)) {
    const skipLong = (number: number) =>
      remarks.reportSkipped(`${file}:${number} ${tooLongReason}`);
    for await (const line of readLines(file, fileStart, skipLong))
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

/** The rows in an archive, or the one of that number. */
async function* readArchive(
  file: string,
  { archivedRows }: Pick<RolloutFormat, "archivedRows">,
  remarks: RowRemarks,
  only?: number,
): AsyncGenerator<Row> {
  let number = only ?? 1;
  for await (const it of readArchivedTexts(file, archivedRows!, only)) {
    const place = `${file}: ${it.name}`;
    const line = { number, offset: 0, bytes: 0, whole: true };
    if ("text" in it) yield* parseRow({ ...line, text: it.text }, place, remarks);
    else remarks.reportSkipped(`${place} cannot be read (${it.flaw})`);
    number++;
  }
}

function* parseRow(
  { text, number, offset, bytes, whole }: Line,
  place: string,
  remarks: RowRemarks,
): Generator<Row> {
  try {
    const json = parsePythonJson(text, remarks.countReplaced);
    yield { json, number, line: { number, offset, bytes } };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const isTorn = !whole && isCutOff(replaceNonFinite(text).text);
    remarks.reportSkipped(`${place} ${isTorn ? tornReason : formatDamage(error)}`);
  }
}

/** Whether it is JSON Lines: its first line is a row, whole or damaged, and no list of rows. */
async function hasLines(file: string, listKey: string | undefined): Promise<boolean> {
  let first: string | undefined;
  let isLong = false;
  for await (const line of readLines(file, fileStart, () => (isLong = true))) {
    if (isLong) break;
    const { text } = replaceNonFinite(line.text);
    if (first !== undefined) return !isContinued(first, text);
    if (isJson(text)) return !isListOfRows(JSON.parse(text), listKey);
    first = text;
  }
  // a document may be in one line, whatever its length
  if (isLong) return extname(file) !== ".json";
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
