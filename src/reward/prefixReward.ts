/**
 * The reward of the first calls of an attempt, which shows where the reward of the whole was earned
 * and lost. The paper (section 3.3) defines the reward of a whole attempt only; the definition for
 * a prefix is ours:
 *
 * - Every part of the profile is computed on the calls so far, by the equations for the whole.
 * - The goals, and with them the budget B and the number of goals |G|, are those of the whole, as
 *   the whole attempt resolved them, so that a change between two prefixes comes from the calls
 *   between them. A goal that a later call meets is not met yet.
 * - What needs the final state or answer counts only at the end of the attempt: success, the states
 *   of `envfactory`, the answer of `tier`, and a turn whose goals were all met before it.
 * - A task without goals has 1 before the first call and, unless look-ups cost little, 0 from then
 *   on.
 * - The teacher's calls before an attempted turn belong to every prefix.
 *
 * A mean over calls may fall with a call, and a call that serves a goal better than an earlier one
 * takes its place, also where that breaks the order of the goals. The reward at the end is that of
 * `scoreAttempt`.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import { listCalls, type Event, type Trajectory } from "../trajectory/trajectory.ts";
import type { Breakdown } from "./breakdown.ts";
import type { Profile } from "./profiles.ts";
import { isScored, scoreAttempt, scoreCallsUntil, type Unscorable } from "./reward.ts";

/**
 * The prefix that the first events of a trajectory are: the number of their calls, and one more
 * than the number of all calls if the attempt has ended.
 */
export const countPrefix = (events: readonly Event[], count: number): number =>
  events.slice(0, count).filter(it => it.kind === "call" || it.kind === "ended").length;

/** Says which prefix it is: "after call 2 of 5". */
export function describePrefix(trajectory: Trajectory, prefix: number): string {
  const { length } = listCalls(trajectory);
  if (prefix > length) return "at the end";
  return prefix === 0 ? "before the first call" : `after call ${prefix} of ${length}`;
}

/** The breakdown of a prefix: after so many calls, or at the end. */
export const scorePrefix = (
  attempt: Attempt,
  profile: Profile,
  prefix: number,
): Breakdown | Unscorable =>
  prefix > listCalls(attempt.trajectory).length
    ? scoreAttempt(attempt, profile)
    : scoreCallsUntil(attempt, profile, prefix);

/** The totals of all prefixes; the last is that of the attempt after its end. */
export function listPrefixTotals(
  attempt: Attempt,
  profile: Profile,
): readonly number[] | Unscorable {
  const totals: number[] = [];
  for (const it of scorePrefixes(attempt, profile)) {
    if (!isScored(it)) return it;
    totals.push(it.total);
  }
  return totals;
}

/** The breakdowns of all prefixes, one after the other. */
export function* scorePrefixes(
  attempt: Attempt,
  profile: Profile,
): Generator<Breakdown | Unscorable> {
  const last = countPrefix(attempt.trajectory.events, attempt.trajectory.events.length);
  for (let prefix = 0; prefix <= last; prefix++) yield scorePrefix(attempt, profile, prefix);
}
