/** `import`: archives and Parquet files, in the ways in which they can be compressed. */
import { join } from "node:path";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { expect, test } from "vitest";
import { emptyFolder } from "../program.ts";
import { importFile } from "./importFile.ts";
import { deflated, stored, writeZip, type ZippedFile } from "./writeZip.ts";

const cwd = emptyFolder();

const sampleOf = (id: string, score: number) =>
  JSON.stringify({
    id,
    epoch: 1,
    messages: [{ role: "user", content: "Count to a thousand. ".repeat(50) }],
    scores: { match: { value: score } },
  });

/** Compressed with Zstandard, as a writer that flushes while it writes does: in several frames. */
function zstandard(name: string, text: string, frames: number): ZippedFile {
  const contents = Buffer.from(text);
  const size = Math.ceil(contents.length / frames);
  const parts = Array.from({ length: frames }, (_, i) =>
    zstdCompressSync(contents.subarray(i * size, (i + 1) * size)),
  );
  return { name, method: 93, bytes: Buffer.concat(parts), text };
}

/** A frame that readers pass over. */
const skippable = Buffer.concat([
  Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]),
  Buffer.from("note"),
]);

test("Inspect: archives in Deflate, stored, and in Zstandard with any number of frames", async () => {
  const [first, second, third, fourth] = [1, 2, 3, 4].map(it => sampleOf(`s${it}`, it));
  const framed = zstandard("samples/s4.json", fourth!, 1);
  writeZip(join(cwd, "log.eval"), [
    deflated("header.json", '{"version": 2}'),
    deflated("samples/s1.json", first!),
    stored("samples/s2.json", second!),
    zstandard("samples/s3.json", third!, 5),
    {
      ...framed,
      bytes: Buffer.concat([skippable, zstdCompressSync(""), framed.bytes, skippable]),
    },
  ]);
  const { code, report } = await importFile(cwd, "inspect", "log.eval");
  expect([code, report.skipped]).toEqual([0, 0]);
  expect(report.attempts.map(it => [it.id, it.reported])).toEqual([
    ["s1/epoch-1", 1],
    ["s2/epoch-1", 2],
    ["s3/epoch-1", 3],
    ["s4/epoch-1", 4],
  ]);
});

test("Inspect: a sample that cannot be decompressed loses that sample only", async () => {
  const text = sampleOf("s1", 1);
  const whole = zstandard("samples/short.json", text, 3);
  writeZip(join(cwd, "damaged.eval"), [
    { ...deflated("samples/deflate.json", text), bytes: Buffer.from("no Deflate") },
    { ...whole, bytes: whole.bytes.subarray(0, -4) },
    {
      ...whole,
      name: "samples/missing.json",
      bytes: zstandard("", text, 1).bytes,
      text: `${text}  `,
    },
    { ...whole, name: "samples/more.json", bytes: Buffer.concat([whole.bytes, whole.bytes]) },
    { ...stored("samples/lzma.json", text), method: 14 },
    stored("samples/text.json", "{ nothing"),
    deflated("samples/good.json", text),
  ]);
  const { code, report, notes } = await importFile(cwd, "inspect", "damaged.eval");
  expect([code, report.imported, report.skipped]).toEqual([1, 1, 6]);
  const places = notes.map(
    it => /samples\/(\w+)\.json (?:cannot be read|is not JSON) \(/.exec(it)?.[1],
  );
  expect(places).toEqual(["deflate", "short", "missing", "more", "lzma", "text"]);
  expect(notes[2]).toContain(`fewer than ${text.length + 2} bytes`);
  expect(notes[3]).toContain(`more than ${text.length} bytes`);
  expect(notes[4]).toContain("method: 14");
});

test("Inspect: a sample that is far larger than its compressed bytes is not read", async () => {
  const text = sampleOf("s1", 1);
  const large = "a".repeat(129 * 2 ** 20);
  writeZip(join(cwd, "bomb.eval"), [
    deflated("samples/large.json", large),
    // the archive says that it is short
    { ...deflated("samples/more.json", large.slice(2 ** 27)), text },
    deflated("samples/good.json", text),
  ]);
  const { code, report, notes } = await importFile(cwd, "inspect", "bomb.eval");
  expect([code, report.imported, report.skipped]).toEqual([1, 1, 2]);
  expect(notes[0]).toContain(
    "samples/large.json cannot be read (it has more than the 128 MB that are read) and was skipped",
  );
  expect(notes[1]).toMatch(/samples\/more\.json cannot be read \(too many bytes in the stream/);
});

test("Parquet of 10,000 columns", async () => {
  const writer = new ParquetWriter({
    writer: fileWriter(join(cwd, "wide.parquet")),
    schema: [
      { name: "root", num_children: 10_000 },
      ...Array.from({ length: 10_000 }, (_, i) => ({
        name: ["input", "output"][i] ?? `column ${i}`,
        type: "BYTE_ARRAY" as const,
        converted_type: "UTF8" as const,
        repetition_type: "REQUIRED" as const,
      })),
    ],
  });
  const columns = Array.from({ length: 10_000 }, (_, i) => ({
    name: ["input", "output"][i] ?? `column ${i}`,
    data: ["a", "b"],
  }));
  void writer.write({ columnData: columns });
  void writer.finish();
  const { code, report } = await importFile(cwd, "verl", "wide.parquet");
  expect([code, report.imported]).toEqual([0, 2]);
});

/** A block of LZ4: the bytes that are new, and where the others have occurred before. */
function compressLz4(bytes: Uint8Array): Buffer {
  const out: number[] = [];
  const places = new Map<string, number>();
  let start = 0;
  const write = (end: number, match?: { distance: number; length: number }) => {
    const lengths = [end - start, match ? match.length - 4 : 0];
    out.push((Math.min(lengths[0]!, 15) << 4) | Math.min(lengths[1]!, 15));
    const writeRest = (length: number) => {
      if (length < 15) return;
      for (length -= 15; length >= 255; length -= 255) out.push(255);
      out.push(length);
    };
    writeRest(lengths[0]!);
    out.push(...bytes.subarray(start, end));
    if (!match) return;
    out.push(match.distance & 255, match.distance >> 8);
    writeRest(lengths[1]!);
  };
  for (let at = 0; at < bytes.length - 12;) {
    const key = bytes.subarray(at, at + 4).join(" ");
    const place = places.get(key);
    places.set(key, at);
    if (place === undefined || at - place > 65_535) {
      at++;
      continue;
    }
    let length = 4;
    while (at + length < bytes.length - 5 && bytes[place + length] === bytes[at + length]) length++;
    write(at, { distance: at - place, length });
    start = at += length;
  }
  write(bytes.length);
  return Buffer.from(out);
}

const size = (length: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
};

/** Two frames as Hadoop writes them, the first of which has two blocks. */
function compressHadoop(bytes: Uint8Array): Buffer {
  const cuts = [0, bytes.length >> 2, bytes.length >> 1, bytes.length];
  const parts = [0, 1, 2].map(i => bytes.subarray(cuts[i], cuts[i + 1]));
  const [a, b, c] = parts.map(it => {
    const block = compressLz4(it);
    return Buffer.concat([size(block.length), block]);
  });
  return Buffer.concat([size(cuts[2]!), a!, b!, size(bytes.length - cuts[2]!), c!]);
}

const compressors = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes),
  LZ4_RAW: compressLz4,
  LZ4: compressHadoop,
  LZO: (bytes: Uint8Array) => bytes,
};

