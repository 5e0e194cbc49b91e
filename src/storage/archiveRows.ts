/** Reads JSON files in zip archives, whose contents may be compressed with Zstandard. */
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { once } from "node:events";
import { open, type Entry, type Options, type ZipFile } from "yauzl";
import { UserError } from "../userError.ts";
import { toReadError } from "./fileErrors.ts";
import { megabyte } from "./regularFile.ts";

const openArchive = promisify<string, Options, ZipFile>(open);

const zstandard = 93;
/** The most bytes of a file in an archive. */
const maxBytes = 500 * megabyte;

/**
 * The JSON of the files in an archive whose names match, in their order. Throws a `UserError` for
 * an archive that was cut off, because its index is at its end.
 */
export async function* readArchivedJson(
  file: string,
  names: RegExp,
): AsyncGenerator<{ readonly json: unknown; readonly name: string }> {
  const zip = await openArchive(file, { autoClose: false }).catch((cause: Error) => {
    const error = toReadError(file, cause);
    if (error instanceof UserError) throw error;
    throw createArchiveError(file, cause);
  });
  try {
    const entries: Entry[] = [];
    zip.on("entry", (it: Entry) => entries.push(it));
    await once(zip, "end").catch((cause: Error) => {
      throw createArchiveError(file, cause);
    });
    for (const entry of entries)
      if (names.test(entry.fileName))
        yield { json: await readJson(zip, entry, file), name: entry.fileName };
  } finally {
    zip.close();
  }
}

const createArchiveError = (file: string, cause: Error): UserError =>
  new UserError(
    `${file} is not a whole archive (${cause.message})`,
    "its index is at its end, so that none of a file that was cut off can be read: write it again",
    { cause },
  );

async function readJson(zip: ZipFile, entry: Entry, file: string): Promise<unknown> {
  const isZstandard = entry.compressionMethod === zstandard;
  const place = `${file}: ${entry.fileName}`;
  if (entry.uncompressedSize > maxBytes)
    throw new UserError(`${place} has more than 500 MB`, "use a smaller file");
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) =>
      zip.openReadStream(entry, { decodeFileData: !isZstandard }, (error, stream) =>
        error ? reject(error) : resolve(buffer(stream)),
      ),
    );
    return JSON.parse((isZstandard ? decompress(bytes) : bytes).toString("utf8"));
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${place} cannot be read (${(cause as Error).message})`,
      "write the file again",
      { cause },
    );
  }
}

function decompress(bytes: Buffer): Buffer {
  // absent before Node 22.15
  const { zstdDecompressSync } = zlib as Partial<typeof zlib>;
  if (zstdDecompressSync) return zstdDecompressSync(bytes, { maxOutputLength: maxBytes });
  throw new UserError(
    `Node ${process.versions.node} cannot decompress Zstandard`,
    "use Node 22.15 or later, or give a log in JSON: inspect log convert --to json",
  );
}
