/** Writes rows to Parquet files. `parquet.ts` reads them. */
import type { SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { withWriteErrors } from "./fileErrors.ts";

/** The type of a column, or of a part of it. Lists have no nulls; all else may be null. */
export type ParquetType =
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
