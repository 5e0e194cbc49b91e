/** The reward after each call as hints in the transcript, under the profile on screen. */
import type { Breakdown } from "../../../reward/breakdown.ts";
import { describeCall, formatPartChange, listPartChanges } from "../../../reward/breakdownText.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import type { Trajectory } from "../../../trajectory/trajectory.ts";
import type { Transcript } from "../../../trajectory/transcript.ts";
import { formatReward, formatRewardChange, getRewardDecimals } from "../../shared/rewardText.ts";
import {
  getRewardStep,
  scoreShownPrefix,
  type AttemptReward,
  type ShownReward,
} from "../attemptReward.ts";

interface RewardHint {
  /** The line of the call in the transcript, from 0. */
  readonly line: number;
  /** The number of calls up to and with this one. */
  readonly prefix: number;
  /** The reward so far and its change: `1.050 (+0.500)`. */
  readonly text: string;
}

/** A hint per scored call; none for an attempt without a reward. */
export function listRewardHints(
  { events }: Trajectory,
  { ranges }: Transcript,
  reward: AttemptReward,
): readonly RewardHint[] {
  if ("unscorable" in reward) return [];
  const { calls } = reward.breakdowns[0];
  let prefix = 0;
  return events.flatMap((event, index) => {
    if (event.kind !== "call" || calls[prefix++]?.given) return [];
    const { total, change } = getRewardStep(reward, events, index + 1)!;
    const text = `${formatReward(total)} (${formatRewardChange(change)})`;
    return [{ line: ranges[index]!.first, prefix, text }];
  });
}

/** How a call was scored, and what it changed; undefined for an attempt without a reward. */
export function describeCallReward(
  { events }: Trajectory,
  reward: AttemptReward,
  index: number,
): string | undefined {
  if ("unscorable" in reward) return undefined;
  const prefix = countPrefix(events, index + 1);
  const [breakdown] = reward.breakdowns;
  const note = describeCall(breakdown, prefix - 1);
  const hint = breakdown.calls[prefix - 1]?.given ? undefined : describeRewardHint(reward, prefix);
  return [note, hint].filter(it => it !== undefined).join("\n");
}

/** Says which parts the last call of a prefix changed, one per line. */
export function describeRewardHint(reward: ShownReward, prefix: number): string {
  const [before] = scoreShownPrefix(reward, prefix - 1);
  const [after] = scoreShownPrefix(reward, prefix);
  return [`Reward by ${after.profile} after call ${prefix}`, ...listChanges(before, after)].join(
    "\n",
  );
}

function listChanges(before: Breakdown, after: Breakdown): readonly string[] {
  const changes = listPartChanges(before, after).map(it =>
    formatPartChange(it, getRewardDecimals()),
  );
  return changes.length > 0 ? changes : ["no part changed"];
}
