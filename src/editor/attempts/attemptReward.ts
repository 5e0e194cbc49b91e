/**
 * Computes the reward of an attempt and of its prefixes under the profile on screen and others to
 * compare with, and whether the attempt succeeded.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Breakdown } from "../../reward/breakdown.ts";
import { describeTotals, createBaseline } from "../../reward/breakdownText.ts";
import { countPrefix, listPrefixTotals, scorePrefix } from "../../reward/prefixReward.ts";
import {
  defaultProfile,
  paperLiteralProfile,
  paperProfile,
  shownProfiles,
  type Profile,
} from "../../reward/profiles.ts";
import { isScored, type Unscorable } from "../../reward/reward.ts";
import { createScorer, scoreRecorded, type ScoredAttempt } from "../../reward/scorer.ts";
import { getSuccess, type Success } from "../../reward/success.ts";
import { describeReplaced } from "../../trajectory/attempt.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Event, Trajectory } from "../../trajectory/trajectory.ts";

/** The reward of an attempt as the editor shows it. */
export interface ShownReward extends ScoredAttempt<readonly [Profile, ...Profile[]]> {
  /** The profile on screen, and those to compare with. */
  readonly profiles: readonly [Profile, ...Profile[]];
  readonly success: Success;
}

export type AttemptReward = ShownReward | Unscorable;

/** Computes the reward of an attempt. `profile` is the one on screen. */
export function computeReward(
  catalog: Catalog,
  task: Task | undefined,
  trajectory: Trajectory,
  profile: Profile = defaultProfile,
): AttemptReward {
  const score = scoreRecorded(
    createScorer(catalog),
    { trajectory, task },
    profile,
    ...shownProfiles.filter(it => it.name !== profile.name),
  );
  if ("unscorable" in score) return score;
  const { attempt, breakdowns } = score;
  const [first, ...others] = breakdowns;
  const shown = others.filter(it => isOfInterest(it, breakdowns));
  return {
    attempt,
    profiles: [profile, ...shownProfiles.filter(it => shown.some(of => of.profile === it.name))],
    breakdowns: [first, ...shown],
    success: getSuccess(attempt, profile),
  };
}

/** Whether a breakdown says more than the paper's: the literal one does if its total differs. */
const isOfInterest = ({ profile, total }: Breakdown, all: readonly Breakdown[]): boolean =>
  profile !== paperLiteralProfile.name ||
  all.some(it => it.profile === paperProfile.name && it.total !== total);

/** How many prefixes are kept: a step shows what it changed, which takes two of them. */
const keptPrefixes = 4;

const prefixesByReward = new WeakMap<ShownReward, Map<number, ShownReward["breakdowns"]>>();

/**
 * The breakdowns of a prefix (see `prefixReward.ts`), one per profile. The last ones are kept,
 * because a step of the debugger shows them in several places.
 */
export function scoreShownPrefix(reward: ShownReward, prefix: number): ShownReward["breakdowns"] {
  const kept = prefixesByReward.get(reward) ?? new Map<number, ShownReward["breakdowns"]>();
  prefixesByReward.set(reward, kept);
  const known = kept.get(prefix);
  if (known) return known;
  const { attempt, profiles } = reward;
  const [first, ...others] = profiles.map(it => requireBreakdown(scorePrefix(attempt, it, prefix)));
  const breakdowns = [first!, ...others] as const;
  kept.set(prefix, breakdowns);
  const [oldest] = kept.keys();
  if (kept.size > keptPrefixes) kept.delete(oldest!);
  return breakdowns;
}

const totalsByReward = new WeakMap<ShownReward, readonly number[]>();

/** The totals of all prefixes under the profile on screen, which are computed once. */
export function getPrefixTotals(reward: ShownReward): readonly number[] {
  let totals = totalsByReward.get(reward);
  if (!totals) {
    const result = listPrefixTotals(reward.attempt, reward.profiles[0]);
    if ("unscorable" in result) throw new Error(result.unscorable);
    totalsByReward.set(reward, (totals = result));
  }
  return totals;
}

/** What each prefix changed in the total under the profile on screen; 0 for the empty one. */
export function listPrefixChanges(reward: ShownReward): readonly number[] {
  const totals = getPrefixTotals(reward);
  const given = reward.breakdowns[0].calls.filter(it => it.given).length;
  return totals.map((total, prefix) => {
    if (prefix === 0) return 0;
    if (prefix !== given + 1) return total - totals[prefix - 1]!;
    const [[before], [after]] = [prefix - 1, prefix].map(it => scoreShownPrefix(reward, it)) as [
      ShownReward["breakdowns"],
      ShownReward["breakdowns"],
    ];
    return total - createBaseline(before, after).total;
  });
}

/** The total after some events under the profile on screen, and what the last of them changed. */
interface RewardStep {
  readonly total: number;
  readonly change: number;
}

/** The reward after the first `count` events; undefined for an attempt without a reward. */
export function getRewardStep(
  reward: AttemptReward,
  events: readonly Event[],
  count: number,
): RewardStep | undefined {
  if ("unscorable" in reward) return undefined;
  const prefix = countPrefix(events, count);
  const hasChanged = prefix !== countPrefix(events, Math.max(0, count - 1));
  return {
    total: getPrefixTotals(reward)[prefix]!,
    change: hasChanged ? listPrefixChanges(reward)[prefix]! : 0,
  };
}

/** An attempt can be scored under all profiles or under none. */
function requireBreakdown(result: Breakdown | Unscorable): Breakdown {
  if (!isScored(result)) throw new Error(result.unscorable);
  return result;
}

/** Reward and success as the last lines of a transcript. */
export function formatRewardLines(reward: AttemptReward): readonly string[] {
  if ("unscorable" in reward) return [`no reward: ${reward.unscorable}`];
  const { attempt, breakdowns, success } = reward;
  const note = describeReplaced(attempt);
  const [first, ...others] = breakdowns.map(describeTotals);
  return [
    ...(first ?? []),
    ...others.map(it => it[0]!),
    `success: ${success.achieved ? "yes" : `no (${success.reasons.join("; ")})`}`,
    ...(note === undefined ? [] : [note]),
  ];
}
