/** The metrics of one step of a run, which is one line of metrics.jsonl, and a run's as CSV. */
import { z } from "zod";

const number = z.number();
const share = z.number().min(0).max(1);

const alarm = z.object({
  kind: z.enum([
    "flat-groups",
    "many-flat-groups",
    "entropy",
    "cut",
    "faults",
    "unknown-tools",
    "kl",
    "success",
    "rising-loss",
    "not-a-number",
  ]),
  /** What was found and what it means, for a person. */
  text: z.string(),
});

/** A sign that the training is not going well. */
export type Alarm = z.infer<typeof alarm>;

/** What became of the attempts at a task, which is named by its index in the split. */
const taskOutcome = z.object({
  task: z.int().min(0),
  attempts: z.int().min(0),
  successes: z.int().min(0),
});

export type TaskOutcome = z.infer<typeof taskOutcome>;

const learning = {
  step: z.int().min(1),
  loss: number,
  /** The norm before clipping, as the mean over the step's minibatches. */
  gradientNorm: number,
  learningRate: number,
  /** The alarms that were raised at this step; each kind is raised once in a run. */
  alarms: z.array(alarm).optional(),
};

const grpoStep = z.object({
  ...learning,
  method: z.literal("grpo"),
  /** Mean and standard deviation of the total under the run's profile. */
  reward: z.object({ mean: number, std: number }),
  /** Mean total under the paper's profile. */
  paper: number,
  /**
   * Mean score of each of the five parts, before the weight, over tasks with goals, and of the
   * answer over those in which something was to be told, if there were any.
   */
  parts: z.object({
    validity: number,
    coverage: number,
    efficiency: number,
    name: number,
    argument: number,
    answer: number.optional(),
  }),
  /** Mean reward of tasks without goals, at most 1; absent if the step had none. */
  abstention: number.optional(),
  success: share,
  /** Mean calls and mean budget B per attempt. */
  calls: number,
  budget: number,
  /** Shares of all calls: not parsed, unknown tool, invalid arguments, refused by the server. */
  errors: z.object({ syntax: share, tool: share, arguments: share, refused: share }),
  /** The share of attempts that reached a limit. */
  cut: share,
  /** The share of groups whose attempts all have the same reward and so no gradient. */
  zeroVariance: share,
  /**
   * How many groups there were, of those whose attempts all have the same reward, without a
   * success, and attempted in place of others; only with `grpo.resample`, `grpo.failedGroups` or
   * `grpo.variants`.
   */
  groups: z
    .object({
      attempted: z.int().min(0),
      flat: z.int().min(0),
      failed: z.int().min(0),
      resampled: z.int().min(0),
      /** Groups at variants; not in the metrics of versions before 0.8. */
      variants: z.int().min(0).optional(),
    })
    .optional(),
  /** The outcome of each group; only with `grpo.curriculum`. */
  outcomes: z.array(taskOutcome).optional(),
  attempts: z.int().min(0),
  /** Attempts that ended by a fault; they are neither scored nor trained on. */
  faults: z.int().min(0),
  tokensPerRollout: number,
  /** Attempts divided by the whole time of the step, learning included. */
  rolloutsPerSecond: number,
  /**
   * k3 estimate of the KL divergence from the starting weights, mean per token. Absent if it was
   * not measured: without a KL term, and in steps in which none of the groups that it is measured
   * on has a gradient.
   */
  kl: number.optional(),
  /** The share of tokens whose ratio was clipped. */
  clipShare: share,
  entropy: number,
  /** Only the total is known of trainings in other engines. */
  seconds: z.object({
    environment: number.optional(),
    sampling: number.optional(),
    learning: number.optional(),
    total: number,
  }),
});

const sftStep = z.object({
  ...learning,
  method: z.literal("sft"),
  /** Mean loss per token on held-out conversations, if it was measured. */
  validation: number.optional(),
  tokens: z.int().min(0),
  /** The tokens that contribute to the loss. */
  taught: z.int().min(0),
  conversations: z.int().min(0),
  seconds: z.object({ learning: number, total: number }),
});

export const stepMetrics = z.discriminatedUnion("method", [grpoStep, sftStep]);

export type GrpoStep = z.infer<typeof grpoStep>;
export type SftStep = z.infer<typeof sftStep>;
/** One step of a run. */
export type StepMetrics = z.infer<typeof stepMetrics>;

/**
 * One row per step, after a row with the names. A number inside an object is named by its path,
 * such as `reward.mean`, and a list is written as JSON. A value that a step lacks is empty.
 */
export function formatMetricsCsv(steps: readonly StepMetrics[]): string {
  const rows = steps.map(it => new Map(listValues(it, "")));
  const names = [...new Set(rows.flatMap(it => [...it.keys()]))];
  return [names, ...rows.map(row => names.map(it => row.get(it) ?? ""))]
    .map(it => `${it.map(quote).join(",")}\n`)
    .join("");
}

function listValues(value: object, prefix: string): (readonly [name: string, text: string])[] {
  return Object.entries(value).flatMap(([key, it]: [string, unknown]) => {
    const name = `${prefix}${key}`;
    if (it === undefined) return [];
    if (typeof it === "string") return [[name, it] as const];
    if (typeof it !== "object" || it === null) return [[name, JSON.stringify(it)] as const];
    return Array.isArray(it) ? [[name, JSON.stringify(it)] as const] : listValues(it, `${name}.`);
  });
}

/** A value that contains a separator is quoted as in RFC 4180. */
const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
