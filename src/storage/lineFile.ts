/**
 * The lines of a file with their places, read in pieces so that no piece holds the host up, and
 * lines read by their places. Knows nothing of what the lines say.
 */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { UserError } from "../userError.ts";
import { linesOf, type Line } from "./jsonLines.ts";

export type LinePlace = Pick<Line, "number" | "offset" | "bytes">;

/** Where a reader stands: after so many bytes, and so many lines. */
export interface Reached {
  readonly offset: number;
  readonly lines: number;
}

export const theStart: Reached = { offset: 0, lines: 0 };

/** Bytes that are read at a time: a few milliseconds of work. */
const piece = 256 * 1024;

/** The lines of a file from a place on, in order, blank ones left out. */
export async function* linesIn(file: string, { offset, lines } = theStart): AsyncGenerator<Line> {
  try {
    const chunks = createReadStream(file, {
      highWaterMark: piece,
      start: offset,
    }) as AsyncIterable<Uint8Array>;
    for await (const line of linesOf(chunks, file))
      yield { ...line, offset: line.offset + offset, number: line.number + lines };
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw unreadable(file, cause as Error);
  }
}

/** The JSON of one line. A file that has changed since it was indexed is a mistake that says so. */
export async function readJson(file: string, { offset, bytes }: LinePlace): Promise<unknown> {
  try {
    return JSON.parse((await readPart(file, offset, bytes)).toString("utf8")) as unknown;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${file} has changed since it was listed`,
      "refresh the view and open it again",
      { cause },
    );
  }
}

/** Bytes of a file, as many of them as there are. */
export async function readPart(file: string, offset: number, bytes: number): Promise<Buffer> {
  const handle = await open(file).catch((cause: Error) => {
    throw unreadable(file, cause);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes), 0, bytes, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * The texts of lines by their places, in the order given. Lines that stand close together are read
 * in one go.
 */
export async function* textsAt<Place extends LinePlace>(
  file: string,
  places: readonly Place[],
  signal?: AbortSignal,
): AsyncGenerator<{ readonly place: Place; readonly text: string }> {
  for (let first = 0; first < places.length;) {
    const start = places[first]!.offset;
    let next = first + 1;
    while (
      next < places.length &&
      places[next]!.offset >= start &&
      places[next]!.offset + places[next]!.bytes - start <= piece
    )
      next++;
    const last = places[next - 1]!;
    const block = await readPart(file, start, last.offset + last.bytes - start);
    for (const place of places.slice(first, next)) {
      signal?.throwIfAborted();
      yield {
        place,
        text: block.toString("utf8", place.offset - start, place.offset - start + place.bytes),
      };
    }
    first = next;
  }
}

const unreadable = (file: string, cause: Error) =>
  new UserError(`cannot read ${file} (${cause.message})`, "check that it is still there", {
    cause,
  });
