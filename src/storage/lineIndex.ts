/**
 * An index of a file of JSON Lines: where each line begins, and the few fields that a list shows of
 * it. A file that has grown is read from where the last update ended; a file that was rewritten is
 * read again from its start.
 */
import { stat } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { UserError } from "../userError.ts";
import {
  fileStart,
  isCutOff,
  readLines,
  type LinePosition,
  type SkippedLine,
  chunkBytes,
  type Line,
} from "./jsonLines.ts";
import { checkRegularFile, megabyte, openRegularFile } from "./textFiles.ts";
import { toReadError } from "./fileErrors.ts";

/**
 * A file's entries so far. The lists only grow; a file that was rewritten, or whose last line was
 * incomplete, gets new ones.
 */
export interface IndexedLines<Entry> {
  readonly file: string;
  readonly entries: readonly Entry[];
  readonly skipped: readonly SkippedLine[];
}

/** The entry of a line's text, or the reason why the line has none. */
type ParseEntry<Entry> = (text: string, range: LineRange) => Entry | string;

/** The largest file that is indexed: some 200,000 tasks. */
const maxIndexedBytes = 1024 * megabyte;

/** A file with more lines without an entry is something else, and listing them fills the memory. */
const maxSkippedLines = 10_000;

const tornReason = "the line is torn: its end was never written";

/** Bytes before the last position by which a file that has only grown is recognized. */
const fingerprintBytes = 256;

/** The index of one file, brought up to date on request. */
export class LineIndex<Entry extends LineRange> {
  readonly #file: string;
  readonly #parseEntry: ParseEntry<Entry>;
  #entries: Entry[] = [];
  #skipped: SkippedLine[] = [];
  #position: LinePosition = fileStart;
  /**
   * Number of entries and skipped lines before `#position`. A last line without a line break comes
   * after it and is read again.
   */
  #settled = { entries: 0, skipped: 0 };
  #fingerprint: Buffer = Buffer.alloc(0);
  #version = "";
  #pending: Promise<IndexedLines<Entry>> | undefined;

  constructor(file: string, parseEntry: ParseEntry<Entry>) {
    this.#file = file;
    this.#parseEntry = parseEntry;
  }

  /** Reads what was written since the last update. Concurrent calls share one update. */
  update(): Promise<IndexedLines<Entry>> {
    this.#pending ??= this.#update().finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #update(): Promise<IndexedLines<Entry>> {
    await checkRegularFile(this.#file, maxIndexedBytes);
    const version = await readVersion(this.#file);
    if (version === undefined || version !== this.#version) {
      if (!(await this.#hasOnlyGrown())) this.#reset();
      await this.#readNewLines();
      this.#version = version ?? "";
    }
    return { file: this.#file, entries: this.#entries, skipped: this.#skipped };
  }

  /** A line of another shape than the entry expects is one that cannot be read. */
  #parseSafely(text: string, range: LineRange): Entry | string {
    try {
      return this.#parseEntry(text, range);
    } catch (error) {
      return `its fields are not as expected (${(error as Error).message})`;
    }
  }

  async #hasOnlyGrown(): Promise<boolean> {
    const { offset } = this.#position;
    if (offset === 0) return false;
    const { length } = this.#fingerprint;
    return (await readBytes(this.#file, offset - length, length)).equals(this.#fingerprint);
  }

  #reset(): void {
    this.#entries = [];
    this.#skipped = [];
    this.#position = fileStart;
    this.#settled = { entries: 0, skipped: 0 };
  }

  async #readNewLines(): Promise<void> {
    if (this.#entries.length > this.#settled.entries)
      this.#entries = this.#entries.slice(0, this.#settled.entries);
    if (this.#skipped.length > this.#settled.skipped)
      this.#skipped = this.#skipped.slice(0, this.#settled.skipped);
    const start = this.#position.offset;
    for await (const line of readLines(this.#file, this.#position)) {
      const { number, offset, bytes, whole, text } = line;
      const entry = this.#parseSafely(text, { number, offset, bytes });
      if (typeof entry === "object") this.#entries.push(entry);
      else {
        const reason = !whole && isCutOff(text) ? tornReason : entry;
        this.#skipped.push({ line: number, reason });
      }
      if (this.#skipped.length > maxSkippedLines)
        throw new UserError(
          `${this.#file} has more than ${maxSkippedLines} lines that cannot be read`,
          "check that it is the right kind of file",
        );
      if (!whole) continue;
      this.#position = { offset: offset + bytes + 1, lines: number };
      this.#settled = { entries: this.#entries.length, skipped: this.#skipped.length };
    }
    if (this.#position.offset === start) return;
    const length = Math.min(fingerprintBytes, this.#position.offset);
    this.#fingerprint = await readBytes(this.#file, this.#position.offset - length, length);
  }
}

/** Undefined where the file cannot be inspected; reading it reports why. */
async function readVersion(file: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    return undefined;
  }
}

/** The indexes of several files, of which the most recently used ones are kept. */
export class LineIndexes<Entry extends LineRange> {
  readonly #parseEntry: ParseEntry<Entry>;
  readonly #indexes: LRUCache<string, LineIndex<Entry>>;

  constructor(parseEntry: ParseEntry<Entry>, max = 32) {
    this.#parseEntry = parseEntry;
    this.#indexes = new LRUCache({ max });
  }

  /** The file's index as it is now. Throws a `UserError` if it cannot be read. */
  async read(file: string): Promise<IndexedLines<Entry>> {
    const index = this.#indexes.get(file) ?? new LineIndex(file, this.#parseEntry);
    this.#indexes.set(file, index);
    try {
      return await index.update();
    } catch (error) {
      this.#indexes.delete(file);
      throw error;
    }
  }
}

// Reads single lines of a large file by their position in it.

export type LineRange = Pick<Line, "number" | "offset" | "bytes">;

/** The JSON of one line. Throws a `UserError` where the file has changed since it was indexed. */
export async function readJsonAt(file: string, { offset, bytes }: LineRange): Promise<unknown> {
  const block = await readBytes(file, offset, bytes);
  try {
    return JSON.parse(block.toString("utf8")) as unknown;
  } catch (cause) {
    throw new UserError(
      `${file} has changed since it was listed`,
      "refresh the view and open it again",
      { cause },
    );
  }
}

/** Bytes of a regular file, fewer where it ends before. */
async function readBytes(file: string, offset: number, bytes: number): Promise<Buffer> {
  const handle = await openRegularFile(file).catch((cause: unknown) => {
    throw toReadError(file, cause);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes), 0, bytes, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * The texts of lines, in the order of `ranges`. Lines that are close together are read in one
 * operation.
 */
export async function* readTextsAt<Range extends LineRange>(
  file: string,
  ranges: readonly Range[],
  signal?: AbortSignal,
): AsyncGenerator<{ readonly range: Range; readonly text: string }> {
  for (let first = 0; first < ranges.length;) {
    const start = ranges[first]!.offset;
    let next = first + 1;
    while (
      next < ranges.length &&
      ranges[next]!.offset >= start &&
      ranges[next]!.offset + ranges[next]!.bytes - start <= chunkBytes
    )
      next++;
    const last = ranges[next - 1]!;
    const block = await readBytes(file, start, last.offset + last.bytes - start);
    for (const range of ranges.slice(first, next)) {
      signal?.throwIfAborted();
      const from = range.offset - start;
      yield { range, text: block.toString("utf8", from, from + range.bytes) };
    }
    first = next;
  }
}
