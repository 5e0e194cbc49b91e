/**
 * Where each line of a file of JSON Lines begins, and the little that a list shows of it. A file
 * that grows is read on from where it was read to, one that was written anew from its start. Knows
 * neither the lines' meaning nor an editor.
 */
import { stat } from "node:fs/promises";
import { linesIn, readPart, theStart, type LinePlace, type Reached } from "./lineFile.ts";

/** A line that is not what the file should hold, by number from 1. */
export interface Skipped {
  readonly line: number;
  readonly why: string;
}

/**
 * A file's entries as far as it is read. Lists only ever grow; a file that was written anew, or
 * whose last line was unfinished, gets new ones.
 */
export interface Entries<Entry> {
  readonly file: string;
  readonly entries: readonly Entry[];
  readonly skipped: readonly Skipped[];
}

/** The entry of a line's text, or why it is none. */
export type EntryOf<Entry> = (text: string, place: LinePlace, whole: boolean) => Entry | string;

const torn = "the line is torn: its end was never written";

/** Bytes before the place that was read to, by which a file that only grew is known again. */
const markLength = 256;

/** One file's index, brought up to date when asked. */
export class LineIndex<Entry extends LinePlace> {
  readonly #file: string;
  readonly #entryOf: EntryOf<Entry>;
  #entries: Entry[] = [];
  #skipped: Skipped[] = [];
  #reached: Reached = theStart;
  /**
   * Entries and skipped lines that stand before `#reached`: a last line without an end is read
   * again.
   */
  #settled = { entries: 0, skipped: 0 };
  #mark: Buffer = Buffer.alloc(0);
  #stamp = "";
  #underWay: Promise<Entries<Entry>> | undefined;

  constructor(file: string, entryOf: EntryOf<Entry>) {
    this.#file = file;
    this.#entryOf = entryOf;
  }

  /** Reads what was written since. Those who ask meanwhile get the same answer. */
  update(): Promise<Entries<Entry>> {
    this.#underWay ??= this.#update().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #update(): Promise<Entries<Entry>> {
    const stamp = await stampOf(this.#file);
    if (stamp === undefined || stamp !== this.#stamp) {
      if (!(await this.#onlyGrew())) this.#forget();
      await this.#readOn();
      this.#stamp = stamp ?? "";
    }
    return { file: this.#file, entries: this.#entries, skipped: this.#skipped };
  }

  async #onlyGrew(): Promise<boolean> {
    const { offset } = this.#reached;
    if (offset === 0) return false;
    const now = await readPart(this.#file, offset - this.#mark.length, this.#mark.length);
    return now.equals(this.#mark);
  }

  #forget(): void {
    this.#entries = [];
    this.#skipped = [];
    this.#reached = theStart;
    this.#settled = { entries: 0, skipped: 0 };
  }

  async #readOn(): Promise<void> {
    if (this.#entries.length > this.#settled.entries)
      this.#entries = this.#entries.slice(0, this.#settled.entries);
    if (this.#skipped.length > this.#settled.skipped)
      this.#skipped = this.#skipped.slice(0, this.#settled.skipped);
    const from = this.#reached.offset;
    for await (const line of linesIn(this.#file, this.#reached)) {
      const { number, offset, bytes, whole } = line;
      const entry = this.#entryOf(line.text, { number, offset, bytes }, whole);
      if (typeof entry === "object") this.#entries.push(entry);
      else this.#skipped.push({ line: number, why: whole ? entry : torn });
      if (!whole) continue;
      this.#reached = { offset: offset + bytes + 1, lines: number };
      this.#settled = { entries: this.#entries.length, skipped: this.#skipped.length };
    }
    if (this.#reached.offset === from) return;
    const length = Math.min(markLength, this.#reached.offset);
    this.#mark = await readPart(this.#file, this.#reached.offset - length, length);
  }
}

/** Undefined where the file cannot be looked at; reading it says why. */
async function stampOf(file: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    return undefined;
  }
}

/** Indexes of files by their names, of which the ones asked for last are remembered. */
export class LineIndexes<Entry extends LinePlace> {
  readonly #entryOf: EntryOf<Entry>;
  readonly #most: number;
  readonly #known = new Map<string, LineIndex<Entry>>();

  constructor(entryOf: EntryOf<Entry>, most = 32) {
    this.#entryOf = entryOf;
    this.#most = most;
  }

  /** The file's index as it is now. Throws a `Mistake` where it cannot be read. */
  async of(file: string): Promise<Entries<Entry>> {
    const index = this.#known.get(file) ?? new LineIndex(file, this.#entryOf);
    this.#known.delete(file);
    this.#known.set(file, index);
    for (const oldest of this.#known.keys())
      if (this.#known.size > this.#most) this.#known.delete(oldest);
    try {
      return await index.update();
    } catch (error) {
      this.#known.delete(file);
      throw error;
    }
  }
}
