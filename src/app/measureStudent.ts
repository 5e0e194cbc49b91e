/** Measures a student on held-out tasks, for experiments. */
import type { StoredModel } from "../model/modelFolder.ts";
import { groupByTask } from "../evaluation/compare.ts";
import type { Evaluation } from "../evaluation/evaluate.ts";
import type { EvaluationRow } from "../evaluation/row.ts";
import { defaultProfile } from "../reward/profiles.ts";
import { defaultGrpoSettings } from "../run/config.ts";
import type { Task } from "../trajectory/task.ts";
import type { AppContext } from "./context.ts";
import { evaluatePolicy } from "./evaluate.ts";
import { checkUnseen, greedy, openStudentModel, type StudentChoice } from "./policies.ts";

/** Attempts that are sampled at a task: as many as in a group of a training. */
export const samplesPerTask = defaultGrpoSettings.group;

export interface StudentMeasurement {
  readonly greedy: Evaluation;
  /** `samplesPerTask` attempts at each task, sampled as in a training. */
  readonly sampled: Evaluation;
  /** The share of tasks at which all sampled attempts earn the same. */
  readonly zeroVariance: number;
}

/** Attempts some tasks with greedy decoding, and some several times with sampling. */
export async function measureStudent(
  name: string,
  stored: StoredModel,
  tasks: { readonly greedy: readonly Task[]; readonly sampled: readonly Task[] },
  context: AppContext,
): Promise<StudentMeasurement> {
  const measure = async (some: readonly Task[], choice: StudentChoice, samples: number) => {
    checkUnseen(stored, some);
    const opened = await openStudentModel(stored, some, context, choice);
    const label = samples > 1 ? `${name}, sampled: ` : `${name}: `;
    const evaluation = await evaluatePolicy(opened, some, context, { label, samples });
    opened.dispose();
    return evaluation;
  };
  const sampled = await measure(tasks.sampled, { temperature: 1, seed: 7 }, samplesPerTask);
  return {
    greedy: await measure(tasks.greedy, greedy, 1),
    sampled,
    zeroVariance: computeZeroVariance(sampled.rows),
  };
}

function computeZeroVariance(rows: readonly EvaluationRow[]): number {
  const groups = [...groupByTask(rows).values()].map(attempts =>
    attempts.flatMap(it => it.breakdowns[defaultProfile.name]?.total ?? []),
  );
  const flat = groups.filter(it => Math.max(...it) - Math.min(...it) < 1e-6);
  return groups.length === 0 ? 0 : flat.length / groups.length;
}