function writeParquet(
  file: string,
  codec: keyof typeof compressors,
  compress = compressors[codec],
): string {
  const writer = new ParquetWriter({
    writer: fileWriter(join(cwd, file)),
    schema: [
      { name: "root", num_children: 3 },
      { name: "input", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "output", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "score", type: "DOUBLE", repetition_type: "OPTIONAL" },
    ],
    codec,
    compressors: { [codec]: compress },
  });
  const input = "user\nHi\nassistant\n".repeat(100);
  void writer.write({
    columnData: [
      { name: "input", data: [input, input, input, input] },
      { name: "output", data: ["one", "two", "three", "four"] },
      { name: "score", data: [0.5, 1, null, Number.NaN] },
    ],
  });
  void writer.finish();
  return file;
}

test.each([
  ["GZIP", "GZIP", undefined],
  ["BROTLI", "BROTLI", undefined],
  ["ZSTD", "ZSTD", undefined],
  ["LZ4_RAW", "LZ4_RAW", undefined],
  ["LZ4 as Hadoop writes it", "LZ4", undefined],
  ["LZ4 without frames", "LZ4", compressLz4],
] as const)("Parquet that is compressed with %s", async (_, codec, compress) => {
  const file = writeParquet(`${codec}.parquet`, codec, compress);
  const { code, scores, notes } = await importFile(cwd, "verl", file);
  expect([code, scores]).toEqual([0, [0.5, 1, null, null]]);
  expect(notes).toEqual([expect.stringContaining("1 such value was read as null")]);
});

test("LZ4 that is damaged is refused", async () => {
  for (const [damage, reason] of [
    [(it: Buffer) => it.subarray(0, -3), "cut off|bytes, not"],
    [() => Buffer.from([0x1f, 65, 1, 0, ...Array.from({ length: 99 }, () => 255), 0]), "too long"],
    [() => Buffer.from([0x10, 65, 9, 0, 0]), "before its start"],
  ] as const) {
    const file = writeParquet("damaged.parquet", "LZ4_RAW", it => damage(compressLz4(it)));
    await expect(importFile(cwd, "verl", file)).rejects.toThrow(new RegExp(reason));
  }
});

test("Parquet that is compressed with something else is refused with its name", async () => {
  const importing = importFile(cwd, "verl", writeParquet("lzo.parquet", "LZO"));
  await expect(importing).rejects.toThrow("lzo.parquet is compressed with LZO");
  await expect(importing).rejects.toThrow("write it with Zstandard, Snappy, gzip, Brotli or LZ4");
});
