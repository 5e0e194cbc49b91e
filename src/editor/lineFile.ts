/**
 * The lines of a file with their places, read in pieces so that no piece holds the host up, and one line read by its place.
 * Knows nothing of what the lines say.
 */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Mistake } from "../mistake.ts";
import { linesOf, type Line } from "../trajectory/lines.ts";

export type LinePlace = Pick<Line, "number" | "offset" | "bytes">;

/** The lines of a file, in order, blank ones left out. */
export async function* linesIn(file: string): AsyncGenerator<Line> {
  try {
    yield* linesOf(createReadStream(file, { highWaterMark: 128 * 1024 }) as AsyncIterable<Uint8Array>, file);
  } catch (cause) {
    if (cause instanceof Mistake) throw cause;
    throw unreadable(file, cause as Error);
  }
}

/** The JSON of one line. A file that has changed since it was indexed is a mistake that says so. */
export async function readJson(file: string, { offset, bytes }: LinePlace): Promise<unknown> {
  const handle = await open(file).catch((cause: Error) => {
    throw unreadable(file, cause);
  });
  try {
    const { buffer } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
    return JSON.parse(buffer.toString("utf8")) as unknown;
  } catch (cause) {
    throw new Mistake(`${file} has changed since it was listed`, "refresh the view and open it again", { cause });
  } finally {
    await handle.close();
  }
}

const unreadable = (file: string, cause: Error) => new Mistake(`cannot read ${file} (${cause.message})`, "check that it is still there", { cause });
