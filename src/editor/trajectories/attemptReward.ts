/** Computes the reward of an attempt under the profiles, and whether the attempt succeeded. */
import type { Catalog } from "../../environment/catalog.ts";
import type { Breakdown } from "../../reward/breakdown.ts";
import { paperLiteralProfile, shownProfiles } from "../../reward/profiles.ts";
import { isScored, scoreAttempt } from "../../reward/reward.ts";
import { getSuccess, type Success } from "../../reward/success.ts";
import { describeTotals } from "../../reward/breakdownText.ts";
import { createAttemptFactory } from "../../trajectory/attempt.ts";
import type { Task } from "../../trajectory/task.ts";
import { asFinished, type Trajectory } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";

export type AttemptReward =
  | { readonly breakdowns: readonly Breakdown[]; readonly success: Success }
  /** Why the attempt cannot be scored. */
  | { readonly unscorable: string };

export function computeReward(
  catalog: Catalog,
  task: Task | undefined,
  trajectory: Trajectory,
): AttemptReward {
  const finished = asFinished(trajectory);
  if (!task) return { unscorable: "its task was not found" };
  if (!finished) return { unscorable: "it has not ended" };
  try {
    const attempt = createAttemptFactory(catalog)(task, finished);
    const results = shownProfiles.map(it => scoreAttempt(attempt, it));
    const failed = results.find(it => !isScored(it));
    if (failed && !isScored(failed)) return { unscorable: failed.unscorable };
    const [paper, ...others] = results.filter(isScored);
    const breakdowns = [paper!, ...others.filter(it => isOfInterest(it, paper!))];
    return { breakdowns, success: getSuccess(attempt) };
  } catch (error) {
    // a fixture or a tool has changed, but the transcript can still be shown
    if (error instanceof UserError) return { unscorable: `${error.what}; ${error.remedy}` };
    throw error;
  }
}

/** Whether a breakdown says more than the paper's: the literal one does where it differs. */
const isOfInterest = ({ profile, total }: Breakdown, paper: Breakdown): boolean =>
  profile !== paperLiteralProfile.name || total !== paper.total;

/** Reward and success as the last lines of a transcript. */
export function formatRewardLines(reward: AttemptReward): readonly string[] {
  if ("unscorable" in reward) return [`no reward: ${reward.unscorable}`];
  const { breakdowns, success } = reward;
  const [first, ...others] = breakdowns.map(describeTotals);
  return [
    ...(first ?? []),
    ...others.map(it => it[0]!),
    `success: ${success.achieved ? "yes" : `no (${success.reasons.join("; ")})`}`,
  ];
}
