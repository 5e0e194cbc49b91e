/**
 * Scores an attempt as it is recorded, or says why it has no score. Tables, transcripts,
 * `prove-rl score`, the service and the Test Explorer all use it, so that they agree.
 */
import type { Attempt, CreateAttempt } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import { asFinished, noTask, type Trajectory } from "../trajectory/trajectory.ts";
import { describeFailure, UserError } from "../userError.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import type { Profile } from "../reward/profiles.ts";
import { explainUnscorable, isScored, scoreAttempt, type Unscorable } from "../reward/reward.ts";

interface RecordedScore {
  readonly attempt: Attempt;
  readonly breakdown: Breakdown;
}

/** The task is undefined if it was not found. `bug` is what PROVE threw. */
export function scoreRecorded(
  createAttempt: CreateAttempt,
  trajectory: Trajectory,
  task: Task | undefined,
  profile: Profile,
): RecordedScore | (Unscorable & { readonly bug?: unknown }) {
  const unscorable = explainUnscorable(trajectory);
  if (unscorable !== undefined) return { unscorable };
  if (!task) return { unscorable: explainMissingTask(trajectory.header.task) };
  const finished = asFinished(trajectory);
  if (!finished) return { unscorable: "it has not ended" };
  try {
    const attempt = createAttempt(task, finished);
    const breakdown = scoreAttempt(attempt, profile);
    return isScored(breakdown) ? { attempt, breakdown } : breakdown;
  } catch (error) {
    // a fixture or a tool has changed, or PROVE has a bug: neither stops other attempts, nor hides
    // a transcript
    const unscorable = describeFailure(error);
    return error instanceof UserError ? { unscorable } : { unscorable, bug: error };
  }
}

const explainMissingTask = (task: string): string =>
  task === noTask ? "it was made in a session, without a task" : `its task ${task} was not found`;
