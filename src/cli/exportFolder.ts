/** The folder of an export: one file for each split, and a dataset card. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../environment/json.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { ParquetFile, type ParquetColumns } from "../storage/parquet.ts";
import type { Split } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";

interface RowWriter {
  append(row: JsonObject): void;
  close(): void;
}

export class ExportFolder {
  readonly #folder: string;
  readonly #parquet: ParquetColumns | undefined;
  readonly #isNew: boolean;
  readonly #writers = new Map<Split, RowWriter>();
  readonly #rows = new Map<Split, number>();

  /**
   * Creates the folder, for files of JSON Lines, or of Parquet if the types of its columns are
   * given. Throws a `UserError` if the folder exists and is not empty.
   */
  constructor(folder: string, parquet?: ParquetColumns) {
    this.#folder = folder;
    this.#parquet = parquet;
    this.#isNew = !existsSync(folder);
    const entries = readIfExists(folder, () => readdirSync(folder)) ?? [];
    if (entries.length > 0)
      throw new UserError(`${folder} is not empty`, "export to another folder, or empty it first");
    withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  }

  /** The files by split, in the order in which they were begun. */
  get files(): ReadonlyMap<Split, string> {
    return new Map([...this.#writers.keys()].map(it => [it, this.#nameFile(it)]));
  }

  countRows(split: Split): number {
    return this.#rows.get(split) ?? 0;
  }

  append(split: Split, row: JsonObject): void {
    let writer = this.#writers.get(split);
    if (!writer) this.#writers.set(split, (writer = this.#openWriter(split)));
    writer.append(row);
    this.#rows.set(split, this.countRows(split) + 1);
  }

  /** Closes the files and writes the card. */
  finish(card: string): void {
    this.#close();
    writeFileAtomicallySync(join(this.#folder, "README.md"), card);
  }

  /**
   * Deletes what was written, so that no part of a data set is taken for the whole. Throws no
   * errors, because the one that ended the export is the one to report.
   */
  discard(): void {
    for (const it of this.#writers.values()) ignoreErrors(() => it.close());
    for (const it of this.files.values())
      ignoreErrors(() => rmSync(join(this.#folder, it), { force: true }));
    if (this.#isNew) ignoreErrors(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  #openWriter(split: Split): RowWriter {
    const file = join(this.#folder, this.#nameFile(split));
    if (this.#parquet) return new ParquetFile(file, this.#parquet);
    const lines = new LineWriter(file);
    return { append: row => lines.append(JSON.stringify(row)), close: () => lines.close() };
  }

  #nameFile(split: Split): string {
    return `${split}.${this.#parquet ? "parquet" : "jsonl"}`;
  }

  #close(): void {
    for (const it of this.#writers.values()) it.close();
  }
}

function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {
    // an error before this one is reported
  }
}
