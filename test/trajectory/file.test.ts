/**
 * Files as they are found on disks: whole, torn, cut off, of another version, too large to hold,
 * and disks that are full.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  readTasks,
  readTrajectories,
  trajectoryText,
  writeTrajectory,
  writeWhole,
} from "../../src/trajectory/file.ts";
import { LineWriter, linesOf, type Disk } from "../../src/storage/jsonLines.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { taskLine } from "../../src/trajectory/taskLine.ts";
import { moveFifty, moveTwice, readOnly } from "./made.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const fileOf = (text: string, name = "x.tasks.jsonl") => {
  const file = join(folder, `${made++}-${name}`);
  writeFileSync(file, text);
  return file;
};

const [move, twice, read] = await Promise.all([moveFifty(), moveTwice(), readOnly()]);
const allOf = async <T>(stream: AsyncIterable<T>) => {
  const all: T[] = [];
  for await (const it of stream) all.push(it);
  return all;
};

/**
 * What reading a tasks file gives: the ids, the remarks, and the error with the file's name taken
 * out.
 */
async function check(
  text: string,
  {
    ids: wanted,
    torn: remarks = [],
    error: complaint,
  }: { ids: string[]; torn?: string[]; error?: string },
) {
  const file = fileOf(text);
  const ids: string[] = [];
  const torn: string[] = [];
  let error: string | undefined;
  try {
    for await (const it of readTasks(file, { onTorn: it => torn.push(it.replace(file, "F")) }))
      ids.push(it.id);
  } catch (thrown) {
    error = (thrown as Error).message.replaceAll(file, "F");
  }
  expect({ ids, torn }).toEqual({ ids: wanted, torn: remarks });
  expect(error?.replace(/not JSON \(.*\):/, "not JSON (…):")).toBe(complaint);
}

const [one, two, three] = [taskLine(move), taskLine(twice), taskLine(read)];

describe("reading tasks", () => {
  test("whole lines", () =>
    check(`${one}\n${two}\n${three}\n`, { ids: ["t-move", "t-twice", "t-read"] }));
  test("no line break at the end", () => check(`${one}\n${two}`, { ids: ["t-move", "t-twice"] }));
  test("Windows line breaks, a byte order mark, blank lines", () =>
    check(`\uFEFF${one}\r\n\r\n${two}\r\n`, { ids: ["t-move", "t-twice"] }));
  test("nothing", () => check("", { ids: [] }));
  test("a torn last line is skipped and said", () =>
    check(`${one}\n${two.slice(0, 100)}`, {
      ids: ["t-move"],
      torn: ["F:2 is torn (a write was cut off) and was skipped"],
    }));
  test("a torn line in the middle is an error with its place, after the lines before it", () =>
    check(`${one}\n${two.slice(0, 5)}\n${three}\n`, {
      ids: ["t-move"],
      error: "F:2 is not JSON (…): mend or delete that line",
    }));
  test("a line that does not fit says where", () =>
    check(`${one}\n${JSON.stringify({ ...twice, seed: "seven" })}\n`, {
      ids: ["t-move"],
      error:
        "F:2 is not a task: at /seed: Invalid input: expected number, received string: mend or delete that line",
    }));
  test("a goal that follows a later one", () =>
    check(
      JSON.stringify({
        ...move,
        goals: move.goals.map(it => ({ ...it, after: [{ goal: 1, kind: "explicit" }] })),
      }),
      {
        ids: [],
        error:
          "F:1 is not a task: at /goals/0/after/0: goal 0 can only follow goals before it, not 1: mend or delete that line",
      },
    ));
  test("a newer format is refused by its name", () =>
    check(JSON.stringify({ ...move, format: "prove/task@3" }), {
      ids: [],
      error:
        "F:1 has the format prove/task@3, which is newer than prove/task@2, the newest this program reads: update PROVE",
    }));
  test("something else altogether", () =>
    check('{"hello": 1}\n', {
      ids: [],
      error: "F:1 is not a task (format missing): its format must be prove/task@2",
    }));
  test("a list", () =>
    check("[1, 2]\n", {
      ids: [],
      error: "F:1 is not a task (format missing): its format must be prove/task@2",
    }));
  test("the format before is brought up to date as it is read", async () => {
    const file = join(import.meta.dirname, "older.tasks.jsonl");
    const text = readFileSync(file, "utf8").trim();
    const older = JSON.parse(text) as Omit<Task, "provenance"> & {
      provenance: { log: { t: number }[] };
    };
    const [task] = await allOf(readTasks(file));
    expect(task).toEqual({
      ...older,
      format: "prove/task@2",
      provenance: { ...older.provenance, log: expect.any(Array) as string[] },
    });
    expect(task!.provenance.log).toHaveLength(older.provenance.log.at(-1)!.t);
    expect(task!.provenance.log[0]).toMatch(
      /^query -text-> check-query -sound-> turn -said-> ask .*-> (query|finish)$/,
    );
    expect(taskLine(task!).length).toBeLessThan(text.length * 0.8);
    await check(taskLine(task!), { ids: [older.id] });
  });
  test("a header that says something else than its task is kept", async () => {
    const other = {
      ...move,
      trajectory: { ...move.trajectory, header: { ...move.trajectory.header, id: "by/hand" } },
    };
    expect((await allOf(readTasks(fileOf(`${taskLine(other)}\n`))))[0]).toEqual(other);
  });
  test("stops with the signal's reason", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(allOf(readTasks(fileOf(one), { signal }))).rejects.toThrow("enough");
  });
  test("no such file", async () => {
    await expect(allOf(readTasks(join(folder, "none.jsonl")))).rejects.toThrow(
      /there is no file .*none\.jsonl: check the path/,
    );
  });
});

