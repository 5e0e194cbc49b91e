/**
 * The configuration of a run: method, tasks, starting model and length. It is written once, as
 * run.json.
 */
import { z } from "zod";
import { splits } from "../trajectory/task.ts";
import { computedWith } from "./computedWith.ts";
import {
  defaultExtraSettings,
  extraSettings,
  getObjective,
  objectiveSettings,
} from "./objectives.ts";

export const runFormat = "prove/run@1";

/** `auto` is the fastest one that passes its self-test. */
export const backends = ["auto", "tensorflow", "webgpu", "wasm", "cpu"] as const;

const positive = z.number().positive();
const count = z.int().min(1);

export const grpoSettings = z.strictObject({
  ...objectiveSettings.shape,
  ...extraSettings.shape,
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

export const sftSettings = z.strictObject({
  /** Conversations per step, over all workers. */
  conversations: count,
  learningRate: positive,
  /** Steps over which the learning rate rises from zero. */
  warmUp: z.int().min(0),
  /** The last share of the run, over which the learning rate falls to a twentieth. */
  decay: z.number().min(0).max(1),
  /**
   * Weight of the loss on the tokens of tools and users; predicting them helps to copy from them.
   */
  given: z.number().min(0).max(1),
  /** Share of conversations in which the assistant makes one error and corrects it. */
  slips: z.number().min(0).max(1),
  /** Share of turns in which the teacher is careless, as `createCarelessTrajectory` says. */
  careless: z.number().min(0).max(1),
});

export const loraSettings = z.strictObject({
  /** The inner size of each adapter. */
  rank: count,
  /** What an adapter adds is scaled by alpha / rank. */
  alpha: positive,
  /** The linear layers that have adapters, as Hugging Face models name them; all if absent. */
  targets: z.array(z.string()).min(1).optional(),
});

export type LoraSettings = z.infer<typeof loraSettings>;

export type GrpoSettings = z.infer<typeof grpoSettings>;

/**
 * Settings of GRPO as run.json has them. Runs of before 0.7 lack those that came later, which then
 * have the values that those runs were trained with.
 */
const storedGrpoSettings = z
  .preprocess(
    it =>
      typeof it === "object" && it !== null
        ? { ...getObjective("prove"), ...defaultExtraSettings, ...it }
        : it,
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
export type SftSettings = z.infer<typeof sftSettings>;

const common = {
  format: z.literal(runFormat),
  /** The version of the program that created the run. */
  version: z.string(),
  began: z.iso.datetime(),
  /** The tasks file; `split` selects from it. */
  tasks: z.string(),
  split: z.enum(splits),
  /**
   * Whether only the tasks of the split that fit the starting model are trained on: on servers that
   * it was trained on, and within its limits.
   */
  onlyFitting: z.boolean().optional(),
  /** The model folder that it starts from; absent for random weights. */
  from: z.string().optional(),
  seed: z.int().min(0),
  /** The engine that trains instead of PROVE's own trainer. */
  engine: z.enum(["trl", "verl"]).optional(),
  backend: z.enum(backends),
  /**
   * The backend that the last training of the run used, and why, and what to know about its tasks.
   * The trainer writes it.
   */
  trainedWith: computedWith.extend({ aboutTasks: z.array(z.string()).optional() }).optional(),
  workers: z.int().min(1).max(64),
  /** The run ends after these steps or seconds of training, whichever comes first. */
  steps: count.optional(),
  seconds: positive.optional(),
  /** The adapters that are trained instead of all weights. */
  lora: loraSettings.optional(),
  /** Steps between checkpoints. */
  saveEvery: count,
  /** The reward profile. */
  profile: z.string(),
  /** Steps between stored groups; 0 stores none. */
  keepGroups: z.int().min(0),
};

export const runConfig = z.discriminatedUnion("method", [
  z.strictObject({ ...common, method: z.literal("grpo"), grpo: storedGrpoSettings }),
  z.strictObject({
    ...common,
    method: z.literal("sft"),
    // runs of before 0.6 do not have the setting
    sft: sftSettings.extend({ careless: sftSettings.shape.careless.default(0) }),
  }),
]);

export type RunConfig = z.infer<typeof runConfig>;
export type GrpoConfig = Extract<RunConfig, { method: "grpo" }>;
export type SftConfig = Extract<RunConfig, { method: "sft" }>;

/** The paper's settings, scaled to the small student: groups of 8 instead of 16. */
export const defaultGrpoSettings: GrpoSettings = Object.freeze({
  ...getObjective("prove"),
  ...defaultExtraSettings,
  prompts: 16,
  group: 8,
  learningRate: 8e-5,
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
  careless: 0,
});
