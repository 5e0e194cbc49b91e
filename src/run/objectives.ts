/**
 * The named objectives of GRPO. Each is a preset of settings that do not depend on each other, and
 * a setting that is given explicitly replaces the preset's.
 */
import { z } from "zod";

const positive = z.number().positive();
const share = z.number().min(0).max(1);

export const objectiveNames = ["prove", "dapo", "dr-grpo", "gspo"] as const;

export const objectiveSettings = z.strictObject({
  /** The preset that the other settings come from. */
  objective: z.enum(objectiveNames),
  /** The importance ratio is that of each token, or the geometric mean over an attempt's tokens. */
  ratio: z.enum(["token", "sequence"]),
  /**
   * The loss is the mean over all tokens of a minibatch, the mean over its attempts of the means
   * over their tokens, or the sum over an attempt's tokens divided by a constant.
   */
  normalization: z.enum(["tokens", "attempts", "constant"]),
  /**
   * What the difference to the group's mean reward is divided by: the deviation of the group, that
   * of all rewards of the step, or nothing.
   */
  advantageScale: z.enum(["group-std", "batch-std", "none"]),
  /** β of the KL term; the reference is the run's starting weights. */
  kl: z.number().min(0),
  /** The ratio is clipped to [1 - low, 1 + high]. */
  clip: z.strictObject({ low: positive, high: positive }),
  /** Tasks per step that may be attempted in place of those whose attempts all earn the same. */
  resample: z.int().min(0),
  /**
   * Tokens before the limit of an attempt over which its reward falls by up to 1; 0 for no
   * punishment of length.
   */
  overlong: z.int().min(0),
});

export type ObjectiveSettings = z.infer<typeof objectiveSettings>;

/** The paper's: token mean, rewards scaled within the group, and a KL term. */
const prove: ObjectiveSettings = {
  objective: "prove",
  ratio: "token",
  normalization: "tokens",
  advantageScale: "group-std",
  kl: 0.01,
  clip: { low: 0.2, high: 0.28 },
  resample: 0,
  overlong: 0,
};

const presets: Readonly<Record<ObjectiveSettings["objective"], ObjectiveSettings>> = {
  prove,
  // Yu et al., 2025
  dapo: { ...prove, objective: "dapo", kl: 0, resample: 16, overlong: 32 },
  // Liu et al., 2025
  "dr-grpo": {
    ...prove,
    objective: "dr-grpo",
    normalization: "constant",
    advantageScale: "none",
    kl: 0,
    clip: { low: 0.2, high: 0.2 },
  },
  // Zheng et al., 2025
  gspo: {
    ...prove,
    objective: "gspo",
    ratio: "sequence",
    normalization: "attempts",
    kl: 0,
    clip: { low: 3e-4, high: 4e-4 },
  },
};

/** The settings of an objective. */
export const getObjective = (name: ObjectiveSettings["objective"]): ObjectiveSettings =>
  structuredClone(presets[name]);

/** Settings of GRPO beside the objective, which runs of before 0.7 do not have. */
export const extraSettings = z.strictObject({
  /** How the learning rate falls over the run, to a twentieth. */
  decay: z.enum(["constant", "linear", "cosine"]),
  /** The weight of groups in which no attempt succeeds. */
  failedGroups: share,
  /** `call` adds to the advantage of a call's tokens how good the call is by itself. */
  credit: z.enum(["attempt", "call"]),
  /** Share of a step's tasks that are chosen again because their outcome is undecided. */
  curriculum: share,
  /**
   * Whether those tasks are replaced by variants, which synthesis makes during the training: the
   * same tools in the same turns, about other entities and in other words.
   */
  variants: z.boolean(),
  /**
   * What an attempt does of a conversation: all turns, or one, after the teacher's own calls of the
   * turns before it.
   */
  turns: z.enum(["all", "one"]),
  /**
   * Whether decoding is constrained to calls that fit the offered tools. All log-probabilities are
   * then those among the tokens that were allowed.
   */
  constrained: z.boolean(),
});

export type ExtraSettings = z.infer<typeof extraSettings>;

export const defaultExtraSettings: ExtraSettings = Object.freeze({
  decay: "constant",
  failedGroups: 1,
  credit: "attempt",
  curriculum: 0,
  variants: false,
  turns: "all",
  constrained: false,
});
