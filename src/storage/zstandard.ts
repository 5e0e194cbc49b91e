/** Decompresses Zstandard, which may be written in several frames, some of them without contents. */
import * as zlib from "node:zlib";
import { UserError } from "../userError.ts";

/**
 * The contents of all frames, which must have `length` bytes together. Throws a `UserError` where
 * Node cannot decompress Zstandard.
 */
export function decompressZstandard(bytes: Uint8Array, length: number): Buffer {
  // absent before Node 22.15
  const { zstdDecompressSync } = zlib as Partial<typeof zlib>;
  if (!zstdDecompressSync)
    throw new UserError(
      `Node ${process.versions.node} cannot decompress Zstandard`,
      "use Node 22.15 or later, or write the file with another compression",
    );
  const frames: Buffer[] = [];
  let written = 0;
  try {
    // Node stops after the first frame and says how many bytes that had
    for (let read = 0; read < bytes.length;) {
      const { buffer, engine } = zstdDecompressSync(bytes.subarray(read), {
        info: true,
        maxOutputLength: Math.max(length - written, 1),
      }) as unknown as ZstandardFrame;
      read += engine.bytesWritten;
      written += buffer.length;
      frames.push(buffer);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
    written = Infinity;
  }
  if (written === length) return Buffer.concat(frames);
  throw new Error(`its contents have ${written > length ? "more" : "fewer"} than ${length} bytes`);
}

/** What Node returns with the option `info`, whose type it does not declare. */
interface ZstandardFrame {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
