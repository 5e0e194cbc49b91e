/** Reads single lines of a large file by their position in it. */
import { UserError } from "../userError.ts";
import { toReadError } from "./fileErrors.ts";
import { chunkBytes, type Line } from "./jsonLines.ts";
import { openRegularFile } from "./regularFile.ts";

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
export async function readBytes(file: string, offset: number, bytes: number): Promise<Buffer> {
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
