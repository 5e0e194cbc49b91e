/**
 * `loop`: synthesizes tasks on the live servers, trains a shipped student on its own attempts, and
 * measures it on held-out tasks before and after. Controls, if asked for, are trained for the same
 * time: one reads its teacher's conversations, one gets its rewards for attempts at random.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { GrpoSettings } from "../run/config.ts";
import type { Task } from "../trajectory/task.ts";
import { defineCommand, flag, option, type CliContext, type OptionValues } from "./command.ts";
import {
  readStart,
  trainStudent,
  writeExperimentTasks,
  writeTrainingTasks,
  type Start,
} from "../app/experiment.ts";
import type { FollowedTraining } from "../app/followTraining.ts";
import { countOf, jsonFlag, seedOption } from "./options.ts";
import { findModel, findStartModel } from "../app/resources.ts";
import { computeChange } from "../evaluation/compare.ts";
import type { Interval } from "../evaluation/interval.ts";
import { computeSlices } from "../evaluation/metrics.ts";
import { defaultProfile, paperProfile } from "../reward/profiles.ts";
import type { Alarm } from "../run/metrics.ts";
import type { Distance } from "../trajectory/seenTasks.ts";
import {
  alignColumns,
  comparedMetrics,
  formatDifference,
  isDecodingMixed,
} from "./evaluationText.ts";
import type { StudentMeasurement } from "../app/measureStudent.ts";

const count = countOf("a whole number above zero");

const loopOptions = {
  seconds: option("--seconds <n>", "seconds of training, for GRPO and for each control", {
    parser: count,
    default: 210,
  }),
  controls: flag(
    "--controls",
    "also train two controls: reading the same teacher for as long, and GRPO with shuffled advantages",
  ),
  train: option("--train <n>", "tasks to train on", { parser: count, default: 1500 }),
  heldout: option("--heldout <n>", "held-out tasks to measure on", {
    parser: count,
    default: 800,
  }),
  read: option("--read <n>", "with --controls: tasks whose conversations the control reads", {
    parser: count,
    default: 8000,
  }),
  sampled: option("--sampled <n>", "held-out tasks at which eight attempts are sampled as well", {
    parser: count,
    default: 100,
  }),
  seed: seedOption,
  model: option(
    "--model <model>",
    "model folder to start from, or the name of a shipped student: careless (default) or small",
  ),
  json: jsonFlag,
};

type LoopOptions = OptionValues<typeof loopOptions>;

export const loop = defineCommand({
  name: "loop",
  description:
    "Run everything once: synthesize tasks, train the student on its own attempts (GRPO), and " +
    "measure it on held-out tasks before and after. Takes about five minutes on two cores, with " +
    "--controls about fifteen. Writes to prove/tasks and prove/runs. Exits with 1 if the " +
    "student's training ends with an alarm.",
  arguments: [],
  options: loopOptions,
  examples: ["loop", "loop --controls", "loop --seconds 60 --train 500 --heldout 200"],
  async run(context, _positionals, options) {
    const { prove, print, printNote, cwd } = context;
    const start = await readStart(
      options.model === undefined
        ? findStartModel(context.resources)
        : findModel(options.model, context),
    );
    const name = findFreeName(prove);
    const trainings = [ownAttempts, ...(options.controls ? controls : [])];
    const announce = (stage: number, text: string) =>
      printNote(`${stage} of ${trainings.length + 2}  ${text}`);
    const toRead = options.controls ? `, ${options.read} to read` : "";
    announce(1, `tasks: ${options.train} to train on, ${options.heldout} held out${toRead}`);
    const [file, readingFile] = [getTasksFile(prove, name), getTasksFile(prove, `${name}-read`)];
    const heldOut = await writeExperimentTasks(
      file,
      start.model,
      { train: options.train, heldOut: options.heldout, seed: options.seed },
      context,
    );
    if (options.controls)
      await writeTrainingTasks(
        readingFile,
        start.model,
        { count: options.read, seed: options.seed + 2 },
        context,
      );
    const taskFiles = options.controls ? [file, readingFile] : [file];
    const files = { grpo: file, sft: readingFile };
    const experiment = { name, files, start, heldOut, options, trainings, announce };
    const rows = await trainAndMeasure(experiment, context);
    if (options.json) print(JSON.stringify({ tasks: file, rows: createDocuments(rows) }));
    else
      for (const line of [
        ...compareEvaluations(rows),
        "",
        `tasks   ${taskFiles.map(it => relative(cwd, it)).join(", ")}`,
        `runs    ${trainings.map(it => relative(cwd, getRunFolder(prove, name, it))).join(", ")}`,
        `To see them in the editor, open ${cwd} in VS Code with the extension (in a clone: npm run open -- ${cwd}), then the PROVE view: Runs shows the curves and the attempts, Tasks the conversations.`,
      ])
        print(line);
    return rows.some(it => it.name === ownAttempts.name && it.alarms.length === 0) ? 0 : 1;
  },
});

/** A training of the student, and what its row and its stage are called. */
interface Training {
  readonly name: string;
  readonly stage: string;
  /** The end of the run folder's name. */
  readonly folder: string;
  readonly method: "grpo" | "sft";
  readonly grpo?: Partial<GrpoSettings>;
}