test("keys that JavaScript keeps for itself come through as they were written", async () => {
  const call = move.trajectory.events.find(it => it.kind === "call")!;
  const text = one.replace(JSON.stringify(call.arguments), '{"__proto__":{"x":1},"constructor":2}');
  const [task] = await allOf(readTasks(fileOf(text)));
  expect(taskLine(task!)).toBe(text);
});

describe("a trajectory file", () => {
  const text = trajectoryText(twice.trajectory);
  test("comes back as it was", async () => {
    const file = join(folder, "a.trajectory.jsonl");
    await writeTrajectory(file, twice.trajectory);
    expect(await allOf(readTrajectories(file))).toEqual([twice.trajectory]);
  });
  test("may hold several attempts", async () => {
    expect(
      (await allOf(readTrajectories(fileOf(text + text)))).map(it => it.events.length),
    ).toEqual([twice.trajectory.events.length, twice.trajectory.events.length]);
  });
  test("gives what there is of an attempt that was cut off", async () => {
    const torn: string[] = [];
    const [it] = await allOf(
      readTrajectories(fileOf(text.slice(0, -20)), { onTorn: it => torn.push(it) }),
    );
    expect(it!.events).toEqual(twice.trajectory.events.slice(0, -1));
    expect(torn).toHaveLength(1);
  });
  test("must begin with a header", async () => {
    await expect(
      allOf(readTrajectories(fileOf(text.slice(text.indexOf("\n") + 1)))),
    ).rejects.toThrow(/:1 comes before a header/);
  });
  test("of a newer format is refused by its name", async () => {
    await expect(
      allOf(readTrajectories(fileOf(text.replace("trajectory@1", "trajectory@9")))),
    ).rejects.toThrow(
      /:1 has the format prove\/trajectory@9, which is newer than prove\/trajectory@1, the newest this program reads: update PROVE/,
    );
  });
});

describe("appending lines", () => {
  test("makes the file and its folder, and goes on where it stopped", () => {
    const file = join(folder, "new", "deep", "a.jsonl");
    for (const line of ["1", "2"]) {
      const writer = new LineWriter(file);
      writer.append(line);
      writer.close();
    }
    expect(readFileSync(file, "utf8")).toBe("1\n2\n");
  });
  test("cuts off what a crash left of a line, and says so", () => {
    const file = fileOf('{"a":1}\n{"b":');
    const writer = new LineWriter(file);
    expect(writer.torn).toBe('{"b":');
    writer.append("3");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n3\n');
  });
  test("keeps a last line that only lacks its line break", () => {
    const file = fileOf('{"a":1}');
    const writer = new LineWriter(file);
    writer.append("2");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n2\n');
  });

  /** A disk with room for so many bytes, that writes in pieces. */
  const small = (room: number, piece = Infinity): Disk => ({
    write(fd, bytes, position) {
      if (room === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      const part = bytes.subarray(0, Math.min(room, piece));
      room -= part.length;
      return writeSync(fd, part, 0, part.length, position);
    },
  });
  test("survives short writes", () => {
    const file = fileOf("");
    const writer = new LineWriter(file, small(1000, 3));
    writer.append('{"long":"enough"}');
    writer.append("2");
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"long":"enough"}\n2\n');
  });
  test("on a device that is full from the start says so", () => {
    const file = fileOf('{"old":1}\n');
    const writer = new LineWriter(file, small(0));
    expect(() => writer.append("1")).toThrow(
      /^the disk is full: .* could not be written \(what stood there before is kept\)/,
    );
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"old":1}\n');
  });
  test("on a full disk keeps every whole line and nothing of the one under way", () => {
    const file = fileOf('{"old":1}\n');
    const writer = new LineWriter(file, small(12));
    writer.append('"0123"');
    expect(() => writer.append('"456789"')).toThrow(
      /^the disk is full: .* could not be written \(the line written before is kept\): free some space, then run it again$/,
    );
    writer.close();
    expect(readFileSync(file, "utf8")).toBe('{"old":1}\n"0123"\n');
  });
});

test("a file is written whole or not at all", async () => {
  const file = fileOf("before");
  await writeWhole(file, "after");
  expect(readFileSync(file, "utf8")).toBe("after");
  await expect(writeWhole(join(folder, "no", "such", "folder"), "x")).rejects.toThrow(
    /could not be written .* check the folder and its permissions/,
  );
});

test("lines are split on bytes, wherever the chunks end", async () => {
  const bytes = Buffer.from("ä1\nb😀2\n\nc");
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const got = (await allOf(linesOf(chunks(), "stdin"))).map(it => [
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
