/**
 * Text as whole lines: read from bytes as they come, appended so that a full disk or a crash costs
 * at most the line under way. Does not know what the lines say.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../userError.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Of its first byte. */
  readonly offset: number;
  /** Of its bytes, without the line break. */
  readonly bytes: number;
  /** Whether a line break ends it; only a last line may lack one. */
  readonly whole: boolean;
}

/** Longest line that is read: room for any task, and an end to a file that is none. */
const longest = 64 * 2 ** 20;

/**
 * Splits bytes into lines. Blank ones are left out but counted. Throws a `Mistake` naming `from` on
 * a line of over 64 MiB.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  from: string,
): AsyncGenerator<Line> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let offset = 0;
  let number = 1;
  const take = (last: Uint8Array, whole: boolean): Line => {
    const bytes = Buffer.concat([...held, last]);
    const line = { number, text: textOf(bytes), offset, bytes: bytes.length, whole };
    held = [];
    heldBytes = 0;
    offset += bytes.length + 1;
    number++;
    return line;
  };
  for await (const chunk of chunks) {
    let from0 = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from0)) {
      const line = take(chunk.subarray(from0, at), true);
      if (line.text.trim() !== "") yield line;
      from0 = at + 1;
    }
    if (from0 === chunk.length) continue;
    // a chunk may be reused by whoever gave it
    held.push(Buffer.from(chunk.subarray(from0)));
    heldBytes += chunk.length - from0;
    if (heldBytes > longest)
      throw new UserError(
        `line ${number} of ${from} is longer than 64 MiB`,
        "give a file of JSON Lines, one object a line",
      );
  }
  if (heldBytes === 0) return;
  const line = take(new Uint8Array(0), false);
  if (line.text.trim() !== "") yield line;
}

/** UTF-8, without a byte order mark or the carriage return of a Windows line. */
const textOf = (bytes: Buffer) => {
  const text = bytes.toString("utf8").replace(/\r$/, "");
  return text.codePointAt(0) === 0xfeff ? text.slice(1) : text;
};

/** What the appender needs of a disk. */
export interface Disk {
  /** Writes as much as it takes: the number of bytes that is. */
  write(fd: number, bytes: Uint8Array, position: number): number;
}
const disk: Disk = {
  write: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
};

/** Appends whole lines to a file, which it holds open. */
export class LineWriter {
  readonly file: string;
  /** What was cut off on opening: the piece of a line that a crash left behind. */
  readonly torn: string | undefined;
  readonly #fd: number;
  readonly #disk: Disk;
  #size: number;
  #lines = 0;

  /** Opens the file, makes it and its folder where there is none, and cuts off a torn last line. */
  constructor(file: string, on: Disk = disk) {
    this.file = file;
    this.#disk = on;
    this.#fd = orMistake(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      // not opened for appending: on Windows such a file could not be cut
      return openSync(file, constants.O_RDWR | constants.O_CREAT);
    });
    const size = fstatSync(this.#fd).size;
    const tail = lastLine(this.#fd, size);
    this.#size = size - tail.length;
    if (tail.length === 0) return;
    if (isJson(tail.toString("utf8"))) {
      this.#size = size;
      this.#write(Buffer.from("\n"));
      return;
    }
    ftruncateSync(this.#fd, this.#size);
    this.torn = tail.toString("utf8");
  }

  /**
   * Appends one line. On a full disk the file is cut back to its whole lines and a `Mistake` says
   * so.
   */
  append(line: string): void {
    this.#write(Buffer.from(`${line}\n`));
    this.#lines++;
  }

  close(): void {
    closeSync(this.#fd);
  }

  get #kept(): string {
    if (this.#lines === 0) return "what stood there before is kept";
    return this.#lines === 1
      ? "the line written before is kept"
      : `the ${this.#lines} lines written before are kept`;
  }

  #write(bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < bytes.length) {
        const written = this.#disk.write(this.#fd, bytes.subarray(done), this.#size + done);
        if (written === 0)
          throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
        done += written;
      }
    } catch (cause) {
      if (done > 0) ftruncateSync(this.#fd, this.#size);
      throw writeMistake(this.file, cause as NodeJS.ErrnoException, this.#kept);
    }
    this.#size += bytes.length;
  }
}

/** A failed write in words: the disk is full, or whatever else it was. */
export function writeMistake(file: string, cause: NodeJS.ErrnoException, kept: string): UserError {
  const full = cause.code === "ENOSPC" || cause.code === "EDQUOT" || cause.code === "EFBIG";
  if (full)
    return new UserError(
      `the disk is full: ${file} could not be written (${kept})`,
      "free some space, then run it again",
      { cause },
    );
  return new UserError(
    `${file} could not be written (${cause.message}; ${kept})`,
    "check the folder and its permissions",
    { cause },
  );
}

/** Opens or reads a file; what stands in the way is the person's to clear. */
export function orMistake<T>(file: string, open: () => T): T {
  try {
    return open();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new UserError(`there is no file ${file}`, "check the path", { cause });
    throw new UserError(
      `${file} could not be opened (${message})`,
      "check the path and its permissions",
      { cause },
    );
  }
}

/** The bytes after the last line break. */
function lastLine(fd: number, size: number): Buffer {
  let tail = Buffer.alloc(0);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - 65_536);
    const block = Buffer.alloc(end - start);
    readSync(fd, block, 0, block.length, start);
    const at = block.lastIndexOf(10);
    tail = Buffer.concat([block.subarray(at + 1), tail]);
    if (at >= 0) break;
    end = start;
  }
  return tail;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
