/** An attempt of a group with its reward. */
import type { Task } from "../trajectory/task.ts";
import type { Finished } from "../trajectory/trajectory.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import type { Branch } from "../model/packedBatch.ts";

/** One scored attempt of a group, and what is to be learned from it. */
export interface ScoredAttempt {
  readonly task: Task;
  readonly trajectory: Finished<Trajectory>;
  readonly breakdown: Breakdown;
  readonly paper: number;
  readonly success: boolean;
  /** Menu, time and first user turn: what the whole group begins with. */
  readonly opening: readonly number[];
  /** Everything after it, up to the last token the student sampled. */
  readonly branch: Branch;
  /** lp_old of the sampled tokens, in their order. */
  readonly logprobs: readonly number[];
  advantage: number;
  clipped: number[];
}
