/** The work for the editor that measures students on held-out tasks. */
import { computeChange, type ReadMetric } from "../../evaluation/compare.ts";
import { evaluate, type Evaluation } from "../../evaluation/evaluate.ts";
import type { Interval } from "../../evaluation/interval.ts";
import { openCatalog, type Catalog } from "../../environment/catalog.ts";
import { readModelFolder, type StoredModel } from "../../model/modelFolder.ts";
import type { EvaluationResult, EvaluationWork, WorkProgress } from "../../protocol/work.ts";
import { profiles, type Profile } from "../../reward/profiles.ts";
import type { ComputedWith } from "../../run/backends.ts";
import type { Estimate, Measurement } from "../../run/evaluation.ts";
import { createFitCheck } from "../../train/taskFit.ts";
import { readTasks } from "../../trajectory/file.ts";
import type { Task } from "../../trajectory/task.ts";
import { UserError } from "../../userError.ts";
import type { AppContext } from "../context.ts";
import { describeSeen, greedy, openStudentModel } from "../policies.ts";

/**
 * Lets students attempt held-out tasks with greedy decoding. Throws a `UserError` if the file has
 * none that fit all of them and that none of them was trained on.
 */
export async function evaluateStudents(
  { tasks: file, models, limit, profile: profileName, fixtures }: EvaluationWork,
  context: Pick<AppContext, "catalog" | "dist" | "signal">,
  report: (progress: WorkProgress) => void,
): Promise<EvaluationResult> {
  const catalog = openCatalog([...context.catalog.servers.values()], fixtures);
  const students = models.map(readModelFolder);
  const profile = profiles.find(it => it.name === profileName);
  if (!profile) throw new Error(`unknown profile ${profileName}`);
  const tasks = await selectTasks({ file, students, limit }, catalog, context.signal);
  const evaluations: Evaluation[] = [];
  let computedWith: ComputedWith | undefined;
  for (const [i, student] of students.entries()) {
    const opened = await openStudentModel(student, tasks, { dist: context.dist, catalog }, greedy);
    ({ computedWith } = opened);
    try {
      evaluations.push(
        await evaluate(tasks, opened.policy, {
          catalog,
          profiles: [profile],
          concurrency: opened.concurrency,
          signal: context.signal,
          onRow: (_row, _trajectory, done) =>
            report({
              done: i * tasks.length + done,
              total: students.length * tasks.length,
              noun: "attempt",
            }),
        }),
      );
    } finally {
      opened.dispose();
    }
  }
  const measurements = evaluations.map(it => createMeasurement(it, profile));
  return {
    count: tasks.length,
    sets: new Set(evaluations[0]!.rows.map(it => it.cluster)).size,
    computedWith: computedWith!,
    measurements,
    ...(evaluations.length > 1
      ? { change: compareEvaluations(evaluations, measurements, profile) }
      : {}),
  };
}

/** The differences of the second evaluation from the first one. */
function compareEvaluations(
  [before, after]: readonly Evaluation[],
  [start, end]: readonly Measurement[],
  profile: Profile,
): EvaluationResult["change"] & object {
  const compare = (name: "success" | "reward", read: ReadMetric): Estimate => {
    const interval = computeChange(before!.rows, [after!.rows], read);
    return { mean: end![name].mean - start![name].mean, ...getBounds(interval) };
  };
  return {
    success: compare("success", it => Number(it.success)),
    reward: compare("reward", it => it.breakdowns[profile.name]!.total),
  };
}

interface Selection {
  readonly file: string;
  readonly students: readonly StoredModel[];
  readonly limit: number;
}

async function selectTasks(
  { file, students, limit }: Selection,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<Task[]> {
  const checks = students.map(it => createFitCheck(it, catalog));
  const tasks: Task[] = [];
  let heldOut = 0;
  for await (const task of readTasks(file, { signal })) {
    if (task.split === "train") continue;
    heldOut++;
    const isUsable =
      checks.every(check => check(task) === "fits") &&
      students.every(it => describeSeen(it.config.saw, task) === undefined);
    if (isUsable && tasks.push(task) === limit) break;
  }
  if (tasks.length > 0) return tasks;
  const { name } = students[0]!.config;
  throw new UserError(
    heldOut === 0
      ? `${file} has no held-out tasks`
      : `none of the ${heldOut} held-out tasks in ${file} fits ${name}`,
    "synthesize tasks for it, a part of which is held out, and evaluate it on them",
  );
}

const createMeasurement = (
  { metrics: { success, reward, intervals, calls, budget } }: Evaluation,
  profile: Profile,
): Measurement => ({
  success: { mean: success, ...getBounds(intervals.success) },
  reward: { mean: reward[profile.name] ?? 0, ...getBounds(intervals.reward[profile.name]) },
  calls,
  budget,
});

const getBounds = (interval: Interval | undefined): Pick<Estimate, "low" | "high"> =>
  interval ? { low: interval.low, high: interval.high } : {};
