/** The score of an attempt as the service reports it. */
import { describeReplaced, type Attempt, type FinishedAttempt } from "../trajectory/attempt.ts";
import {
  getEnd,
  listCalls,
  type Finished,
  type Trajectory,
  formatTrajectoryLine,
} from "../trajectory/trajectory.ts";
import { formatBreakdownLine, partNames, type Breakdown } from "../reward/breakdown.ts";
import { scorePrefix, scorePrefixes } from "../reward/prefixReward.ts";
import { defaultProfile, paperProfile, profiles, type Profile } from "../reward/profiles.ts";
import { isScored, type Unscorable } from "../reward/reward.ts";
import type { Scorer, UnscoredAttempt } from "../reward/scorer.ts";
import { getSuccess } from "../reward/success.ts";
import { HttpError } from "./httpError.ts";
import { startSlices } from "./slices.ts";

export interface ScoreOptions {
  /** The name of a profile; the default one if absent. */
  readonly profile?: string | undefined;
  readonly evidence?: boolean | undefined;
  readonly prefix?: number | undefined;
  /** Add what a line of a group file has, other than what only the trainer knows. */
  readonly group?: boolean | undefined;
}

/** A score as clients receive it. */
export interface Score {
  /** Null if the attempt cannot be scored. */
  readonly reward: number | null;
  readonly profile: string;
  readonly [field: string]: unknown;
}

export interface ScoredAttempt {
  readonly score: Score;
  /** What the score is of; undefined for an attempt whose task need not be known. */
  readonly attempt?: Attempt;
}

/** Enough for every attempt that calls what it needs. */
const maxPrefixes = 2_000;

/**
 * Adds the rewards after 0, 1, … calls and at the end, where the attempt has them. They take a time
 * that grows with the square of the calls, and so are computed in slices. Rejects with an
 * `HttpError` if there are too many calls.
 */
export async function addPrefixRewards({ score, attempt }: ScoredAttempt): Promise<Score> {
  const { length } = attempt ? listCalls(attempt.trajectory) : [];
  if (length > maxPrefixes)
    throw new HttpError(
      "TOO_LARGE",
      `${score["trajectory_id"] as string} has ${length} calls, and rewards after each call are computed for ${maxPrefixes} at most`,
      "leave prefixes out, or ask for one prefix",
    );
  const pause = startSlices();
  const totals: number[] = [];
  for (const it of attempt ? scorePrefixes(attempt, findProfile(score.profile)) : []) {
    if (!isScored(it)) return score;
    totals.push(it.total);
    await pause();
  }
  return attempt ? { ...score, prefix_rewards: totals } : score;
}

/** The parts of a score are null if the attempt cannot be scored, and success in a prefix, too. */
export function createScore(
  score: Scorer,
  finished: FinishedAttempt,
  { profile: name, evidence, prefix, group }: ScoreOptions,
  notes: readonly string[] = [],
): ScoredAttempt {
  const profile = findProfile(name);
  const isPrefix = prefix !== undefined && prefix <= listCalls(finished.trajectory).length;
  const wanted = isPrefix ? [] : group ? [profile, paperProfile] : [profile];
  const scored = score(finished, ...wanted);
  const { attempt } = scored;
  const { trajectory } = attempt;
  const replaced = describeReplaced(attempt);
  const [whole, paper] = "unscorable" in scored ? [] : scored.breakdowns;
  const result = isPrefix
    ? scorePrefix(attempt, profile, prefix)
    : (whole ?? (scored as UnscoredAttempt));
  const isComplete = isScored(result);
  const success = isComplete && !isPrefix ? getSuccess(attempt, profile) : undefined;
  const created = {
    ...createTotals(trajectory, profile, result),
    success: success?.achieved ?? null,
    reasons: success?.reasons ?? [],
    differences: success?.differences ?? [],
    notes: replaced === undefined ? notes : [...notes, replaced],
    ...(evidence && isComplete ? { breakdown: result } : {}),
    ...(group && isComplete && success
      ? {
          group: {
            task: trajectory.header.task,
            success: success.achieved,
            paper: paper!.total,
            breakdown: formatBreakdownLine(result),
            trajectory: formatTrajectoryLine(trajectory),
          },
        }
      : {}),
  };
  return { score: created, attempt };
}

/** The score of a recorded attempt that cannot be scored, whatever its task is. */
export const createEmptyScore = (
  trajectory: Finished<Trajectory>,
  { profile }: ScoreOptions,
  unscorable: string,
): Score => ({
  ...createTotals(trajectory, findProfile(profile), { unscorable }),
  success: null,
  reasons: [],
  differences: [],
  notes: [],
});

const findProfile = (name: string | undefined): Profile =>
  profiles.find(it => it.name === name) ?? defaultProfile;

function createTotals(
  trajectory: Finished<Trajectory>,
  profile: Profile,
  result: Breakdown | Unscorable,
): Score {
  const { header } = trajectory;
  const isComplete = isScored(result);
  return {
    task_id: header.task,
    trajectory_id: header.id,
    ended: getEnd(trajectory).by,
    profile: profile.name,
    reward: isComplete ? result.total : null,
    unscorable: isComplete ? null : result.unscorable,
    rule: isComplete ? result.rule : null,
    components: {
      ...Object.fromEntries(partNames.map(it => [it, isComplete ? result.parts[it].score : null])),
      answer: (isComplete ? result.extras["answer"]?.score : undefined) ?? null,
    },
  };
}
