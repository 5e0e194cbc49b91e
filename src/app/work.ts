/**
 * The work for the editor that runs models: one attempt at a task, an evaluation of students, and
 * the check of which tasks of a file fit a student.
 */
import type { Catalog } from "../environment/catalog.ts";
import { readModelFolder, type StoredModel } from "../model/modelFolder.ts";
import { continueAttempt } from "../policy/scripted.ts";
import { createEndpointPolicy } from "../policy/chatMessages.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import type {
  AttemptWork,
  EvaluationResult,
  EvaluationWork,
  WorkProgress,
  FitResult,
  FitWork,
} from "../protocol/work.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { createFitCheck, FitTally } from "../train/taskFit.ts";
import type { Task } from "../trajectory/task.ts";
import {
  getEnd,
  type Finished,
  type Trajectory,
  formatTrajectory,
} from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import { openEndpointFor, sentContent } from "./endpoints.ts";
import { describeTrained, greedy, openStudentModel, describeSeen } from "./policies.ts";
import { computeChange, type ReadMetric } from "../evaluation/compare.ts";
import { evaluate, type Evaluation } from "../evaluation/evaluate.ts";
import type { Interval } from "../evaluation/interval.ts";
import { profiles, type Profile } from "../reward/profiles.ts";
import type { ComputedWith } from "../run/backends.ts";
import type { Estimate, Measurement } from "../run/evaluation.ts";
import { readTasks } from "../trajectory/file.ts";

type WorkContext = Pick<AppContext, "catalog" | "dist" | "signal" | "printNote">;

/** A policy under the name that the attempt's id has. */
interface NamedPolicy {
  readonly name: string;
  readonly policy: Policy;
  /** What a student was trained on of that which the task asks for. */
  readonly trainedOn?: string;
  dispose(): void;
}

/**
 * Lets a policy attempt a task, or go on with an attempt at it, with its most probable answers, and
 * writes the attempt as a trajectory file. A student may have been trained on the task, which the
 * attempt then says: trying is not measuring. Throws a `UserError` if the task does not fit a
 * student, or if there is nothing to go on with.
 */
export async function attemptTask(
  { task, policy: choice, file, fixtures, from }: AttemptWork,
  context: WorkContext,
): Promise<object> {
  const catalog = context.catalog.reopen(fixtures);
  const opened =
    choice.kind === "student"
      ? await openFittingStudent(choice.model, task, { ...context, catalog })
      : openModel(choice, context);
  try {
    const policy = from ? continueAttempt(from, opened.policy) : opened.policy;
    const { trajectory } = await rollout(task, policy, catalog, {
      signal: context.signal,
      id: `${from?.header.id ?? task.id}/${opened.name}`,
      turn: from?.header.turn,
    });
    if (from) checkContinued(from, trajectory);
    const { trainedOn } = opened;
    const header = { ...trajectory.header, ...(trainedOn === undefined ? {} : { trainedOn }) };
    writeFileAtomicallySync(file, formatTrajectory({ ...trajectory, header }));
  } finally {
    opened.dispose();
  }
  return {};
}

async function openFittingStudent(
  model: string,
  task: Task,
  { catalog, dist }: Pick<WorkContext, "dist"> & { readonly catalog: Catalog },
): Promise<NamedPolicy> {
  const stored = readModelFolder(model);
  const { name, saw } = stored.config;
  const fit = createFitCheck(stored, catalog)(task);
  if (fit !== "fits")
    throw new UserError(
      fit === "too-long"
        ? `task ${task.id} is too long for ${name}`
        : `${name} does not know the servers of task ${task.id}`,
      stored.chat.describesTools
        ? "choose a shorter task, or set a longer context in prove.json of the model's folder"
        : `choose a shorter task on ${Object.keys(saw.servers).sort().join(", ")}`,
    );
  const student = await openStudentModel(stored, [task], { dist, catalog }, greedy);
  const trainedOn = describeTrained(saw, task);
  return {
    name,
    policy: student.policy,
    ...(trainedOn === undefined ? {} : { trainedOn }),
    dispose: () => student.dispose(),
  };
}

function openModel(
  choice: Extract<AttemptWork["policy"], { kind: "endpoint" }>,
  { printNote }: WorkContext,
): NamedPolicy {
  // keys in the environment were not meant for this address
  const { endpoint } = openEndpointFor(choice, sentContent.evaluation, { printNote }, {});
  return { name: choice.model, policy: createEndpointPolicy(endpoint), dispose: () => {} };
}

function checkContinued(from: Trajectory, trajectory: Finished<Trajectory>): void {
  const count = ({ events }: Trajectory) => events.filter(it => it.kind === "assistant").length;
  if (count(trajectory) > count(from)) return;
  const { fault } = getEnd(trajectory);
  throw fault === undefined
    ? new UserError(
        `${from.header.id} has ended there, or has used all messages of its task`,
        "fork at an earlier position",
      )
    : new UserError(fault, "check the address, the model and the key of the endpoint");
}

/**
 * Lets students attempt held-out tasks with greedy decoding. Throws a `UserError` if the file has
 * none that fit all of them and that none of them was trained on.
 */
export async function evaluateStudents(
  { tasks: file, models, limit, profile: profileName, fixtures }: EvaluationWork,
  context: Pick<AppContext, "catalog" | "dist" | "signal">,
  report: (progress: WorkProgress) => void,
): Promise<EvaluationResult> {
  const catalog = context.catalog.reopen(fixtures);
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

/** Counts the tasks of a file that fit a student. */
export async function checkFit(
  { tasks, model, fixtures }: FitWork,
  { catalog, signal }: Pick<AppContext, "catalog" | "signal">,
  report: (progress: WorkProgress) => void,
): Promise<FitResult> {
  const student = readModelFolder(model);
  const check = createFitCheck(student, catalog.reopen(fixtures));
  const [train, heldOut] = [new FitTally(), new FitTally()];
  const servers = new Map<string, number>();
  let done = 0;
  for await (const task of readTasks(tasks, { signal })) {
    const fit = check(task);
    (task.split === "train" ? train : heldOut).count(fit);
    for (const { name } of task.servers)
      if (!student.chat.describesTools && !Object.hasOwn(student.config.saw.servers, name))
        servers.set(name, (servers.get(name) ?? 0) + 1);
    report({ done: ++done, total: 0, noun: "task" });
  }
  return {
    train: train.counts,
    heldOut: heldOut.counts,
    unknownServers: [...servers].toSorted(([, a], [, b]) => b - a).map(([name]) => name),
  };
}
