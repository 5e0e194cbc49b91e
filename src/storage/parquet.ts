/** Reads and writes rows in Parquet files, as JSON. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors, SchemaElement } from "hyparquet";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet/src/node.js";
import { UserError } from "../userError.ts";
import { parseExactJson } from "./exactJson.ts";
import { toReadError, withWriteErrors } from "./fileErrors.ts";
import { decompressLz4, decompressLz4Block } from "./lz4.ts";
import type { OnReplaced } from "./pythonJson.ts";
import { decompressZstandard } from "./zstandard.ts";
import { fileWriter, ParquetWriter } from "hyparquet-writer";

/**
 * The rows of a Parquet file. Inside a row, keys whose value is null are left out: a column of
 * objects has the keys of all of its rows, and null where a row has none. Throws a `UserError` for
 * a file that cannot be read, such as one that was cut off.
 */
export async function readParquetRows(
  file: string,
  onReplaced?: OnReplaced,
): Promise<readonly object[]> {
  let replaced = 0;
  const toJson = (value: unknown): unknown => {
    if (value === undefined) return null;
    if (typeof value === "bigint") return parseExactJson(String(value));
    if (typeof value === "number" && !Number.isFinite(value)) {
      replaced++;
      return null;
    }
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return value.map(toJson);
    if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)].map(toJson);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, it]) =>
        it === null || it === undefined ? [] : [[key, toJson(it)]],
      ),
    );
  };
  try {
    const buffer = await asyncBufferFromFile(file);
    const rows = await parquetReadObjects({ file: buffer, compressors: createCompressors(file) });
    const json = rows.map(row =>
      Object.fromEntries(Object.entries(row).map(([key, it]) => [key, toJson(it)])),
    );
    if (replaced > 0) onReplaced?.(replaced);
    return json;
  } catch (cause) {
    const error = toReadError(file, cause);
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${file} is not a whole Parquet file (${(cause as Error).message})`,
      "its index is at its end, so that none of a file that was cut off can be read: write it again",
      { cause },
    );
  }
}

/** What decompresses the parts of a file, besides Snappy. */
function createCompressors(file: string): Compressors {
  return {
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(length, 1) }),
    BROTLI: (input, length) =>
      brotliDecompressSync(input, { maxOutputLength: Math.max(length, 1) }),
    ZSTD: decompressZstandard,
    LZ4: decompressLz4,
    LZ4_RAW: decompressLz4Block,
    LZO: (): never => {
      throw new UserError(
        `${file} is compressed with LZO, which cannot be read`,
        "write it with Zstandard, Snappy, gzip, Brotli or LZ4, or without compression",
      );
    },
  };
}

/** The type of a column, or of a part of it. Lists have no nulls; all else may be null. */
type ParquetType =
  "string" | "int" | { readonly list: ParquetType } | { readonly struct: ParquetColumns };

export type ParquetColumns = Readonly<Record<string, ParquetType>>;

/** The rows that are compressed together and held in memory until then. */
const groupSize = 1_000;

/** Appends rows to a file, which can be read once it is closed. */
export class ParquetFile {
  readonly #file: string;
  readonly #columns: ParquetColumns;
  readonly #writer: ParquetWriter;
  #rows: Readonly<Record<string, unknown>>[] = [];
  #isClosed = false;

  /** Creates the file, or empties it. */
  constructor(file: string, columns: ParquetColumns) {
    this.#file = file;
    this.#columns = columns;
    this.#writer = withWriteErrors(
      file,
      () => new ParquetWriter({ writer: fileWriter(file), schema: createSchema(columns) }),
    );
  }

  /** Appends a row with a value, or null, for each column. */
  append(row: Readonly<Record<string, unknown>>): void {
    this.#rows.push(row);
    if (this.#rows.length === groupSize) this.#writeGroup();
  }

  /** Writes what makes the file readable. Has no effect the second time, even after an error. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#rows.length > 0) this.#writeGroup();
    // a writer of files returns no promises
    withWriteErrors(this.#file, () => void this.#writer.finish());
  }

  #writeGroup(): void {
    const rows = this.#rows;
    this.#rows = [];
    const columnData = Object.entries(this.#columns).map(([name, type]) => ({
      name,
      data: rows.map(it => toParquet(it[name], type)),
    }));
    withWriteErrors(
      this.#file,
      () => void this.#writer.write({ columnData, rowGroupSize: groupSize }),
    );
  }
}

/** A value of JSON as the writer expects it: with integers as `bigint`. */
function toParquet(value: unknown, type: ParquetType): unknown {
  if (value === undefined || value === null) return null;
  if (type === "string") return value;
  if (type === "int") return BigInt(value as number);
  if ("list" in type) return (value as readonly unknown[]).map(it => toParquet(it, type.list));
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(type.struct).map(([name, it]) => [name, toParquet(fields[name], it)]),
  );
}

/** The schema as Parquet has it: the elements of the tree, each before those in it. */
const createSchema = (columns: ParquetColumns): SchemaElement[] => [
  { name: "root", num_children: Object.keys(columns).length },
  ...listFields(columns),
];

const listFields = (columns: ParquetColumns): SchemaElement[] =>
  Object.entries(columns).flatMap(([name, type]) => listElements(name, type));

function listElements(name: string, type: ParquetType): SchemaElement[] {
  const field = { name, repetition_type: "OPTIONAL" } as const;
  if (type === "string") return [{ ...field, type: "BYTE_ARRAY", converted_type: "UTF8" }];
  if (type === "int") return [{ ...field, type: "INT64" }];
  if ("struct" in type)
    return [
      { ...field, num_children: Object.keys(type.struct).length },
      ...listFields(type.struct),
    ];
  return [
    { ...field, num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    ...listElements("element", type.list),
  ];
}
