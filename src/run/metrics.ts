/**
 * What a run says about each of its steps: one line of metrics.jsonl. Knows the numbers' meaning,
 * not how they came about.
 */
import { z } from "zod";

const number = z.number();
const share = z.number().min(0).max(1);

const learning = {
  step: z.int().min(1),
  loss: number,
  /** Before clipping, the mean over the step's minibatches. */
  gradientNorm: number,
  learningRate: number,
};

export const grpoStep = z.object({
  ...learning,
  method: z.literal("grpo"),
  /** Mean total under the profile the run trains on, and its spread over the step's attempts. */
  reward: z.object({ mean: number, std: number }),
  /** Mean total under the paper's own five parts and weights. */
  paper: number,
  /** Mean score of each of the five parts, before the weight, over tasks with goals. */
  parts: z.object({
    validity: number,
    coverage: number,
    efficiency: number,
    name: number,
    argument: number,
  }),
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
  /** Attempts that ended by a fault of the world's or ours: not scored, not learned from. */
  faults: z.int().min(0),
  tokensPerRollout: number,
  rolloutsPerSecond: number,
  /** k3 estimate against the start, mean a token. */
  kl: number,
  /** Tokens whose ratio was clipped. */
  clipShare: share,
  entropy: number,
  seconds: z.object({ environment: number, sampling: number, learning: number, total: number }),
});

export const sftStep = z.object({
  ...learning,
  method: z.literal("sft"),
  /** Mean loss a token on conversations kept apart; present where it was measured. */
  validation: number.optional(),
  /** Tokens read, and those that carry the loss. */
  tokens: z.int().min(0),
  taught: z.int().min(0),
  conversations: z.int().min(0),
  seconds: z.object({ learning: number, total: number }),
});

export const stepMetrics = z.discriminatedUnion("method", [grpoStep, sftStep]);

export type GrpoStep = z.infer<typeof grpoStep>;
export type SftStep = z.infer<typeof sftStep>;
/** One step of a run. */
export type StepMetrics = z.infer<typeof stepMetrics>;
