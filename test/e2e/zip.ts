/** Lists and extracts the files of a zip archive. */
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { open, type Entry, type ZipFile } from "yauzl";

export async function listEntries(archive: string): Promise<readonly string[]> {
  const names: string[] = [];
  await visitEntries(archive, async ({ fileName }) => void names.push(fileName));
  return names;
}

export const extract = (archive: string, folder: string): Promise<void> =>
  visitEntries(archive, async (entry, zip) => {
    const file = join(folder, entry.fileName);
    mkdirSync(dirname(file), { recursive: true });
    if (entry.fileName.endsWith("/")) return;
    const content = await promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip))(
      entry,
    );
    await pipeline(content, createWriteStream(file));
  });

/** Visits one entry after another. */
function visitEntries(
  archive: string,
  visit: (entry: Entry, zip: ZipFile) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    open(archive, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      zip.on("entry", (entry: Entry) => visit(entry, zip).then(() => zip.readEntry(), reject));
      zip.on("end", resolve);
      zip.on("error", reject);
      zip.readEntry();
    });
  });
}
