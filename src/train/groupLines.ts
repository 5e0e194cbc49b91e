/** The attempts of a step as they are stored. */
import { groupFormat, type GroupLine } from "../run/group.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { ScoredAttempt } from "./scoredAttempt.ts";

/** The lines of a group, in the order of its attempts. */
export const createGroupLines = (
  step: number,
  {
    attempts,
    variant,
  }: { readonly attempts: readonly ScoredAttempt[]; readonly variant: Task | undefined },
): GroupLine[] =>
  attempts.map((it, attempt) => ({
    format: groupFormat,
    step,
    task: it.task.id,
    attempt,
    advantage: it.advantage,
    ...(it.credits ? { credits: [...it.credits] } : {}),
    success: it.success,
    paper: it.paper,
    breakdown: it.breakdown,
    clipped: it.clipped,
    trajectory: stripTrajectory(it.trajectory),
    ...(variant ? { variant } : {}),
  }));

/** Without patches, which a replay restores, and with log-probabilities to six digits. */
function stripTrajectory({ header, events }: Trajectory): GroupLine["trajectory"] {
  return {
    header,
    events: events.map(it => {
      if (it.kind === "assistant" && it.logprobs)
        return { ...it, logprobs: it.logprobs.map(lp => Number(lp.toPrecision(6))) };
      if (it.kind !== "call") return it;
      const { patches: _, ...rest } = it;
      return rest;
    }),
  };
}
