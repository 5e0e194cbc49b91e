/**
 * Appends whole lines to a file. A full disk or a crash costs at most the line that is being
 * written.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { toWriteError, withWriteErrors, type WriteContext } from "./fileErrors.ts";
import { isJson } from "./jsonLines.ts";
import { openWrittenFile, writeAll } from "./writtenFiles.ts";
import { UserError } from "../userError.ts";

/** The one disk operation of a `LineWriter`, which tests replace. */
export interface Disk {
  /** Writes as many bytes as there is room for, and returns their number. */
  write(fd: number, bytes: Uint8Array, position: number): number;
}
const disk: Disk = {
  write: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
};

/** Appends lines to a file that it holds open. */
export class LineWriter {
  readonly file: string;
  /** The part of a line that a crash left at the end of the file, cut off on opening. */
  readonly torn: string | undefined;
  readonly #fd: number;
  readonly #disk: Disk;
  #size: number;
  #lineCount = 0;
  #isClosed = false;

  /**
   * Opens the file, creating it and its folder if necessary, and cuts off a torn last line. `mode`
   * is that of a new file.
   */
  constructor(file: string, on: Disk = disk, mode?: number) {
    this.file = file;
    this.#disk = on;
    this.#fd = withWriteErrors(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      // not opened for appending: on Windows such a file cannot be truncated
      return openWrittenFile(file, constants.O_RDWR, mode);
    });
    const size = fstatSync(this.#fd).size;
    const tail = readLastLine(this.#fd, size);
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
   * Appends one line. On a full disk the file is cut back to its whole lines and a `UserError` is
   * thrown; also for a file that another process has changed, which is then left as it is.
   */
  append(line: string): void {
    this.#write(Buffer.from(`${line}\n`));
    this.#lineCount++;
  }

  /** Closes the file. Has no effect the second time. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  #describeKept(): string {
    if (this.#lineCount === 0) return "the previous content is kept";
    return this.#lineCount === 1
      ? "the line written before is kept"
      : `the ${this.#lineCount} lines written before are kept`;
  }

  #write(bytes: Uint8Array): void {
    const { size } = fstatSync(this.#fd);
    if (size !== this.#size)
      throw new UserError(
        `another process has written to ${this.file}: it has ${size} bytes instead of ${this.#size}`,
        "let only one process write to it",
      );
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
      throw toWriteError(this.file, cause, { kept: this.#describeKept() });
    }
    this.#size += bytes.length;
  }
}

/** The bytes after the last line break. */
function readLastLine(fd: number, size: number): Buffer {
  let tail = Buffer.alloc(0);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - 65_536);
    const block = Buffer.alloc(end - start);
    readSync(fd, block, 0, block.length, start);
    const lineBreak = block.lastIndexOf(10);
    tail = Buffer.concat([block.subarray(lineBreak + 1), tail]);
    if (lineBreak >= 0) break;
    end = start;
  }
  return tail;
}

/**
 * Appends one line to a file that others read meanwhile. A torn line that a crash left at the end
 * stays, as a line of its own.
 */
export function appendLine(
  file: string,
  line: string,
  context: WriteContext = { kept: "the lines written before are kept" },
): void {
  withWriteErrors(
    file,
    () => {
      const handle = openWrittenFile(file, constants.O_RDWR | constants.O_APPEND);
      try {
        writeAll(handle, Buffer.from(`${endsMidLine(handle) ? "\n" : ""}${line}\n`));
      } finally {
        closeSync(handle);
      }
    },
    context,
  );
}

function endsMidLine(handle: number): boolean {
  const last = Buffer.alloc(1);
  const { size } = fstatSync(handle);
  return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== 10;
}
