/** Reads text files in zip archives, whose contents may be compressed with Deflate or Zstandard. */
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { once } from "node:events";
import { open, type Entry, type Options, type ZipFile } from "yauzl";
import { UserError } from "../userError.ts";
import { toReadError } from "./fileErrors.ts";
import { megabyte } from "./textFiles.ts";
import { decompressZstandard } from "./zstandard.ts";

const openArchive = promisify<string, Options, ZipFile>(open);

const zstandard = 93;
/** The most megabytes of a file in an archive, however few its compressed bytes are. */
const maxMegabytes = 128;

/** The text of a file in an archive, or why it could not be read. */
type ArchivedText = { readonly name: string } & (
  { readonly text: string } | { readonly flaw: string }
);

/**
 * The files in an archive whose names match, in their order, or the one of that number, from 1.
 * Throws a `UserError` for an archive that was cut off, because its index is at its end.
 */
export async function* readArchivedTexts(
  file: string,
  names: RegExp,
  number?: number,
): AsyncGenerator<ArchivedText> {
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
    const named = entries.filter(it => names.test(it.fileName));
    const chosen = number === undefined ? named : named.slice(number - 1, number);
    for (const entry of chosen) yield await readEntry(zip, entry);
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

async function readEntry(zip: ZipFile, entry: Entry): Promise<ArchivedText> {
  const { fileName: name, uncompressedSize: size } = entry;
  if (size > maxMegabytes * megabyte)
    return { name, flaw: `it has more than the ${maxMegabytes} MB that are read` };
  if (entry.isEncrypted()) return { name, flaw: "it is encrypted" };
  try {
    return { name, text: (await readBytes(zip, entry)).toString("utf8") };
  } catch (error) {
    if (error instanceof UserError) throw error;
    return { name, flaw: (error as Error).message };
  }
}

async function readBytes(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const isZstandard = entry.compressionMethod === zstandard;
  const bytes = await new Promise<Buffer>((resolve, reject) =>
    // yauzl decompresses Deflate by itself, and only if the option is absent
    zip.openReadStream(entry, isZstandard ? { decodeFileData: false } : {}, (error, stream) =>
      error ? reject(error) : resolve(buffer(stream)),
    ),
  );
  return isZstandard ? decompressZstandard(bytes, entry.uncompressedSize) : bytes;
}
