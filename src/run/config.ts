/**
 * The settings of a training and their defaults. A training file, the command line and the editor's
 * questions give some of them; run.json, which is written once, has all of them and what else
 * belongs to a run.
 */
import { z } from "zod";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { splits } from "../trajectory/task.ts";
import { computedWith } from "./backends.ts";

export const runFormat = "prove/run@1";

/** `auto` is the fastest one that passes its self-test. */
export const backends = ["auto", "tensorflow", "webgpu", "wasm", "cpu"] as const;

const positive = z.number().positive();
const count = z.int().min(1);
const share = z.number().min(0).max(1);

export const objectiveNames = ["prove", "dapo", "dr-grpo", "gspo"] as const;

const grpoSettings = z.strictObject({
  /** The preset that the settings which are not given come from. */
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
  /** Tasks per step. */
  prompts: count,
  /** Attempts at each task. */
  group: z.int().min(2),
  learningRate: positive,
  /** Minibatches per step, each with an optimizer step. */
  minibatches: count,
  temperature: positive,
  /** `shuffled` assigns the advantages to attempts at random: a control that must not learn. */
  advantages: z.enum(["group", "shuffled"]),
});

const sftSettings = z.strictObject({
  /** Conversations per step, over all workers. */
  conversations: count,
  learningRate: positive,
  /** Steps over which the learning rate rises from zero, or a tenth of the run if that is less. */
  warmUp: z.int().min(0),
  /** The last share of the run, over which the learning rate falls to a twentieth. */
  decay: share,
  /**
   * Weight of the loss on the tokens of tools and users; predicting them helps to copy from them.
   */
  given: share,
  /** Share of conversations in which the assistant makes one error and corrects it. */
  slips: share,
  /** Share of turns in which the teacher is careless, as `createCarelessTrajectory` says. */
  careless: share,
});

const loraSettings = z.strictObject({
  /** The inner size of each adapter. */
  rank: count,
  /** What an adapter adds is scaled by alpha / rank. */
  alpha: positive,
  /** The linear layers that have adapters, as Hugging Face models name them; all if absent. */
  targets: z.array(z.string()).min(1).optional(),
});

export type GrpoSettings = z.infer<typeof grpoSettings>;
export type SftSettings = z.infer<typeof sftSettings>;
export type LoraSettings = z.infer<typeof loraSettings>;

/**
 * The paper's objective: token mean, rewards scaled within the group, and a KL term. Runs of before
 * 0.7 lack some of these settings, and were trained with these values.
 */
const paperSettings = {
  objective: "prove",
  ratio: "token",
  normalization: "tokens",
  advantageScale: "group-std",
  kl: 0.01,
  clip: { low: 0.2, high: 0.28 },
  resample: 0,
  overlong: 0,
  decay: "constant",
  failedGroups: 1,
  credit: "attempt",
  curriculum: 0,
  variants: false,
  turns: "all",
  constrained: false,
} as const satisfies Partial<GrpoSettings>;

/** The paper's settings, scaled to the small student: groups of 8 instead of 16. */
export const defaultGrpoSettings: GrpoSettings = Object.freeze({
  ...paperSettings,
  prompts: 16,
  group: 8,
  learningRate: 8e-5,
  minibatches: 2,
  temperature: 1,
  advantages: "group",
});

/** What each objective sets otherwise. */
const objectives: Readonly<Record<GrpoSettings["objective"], Partial<GrpoSettings>>> = {
  prove: {},
  // Yu et al., 2025
  dapo: { kl: 0, resample: 16, overlong: 32 },
  // Liu et al., 2025
  "dr-grpo": {
    normalization: "constant",
    advantageScale: "none",
    kl: 0,
    clip: { low: 0.2, high: 0.2 },
  },
  // Zheng et al., 2025
  gspo: {
    ratio: "sequence",
    normalization: "attempts",
    kl: 0,
    clip: { low: 3e-4, high: 4e-4 },
  },
};

/** All settings of GRPO: the given ones, then those of the objective, then the defaults. */
export const completeGrpoSettings = ({
  objective = "prove",
  ...given
}: Partial<GrpoSettings>): GrpoSettings => ({
  ...defaultGrpoSettings,
  ...objectives[objective],
  ...given,
  objective,
});

export const defaultSftSettings: SftSettings = Object.freeze({
  conversations: 20,
  learningRate: 3e-4,
  warmUp: 40,
  decay: 0.4,
  given: 0,
  slips: 0.15,
  careless: 0,
});

/** The defaults of settings, some of which depend on the model in `createRunConfigFrom`. */
export const trainingDefaults = {
  method: "grpo",
  split: "train",
  profile: defaultProfile.name,
  /** If there are no seconds. */
  steps: 200,
  seed: 1,
  backend: "auto",
  workers: 2,
  saveEvery: 50,
  keepGroups: 1,
} as const;

