// @vitest-environment happy-dom
/** The page that compares policies by task: its rows, its summary, and what a click asks for. */
import { expect, test } from "vitest";
import type { MatrixPage, MatrixView } from "../../../src/protocol/matrixPage.ts";
import { openPage } from "../openPage.ts";

const interval = (mean: number, low: number, high: number) => ({
  mean,
  low,
  high,
  n: 20,
  clusters: 20,
  runs: 1,
});
const cell = (successes: number, attempts = 4) => ({ attempts, successes, reward: successes / 2 });
const counts = { tasks: 3, attempts: 12, unscored: 0 };

const view: MatrixView = {
  subject: '{"subjects":[]}',
  profile: "prove-plus",
  policies: [
    { ...counts, name: "small", success: 0.5, reward: 1 },
    {
      ...counts,
      name: "first-1",
      success: 0.75,
      reward: 1.5,
      change: { tasks: 3, success: interval(0.25, 0.1, 0.4), reward: interval(0.5, 0.2, 0.8) },
    },
  ],
  rows: [
    { task: "t-1", request: "Pay the rent.", cells: [cell(0), cell(4)], spread: 1 },
    { task: "t-2", request: "Freeze my card.", cells: [cell(2), null], spread: 0 },
    { task: "t-3", request: "<b>Wait</b>", cells: [cell(4), cell(4)], spread: 0 },
  ],
  isComparing: false,
  progress: { left: 0, total: 2 },
};

const open = (changes: Partial<MatrixView> = {}) =>
  openPage<MatrixPage>("matrix", { load: { ...view, ...changes } });

/** The rows without the room above and below them. */
const readRows = (page: Awaited<ReturnType<typeof open>>) =>
  page.readTable(".rows").filter(it => it.length > 1);

test("disagreements come first, with the share and the number of successes", async () => {
  const page = await open();
  expect(page.listNames("columnheader").slice(0, 4)).toEqual([
    "Task",
    "small",
    "first-1",
    "Spread ↓",
  ]);
  expect(readRows(page)).toEqual([
    ["t-1 Pay the rent.", "0% 0/4", "100% 4/4", "100%", ""],
    ["t-2 Freeze my card.", "50% 2/4", "–", "0%", ""],
    ["t-3 <b>Wait</b>", "100% 4/4", "100% 4/4", "0%", ""],
  ]);
  expect(page.text).toContain("3 tasks · the policies disagree on 1 · profile prove-plus");
});

test("below the head stand the means and the differences from the first policy", async () => {
  const page = await open();
  const head = [...page.main.querySelectorAll("thead tr")].slice(1);
  expect(head.map(row => [...row.children].slice(1, 3).map(it => it.textContent))).toEqual([
    ["50.0%", "75.0%"],
    ["", "+25.0 [+10.0, +40.0]"],
    ["3", "3, 3 in common"],
  ]);
});

test("a click on a cell asks for the attempts of that policy at that task", async () => {
  const page = await open();
  page.click("button", "100% 4/4 of first-1 at t-1, mean reward 2.000");
  expect(page.requests).toEqual([{ name: "open", params: { policy: 1, task: "t-1" } }]);
});

test("tasks on which all agree can be hidden, and words filter the others", async () => {
  const page = await open();
  page.click("checkbox", "");
  expect(readRows(page).map(it => it[0])).toEqual(["t-1 Pay the rent."]);
  page.click("checkbox", "");
  const box = page.find("searchbox", "Filter tasks") as HTMLInputElement;
  box.value = "FREEZE card";
  box.dispatchEvent(new Event("input"));
  expect(readRows(page).map(it => it[0])).toEqual(["t-2 Freeze my card."]);
});

test("a column sorts from the highest share down, and tasks without an attempt are last", async () => {
  const page = await open();
  page.click("button", "first-1");
  expect(readRows(page).map(it => it[2])).toEqual(["100% 4/4", "100% 4/4", "–"]);
  page.click("button", "small");
  expect(readRows(page).map(it => it[1])).toEqual(["100% 4/4", "50% 2/4", "0% 0/4"]);
});

test("another policy can be the one that the others are compared with", async () => {
  const page = await open();
  const select = page.list("combobox")[0] as HTMLSelectElement;
  select.selectedIndex = 1;
  select.dispatchEvent(new Event("change"));
  expect(page.requests).toEqual([{ name: "setFirst", params: { policy: 1 } }]);
});

test("a policy whose run is gone says so, and the others stay", async () => {
  const page = await open();
  const [small, first] = view.policies;
  const problem = "the run first-1 was deleted";
  await page.sendEvent("changed", { ...view, policies: [small!, { ...first!, problem }] });
  expect(page.find("alert", /./).textContent).toBe(
    "first-1: the run first-1 was deleted. Its column shows what was read before.",
  );
  expect(readRows(page)).toHaveLength(3);
});

test("without a common task, or with too few, it says so in place of a difference", async () => {
  const [small, first] = view.policies;
  const readDifference = async (tasks: number) => {
    const page = await open({ policies: [small!, { ...first!, change: { tasks } }] });
    return page.main.querySelectorAll("thead tr")[2]!.children[2]!.textContent;
  };
  expect(await readDifference(0)).toBe("no task in common");
  expect(await readDifference(1)).toBe("too few tasks");
});
