/** A scored attempt of a group, with the tokens to train on. */
import type { Task } from "../trajectory/task.ts";
import type { Finished, Trajectory } from "../trajectory/trajectory.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import type { Branch } from "../model/packedBatch.ts";

export interface ScoredAttempt {
  readonly task: Task;
  readonly trajectory: Finished<Trajectory>;
  readonly breakdown: Breakdown;
  /** The reward of the paper's profile, whichever profile the run uses. */
  readonly paper: number;
  readonly success: boolean;
  /** The tokens that all attempts of the group begin with: menu, time and first user turn. */
  readonly opening: readonly number[];
  /** The tokens after the opening, up to the last one that the student sampled. */
  readonly branch: Branch;
  /** lp_old of the sampled tokens, in order. */
  readonly logprobs: readonly number[];
  advantage: number;
  /** Indices of the sampled tokens whose importance ratio was clipped. */
  clipped: number[];
}
