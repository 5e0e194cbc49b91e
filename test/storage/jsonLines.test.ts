/** Reading JSON Lines, streamed and whole, with torn and invalid lines. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { readJsonLines, readLog, readStrictLog, splitLines } from "../../src/storage/jsonLines.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const writeFile = (text: string) => {
  const file = join(folder, `${count++}.jsonl`);
  writeFileSync(file, text);
  return file;
};

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const it of stream) all.push(it);
  return all;
}

test("lines are split wherever the chunks end", async () => {
  const bytes = Buffer.from("ä1\nb😀2\n\nc");
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const got = (await collect(splitLines(chunks(), "stdin"))).map(it => [
      it.number,
      it.text,
      it.offset,
      it.bytes,
      it.whole,
    ]);
    expect(got).toEqual([
      [1, "ä1", 0, 3, true],
      [2, "b😀2", 4, 6, true],
      [4, "c", 12, 1, false],
    ]);
  }
});

describe("streamed JSON", () => {
  test("comes with its line numbers, blank lines counted", async () => {
    const file = writeFile('{"a":1}\n\r\n{"b":2}');
    expect(await collect(readJsonLines(file))).toEqual([
      { json: { a: 1 }, number: 1 },
      { json: { b: 2 }, number: 3 },
    ]);
  });
  test("reports and skips a torn last line", async () => {
    const file = writeFile('1\n{"b":');
    const remarks: string[] = [];
    const lines = await collect(readJsonLines(file, { onTorn: it => remarks.push(it) }));
    expect(lines).toEqual([{ json: 1, number: 1 }]);
    expect(remarks).toEqual([`${file}:2 is torn (a write was cut off) and was skipped`]);
  });
  test.each(['{"b":\n3\n', '{"b":NaN}', '{"b":1,}', "none"])(
    "stops at another line that is not JSON, with its place: %j",
    async rest => {
      const file = writeFile(`1\n${rest}`);
      const reading = collect(readJsonLines(file, { onTorn: () => {} }));
      await expect(reading).rejects.toThrow(`${file}:2 is not JSON (`);
    },
  );
  test("takes a line for torn wherever it was cut off, and if a crash left zeros", async () => {
    const line = JSON.stringify({ a: [1.5e-7, -2, true, null, 'é\n\u0001"', {}, []], "b c": "d" });
    const files = Array.from({ length: line.length - 1 }, (_, i) => line.slice(0, i + 1));
    for (const cut of [...files, '{"a":"b\0\0\0']) {
      const remarks: string[] = [];
      const file = writeFile(`1\n${cut}`);
      expect(await collect(readJsonLines(file, { onTorn: it => remarks.push(it) }))).toHaveLength(
        1,
      );
      expect(remarks).toEqual([expect.stringContaining(":2 is torn")]);
    }
  });
  test("of a missing file is an error", async () => {
    await expect(collect(readJsonLines(join(folder, "none")))).rejects.toThrow(
      /there is no file .*none: check the path/,
    );
  });
});

describe("a log", () => {
  const schema = z.object({ n: z.int() });
  test("reports the lines that do not fit and keeps the others", () => {
    const file = writeFile('{"n":1}\n{"n":"two"}\n{"n":3}\n{"n":');
    const { lines, skipped } = readLog(schema, file);
    expect(lines).toEqual([{ n: 1 }, { n: 3 }]);
    expect(skipped.map(it => it.line)).toEqual([2, 4]);
  });
  test("that is strict names the line and the value that do not fit", () => {
    const file = writeFile('{"n":1}\n\n{"n":"two"}\n');
    expect(() => readStrictLog(schema, file, { noun: "a count" })).toThrow(
      `${file}:3 is not a count: at /n: `,
    );
  });
  test("that is strict passes a torn last line to onTorn", () => {
    const file = writeFile('{"n":1}\n{"n":');
    expect(() => readStrictLog(schema, file)).toThrow(`${file}:2 is not JSON`);
    const remarks: string[] = [];
    expect(readStrictLog(schema, file, { onTorn: it => remarks.push(it) })).toEqual([{ n: 1 }]);
    expect(remarks).toEqual([`${file}:2 is torn (a write was cut off) and was skipped`]);
  });
  test("that is missing is empty", () => {
    expect(readLog(schema, join(folder, "none"))).toEqual({ lines: [], skipped: [] });
    expect(readStrictLog(schema, join(folder, "none"))).toEqual([]);
  });
});
