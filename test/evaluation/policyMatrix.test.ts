/** Policies compared task by task: the shares, the order of the tasks, and the paired differences. */
import { expect, test } from "vitest";
import { createMatrix, type JudgedAttempt } from "../../src/evaluation/policyMatrix.ts";

const at = (task: string, success: boolean, total = Number(success)): JudgedAttempt => ({
  task,
  cluster: task,
  success,
  total,
});
const unscored = (task: string): JudgedAttempt => ({ task, cluster: task });

test("a cell has the successes and the mean reward of a policy's attempts at a task", () => {
  const { rows } = createMatrix([[at("a", true, 2), at("a", false, 0.5)], [at("a", false, 0)]]);
  expect(rows).toEqual([
    {
      task: "a",
      request: "",
      cells: [
        { attempts: 2, successes: 1, reward: 1.25 },
        { attempts: 1, successes: 0, reward: 0 },
      ],
      spread: 0.5,
    },
  ]);
});

test("the tasks on which the policies disagree most come first, then those that fail more", () => {
  const { rows } = createMatrix([
    [
      at("solved", true),
      at("failed", false),
      at("half", true),
      at("half", false),
      at("apart", true),
    ],
    [at("solved", true), at("failed", false), at("half", true), at("apart", false)],
  ]);
  expect(rows.map(it => it.task)).toEqual(["apart", "half", "failed", "solved"]);
});

test("a task that a policy did not attempt has an empty cell and does not count for it", () => {
  const { rows, columns } = createMatrix([
    [at("a", true), at("b", true)],
    [at("b", true), unscored("a")],
  ]);
  expect(rows.find(it => it.task === "a")!.cells[1]).toBeNull();
  expect(columns[1]).toMatchObject({ tasks: 1, attempts: 1, unscored: 1, success: 1 });
  expect(columns[1]!.change).toMatchObject({ tasks: 1 });
});

test("differences from the first policy are paired by task", () => {
  // each task is as hard for both, but the second policy always earns 0.5 more
  const tasks = Array.from({ length: 30 }, (_, i) => ({ task: `t${i}`, reward: (i % 5) / 5 }));
  const { columns } = createMatrix([
    tasks.map(it => at(it.task, false, it.reward)),
    tasks.map(it => at(it.task, true, it.reward + 0.5)),
  ]);
  expect(columns[0]!.change).toBeUndefined();
  expect(columns[1]!.change!.reward).toMatchObject({
    mean: expect.closeTo(0.5),
    low: expect.closeTo(0.5),
    high: expect.closeTo(0.5),
  });
  expect(columns[1]!.change!.success).toMatchObject({ mean: 1, low: 1, high: 1 });
});

test("the mean counts each task once, whatever the number of attempts at it", () => {
  const { columns } = createMatrix([
    [at("a", true), at("b", false), at("b", false), at("b", false)],
    [at("a", true)],
  ]);
  expect(columns[0]!.success).toBe(0.5);
});

test("one task in common is too few for an interval", () => {
  const { columns } = createMatrix([[at("a", true)], [at("a", false)]]);
  expect(columns[1]!.change).toEqual({ tasks: 1 });
});

test("policies without scored attempts have neither rows nor means", () => {
  const { rows, columns } = createMatrix([[unscored("a")], []]);
  expect(rows).toEqual([]);
  expect(columns).toEqual([
    { tasks: 0, attempts: 0, unscored: 1 },
    { tasks: 0, attempts: 0, unscored: 0, change: { tasks: 0 } },
  ]);
});
