/** Appending lines to files: new ones, torn ones, and on disks that are full. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { LineWriter, appendLine, type Disk } from "../../src/storage/lineWriter.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const writeFile = (text: string) => {
  const file = join(folder, `${count++}.jsonl`);
  writeFileSync(file, text);
  return file;
};

describe("appending lines", () => {
  test("creates the file and its folder, and continues an existing file", () => {
    const file = join(folder, "new", "deep", "a.jsonl");
    for (const line of ["1", "2"]) {
      const writer = new LineWriter(file);
      writer.append(line);
      writer.close();
    }
    expect(readFileSync(file, "utf8")).toBe("1\n2\n");
  });
  test("cuts off a torn last line and reports it", () => {
    const file = writeFile('{"a":1}\n{"b":');
    const writer = new LineWriter(file);
    expect(writer.torn).toBe('{"b":');
    writer.append("3");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n3\n');
  });
  test("keeps a last line that only lacks its line break", () => {
    const file = writeFile('{"a":1}');
    const writer = new LineWriter(file);
    writer.append("2");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n2\n');
  });

  /** A disk with room for so many bytes that writes them in pieces. */
  const createSmallDisk = (room: number, piece = Infinity): Disk => ({
    write(fd, bytes, position) {
      if (room === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      const part = bytes.subarray(0, Math.min(room, piece));
      room -= part.length;
      return writeSync(fd, part, 0, part.length, position);
    },
  });
  test("survives short writes", () => {
    const file = writeFile("");
    const writer = new LineWriter(file, createSmallDisk(1000, 3));
    writer.append('{"long":"enough"}');
    writer.append("2");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"long":"enough"}\n2\n');
  });
  test("reports a disk that is full from the start", () => {
    const file = writeFile('{"old":1}\n');
    const writer = new LineWriter(file, createSmallDisk(0));
    expect(() => writer.append("1")).toThrow(
      /^the disk is full: .* could not be written \(the previous content is kept\)/,
    );
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"old":1}\n');
  });
  test("goes on with whole lines after a disk that was full for one write", () => {
    const file = writeFile('{"old":1}\n');
    let writes = 0;
    const writer = new LineWriter(file, {
      write(fd, bytes, position) {
        writes++;
        if (writes === 3) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
        // the second line begins with a short write
        const part = bytes.subarray(0, writes === 2 ? 3 : bytes.length);
        return writeSync(fd, part, 0, part.length, position);
      },
    });
    writer.append('"first"');
    expect(() => writer.append('"second"')).toThrow(/^the disk is full/);
    writer.append('"third"');
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"old":1}\n"first"\n"third"\n');
  });
  test("on a full disk keeps every whole line and no part of the next one", () => {
    const file = writeFile('{"old":1}\n');
    const writer = new LineWriter(file, createSmallDisk(12));
    writer.append('"0123"');
    expect(() => writer.append('"456789"')).toThrow(
      /^the disk is full: .* could not be written \(the line written before is kept\): free some space, then run it again$/,
    );
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"old":1}\n"0123"\n');
  });
});

describe("appending one line", () => {
  test("leaves a torn line as a line of its own", () => {
    const file = writeFile('{"a":1}\n{"b":');
    appendLine(file, "3");
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n{"b":\n3\n');
  });
});