const { method, ...defaults } = trainingDefaults;

/** The settings of trainings with any method. */
const commonSettings = z.strictObject({
  split: z.enum(splits).describe(`The split of the tasks to train on. Default: ${defaults.split}.`),
  onlyFitting: z
    .boolean()
    .optional()
    .describe(
      "Train only on tasks that fit the model: on servers it was trained on, and within its limits. Default: false.",
    ),
  profile: z
    .enum(profiles.map(it => it.name))
    .describe(`The reward profile. Default: ${defaults.profile}.`),
  steps: count
    .optional()
    .describe(`Stop after this many steps. Default: ${defaults.steps}, if there are no seconds.`),
  seconds: positive.optional().describe("Stop after this many seconds of training."),
  seed: z.int().min(0).describe(`The seed of every random choice. Default: ${defaults.seed}.`),
  backend: z.enum(backends).describe(`The TensorFlow.js backend. Default: ${defaults.backend}.`),
  workers: count.max(64).describe(`Worker processes of the trainer. Default: ${defaults.workers}.`),
  saveEvery: count.describe(`Steps between checkpoints. Default: ${defaults.saveEvery}.`),
  keepGroups: z
    .int()
    .min(0)
    .describe(
      `Steps between stored groups of attempts; 0 stores none. Default: ${defaults.keepGroups}.`,
    ),
});

/**
 * What a training file says, and the command line and the editor's questions as well. Settings that
 * are left out have their defaults.
 */
export const trainingSettings = z
  .strictObject({
    $schema: z.string(),
    tasks: z.string().min(1).describe("The tasks file to train on, relative to this file."),
    model: z
      .string()
      .min(1)
      .describe(
        "The model to start from: the name of one that ships (small or careless), or a model folder or checkpoint, relative to this file. Default: small.",
      ),
    method: z
      .enum(["grpo", "sft"])
      .describe(
        `GRPO on groups of attempts, or supervised fine-tuning (SFT) on the teachers' conversations. Default: ${method}.`,
      ),
    ...commonSettings.shape,
    lora: loraSettings
      .partial({ alpha: true })
      .describe("Train low-rank adapters (LoRA) instead of all weights."),
    grpo: grpoSettings.partial().describe("Settings of GRPO."),
    sft: sftSettings.partial().describe("Settings of supervised fine-tuning."),
  })
  .partial();

export type TrainingSettings = Omit<z.infer<typeof trainingSettings>, "$schema">;

/** What run.json has beside the settings of the method. */
const runShape = {
  format: z.literal(runFormat),
  /** The version of the program that created the run. */
  version: z.string(),
  began: z.iso.datetime(),
  /** The tasks file; `split` selects from it. */
  tasks: z.string(),
  /** The model folder that it starts from; absent for random weights. */
  from: z.string().optional(),
  /** The engine that trains instead of PROVE's own trainer. */
  engine: z.enum(["trl", "verl"]).optional(),
  /**
   * The backend that the last training of the run used, and why, and what to know about its tasks.
   * The trainer writes it.
   */
  trainedWith: computedWith.extend({ aboutTasks: z.array(z.string()).optional() }).optional(),
  ...commonSettings.shape,
  // a run of another version may have a profile that this one does not know
  profile: z.string(),
  /** The adapters that are trained instead of all weights. */
  lora: loraSettings.optional(),
};

/**
 * Settings of GRPO as run.json has them. Runs of before 0.7 lack those that came later, which then
 * have the values that those runs were trained with.
 */
const storedGrpoSettings = z
  .preprocess(
    it => (typeof it === "object" && it !== null ? { ...paperSettings, ...it } : it),
    grpoSettings,
  )
  .superRefine(({ credit, ratio, advantages, curriculum, variants }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (credit === "call" && ratio === "sequence")
      refuse("credit", "credit per call needs the ratio of each token");
    if (credit === "call" && advantages === "shuffled")
      refuse("credit", "shuffled advantages belong to whole attempts, not to calls");
    if (variants && curriculum === 0)
      refuse(
        "variants",
        "variants are of tasks that a curriculum chooses again; set curriculum too",
      );
  });

export const runConfig = z.discriminatedUnion("method", [
  z.strictObject({ ...runShape, method: z.literal("grpo"), grpo: storedGrpoSettings }),
  z.strictObject({
    ...runShape,
    method: z.literal("sft"),
    // runs of before 0.6 do not have the setting
    sft: sftSettings.extend({ careless: sftSettings.shape.careless.default(0) }),
  }),
]);

export type RunConfig = z.infer<typeof runConfig>;
export type GrpoConfig = Extract<RunConfig, { method: "grpo" }>;
export type SftConfig = Extract<RunConfig, { method: "sft" }>;
