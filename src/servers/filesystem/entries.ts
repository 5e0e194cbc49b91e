/** Kind, order and size of entries. */
import type { Entry } from "./state.ts";

export const getKind = (entry: Entry) => (entry.type === "archive" ? entry.format : entry.type);

/** Entries of a directory in code point order, which is the same on every machine. */
export const sortEntries = (entries: Readonly<Record<string, Entry>>): [string, Entry][] =>
  Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));

export const countBytes = (text: string) => Buffer.byteLength(text, "utf8");

/** The size of an entry with everything in it. */
export function measureSize(entry: Entry): { bytes: number; entries: number } {
  const { bytes, entries } = measureContent(entry);
  return { bytes, entries };
}

/** The size of an entry, and how many of its bytes are compressed already. */
function measureContent(entry: Entry): { bytes: number; compressed: number; entries: number } {
  if (entry.type === "file") return { bytes: countBytes(entry.text), compressed: 0, entries: 1 };
  if (entry.type === "link") return { bytes: 0, compressed: 0, entries: 1 };
  const content = { bytes: 0, compressed: 0, entries: 1 };
  for (const it of Object.values(entry.entries)) {
    const { bytes, compressed, entries } = measureContent(it);
    content.bytes += bytes;
    content.compressed += compressed;
    content.entries += entries;
  }
  if (entry.type === "directory") return content;
  const { compressed } = content;
  // a tar has blocks of 512 bytes
  if (entry.format === "tar")
    return {
      bytes: 512 * (content.entries + Math.ceil(content.bytes / 512)),
      compressed,
      entries: 1,
    };
  // a zip compresses text to about half, once, and adds a directory
  const bytes =
    22 + 60 * (content.entries - 1) + compressed + Math.ceil((content.bytes - compressed) / 2);
  return { bytes, compressed: bytes, entries: 1 };
}

/** The number of files; an archive counts as one. */
export const countFiles = (entries: Readonly<Record<string, Entry>>): number =>
  Object.values(entries).reduce(
    (n, it) => n + (it.type === "directory" ? countFiles(it.entries) : 1),
    0,
  );

/** The number of levels of an entry, and the length of the longest path below it. */
export function measureExtent(entry: Entry): { levels: number; length: number } {
  const extent = { levels: 1, length: 0 };
  if (!("entries" in entry)) return extent;
  for (const [name, it] of Object.entries(entry.entries)) {
    const { levels, length } = measureExtent(it);
    extent.levels = Math.max(extent.levels, levels + 1);
    extent.length = Math.max(extent.length, length + name.length + 1);
  }
  return extent;
}
