/** What the reward page shows: the whole attempt, and its calls so far while it is stepped through. */
import { expect, test } from "vitest";
import { createRewardView } from "../../../../src/editor/attempts/reward/rewardView.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

const address = "prove:/transcripts/made/t-move.transcript";

test("without a debugger, the page shows the whole attempt and the reward after each call", async () => {
  const attempt = await loadSampleAttempt();
  const view = createRewardView(address, attempt, "paper");
  expect(view.prefix).toBeUndefined();
  expect(view.calls).toHaveLength(3);
  expect(view.totals).toHaveLength(5);
  expect(view.breakdowns[0]!.total).toBe(view.totals.at(-1));
  expect(view.success).toMatchObject({ value: false });
});

test("while the attempt is stepped through, the page shows the reward of the calls so far", async () => {
  const attempt = await loadSampleAttempt();
  const second = attempt.trajectory.events.findIndex(
    it => it.kind === "call" && it.outcome.kind !== "ok",
  );
  const view = createRewardView(address, attempt, "paper", second + 1);
  expect(view.prefix).toEqual({ index: 2, text: "after call 2 of 3" });
  expect(view.breakdowns[0]!.total).toBe(view.totals[2]);
  expect(view.breakdowns[0]!.calls).toHaveLength(2);
  expect(view.success).toBeUndefined();
});

test("before the first event nothing is earned, and success is decided at the end", async () => {
  const attempt = await loadSampleAttempt();
  const start = createRewardView(address, attempt, "paper", 0);
  expect(start.prefix).toMatchObject({ index: 0, text: "before the first call" });
  expect(start.breakdowns[0]!.total).toBe(start.totals[0]);
  const end = createRewardView(address, attempt, "paper", attempt.trajectory.events.length);
  expect(end.prefix).toMatchObject({ index: 4, text: "at the end" });
  expect(end.success).toMatchObject({ value: false });
});

test("an attempt that cannot be scored says why", async () => {
  const attempt = await loadSampleAttempt();
  const unscorable = "its task was not found";
  const view = createRewardView(address, { ...attempt, reward: { unscorable } }, "paper", 2);
  expect(view).toMatchObject({ breakdowns: [], totals: [], unscorable });
});
