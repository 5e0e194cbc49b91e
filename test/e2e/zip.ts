/** Lists and extracts the files of a zip archive. */
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { open, type Entry, type Options, type ZipFile } from "yauzl";

const openArchive = promisify<string, Options, ZipFile>(open);

export async function listEntries(archive: string): Promise<readonly string[]> {
  const zip = await openArchive(archive, {});
  const names: string[] = [];
  zip.on("entry", ({ fileName }: Entry) => names.push(fileName));
  await once(zip, "end");
  return names;
}

export async function extract(archive: string, folder: string): Promise<void> {
  const zip = await openArchive(archive, { autoClose: false });
  const entries: Entry[] = [];
  zip.on("entry", (entry: Entry) => entries.push(entry));
  await once(zip, "end");
  const openEntry = promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip));
  for (const entry of entries) {
    const file = join(folder, entry.fileName);
    mkdirSync(dirname(file), { recursive: true });
    if (!entry.fileName.endsWith("/"))
      await pipeline(await openEntry(entry), createWriteStream(file));
  }
  zip.close();
}
