/** The hints with the reward after each call of a transcript. */
import { expect, test } from "vitest";
import type { ShownReward } from "../../../../src/editor/attempts/attemptReward.ts";
import {
  describeRewardHint,
  listRewardHints,
} from "../../../../src/editor/attempts/transcript/rewardHints.ts";
import { provePlusProfile } from "../../../../src/reward/profiles.ts";
import { calling, saying, transfer } from "../../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

test("each call has the reward so far and what it changed, at its line", async () => {
  const { trajectory, transcript, reward } = await loadSampleAttempt();
  const lines = transcript.text.split("\n");
  const hints = listRewardHints(trajectory, transcript, reward);
  expect(hints.map(it => lines[it.line]!.replace(/\(.*/, ""))).toEqual([
    "✓ banking_list_accounts",
    "✗ banking_transfer",
    "✓ banking_transfer",
  ]);
  for (const it of hints) expect(it.text).toMatch(/^\d\.\d{3} \(([+−]\d\.\d{3}|±0)\)$/);
  const values = hints.map(it => it.text.split(" ")[0]);
  const { breakdowns } = reward as ShownReward;
  expect(Number(values.at(-1))).toBeCloseTo(breakdowns[0].total, 3);
});

test("a hint says which parts the call changed, and under which profile", async () => {
  const { trajectory, transcript, reward } = await loadSampleAttempt(undefined, provePlusProfile);
  const [first] = listRewardHints(trajectory, transcript, reward);
  const text = describeRewardHint(reward as ShownReward, first!.prefix);
  expect(text).toMatch(/^Reward by prove-plus after call 1\n/);
  expect(text).toMatch(/coverage 0\.000 → \d\.\d{3} \(\+\d\.\d{3}\)/);
});

test("the first call is compared with a right one: a refused one earns less than it keeps", async () => {
  const { trajectory, transcript, reward } = await loadSampleAttempt(
    [calling(transfer("acc_108", 1e5)), saying("Moved.")],
    provePlusProfile,
  );
  const [first] = listRewardHints(trajectory, transcript, reward);
  // half of ⅔ instead of 1, and no goal has its arguments
  expect(first!.text).toMatch(/\(−0\.\d{3}\)$/);
  expect(describeRewardHint(reward as ShownReward, 1)).toContain("validity 1.000 → 0.333 (−0.333)");
});

test("an attempt without a reward has no hints", async () => {
  const { trajectory, transcript } = await loadSampleAttempt();
  expect(listRewardHints(trajectory, transcript, { unscorable: "its task was not found" })).toEqual(
    [],
  );
});
