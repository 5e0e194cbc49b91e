// @vitest-environment happy-dom
/** The page with the table of attempts: its columns, its order, and what a row offers. */
import { expect, test } from "vitest";
import type { AttemptRow, AttemptsPage, AttemptsView } from "../../../src/protocol/attemptsPage.ts";
import { openPage, press } from "../openPage.ts";

const view: AttemptsView = {
  subject: '{"kind":"run","path":"/home/user/prove/runs/first"}',
  title: "first",
  profile: "paper",
  hasFloor: false,
  selected: null,
  noted: { notes: {} },
};

const createRow = (number: number, changes: Partial<AttemptRow> = {}): AttemptRow => ({
  line: { number, offset: 100 * number, bytes: 50 },
  key: `key-${number}`,
  task: `banking-${number}`,
  request: "Pay the rent.",
  servers: ["banking"],
  policy: "small",
  calls: 2,
  budget: 3,
  total: 1,
  success: true,
  scores: {},
  ...changes,
});

async function open(rows: readonly AttemptRow[]) {
  const page = await openPage<AttemptsPage>("attempts", { load: view });
  await page.sendEvent("rows", { rows, weights: {} });
  await page.sendEvent("ended", { skipped: 0 });
  await expect.poll(() => page.readTable(".rows")).toHaveLength(rows.length + 2);
  return page;
}

/** The rows without the room above and below them. */
const readRows = (page: Awaited<ReturnType<typeof open>>) => page.readTable(".rows").slice(1, -1);

test("what tells failures apart comes first, and the buttons come last", async () => {
  const error = "banking_transfer: insufficient funds";
  const page = await open([createRow(1), createRow(2, { success: false, total: 0.4, error })]);
  expect(page.listNames("columnheader").slice(0, 4)).toEqual([
    "Success ↑",
    "Reward",
    "First Error",
    "Task",
  ]);
  expect(page.listNames("columnheader").at(-1)).toBe("Open");
  const [failure, success] = readRows(page);
  expect(failure!.slice(0, 4)).toEqual(["no", "0.400", error, "banking-2 Pay the rent."]);
  expect(failure!.at(-1)).toBe("StepRewardCompareNote");
  expect(success![0]).toBe("yes");
});

test("attempts without rewards are in the order of their tasks' names at first", async () => {
  const unscored = (number: number) => {
    const { total: _, success: __, budget: ___, ...row } = createRow(number);
    return row;
  };
  const page = await open([unscored(2), unscored(1)]);
  expect(page.listNames("columnheader").slice(0, 2)).toEqual(["First Error", "Task ↑"]);
  expect(readRows(page).map(it => it[1])).toEqual([
    "banking-1 Pay the rent.",
    "banking-2 Pay the rent.",
  ]);
});

test("the menu of a row names its attempt for the commands in it", async () => {
  const page = await open([createRow(7, { step: 3, attempt: 1 })]);
  const row = page.main.querySelector<HTMLElement>("tr[data-key]")!;
  expect(JSON.parse(row.dataset["vscodeContext"]!)).toEqual({
    webviewSection: "attempt",
    preventDefaultContextMenuItems: true,
    kind: "row",
    subject: view.subject,
    row: {
      line: { number: 7, offset: 700, bytes: 50 },
      step: 3,
      attempt: 1,
      task: "banking-7",
    },
    isScored: true,
    isInRun: true,
  });
});

test("a filter that the editor sets shows only what matches, also in a page that is open", async () => {
  const page = await open([createRow(1, { success: false }), createRow(11)]);
  page.list("checkbox")[0]!.click();
  await page.sendEvent("filtered", 'task:"banking-11"');
  expect(readRows(page).map(it => it[3])).toEqual(["banking-11 Pay the rent."]);
  expect((page.find("searchbox", /./) as HTMLInputElement).value).toBe('task:"banking-11"');
});

const notes = {
  "key-2": { verdict: "bad", tags: ["slow", "<b>date</b>"], text: "asks [twice](command:x)" },
} as const;

test("notes have a column, tags with markup are text, and the filter finds them", async () => {
  const page = await open([createRow(1), createRow(2)]);
  await page.sendEvent("noted", { notes });
  await expect.poll(() => page.listNames("columnheader")).toContain("Note");
  const shown = "bad #slow #<b>date</b> asks [twice](command:x)";
  expect(readRows(page).map(it => it[3])).toEqual(["", shown]);
  expect(page.main.querySelector("b")).toBeNull();
  for (const filter of ["tag:slow", "note:bad", "twice", 'tag:"#slow #<b>date</b>"']) {
    await page.sendEvent("filtered", filter);
    expect(readRows(page).map(it => it[3])).toEqual([shown]);
  }
});

test("notes that cannot be read are reported, and the attempts are listed", async () => {
  const page = await open([createRow(1)]);
  await page.sendEvent("noted", { notes: {}, problem: "a.notes.json is not JSON" });
  await expect.poll(() => page.find("alert", /./).textContent).toBe("a.notes.json is not JSON.");
  expect(readRows(page)).toHaveLength(1);
});

test("selected attempts are written to new files, with those that a filter hides", async () => {
  const page = await open([createRow(1), createRow(2), createRow(3)]);
  const listButtons = () => page.listNames("button").filter(it => it.startsWith("New "));
  expect(listButtons()).toEqual([]);
  page.find("checkbox", "Select banking-1").dispatchEvent(new MouseEvent("click"));
  page
    .find("checkbox", "Select banking-3")
    .dispatchEvent(new MouseEvent("click", { shiftKey: true }));
  page.find("checkbox", "Select banking-2").dispatchEvent(new MouseEvent("click"));
  await page.sendEvent("filtered", "task:banking-1");
  expect(page.text).toContain("2 selected, 1 of them not shown");
  page.click("button", "New Tasks File From Selection…");
  page.click("button", "New Fine-Tuning File From Selection…");
  expect(page.requests).toEqual([
    { name: "writeTasks", params: { rows: [0, 2] } },
    { name: "writeConversations", params: { rows: [0, 2] } },
  ]);
});

test("while attempts are scored, it says of how many", async () => {
  const page = await openPage<AttemptsPage>("attempts", { load: view });
  await page.sendEvent("rows", { rows: [createRow(1)], weights: {} });
  await page.sendEvent("counted", 12_345);
  await expect.poll(() => page.text).toContain("scoring 1 of 12,345…");
});

test("rewards have the decimals that the editor is set to", async () => {
  document.body.dataset["rewardDecimals"] = "1";
  const page = await open([createRow(1, { total: 1.25 })]);
  delete document.body.dataset["rewardDecimals"];
  expect(readRows(page)[0]![1]).toBe("1.3");
});

test("the space bar selects the focused row", async () => {
  const page = await open([createRow(1), createRow(2)]);
  page.main.querySelector<HTMLElement>("tr[data-key='1']")!.focus();
  press(" ");
  expect(page.text).toContain("1 selected");
  press(" ");
  expect(page.text).not.toContain("selected");
});
