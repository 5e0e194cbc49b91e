/**
 * What a run says about each of its steps: one line of metrics.jsonl. Knows how lines are written, read back and cut at a
 * checkpoint, not how the numbers came about.
 */
import { z } from "zod";

const number = z.number();
const share = z.number().min(0).max(1);

export const stepMetrics = z.object({
  step: z.int().min(1),
  method: z.enum(["grpo", "sft"]),
  /** Mean total under the profile the run trains on, and its spread over the step's attempts. */
  reward: z.object({ mean: number, std: number }),
  /** Mean total under the paper's own five parts and weights. */
  paper: number,
  /** Mean score of each of the five parts, before the weight. */
  parts: z.object({ validity: number, coverage: number, efficiency: number, name: number, argument: number }),
  /** Mean reward of tasks without goals, which top out at 1; absent where the step had none. */
  abstention: number.optional(),
  success: share,
  /** Calls an attempt, and the budget B they were allowed. */
  calls: number,
  budget: number,
  /** Of all calls: not parsed, no such tool, arguments that do not fit, refused by the server. */
  errors: z.object({ syntax: share, tool: share, arguments: share, refused: share }),
  /** Attempts that ran into a limit. */
  cut: share,
  /** Groups whose attempts all earned the same: they give no gradient. */
  zeroVariance: share,
  attempts: z.int().min(0),
  tokensPerRollout: number,
  rolloutsPerSecond: number,
  /** k3 estimate against the start, mean a token. */
  kl: number,
  /** Tokens whose ratio was clipped. */
  clipShare: share,
  entropy: number,
  loss: number,
  gradientNorm: number,
  learningRate: number,
  seconds: z.object({ environment: number, sampling: number, learning: number, total: number }),
});

/** One step of a run. In `sft` the attempts' fields are those of the last evaluation, or zero before one. */
export type StepMetrics = z.infer<typeof stepMetrics>;
