/** Filtering and sorting the table of attempts, and the texts of its cells. */
import { expect, test } from "vitest";
import type { AttemptRow } from "../../../src/protocol/attemptsPage.ts";
import {
  createColumns,
  createMatcher,
  formatCell,
  sortIndices,
} from "../../../webview/attempts/rowOrder.ts";

const row: AttemptRow = {
  line: { number: 1, offset: 0, bytes: 1 },
  key: "0123456789abcdef",
  task: "banking-1",
  request: "Move 50 euros to my Savings.",
  servers: ["banking", "calendar"],
  kind: "normal",
  split: "train",
  policy: "small",
  calls: 3,
  budget: 6,
  total: 1.25,
  paper: 0.875,
  success: false,
  scores: { validity: 1, efficiency: -0.5 },
  error: "banking_transfer: insufficient\u202efunds",
};

const checkMatch = (text: string, expected: boolean) =>
  expect(createMatcher({ text, failuresOnly: false, notes: {} })(row)).toBe(expected);

test("all words must occur, in any case", () => checkMatch("SAVINGS 50", true));
test("a word that does not occur hides the row", () => checkMatch("savings porto", false));
test("a field is compared with its own value", () => checkMatch("server:calendar", true));
test("a field does not match other texts", () => checkMatch("server:savings", false));
test("errors are searched", () => checkMatch("error:insufficient", true));
test("what is not a field is a word", () => checkMatch("constructor:x", false));

test("a quoted value is the whole field", () => {
  checkMatch('task:"BANKING-1" policy:small', true);
  checkMatch('task:"banking"', false);
  checkMatch("task:banking", true);
});
test("a quoted value can have spaces, and quotes that are doubled", () => {
  const match = createMatcher({
    text: 'policy:"the ""big"" one" euros',
    failuresOnly: false,
    notes: {},
  });
  expect(match({ ...row, policy: 'The "big" one' })).toBe(true);
  expect(match({ ...row, policy: "The big one" })).toBe(false);
});

test("only failures are shown on demand, not what has no reward", () => {
  const matches = createMatcher({ text: "", failuresOnly: true, notes: {} });
  expect(matches(row)).toBe(true);
  expect(matches({ ...row, success: true })).toBe(false);
  const { success: _, ...unscored } = row;
  expect(matches(unscored)).toBe(false);
});

const keys = [
  [1, 5],
  [undefined, 9],
  [0, 7],
  [0, 2],
] as const;

test("rows are sorted by their first key, then by the others, and those without a key are last", () =>
  expect(sortIndices([0, 1, 2, 3], i => keys[i]!, false)).toEqual([3, 2, 0, 1]));

test("in descending order, too, rows without a key are last", () =>
  expect(sortIndices([0, 1, 2, 3], i => keys[i]!, true)).toEqual([0, 3, 2, 1]));

test("the cells show fixed decimals, the budget, and no invisible characters", () => {
  const columns = createColumns([row], { validity: 0.5, efficiency: 0.15 });
  expect(columns.map(it => [it.title, formatCell(it, row, row.total)])).toEqual([
    ["Success", "no"],
    ["Reward", "1.250"],
    ["First Error", "banking_transfer: insufficient⟨U+202E⟩funds"],
    ["Task", "banking-1"],
    ["Paper", "0.875"],
    ["validity", "1.00"],
    ["efficiency", "−0.50"],
    ["Calls", "3/6"],
    ["Server", "banking, calendar"],
    ["Kind", "normal"],
    ["Policy", "small"],
  ]);
});

test("a failure without a refused call says why it failed", () => {
  const { error: _, ...own } = { ...row, reason: "Savings was left with 0.00 euros" };
  const column = createColumns([own], {}).find(it => it.title === "First Error")!;
  expect(formatCell(column, own, 1)).toBe("Savings was left with 0.00 euros");
  expect(formatCell(column, { ...own, error: "refused" }, 1)).toBe("refused");
});

test("the attempts of other software have the score of their file in place of a reward", () => {
  const { line, key, request, policy, calls, error } = row;
  const shared = { line, key, request, servers: [], policy, calls, error: error! };
  const own = { ...shared, task: "s1/epoch-1", attempt: 0, score: 0.25, scores: {} };
  expect(createColumns([own], {}).map(it => [it.title, formatCell(it, own, undefined)])).toEqual([
    ["Score", "0.25"],
    ["First Error", "banking_transfer: insufficient⟨U+202E⟩funds"],
    ["Task", "s1/epoch-1"],
    ["Attempt", "1"],
    ["Calls", "3"],
    ["Policy", "small"],
  ]);
});

test("the attempts of a run have their step, their number and their advantage", () => {
  const own = { ...row, step: 4, attempt: 0, advantage: -0.25 };
  const titles = createColumns([own], {}).map(it => [it.title, formatCell(it, own, 1)]);
  expect(titles).toContainEqual(["Step", "4"]);
  expect(titles).toContainEqual(["Attempt", "1"]);
  expect(titles).toContainEqual(["Advantage", "−0.25"]);
});
