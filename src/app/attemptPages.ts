/** Writes attempts as HTML pages, one file for each. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAttemptPage, type AttemptPage } from "../reward/attemptPage.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";

export class AttemptPages {
  readonly #folder: string;
  readonly #names = new Set<string>();

  /** Creates the folder if it does not exist. */
  constructor(folder: string) {
    this.#folder = folder;
    withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  }

  /** The number of pages that were written. */
  get count(): number {
    return this.#names.size;
  }

  /** Writes an attempt's page. Its file is named after the attempt's id. */
  write(page: AttemptPage): void {
    const file = join(this.#folder, this.#findName(page.trajectory.header.id));
    withWriteErrors(file, () => writeFileSync(file, createAttemptPage(page)));
  }

  /** A file name that no page has yet, on file systems that ignore case, too. */
  #findName(id: string): string {
    const base = id.replaceAll(/[^\w-]+/g, "-").slice(0, 100) || "attempt";
    for (let n = 1; ; n++) {
      const name = `${n === 1 ? base : `${base}-${n}`}.html`;
      if (this.#names.has(name.toLowerCase())) continue;
      this.#names.add(name.toLowerCase());
      return name;
    }
  }
}
