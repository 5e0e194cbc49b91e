/**
 * What an attempt earned under every profile, and whether it succeeded; or why nothing can be said.
 * Knows no editor.
 */
import type { Catalog } from "../../environment/catalog.ts";
import { UserError } from "../../userError.ts";
import type { Breakdown } from "../../reward/breakdown.ts";
import { profiles } from "../../reward/profiles.ts";
import { isScored, scoreAttempt as scoreByProfile } from "../../reward/reward.ts";
import { judgeSuccess, type Success } from "../../reward/success.ts";
import { describeTotals } from "../../reward/words.ts";
import { createAttemptFactory } from "../../trajectory/attempt.ts";
import type { Task } from "../../trajectory/task.ts";
import { asFinished, type Trajectory } from "../../trajectory/trajectory.ts";

export type AttemptReward =
  | { readonly breakdowns: readonly Breakdown[]; readonly success: Success }
  | { readonly unscorable: string };

export function scoreAttempt(
  catalog: Catalog,
  task: Task | undefined,
  trajectory: Trajectory,
): AttemptReward {
  const finished = asFinished(trajectory);
  if (!task) return { unscorable: "its task is not at hand" };
  if (!finished) return { unscorable: "it has not ended" };
  try {
    const attempt = createAttemptFactory(catalog)(task, finished);
    const scored = profiles.map(it => scoreByProfile(attempt, it));
    const failed = scored.find(it => !isScored(it));
    if (failed && !isScored(failed)) return { unscorable: failed.unscorable };
    return { breakdowns: scored.filter(isScored), success: judgeSuccess(attempt) };
  } catch (error) {
    // a fixture or a tool has changed since: the transcript is still worth reading
    if (error instanceof UserError) return { unscorable: `${error.what}; ${error.remedy}` };
    throw error;
  }
}

/** Reward and success, for the end of a transcript. */
export function formatRewardLines(grade: AttemptReward): readonly string[] {
  if ("unscorable" in grade) return [`no reward: ${grade.unscorable}`];
  const { breakdowns, success } = grade;
  const [first, ...others] = breakdowns.map(describeTotals);
  return [
    ...(first ?? []),
    ...others.map(it => it[0]!),
    `success: ${success.achieved ? "yes" : `no (${success.reasons.join("; ")})`}`,
  ];
}
