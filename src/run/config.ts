/**
 * What a run is: how it trains, on what, from where, and for how long. A value that is written
 * once, as run.json.
 */
import { z } from "zod";

export const runFormat = "prove/run@1";

const positive = z.number().positive();
const count = z.int().min(1);

export const grpoSettings = z.strictObject({
  /** Tasks a step, and attempts at each. */
  prompts: count,
  group: z.int().min(2),
  learningRate: positive,
  /** β of the KL term, against the weights the run began with. */
  kl: z.number().min(0),
  /** The ratio is clipped to [1 - low, 1 + high]. */
  clip: z.strictObject({ low: positive, high: positive }),
  /** Parts a step's groups are learned in, each with an optimizer step. */
  minibatches: count,
  temperature: positive,
  /** `shuffled` is a control that must not learn: the same advantages, dealt out by chance. */
  advantages: z.enum(["group", "shuffled"]),
});

export const sftSettings = z.strictObject({
  /** Conversations a step, over all workers. */
  conversations: count,
  learningRate: positive,
  /** Steps over which the rate rises from zero. */
  warmUp: z.int().min(0),
  /** The last share of the run over which the rate falls to a twentieth. */
  decay: z.number().min(0).max(1),
  /**
   * Weight of the loss on tokens that tools and users wrote; reading them well helps to copy from
   * them.
   */
  given: z.number().min(0).max(1),
  /** Share of conversations that err once and correct themselves. */
  slips: z.number().min(0).max(1),
});

export type GrpoSettings = z.infer<typeof grpoSettings>;
export type SftSettings = z.infer<typeof sftSettings>;

const common = {
  format: z.literal(runFormat),
  /** Of the program that began it. */
  version: z.string(),
  began: z.iso.datetime(),
  /** The tasks file, and which of its tasks. */
  tasks: z.string(),
  split: z.enum(["train", "heldout-chain", "heldout-server"]),
  /** The model folder it began from; absent where it began from random weights. */
  from: z.string().optional(),
  seed: z.int().min(0),
  backend: z.enum(["auto", "tensorflow", "wasm", "cpu"]),
  workers: z.int().min(1).max(64),
  /** It ends after these steps or this many seconds of training, whichever comes first. */
  steps: count.optional(),
  seconds: positive.optional(),
  /** Steps between checkpoints. */
  saveEvery: count,
  /** The reward it trains on. */
  profile: z.string(),
  /** Steps between kept groups; 0 keeps none. */
  keepGroups: z.int().min(0),
};

export const runConfig = z.discriminatedUnion("method", [
  z.strictObject({ ...common, method: z.literal("grpo"), grpo: grpoSettings }),
  z.strictObject({ ...common, method: z.literal("sft"), sft: sftSettings }),
]);

export type RunConfig = z.infer<typeof runConfig>;
export type GrpoConfig = Extract<RunConfig, { method: "grpo" }>;
export type SftConfig = Extract<RunConfig, { method: "sft" }>;

/**
 * The paper's group-relative method at the size of the small student: groups of 8 for 16, and one
 * learning rate.
 */
export const defaultGrpoSettings: GrpoSettings = Object.freeze({
  prompts: 16,
  group: 8,
  learningRate: 8e-5,
  kl: 0.01,
  clip: Object.freeze({ low: 0.2, high: 0.28 }),
  minibatches: 2,
  temperature: 1,
  advantages: "group",
});

export const defaultSftSettings: SftSettings = Object.freeze({
  conversations: 20,
  learningRate: 3e-4,
  warmUp: 40,
  decay: 0.4,
  given: 0,
  slips: 0.15,
});
