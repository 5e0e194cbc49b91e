/** What an attempt earned under every profile, and whether it succeeded; or why nothing can be said. Knows no editor. */
import type { Catalog } from "../environment/catalog.ts";
import { Mistake } from "../mistake.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import { profiles } from "../reward/profiles.ts";
import { isScored, score } from "../reward/reward.ts";
import { successOf, type Success } from "../reward/success.ts";
import { attemptsOn } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import { finishedOf, type Trajectory } from "../trajectory/trajectory.ts";

export type Grade =
  | { readonly breakdowns: readonly Breakdown[]; readonly success: Success }
  | { readonly unscorable: string };

export function gradeOf(catalog: Catalog, task: Task | undefined, trajectory: Trajectory): Grade {
  const finished = finishedOf(trajectory);
  if (!task) return { unscorable: "its task is not at hand" };
  if (!finished) return { unscorable: "it has not ended" };
  try {
    const attempt = attemptsOn(catalog)(task, finished);
    const scored = profiles.map(it => score(attempt, it));
    const failed = scored.find(it => !isScored(it));
    if (failed && !isScored(failed)) return { unscorable: failed.unscorable };
    return { breakdowns: scored.filter(isScored), success: successOf(attempt) };
  } catch (error) {
    // a fixture or a tool has changed since: the transcript is still worth reading
    if (error instanceof Mistake) return { unscorable: `${error.what}; ${error.remedy}` };
    throw error;
  }
}

/** What one call earned, in a line. */
export function noteOf({ calls }: Breakdown, call: number): string {
  const evidence = calls[call]!;
  const rung = ["0", "⅓", "⅔", "1"][Math.round(evidence.validity * 3)]!;
  const differing = evidence.arguments.filter(it => !it.equal && !it.masked).map(it => it.key);
  const serves = evidence.serves ? `serves goal ${evidence.serves.goal}` : "serves no goal";
  return [`validity ${rung}`, serves, ...(differing.length ? [`not equal: ${differing.join(", ")}`] : []), ...(evidence.overBudget ? ["beyond the budget"] : [])].join(" · ");
}

/** The totals and success, a line each. */
export function closingOf(grade: Grade): readonly string[] {
  if ("unscorable" in grade) return [`no reward: ${grade.unscorable}`];
  const { breakdowns, success } = grade;
  const totals = breakdowns.map(it => `${it.profile} ${it.total.toFixed(4)}`).join(" · ");
  return [`reward ${totals}`, success.achieved ? "success: yes" : `success: no (${success.why.join("; ")})`];
}
