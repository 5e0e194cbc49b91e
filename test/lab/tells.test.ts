/** The classifiers that look for tells: they find a planted one, and none where there is none. */
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/environment/random.ts";
import { computeAuc, TellsAudit } from "./tells.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { abstain, moveFifty } from "../trajectory/sampleTasks.ts";

const [calling, idle] = await Promise.all([moveFifty(), abstain()]);

const fruit = ["apple", "pear", "plum", "fig", "quince", "medlar", "cherry", "grape", "melon"];

/** Tasks of random words; `write` may change one by whether it calls nothing. */
function createTasks(
  count: number,
  write: (task: Task, callsNothing: boolean, n: number) => Task,
): Task[] {
  const random = createRandom(5, "tells");
  return Array.from({ length: count }, (_, n) => {
    const callsNothing = random.boolean(0.3);
    const words = Array.from({ length: 8 }, () => random.pick(fruit)).join(" ");
    const task = callsNothing ? idle : calling;
    return write(withText({ ...task, id: `task-${n}` }, words), callsNothing, n);
  });
}

const withText = (task: Task, user: string): Task => ({
  ...task,
  turns: [{ ...task.turns[0]!, user }, ...task.turns.slice(1)],
});

function audit(tasks: readonly Task[]) {
  const tells = new TellsAudit(name => ({ server: name.split("_")[0]!, effect: "read" }));
  for (const it of tasks) tells.add(it);
  return tells.report();
}

test("a word that only requests for nothing have is found, and named first", () => {
  const report = audit(
    createTasks(600, (task, callsNothing, n) =>
      callsNothing ? withText(task, `${task.turns[0]!.user} anyway`) : withMenu(task, n),
    ),
  )!;
  expect(report.words.auc).toBeGreaterThan(0.95);
  expect(report.words.forNoCall[0]).toBe("anyway");
  expect(report.words.byKind).toEqual([
    { kind: "abstain", tasks: report.withoutCall, auc: report.words.auc },
  ]);
});

const withMenu = (task: Task, n: number): Task => ({
  ...task,
  menu: [{ name: "banking_list_accounts" }, { name: `maps_tool_${n % 3}` }],
});

test("words and menus that have nothing to do with calls predict nothing", () => {
  const { words, menu } = audit(createTasks(1500, (task, _, n) => withMenu(task, n)))!;
  for (const { auc } of [words, menu]) {
    expect(auc).toBeGreaterThan(0.44);
    expect(auc).toBeLessThan(0.56);
  }
});

test("a menu that is longer where nothing is to be called is found", () => {
  const report = audit(
    createTasks(600, (task, callsNothing, n) => ({
      ...task,
      menu: Array.from({ length: 6 + (n % 5) + (callsNothing ? 6 : 0) }, (_, i) => ({
        name: `banking_tool_${i}`,
      })),
    })),
  )!;
  expect(report.menu.auc).toBeGreaterThan(0.95);
});

describe("pairs", () => {
  /** Every two tasks are a pair, of which the second calls nothing. */
  const pair = (endings: readonly [string, string]): Task[] =>
    createTasks(400, it => it).map((task, n, all) => {
      const isSecond = n % 2 === 1;
      const { user } = all[n - (n % 2)]!.turns[0]!;
      const { id, knobs } = isSecond ? { ...idle, id: `b-${n}` } : { ...calling, id: `a-${n}` };
      const own = withText(isSecond ? idle : calling, `${user}${endings[n % 2]!}`);
      return { ...own, id, knobs: { ...knobs, pair: `pair-${n >> 1}` } };
    });

  test("with the same words cannot be told apart", () => {
    const { pairs } = audit(pair(["", ""]))!;
    expect(pairs).toMatchObject({ count: 200, sameText: 200, auc: 0.5, within: 0.5 });
    expect(pairs).not.toHaveProperty("reworded");
  });

  test("with other words are counted apart", () => {
    const { pairs } = audit(pair(["", " tomorrow"]))!;
    expect(pairs).toMatchObject({ count: 200, sameText: 0, within: 1 });
    expect(pairs!.reworded).toBeGreaterThan(0.95);
  });
});

test("tasks that all call something have no report", () => {
  expect(audit([calling])).toBeUndefined();
  expect(audit([])).toBeUndefined();
});

test("the area under the curve counts ties half", () => {
  expect(computeAuc([1, 2, 3, 4], [false, false, true, true])).toBe(1);
  expect(computeAuc([1, 2, 3, 4], [true, true, false, false])).toBe(0);
  expect(computeAuc([1, 1, 1], [true, false, false])).toBe(0.5);
  expect(computeAuc([1, 2, 2], [false, true, false])).toBe(0.75);
});
