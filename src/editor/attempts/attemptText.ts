/** The transcript of an attempt with its reward, as the editor shows it. */
import { describeCall } from "../../reward/breakdownText.ts";
import type { Task } from "../../trajectory/task.ts";
import { formatTranscript, type Transcript } from "../../trajectory/transcript.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { formatRewardLines, type AttemptReward } from "./attemptReward.ts";

/** Formats an attempt with a note on the reward at each call, and the totals at the end. */
export function formatAttempt(
  trajectory: Trajectory,
  task: Task | undefined,
  reward: AttemptReward,
): Transcript {
  const breakdown = "breakdowns" in reward ? reward.breakdowns[0] : undefined;
  return formatTranscript(trajectory, {
    ...(task ? { task } : {}),
    ...(breakdown ? { describeCall: call => describeCall(breakdown, call) } : {}),
    closing: formatRewardLines(reward),
  });
}
