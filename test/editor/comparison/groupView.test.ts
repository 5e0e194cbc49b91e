/** The page of a group: aligned calls, refusals, goals, and the tokens that carried a gradient. */
import { expect, test } from "vitest";
import { createGroupView } from "../../../src/editor/comparison/groupView.ts";
import { paperProfile } from "../../../src/reward/profiles.ts";
import { scoreCalls } from "../../../src/reward/reward.ts";
import { groupFormat, type GroupLine } from "../../../src/run/group.ts";
import { listCalls, type Event, type Trajectory } from "../../../src/trajectory/trajectory.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";

const task = await moveFifty();
const place = { subject: "s", run: "first-1", step: 4 };

const user: Event = { kind: "user", text: "Move 50 to Savings." };
const say = (message: number, tokens: number, text = ""): Event => ({
  kind: "assistant",
  message,
  text,
  tokens: Array.from({ length: tokens }, (_, i) => i),
});
const call = (message: number, name: string, refusal?: string): Event => ({
  kind: "call",
  message,
  name,
  arguments: {},
  outcome: refusal ? { kind: "refused", message: refusal } : { kind: "ok", value: {} },
  digest: "",
});

function createLine(
  attempt: number,
  events: readonly Event[],
  more: Partial<GroupLine> = {},
): GroupLine {
  const trajectory: Trajectory = {
    header: task.trajectory.header,
    events: [user, ...events, { kind: "ended", by: "policy" }],
  };
  const goals = [
    { calls: [{ name: "banking_list_accounts", arguments: {} }], after: [] },
    { calls: [{ name: "banking_transfer", arguments: {} }], after: [] },
  ];
  const calls = listCalls(trajectory).map(it => ({
    ...it,
    outcome: { kind: it.outcome.kind as "ok" },
  }));
  return {
    format: groupFormat,
    step: 4,
    task: task.id,
    attempt,
    advantage: 0.5,
    success: true,
    paper: 1,
    breakdown: scoreCalls({ goals, calls }, paperProfile),
    clipped: [],
    trajectory,
    ...more,
  };
}

const whole = createLine(0, [
  say(0, 3),
  call(0, "banking_list_accounts"),
  say(1, 4),
  call(1, "banking_transfer"),
  say(2, 5, "Done."),
]);

test("the calls are aligned, and an attempt that lacks one has an empty cell", () => {
  const short = createLine(1, [say(0, 4), call(0, "banking_transfer"), say(1, 2, "Moved.")]);
  const { turns } = createGroupView(place, [whole, short]);
  expect(turns.map(it => it.user)).toEqual(["Move 50 to Savings."]);
  expect(turns[0]!.rows.map(it => [it.tool, ...it.cells.map(cell => cell?.text)])).toEqual([
    ["banking_list_accounts", "{}", undefined],
    ["banking_transfer", "{}", "{}"],
    ["", "Done.", "Moved."],
  ]);
  expect(turns[0]!.rows[1]!.cells).toMatchObject([{ goal: 1 }, { goal: 1 }]);
});

test("a refused call has its message and serves as the reward says", () => {
  const refused = createLine(0, [say(0, 2), call(0, "banking_cancel", "there is no such card")]);
  const [turn] = createGroupView(place, [refused]).turns;
  const [cell] = turn!.rows[0]!.cells;
  expect(cell).toMatchObject({ outcome: "refused", message: "there is no such card" });
  expect(cell).not.toHaveProperty("goal");
});

test("the last message of a turn shows what was to be told", () => {
  const due = { turn: 0, subject: "the balance of Savings", wanted: "3,550.00" };
  const answers = [
    { ...due, isTold: true },
    { ...due, isTold: false, note: "told 3,505.00, is 3,550.00" },
  ];
  const [turn] = createGroupView(place, [
    { ...whole, breakdown: { ...whole.breakdown, answers } },
  ]).turns;
  expect(turn!.rows.map(it => it.cells[0]?.answers?.map(({ text }) => text))).toEqual([
    undefined,
    undefined,
    [
      "✓ told the balance of Savings: 3,550.00",
      "✗ the balance of Savings: told 3,505.00, is 3,550.00",
    ],
  ]);
});

test("clipped tokens belong to their message and carry no gradient", () => {
  const clipped = { ...whole, clipped: [1, 4, 4, 11] };
  const { columns, turns } = createGroupView(place, [clipped]);
  expect(turns[0]!.rows.map(it => it.cells[0]?.tokens)).toEqual([
    { count: 3, clipped: [1], advantage: 0.5 },
    { count: 4, clipped: [1], advantage: 0.5 },
    { count: 5, clipped: [4], advantage: 0.5 },
  ]);
  expect(columns).toMatchObject([{ tokens: 12, withGradient: 9 }]);
});

test("without an advantage, no token carries a gradient", () =>
  expect(createGroupView(place, [{ ...whole, advantage: 0 }]).columns).toMatchObject([
    { tokens: 12, withGradient: 0 },
  ]));

test("the tokens of several calls of one message are shown at its first call", () => {
  const both = createLine(0, [
    say(0, 6),
    call(0, "banking_list_accounts"),
    call(0, "banking_transfer"),
  ]);
  const [turn] = createGroupView(place, [both]).turns;
  expect(turn!.rows.map(it => it.cells[0]?.tokens?.count)).toEqual([6, undefined]);
});

test("credit per call changes the advantage of the call's message", () => {
  const credited = { ...whole, credits: [-0.5, 0.25] };
  const { turns, columns } = createGroupView(place, [credited]);
  expect(turns[0]!.rows.map(it => it.cells[0]?.tokens?.advantage)).toEqual([0, 0.75, 0.5]);
  expect(columns).toMatchObject([{ withGradient: 9 }]);
});

test("what is done in one turn does not share rows with another turn", () => {
  const second: Event = { kind: "user", text: "Thanks. Move 20 more." };
  const first = createLine(0, [say(0, 1), call(0, "banking_transfer"), second, say(1, 1, "No.")]);
  const late = createLine(1, [say(0, 1, "No."), second, say(1, 1), call(1, "banking_transfer")]);
  const { turns } = createGroupView(place, [first, late]);
  expect(turns.map(it => it.rows.map(row => [row.tool, row.cells.map(Boolean)]))).toEqual([
    [
      ["", [false, true]],
      ["banking_transfer", [true, false]],
    ],
    [
      ["banking_transfer", [false, true]],
      ["", [true, false]],
    ],
  ]);
});
