// @vitest-environment happy-dom
/** The page of an attempt's reward: its parts, the evidence for them, and stepping. */
import { expect, test } from "vitest";
import type { Breakdown, RewardPage, RewardView } from "../../../src/protocol/rewardPage.ts";
import { openPage, press } from "../openPage.ts";

const createPart = (score: number, weight: number) => ({ score, weight, value: score * weight });

const paper: Breakdown = {
  profile: "paper",
  rule: "tool",
  parts: {
    validity: createPart(0.5, 1),
    coverage: createPart(0.5, 2),
    efficiency: createPart(0, 0.5),
    name: createPart(1, 0.5),
    argument: createPart(0.75, 1),
  },
  extras: {},
  total: 2.75,
  n: 2,
  budget: 3,
  calls: [
    {
      call: 0,
      name: "banking_transfer",
      validity: 1,
      named: true,
      serves: { goal: 0, call: 0 },
      arguments: [
        { key: "amount", goal: 5, model: 50, equal: false, masked: false },
        { key: "memo", goal: "rent", model: "Rent", equal: false, masked: true },
        { key: "to", goal: "acc_2", model: "acc_2", equal: true, masked: false },
      ],
      overBudget: false,
    },
    {
      call: 1,
      name: "banking_lookup",
      validity: 2 / 3,
      message: "there is no account acc_9",
      named: false,
      arguments: [],
      overBudget: false,
    },
  ],
  goals: [
    { goal: 0, matched: true, position: 0, calls: [0], otherArguments: true, broken: [] },
    { goal: 1, matched: false, calls: [null], broken: [] },
  ],
};
const plus: Breakdown = { ...paper, profile: "prove-plus", extras: { success: createPart(0, 2) } };
const view: RewardView = {
  address: "prove:/transcripts/few/banking-7.transcript",
  task: "banking-7",
  policy: "student",
  ended: "ended by the policy",
  request: "Send 5 EUR to Ada",
  calls: [
    { name: "banking_transfer", arguments: `{"amount":50,"to":"acc_2"}`, outcome: "ok" },
    { name: "banking_lookup", arguments: `{"account_id":"acc_9"}`, outcome: "refused" },
  ],
  goals: [
    { calls: [{ name: "banking_transfer", arguments: `{"amount":5}` }], after: [] },
    { calls: [{ name: "banking_receipt", arguments: "{}" }], after: [0] },
  ],
  profiles: [
    { name: "paper", summary: "the paper's five parts" },
    { name: "prove-plus", summary: "and success" },
  ],
  profile: "prove-plus",
  breakdowns: [plus, paper],
  totals: [0, 3, 2.75, 2.75],
  changes: [0, 3, -0.25, 0],
  success: { value: false, reasons: ["accounts.acc_2.balance is 70 instead of 25"] },
};
const open = (changes: Partial<RewardView> = {}) =>
  openPage<RewardPage>("reward", { load: { ...view, ...changes } });

test("the parts are a table with their scores, weights and values", async () => {
  const page = await open();
  expect(page.listNames("heading")).toEqual([
    "Send 5 EUR to Ada",
    "Reward after each call",
    "Parts",
    "Calls",
    "Goals",
  ]);
  const rows = page.readTable("table.parts");
  expect(rows.map(it => it.slice(1, 4))).toEqual([
    ["0.500", "× 1.00", "0.500"],
    ["0.500", "× 2.00", "1.000"],
    ["0.000", "× 0.50", "0.000"],
    ["1.000", "× 0.50", "0.500"],
    ["0.750", "× 1.00", "0.750"],
    ["0.000", "× 2.00", "0.000"],
  ]);
  expect(rows[2]![4]).toBe("no penalty");
  expect(page.find("img", "1.000 of 2.00")).toBeDefined();
  expect(page.main.querySelector(".parts tfoot")!.textContent).toBe("total2.750");
});

test("profiles are cards in their order, and an arrow key chooses another one", async () => {
  const page = await open();
  expect(page.listNames("radio")).toEqual(["paper2.750of 4.5", "prove-plus2.750of 6.5"]);
  expect(page.find("radio", /^prove-plus/).getAttribute("aria-checked")).toBe("true");
  expect(page.text).toContain("✗ noaccounts.acc_2.balance is 70 instead of 25");
  expect(page.text).toContain("2 calls made, 3 in the budget.");
  page.find("radio", /^prove-plus/).focus();
  press("ArrowRight");
  expect(page.requests).toEqual([{ name: "setProfile", params: { name: "paper" } }]);
});

test("a call says what it serves, where it differs, and why it was refused", async () => {
  const page = await open();
  const [first, second] = [...page.main.querySelectorAll("ol.calls > li")];
  expect(first!.textContent).toContain("◐ serves goal 1, 1 of 2 arguments equal");
  expect(page.readTable("ol.calls table")).toEqual([
    ["amount", "5", "≠", "50"],
    ["memo", `"rent"`, "not compared", `"Rent"`],
    ["to", `"acc_2"`, "=", `"acc_2"`],
  ]);
  expect(second!.textContent).toContain("✗ refused: there is no account acc_9");
  expect(second!.textContent).toContain("· serves no goal, and no goal uses its tool");
  expect(page.listNames("img")).toContain("validity 0.67, not reached: accepted");
});