const ownAttempts: Training = {
  name: "after GRPO",
  stage: "GRPO on the student's own attempts",
  folder: "grpo",
  method: "grpo",
};

const controls: readonly Training[] = [
  {
    name: "reading the teacher",
    stage: "control: SFT on the same teacher's conversations",
    folder: "sft",
    method: "sft",
  },
  {
    name: "shuffled advantages",
    stage: "control: GRPO with shuffled advantages",
    folder: "shuffled",
    method: "grpo",
    grpo: { advantages: "shuffled" },
  },
];

const getTasksFile = (prove: string, name: string): string =>
  join(prove, "tasks", `${name}.tasks.jsonl`);

const getRunFolder = (prove: string, name: string, { folder }: Training): string =>
  join(prove, "runs", `${name}-${folder}`);

interface Experiment {
  readonly name: string;
  /**
   * The tasks file of each method. SFT gets more tasks: it is so fast that the student would read
   * those for GRPO about ten times, and overfit.
   */
  readonly files: Readonly<Record<Training["method"], string>>;
  readonly start: Start;
  readonly heldOut: readonly Task[];
  readonly options: LoopOptions;
  readonly trainings: readonly Training[];
  /** Tells the user which stage begins. */
  readonly announce: (stage: number, text: string) => void;
}

async function trainAndMeasure(
  { name, files, start, heldOut, options, trainings, announce }: Experiment,
  context: CliContext,
): Promise<MeasuredPolicy[]> {
  const { seconds, seed, sampled } = options;
  const { measureStudent } = await import("../app/measureStudent.ts");
  const { readStudent } = await import("../app/policies.ts");
  const tasks = { greedy: heldOut, sampled: heldOut.slice(0, sampled) };
  announce(2, `before: ${start.model.config.name}, ${heldOut.length} held-out tasks`);
  const before = await measureStudent("before", start.model, tasks, context);
  const rows: MeasuredPolicy[] = [{ ...before, name: "before", alarms: [] }];
  for (const [i, training] of trainings.entries()) {
    announce(i + 3, `${training.stage}, ${seconds} s`);
    const folder = getRunFolder(context.prove, name, training);
    const { by, steps, alarms, warning } = await trainStudent(
      folder,
      start,
      {
        tasks: files[training.method],
        method: training.method,
        seed,
        seconds,
        ...(training.grpo ? { grpo: training.grpo } : {}),
        sft: { careless: start.careless },
      },
      training.folder,
      context,
    );
    if (warning !== undefined) context.printNote(`${training.folder}: ${warning}`);
    // its weights are those of the last checkpoint, which tell nothing about the training
    if (by === "alarm") continue;
    const measured = await measureStudent(training.name, readStudent(folder), tasks, context);
    rows.push({ ...measured, name: training.name, alarms, ...measureTraining(steps) });
  }
  return rows;
}

/** The number of steps, and for GRPO the attempts a second over whole steps. */
function measureTraining(steps: FollowedTraining["steps"]) {
  const grpo = steps.filter(it => it.method === "grpo");
  const sum = (numbers: readonly number[]) => numbers.reduce((total, it) => total + it, 0);
  const seconds = sum(grpo.map(it => it.seconds.total));
  return {
    steps: steps.length,
    ...(seconds > 0 ? { rolloutsPerSecond: sum(grpo.map(it => it.attempts)) / seconds } : {}),
  };
}

const createDocuments = (rows: readonly MeasuredPolicy[]) =>
  rows.map((it, i) => ({
    name: it.name,
    metrics: it.greedy.metrics,
    sampled: it.sampled.metrics,
    zeroVariance: it.zeroVariance,
    steps: it.steps,
    rolloutsPerSecond: it.rolloutsPerSecond,
    alarms: it.alarms,
    ...(i > 0
      ? { change: Object.fromEntries(listChanges(rows[0]!, it).map(it => [it.metric, it.change])) }
      : {}),
  }));

/** The first of `loop-1`, `loop-2`, … that overwrites nothing of an earlier loop. */
function findFreeName(prove: string): string {
  for (let n = 1; ; n++) {
    const name = `loop-${n}`;
    const folders = [ownAttempts, ...controls].map(it => getRunFolder(prove, name, it));
    const files = [name, `${name}-read`].map(it => getTasksFile(prove, it));
    if (![...files, ...folders].some(it => existsSync(it))) return name;
  }
}

