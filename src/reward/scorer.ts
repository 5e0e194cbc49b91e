/**
 * Scores attempts: the only place that opens an attempt and computes its rewards. Trainer, service,
 * evaluation, tables, transcripts, `prove-rl score` and the Test Explorer all call it, so that they
 * agree on the reward and on why there is none.
 */
import type { Catalog } from "../environment/catalog.ts";
import {
  createAttemptFactory,
  type Attempt,
  type FinishedAttempt,
  type RecordedAttempt,
} from "../trajectory/attempt.ts";
import { asFinished, noTask } from "../trajectory/trajectory.ts";
import { describeFailure, UserError } from "../userError.ts";
import type { Breakdown } from "./breakdown.ts";
import type { Profile } from "./profiles.ts";
import { explainUnscorable, isScored, scoreAttempt, type Unscorable } from "./reward.ts";

/**
 * A scored attempt: one breakdown per profile, in the order of the profiles. `isAchieved` and
 * `getSuccess` say whether the attempt succeeded.
 */
export interface ScoredAttempt<Profiles extends readonly Profile[] = readonly Profile[]> {
  readonly attempt: Attempt;
  readonly breakdowns: { readonly [Index in keyof Profiles]: Breakdown };
}

/** An attempt that ended by a fault that was not the policy's. */
export interface UnscoredAttempt extends Unscorable {
  readonly attempt: Attempt;
}

/** Scores an attempt. Throws a `UserError` if the goals of its task no longer run. */
export type Scorer = <Profiles extends readonly Profile[]>(
  attempt: FinishedAttempt,
  ...profiles: Profiles
) => ScoredAttempt<Profiles> | UnscoredAttempt;

/** Creates the scorer of a catalog. The goals of a task object are run once. */
export function createScorer(catalog: Catalog): Scorer {
  const createAttempt = createAttemptFactory(catalog);
  const score = (
    { task, trajectory, finalState }: FinishedAttempt,
    ...profiles: readonly Profile[]
  ): ScoredAttempt | UnscoredAttempt => {
    const attempt = createAttempt(task, trajectory, finalState);
    const breakdowns: Breakdown[] = [];
    for (const it of profiles) {
      const breakdown = scoreAttempt(attempt, it);
      if (!isScored(breakdown)) return { attempt, ...breakdown };
      breakdowns.push(breakdown);
    }
    return { attempt, breakdowns };
  };
  return score as Scorer;
}

/**
 * Scores an attempt as it is recorded, or says why it has no score. Does not throw: `bug` is what
 * PROVE threw.
 */
export function scoreRecorded<Profiles extends readonly Profile[]>(
  score: Scorer,
  { trajectory, task }: RecordedAttempt,
  ...profiles: Profiles
): ScoredAttempt<Profiles> | (Unscorable & { readonly bug?: unknown }) {
  const unscorable = explainUnscorable(trajectory);
  if (unscorable !== undefined) return { unscorable };
  if (!task) return { unscorable: explainMissingTask(trajectory.header.task) };
  const finished = asFinished(trajectory);
  if (!finished) return { unscorable: "it has not ended" };
  try {
    return score({ task, trajectory: finished }, ...profiles);
  } catch (error) {
    // a fixture or a tool has changed, or PROVE has a bug: neither stops other attempts, nor hides
    // a transcript
    const unscorable = describeFailure(error);
    return error instanceof UserError ? { unscorable } : { unscorable, bug: error };
  }
}

const explainMissingTask = (task: string): string =>
  task === noTask ? "it was made in a session, without a task" : `its task ${task} was not found`;
