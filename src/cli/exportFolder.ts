/** The folder of an export: one file for each split, and a dataset card. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../environment/json.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import type { Split } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";

export class ExportFolder {
  readonly #folder: string;
  readonly #isNew: boolean;
  readonly #writers = new Map<Split, LineWriter>();

  /** Creates the folder. Throws a `UserError` if it exists and is not empty. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#isNew = !existsSync(folder);
    const entries = readIfExists(folder, () => readdirSync(folder)) ?? [];
    if (entries.length > 0)
      throw new UserError(`${folder} is not empty`, "export to another folder, or empty it first");
    withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  }

  /** The files by split, in the order in which they were begun. */
  get files(): ReadonlyMap<Split, string> {
    return new Map([...this.#writers.keys()].map(it => [it, nameFile(it)]));
  }

  append(split: Split, row: JsonObject): void {
    let writer = this.#writers.get(split);
    if (!writer)
      this.#writers.set(split, (writer = new LineWriter(join(this.#folder, nameFile(split)))));
    writer.append(JSON.stringify(row));
  }

  /** Closes the files and writes the card. */
  finish(card: string): void {
    this.#close();
    writeFileAtomicallySync(join(this.#folder, "README.md"), card);
  }

  /** Deletes what was written, so that no part of a data set is taken for the whole. */
  discard(): void {
    this.#close();
    for (const it of this.files.values()) rmSync(join(this.#folder, it), { force: true });
    if (this.#isNew) rmSync(this.#folder, { recursive: true, force: true });
  }

  #close(): void {
    for (const it of this.#writers.values()) it.close();
  }
}

const nameFile = (split: Split): string => `${split}.jsonl`;
