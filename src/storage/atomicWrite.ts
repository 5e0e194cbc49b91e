/**
 * Replaces whole files: a reader sees the old content or the new one, never a part. The npm library
 * `write-file-atomic` chooses the temporary name, flushes, keeps the file's mode and renames. Two
 * things stay ours: the content is written here, because the library ignores short writes and so
 * publishes a truncated file when the disk fills up; and on Windows the rename is tried again while
 * another program has the old file open. A link is refused, which the library would follow.
 */
import { renameSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import writeFileAtomic from "write-file-atomic";
import { toWriteError, withWriteErrors, type WriteContext } from "./fileErrors.ts";
import { checkWrittenFile } from "./writtenFiles.ts";

/** Text in UTF-8, bytes, or bytes in several parts. */
type Content = string | Uint8Array | readonly Uint8Array[];

/** Parts that are made while the file is written. They can be iterated again for another try. */
type LazyContent = AsyncIterable<Uint8Array>;

const keptContent: WriteContext = { kept: "the previous content is kept" };

/** Replaces a file's content. Throws a `UserError` where the disk is full or closed to us. */
export function writeFileAtomicallySync(
  file: string,
  content: Content,
  context: WriteContext = keptContent,
): void {
  const write = (temporary: string) => writeFileSync(temporary, joinParts(content));
  withWriteErrors(
    file,
    () => {
      checkWrittenFile(file);
      retrySync(() => writeFileAtomic.sync(file, "", { tmpfileCreated: write }));
    },
    context,
  );
}

/** Replaces a file's content. Rejects with a `UserError` where the disk is full or closed to us. */
export async function writeFileAtomically(
  file: string,
  content: Content | LazyContent,
  context: WriteContext = keptContent,
): Promise<void> {
  // the library awaits this callback, although its types do not say so
  const write = (temporary: string) => writeFile(temporary, asWritable(content)) as unknown as void;
  try {
    checkWrittenFile(file);
    await retry(() => writeFileAtomic(file, "", { tmpfileCreated: write }));
  } catch (cause) {
    throw toWriteError(file, cause, context);
  }
}

/** Renames a file or folder over what is there. */
export const renameOver = (from: string, to: string): void =>
  withWriteErrors(to, () => retrySync(() => renameSync(from, to)));

const asWritable = (
  content: Content | LazyContent,
): string | Uint8Array | Iterable<Uint8Array> | LazyContent => content;

function joinParts(content: Content): string | Uint8Array {
  return typeof content === "string" || content instanceof Uint8Array
    ? content
    : Buffer.concat(content);
}

const attempts = 20;
const milliseconds = 50;

/** Windows does not replace a file that another program has open. */
const isHeldOpen = (error: unknown): boolean =>
  process.platform === "win32" &&
  ["EPERM", "EACCES", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "");

function retrySync(replace: () => void): void {
  for (let attempt = 1; ; attempt++)
    try {
      return replace();
    } catch (error) {
      if (attempt === attempts || !isHeldOpen(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    }
}

async function retry(replace: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await replace();
    } catch (error) {
      if (attempt === attempts || !isHeldOpen(error)) throw error;
      await sleep(milliseconds);
    }
}