test("a goal says which call serves it, and a call leads to the transcript", async () => {
  const page = await open();
  const goals = [...page.main.querySelectorAll("ol.goals > li")].map(it => it.textContent);
  expect(goals[0]).toContain("◐ called with other argumentsin any order");
  expect(goals[1]).toContain("no call✗ not reachedafter goal 1");
  page.click("button", "call 1");
  page.main.querySelector<HTMLElement>("#call-1")!.click();
  expect(page.requests).toEqual([
    { name: "reveal", params: { call: 0 } },
    { name: "reveal", params: { call: 1 } },
  ]);
});

test("an answer says what was told and what is right, and leads to its turn", async () => {
  const answers = [
    { turn: 0, goal: 0, subject: "the balance of acc_1", wanted: "450", isTold: true },
    {
      turn: 1,
      subject: "the balance of acc_2",
      wanted: "1,204.00",
      isTold: false,
      note: "told 1,240.00, is 1,204.00",
    },
  ];
  const extras = { answer: createPart(0.5, 0.2), ...plus.extras };
  const page = await open({ breakdowns: [{ ...plus, extras, answers }, paper] });
  expect(page.listNames("heading")).toContain("Answers");
  const items = [...page.main.querySelectorAll("ol.answers > li")].map(it => it.textContent);
  expect(items).toEqual([
    "the balance of acc_1✓ told: 450",
    "the balance of acc_2✗ told 1,240.00, is 1,204.00",
  ]);
  expect(page.readTable("table.parts")[5]!.slice(1, 4)).toEqual(["0.500", "× 0.20", "0.100"]);
  page.click("button", "the balance of acc_2");
  expect(page.requests).toEqual([{ name: "revealTurn", params: { turn: 1 } }]);
});

test("the reward after each call shows what the call changed", async () => {
  const page = await open();
  expect(page.readTable("table.call-rewards").map(it => it.slice(0, 4))).toEqual([
    ["", "start", "0.000", ""],
    ["1", "banking_transfer", "3.000", "+3.000"],
    ["2", "banking_lookup", "2.750", "−0.250"],
    ["", "end", "2.750", "±0"],
  ]);
});

test("while the attempt is stepped through, what comes later is not shown yet", async () => {
  const page = await open();
  const { success: _, ...before } = view;
  const prefix = { index: 1, text: "after call 1 of 2" };
  await page.sendEvent("changed", { ...before, prefix });
  expect(page.listNames("status")).toEqual(["Stepping through: after call 1 of 2"]);
  expect(page.main.querySelector("[aria-current=step]")!.textContent).toContain("3.000");
  expect(page.readTable("table.call-rewards")[2]!.slice(2, 4)).toEqual(["", ""]);
  expect(page.text).toContain("decided at the end");
  page.click("button", "Step Through Trajectory");
  expect(page.requests.at(-1)).toEqual({ name: "step", params: null });
});

test("the control that has the focus keeps it when the page is drawn again", async () => {
  const page = await open();
  page.main.querySelector<HTMLElement>("#call-1")!.focus();
  await page.sendEvent("changed", { ...view, request: "Another one" });
  expect(page.listNames("heading")[0]).toBe("Another one");
  expect(document.activeElement!.id).toBe("call-1");
});

test("a page that is asked for a call goes there and says so", async () => {
  const page = await open({ call: 1 });
  expect(document.activeElement!.id).toBe("call-1");
  expect(page.requests).toEqual([{ name: "arrived", params: null }]);
});

test("an attempt that can no longer be read stays on screen, with the reason", async () => {
  const page = await open();
  expect(page.list("alert")).toEqual([]);
  await page.sendEvent("outdated", "the task was deleted");
  expect(page.listNames("alert")).toEqual(["the task was deleted"]);
  expect(page.listNames("heading")).toContain("Parts");
});

test("an attempt without a reward says why", async () => {
  const page = await open({
    breakdowns: [],
    totals: [],
    changes: [],
    unscorable: "its fixture has changed",
  });
  expect(page.listNames("alert")).toEqual(["This attempt has no reward: its fixture has changed."]);
});

test("a task that needs no tool has a rule instead of parts", async () => {
  const abstain: Breakdown = {
    ...paper,
    rule: "abstain",
    total: 1,
    n: 0,
    budget: 0,
    calls: [],
    goals: [],
  };
  const page = await open({
    calls: [],
    goals: [],
    breakdowns: [abstain],
    totals: [1, 1],
    changes: [0, 0],
    profile: "paper",
  });
  expect(page.text).toContain("The abstention rule replaces the five parts.");
  expect(page.text).toContain("The task has no goals: the correct answer makes no call.");
  expect(page.listNames("radio")).toEqual(["paper1.000of 1.0"]);
});
