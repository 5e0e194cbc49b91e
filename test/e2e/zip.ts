/**
 * Reads a zip archive: its entries, and their contents into a folder. Enough for a VSIX; knows
 * neither encryption nor zip64.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

interface Entry {
  readonly name: string;
  readonly bytes: () => Buffer;
}

export const entriesOf = (archive: string): readonly string[] => read(archive).map(it => it.name);

export function unpack(archive: string, folder: string): void {
  for (const { name, bytes } of read(archive)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(file, bytes());
  }
}

/** Walks the central directory, found by the record at the end of the file. */
function read(archive: string): readonly Entry[] {
  const zip = readFileSync(archive);
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0) throw new Error(`${archive} is not a zip archive`);
  const entries: Entry[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    const method = zip.readUInt16LE(at + 10);
    const size = zip.readUInt32LE(at + 20);
    const nameLength = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const packed = zip.subarray(start, start + size);
    entries.push({ name, bytes: () => (method === 0 ? packed : inflateRawSync(packed)) });
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}