interface MeasuredPolicy extends StudentMeasurement {
  readonly name: string;
  /** Training steps between the first row and this one. */
  readonly steps?: number;
  /** Attempts divided by the time of all steps, for GRPO. */
  readonly rolloutsPerSecond?: number;
  /** The alarms that held when its training ended. */
  readonly alarms: readonly Alarm[];
}

const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;
const formatReward = (profile: string) => (it: MeasuredPolicy) =>
  (it.greedy.metrics.reward[profile] ?? 0).toFixed(3);

const columns: readonly {
  readonly title: string | ((it: MeasuredPolicy) => string);
  readonly format: (it: MeasuredPolicy) => string;
}[] = [
  { title: "", format: it => it.name },
  { title: "success", format: it => formatShare(it.greedy.metrics.success) },
  {
    title: it => `mean@${it.sampled.metrics.samples}`,
    format: it => formatShare(it.sampled.metrics.success),
  },
  {
    title: it => `pass@${it.sampled.metrics.samples}`,
    format: it => formatShare(it.sampled.metrics.pass ?? 0),
  },
  { title: "near", format: it => formatDistance(it, "near") },
  { title: "far", format: it => formatDistance(it, "far") },
  { title: "reward", format: formatReward(defaultProfile.name) },
  { title: "paper", format: formatReward(paperProfile.name) },
  {
    title: "calls/budget",
    format: ({ greedy: { metrics } }) => `${metrics.calls.toFixed(2)}/${metrics.budget.toFixed(2)}`,
  },
  { title: "flat", format: it => `${(100 * it.zeroVariance).toFixed(0)}%` },
  { title: "steps", format: it => String(it.steps ?? "") },
  { title: "rollouts/s", format: it => it.rolloutsPerSecond?.toFixed(1) ?? "" },
];

/** The success on the tasks at a distance from the training tasks; empty if it is not known. */
function formatDistance({ greedy }: MeasuredPolicy, distance: Distance): string {
  const slice = computeSlices(greedy.rows).find(it => it.by === "distance" && it.is === distance);
  return slice ? formatShare(slice.success) : "";
}

interface Change {
  readonly metric: string;
  /** Undefined if the tasks are too few. */
  readonly change: Interval | undefined;
}

/** The differences of two measurements, success first. */
function listChanges(before: MeasuredPolicy, after: MeasuredPolicy): readonly Change[] {
  const greedy = comparedMetrics.map(({ name, read }) => ({
    metric: name,
    change: computeChange(before.greedy.rows, [after.greedy.rows], read),
  }));
  const mean = {
    metric: `mean@${after.sampled.metrics.samples}`,
    change: computeChange(before.sampled.rows, [after.sampled.rows], it => Number(it.success)),
  };
  return [greedy[0]!, mean, ...greedy.slice(1)];
}

/**
 * Formats the table, a legend, and the differences from the first row with their intervals. Throws
 * if only some of the evaluations had constrained decoding.
 */
function compareEvaluations(rows: readonly MeasuredPolicy[]): string[] {
  if (isDecodingMixed(rows.map(it => it.greedy)))
    throw new Error("evaluations with and without constrained decoding cannot be compared");
  const [before, ...after] = rows;
  const filled = columns
    .map(({ title, format }) => [
      typeof title === "string" ? title : title(before!),
      ...rows.map(format),
    ])
    .filter(([, ...cells]) => cells.some(it => it !== ""));
  const table = alignColumns(
    filled[0]!.map((_, i) => filled.map(column => column[i]!)),
    1,
  );
  const { greedy, sampled } = before!;
  const { samples } = sampled.metrics;
  const sampledTasks = new Set(sampled.rows.map(it => it.task)).size;
  const sets = new Set(greedy.rows.map(it => it.cluster)).size;
  return [
    `${greedy.rows.length} held-out tasks, one greedy attempt each; mean@${samples}, pass@${samples} and flat: ${samples} sampled attempts at each of ${sampledTasks} tasks`,
    ...table,
    `far: success on tasks with a set of tools that no training task contains and a turn that none has; reward: ${defaultProfile.name}, which the run trains on (the paper's five parts and success); paper: the five parts alone; flat: tasks at which all sampled attempts earn the same, which gives no gradient; rollouts/s: attempts of the training divided by its time, learning included`,
    ...after.flatMap(it => [
      "",
      `${it.name}, differences from ${before!.name} (95% intervals: bootstrap over the ${sets} sets of tools that the tasks need)`,
      ...listChanges(before!, it).map(
        ({ metric, change }) => `  ${formatDifference(metric, change)}`,
      ),
    ]),
  ];
}
