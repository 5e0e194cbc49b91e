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

const compressors = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes),
  LZ4_RAW: (bytes: Uint8Array) => bytes,
} as const;

function writeParquet(file: string, codec: keyof typeof compressors): string {
  const writer = new ParquetWriter({
    writer: fileWriter(join(cwd, file)),
    schema: [
      { name: "root", num_children: 3 },
      { name: "input", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "output", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "score", type: "DOUBLE", repetition_type: "OPTIONAL" },
    ],
    codec,
    compressors,
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

test.each(["GZIP", "BROTLI", "ZSTD"] as const)(
  "Parquet that is compressed with %s",
  async codec => {
    const file = writeParquet(`${codec}.parquet`, codec);
    const { code, scores, notes } = await importFile(cwd, "verl", file);
    expect([code, scores]).toEqual([0, [0.5, 1, null, null]]);
    expect(notes).toEqual([expect.stringContaining("1 such value was read as null")]);
  },
);

test("Parquet that is compressed with something else is refused with its name", async () => {
  const importing = importFile(cwd, "verl", writeParquet("lz4.parquet", "LZ4_RAW"));
  await expect(importing).rejects.toThrow("lz4.parquet is compressed with LZ4_RAW");
  await expect(importing).rejects.toThrow("write it with Zstandard, Snappy, gzip or Brotli");
});
