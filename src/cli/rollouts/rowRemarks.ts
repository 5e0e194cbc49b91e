/** Prints what a reader of rows says about rows that it cannot read, and counts them. */
import { formatReplaced } from "../../storage/pythonJson.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";

export class RowRemarks {
  readonly #printNote: (note: string) => void;
  #skipped = 0;
  #replaced = 0;

  constructor(printNote: (note: string) => void) {
    this.#printNote = printNote;
  }

  /** The rows that were left out because they are not JSON, or were cut off. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Prints why a row is left out. */
  reportSkipped(remark: string): void {
    this.#skipped++;
    this.#printNote(escapeInvisible(`${remark} and was skipped`));
  }

  /** Counts values that were read as null because they are not JSON. */
  readonly countReplaced = (count: number): void => void (this.#replaced += count);

  /** Prints how many values were read as null. */
  finish(): void {
    if (this.#replaced > 0) this.#printNote(formatReplaced(this.#replaced));
  }
}
