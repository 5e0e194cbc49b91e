/** Files of tasks and trajectories: complete, torn, cut off, and of other versions. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readTasks, readTrajectories, writeTrajectory } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import {
  formatTrajectory,
  parseTrajectoryLine,
  type TrajectoryLine,
} from "../../src/trajectory/trajectory.ts";
import { moveFifty, moveTwice, readOnly } from "./sampleTasks.ts";

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

const [one, two, three] = [formatTaskLine(move), formatTaskLine(twice), formatTaskLine(read)];

describe("reading tasks", () => {
  test("complete lines", () =>
    check(`${one}\n${two}\n${three}\n`, { ids: ["t-move", "t-twice", "t-read"] }));
  test("no line break at the end", () => check(`${one}\n${two}`, { ids: ["t-move", "t-twice"] }));
  test("Windows line breaks, a byte order mark, blank lines", () =>
    check(`\uFEFF${one}\r\n\r\n${two}\r\n`, { ids: ["t-move", "t-twice"] }));
  test("an empty file", () => check("", { ids: [] }));
  test("a torn last line is skipped and reported", () =>
    check(`${one}\n${two.slice(0, 100)}`, {
      ids: ["t-move"],
      torn: ["F:2 is torn (a write was cut off) and was skipped"],
    }));
  test("a torn line in the middle is an error with its place, after the lines before it", () =>
    check(`${one}\n${two.slice(0, 5)}\n${three}\n`, {
      ids: ["t-move"],
      error: "F:2 is not JSON (…): correct or delete that line",
    }));
  test("an invalid line is reported with its place", () =>
    check(`${one}\n${formatTaskLine({ ...twice, seed: "seven" as unknown as number })}\n`, {
      ids: ["t-move"],
      error:
        "F:2 is not a task: at /seed: Invalid input: expected number, received string: correct or delete that line",
    }));
  test("a goal that follows a later one", () =>
    check(
      formatTaskLine({
        ...move,
        goals: move.goals.map(it => ({ ...it, after: [{ goal: 1, kind: "explicit" }] })),
      }),
      {
        ids: [],
        error:
          "F:1 is not a task: at /goals/0/after/0: goal 0 can only follow goals before it, not 1: correct or delete that line",
      },
    ));
  test("a newer format is refused by its name", () =>
    check(formatTaskLine({ ...move, format: "prove/task@5" as Task["format"] }), {
      ids: [],
      error:
        "F:1 has the format prove/task@5, which is newer than prove/task@4, the newest this program reads: update PROVE",
    }));
  test("a file of another format", () =>
    check('{"hello": 1}\n', {
      ids: [],
      error: "F:1 is not a task (format missing): its format must be prove/task@4",
    }));
  test("a list", () =>
    check("[1, 2]\n", {
      ids: [],
      error: "F:1 is not a task (format missing): its format must be prove/task@4",
    }));
  test("the second format is migrated when it is read", async () => {
    const folder = join(import.meta.dirname, "../compatibility/v0.3.0/prove/tasks");
    const file = join(folder, "student.tasks.jsonl");
    const [first] = readFileSync(file, "utf8").split("\n");
    const { format, goals } = JSON.parse(first!) as { format: string; goals: Task["goals"] };
    expect(format).toBe("prove/task@2");
    const [task] = await allOf(readTasks(file));
    expect(task).toMatchObject({ format: "prove/task@3", goals });
  });
  test.each([
    [{ for: "feeds" }, "values and for: feeds go together"],
    [{ values: ["acc_101"] }, "values and for: feeds go together"],
    [{ for: "answers" }, "facts and for: answers go together"],
    [
      { for: "answers", facts: [{ field: "balance" }] },
      "a fact has an entity, a field with its value, or both",
    ],
    [{ for: "answers", facts: [{}] }, "a fact has an entity, a field with its value, or both"],
  ])("a goal call %j is refused", (purpose, problem) => {
    const [goal, ...others] = move.goals;
    const calls = [{ ...goal!.calls[0]!, ...purpose } as Task["goals"][0]["calls"][0]];
    return check(formatTaskLine({ ...move, goals: [{ ...goal!, calls }, ...others] }), {
      ids: [],
      error: `F:1 is not a task: at /goals/0/calls/0: ${problem}: correct or delete that line`,
    });
  });
  test("the first format is migrated when it is read", async () => {
    const file = join(import.meta.dirname, "older.tasks.jsonl");
    const text = readFileSync(file, "utf8").trim();
    const older = JSON.parse(text) as Omit<Task, "provenance" | "trajectory"> & {
      provenance: { log: { t: number }[] };
      trajectory: TrajectoryLine;
    };
    const [task] = await allOf(readTasks(file));
    expect(task).toEqual({
      ...older,
      format: "prove/task@3",
      trajectory: parseTrajectoryLine(older.trajectory),
      provenance: { ...older.provenance, log: expect.any(Array) as string[] },
    });
    expect(task!.provenance.log).toHaveLength(older.provenance.log.at(-1)!.t);
    expect(task!.provenance.log[0]).toMatch(
      /^query -text-> check-query -sound-> turn -said-> ask .*-> (query|finish)$/,
    );
    expect(formatTaskLine(task!).length).toBeLessThan(text.length * 0.8);
    await check(formatTaskLine(task!), { ids: [older.id] });
  });
  test("a header that differs from its task is kept", async () => {
    const other = {
      ...move,
      trajectory: { ...move.trajectory, header: { ...move.trajectory.header, id: "by/hand" } },
    };
    expect((await allOf(readTasks(fileOf(`${formatTaskLine(other)}\n`))))[0]).toEqual(other);
  });
  test("stops with the signal's reason", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(allOf(readTasks(fileOf(one), { signal }))).rejects.toThrow("enough");
  });
  test("a missing file", async () => {
    await expect(allOf(readTasks(join(folder, "none.jsonl")))).rejects.toThrow(
      /there is no file .*none\.jsonl: check the path/,
    );
  });
});

test("keys such as __proto__ are preserved", async () => {
  const call = move.trajectory.events.find(it => it.kind === "call")!;
  const text = one.replace(JSON.stringify(call.arguments), '{"__proto__":{"x":1},"constructor":2}');
  const [task] = await allOf(readTasks(fileOf(text)));
  expect(formatTaskLine(task!)).toBe(text);
});

describe("a trajectory file", () => {
  const text = formatTrajectory(twice.trajectory);
  test("is read as it was written", async () => {
    const file = join(folder, "a.trajectory.jsonl");
    await writeTrajectory(file, twice.trajectory);
    expect(await allOf(readTrajectories(file))).toEqual([twice.trajectory]);
  });
  test("may hold several attempts", async () => {
    expect(
      (await allOf(readTrajectories(fileOf(text + text)))).map(it => it.events.length),
    ).toEqual([twice.trajectory.events.length, twice.trajectory.events.length]);
  });
  test("returns the complete part of an attempt that was cut off", async () => {
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
