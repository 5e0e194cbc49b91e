/** The rows that the editor can ask for, by a number that is never used again. */
import type { ValueRow } from "./valueRow.ts";

export class RowHandles {
  /** Those of the current position. */
  readonly #rows = new Map<number, () => readonly ValueRow[]>();
  /** Those of results in the Debug Console, which stay there while the session moves. */
  readonly #kept = new Map<number, () => readonly ValueRow[]>();
  #last = 0;

  /** Returns the number of rows, or 0 for none. */
  add(rows: (() => readonly ValueRow[]) | undefined, isKept = false): number {
    if (!rows) return 0;
    (isKept ? this.#kept : this.#rows).set(++this.#last, rows);
    return this.#last;
  }

  list(reference: number): readonly ValueRow[] {
    return (this.#rows.get(reference) ?? this.#kept.get(reference))?.() ?? [];
  }

  isKept(reference: number): boolean {
    return this.#kept.has(reference);
  }

  /** Releases the rows of the previous position. */
  reset(): void {
    this.#rows.clear();
  }
}
