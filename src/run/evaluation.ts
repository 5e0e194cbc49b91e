/**
 * The evaluation of a run: what its student did on held-out tasks before and after the training. It
 * is stored as evaluation.json in the run's folder.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readJsonFile } from "../storage/parseJson.ts";
import { computedWith } from "./backends.ts";

export const evaluationFormat = "prove/evaluation@1";

/** A mean with its 95% interval, which is absent if the tasks are too few. */
const estimate = z.object({
  mean: z.number(),
  low: z.number().optional(),
  high: z.number().optional(),
});

export type Estimate = z.infer<typeof estimate>;

/** What a model did on the held-out tasks, each attempted once with greedy decoding. */
const measurement = z.object({
  success: estimate,
  /** The total under the run's profile. */
  reward: estimate,
  /** Mean calls and mean budget per attempt. */
  calls: z.number(),
  budget: z.number(),
});

export type Measurement = z.infer<typeof measurement>;

const runEvaluation = z.object({
  format: z.literal(evaluationFormat),
  /** Evaluations of before 0.8 do not have it. */
  evaluatedAt: z.iso.datetime().optional(),
  /** The tasks file. */
  tasks: z.string(),
  /** How many of its held-out tasks were attempted, and how many sets of tools they need. */
  count: z.int().min(1),
  sets: z.int().min(1),
  profile: z.string(),
  /** Evaluations of before 0.8 do not have it. */
  computedWith: computedWith.optional(),
  before: measurement.extend({ step: z.int().min(0) }),
  after: measurement.extend({ step: z.int().min(0) }),
  /** The differences, paired by task. */
  change: z.object({ success: estimate, reward: estimate }),
});

export type RunEvaluation = z.infer<typeof runEvaluation>;

const getEvaluationFile = (folder: string): string => join(folder, "evaluation.json");

/** The evaluation of a run. Throws a `UserError` if its file is not valid. */
export function readEvaluation(folder: string): RunEvaluation | undefined {
  const file = getEvaluationFile(folder);
  return existsSync(file)
    ? readJsonFile(runEvaluation, file, {
        noun: "the evaluation of a run",
        format: evaluationFormat,
        remedy: "delete it, and evaluate the run again",
      })
    : undefined;
}

export const writeEvaluation = (folder: string, evaluation: RunEvaluation): void =>
  writeFileAtomicallySync(
    getEvaluationFile(folder),
    `${JSON.stringify(evaluation, undefined, 2)}\n`,
  );

/** What the interval of a difference allows to say. */
export type Trend = "higher" | "lower" | "unclear";

/** Whether something rose or fell; unclear if the interval contains 0 or is absent. */
export const getTrend = ({ low = 0, high = 0 }: Estimate): Trend =>
  low > 0 ? "higher" : high < 0 ? "lower" : "unclear";
