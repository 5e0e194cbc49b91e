/**
 * `ablations`: trains a student with GRPO under several reward profiles and seeds, measures
 * each training on the same held-out tasks, and compares the profiles. Goes on where it stopped if
 * it is started again on its folder.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../src/userError.ts";
import {
  collectOutcomes,
  compareOutcomes,
  measureOutcomes,
  outcomes,
  type Outcomes,
} from "./outcomes.ts";
import { profiles } from "../../src/reward/profiles.ts";
import { writeFileAtomicallySync } from "../../src/storage/atomicWrite.ts";
import { readJsonFile } from "../../src/storage/parseJson.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import {
  comparePaired,
  formatAblations,
  type AblationSummary,
  type MeasuredProfile,
} from "./ablationText.ts";
import type { AppContext } from "../../src/app/context.ts";
import {
  defineCommand,
  flag,
  option,
  type CliContext,
  type OptionValues,
} from "../../src/cli/command.ts";
import { commaList, countOf, existingPath, outputPath } from "../../src/cli/options.ts";
import { readStart, trainStudent, writeExperimentTasks } from "../../src/app/experiment.ts";
import type { Start } from "../../src/app/experiment.ts";
import {
  measureStudent,
  samplesPerTask,
  type StudentMeasurement,
} from "../../src/app/measureStudent.ts";
import { readStudent } from "../../src/app/policies.ts";
import { findStartModel } from "../../src/app/resources.ts";

/** The paper's reward against prove-plus, and the ablations of the paper's reward. */
const ablatedProfiles: readonly string[] = [
  "prove-plus",
  "paper",
  "paper-no-efficiency",
  "paper-no-name",
  "paper-flat-budget",
  "paper-no-validity",
];

const ablationOptions = {
  profiles: option("--profiles <list>", "reward profiles", {
    parser: commaList,
    default: ablatedProfiles,
  }),
  seeds: option("--seeds <n>", "trainings under each profile", {
    parser: countOf("a number of seeds"),
    default: 3,
  }),
  steps: option("--steps <n>", "steps of each training", {
    parser: countOf("a number of steps"),
    default: 60,
  }),
  tasks: option("--tasks <n>", "tasks to train on", {
    parser: countOf("a number of tasks"),
    default: 1500,
  }),
  heldOut: option("--heldout <n>", "held-out tasks", {
    parser: countOf("a number of tasks"),
    default: 400,
  }),
  model: option("--model <folder>", "model folder to start from (default: careless)", {
    parser: existingPath("a model folder"),
  }),
  out: option("--out <folder>", "folder to write or to go on with (default: prove/ablations)", {
    parser: outputPath("prove/ablations"),
  }),
  json: flag("--json", "print one JSON document"),
};

export const ablations = defineCommand({
  name: "ablations",
  description:
    "Train the student with GRPO under several reward profiles and seeds, and compare the outcomes on held-out tasks. Takes more than an hour.",
  arguments: [],
  options: ablationOptions,
  examples: ["ablations", "ablations --profiles paper,graduated --seeds 5 --steps 30"],
  run: (context, _positionals, options) => runAblations(context, options),
});

/** What must be the same when ablations are continued. */
const ablationSettings = z.strictObject({
  model: z.string(),
  steps: z.number(),
  tasks: z.number(),
  heldOut: z.number(),
  /** How many held-out tasks are also attempted several times. */
  sampled: z.number(),
});
type AblationSettings = z.infer<typeof ablationSettings>;

async function runAblations(
  context: CliContext,
  options: OptionValues<typeof ablationOptions>,
): Promise<number> {
  const { cwd, print, printNote, resources, prove } = context;
  const start = await readStart(
    options.model === undefined ? findStartModel(resources) : resolve(cwd, options.model),
  );
  const { profiles: names, steps, tasks, heldOut } = options;
  checkProfiles(names);
  const sampled = Math.ceil(heldOut / 4);
  const settings = { model: start.model.config.name, steps, tasks, heldOut, sampled };
  const seeds = Array.from({ length: options.seeds }, (_, i) => i + 1);
  const folder = options.out === undefined ? join(prove, "ablations") : resolve(cwd, options.out);
  const own = { folder, start, settings, tasks: openFolder(folder, settings) };
  printNote(describeDuration(settings, names, seeds.length));
  const heldOutTasks = await readHeldOut(own, context);
  const before = await measure(own, heldOutTasks, context);
  const measured: MeasuredProfile[] = names.map(name => ({ name, runs: [] }));
  // all profiles with one seed, then all with the next: a part of the seeds can be compared
  for (const seed of seeds)
    for (const { name, runs } of measured) {
      printNote(`${name}, seed ${seed} of ${seeds.length}`);
      const run = await measure(own, heldOutTasks, context, { profile: name, seed });
      if (run) runs.push({ seed, outcomes: run });
    }
  const summary = { before: before!, measured, samples: samplesPerTask };
  if (options.json) print(JSON.stringify(createDocument(settings, summary)));
  else for (const line of formatAblations(summary)) print(line);
  return measured.every(it => it.runs.length === seeds.length) ? 0 : 1;
}

function checkProfiles(names: readonly string[]): void {
  const unknown = names.find(name => !profiles.some(it => it.name === name));
  if (unknown !== undefined)
    throw new UserError(
      `there is no reward profile ${unknown}`,
      `choose from ${profiles.map(it => it.name).join(", ")}`,
    );
}

/** Creates the folder, or checks that it holds ablations of the same settings. */
function openFolder(folder: string, settings: AblationSettings): string {
  const file = join(folder, "settings.json");
  if (existsSync(file)) {
    const stored = readJsonFile(ablationSettings, file, {
      noun: "settings of ablations",
      remedy: "choose another folder with --out",
    });
    if (JSON.stringify(stored) !== JSON.stringify(settings))
      throw new UserError(
        `${folder} holds ablations with other settings: ${JSON.stringify(stored)}`,
        "repeat these, or choose another folder with --out",
      );
  } else {
    mkdirSync(folder, { recursive: true });
    writeFileAtomicallySync(file, `${JSON.stringify(settings)}\n`);
  }
  return join(folder, "ablations.tasks.jsonl");
}

/** Rates on two quiet cores, from which the duration is estimated. */
const quiet = {
  attemptsPerSecond: 100,
  tasksPerSecond: 100,
  secondsPerStep: 1.5,
  startSeconds: 12,
};

const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

function describeDuration(
  { steps, tasks, heldOut, sampled }: AblationSettings,
  names: readonly string[],
  seeds: number,
): string {
  const trainings = names.length * seeds;
  const evaluation = (heldOut + samplesPerTask * sampled) / quiet.attemptsPerSecond;
  const total =
    (tasks + heldOut) / quiet.tasksPerSecond +
    evaluation +
    trainings * (quiet.startSeconds + steps * quiet.secondsPerStep + evaluation);
  const minutes = Math.ceil(total / 60);
  const duration =
    minutes < 90
      ? formatCount(minutes, "minute")
      : `${(minutes / 60).toFixed(1).replace(".0", "")} hours`;
  return `${formatCount(trainings, "training")} of ${formatCount(steps, "step")} (${formatCount(names.length, "reward profile")}, ${formatCount(seeds, "seed")}), each measured on ${heldOut} held-out tasks: about ${duration} on two quiet cores. Ctrl-C stops; the same command goes on.`;
}

interface Ablations {
  readonly folder: string;
  readonly start: Start;
  readonly settings: AblationSettings;
  /** The tasks file. */
  readonly tasks: string;
}

/** Makes the tasks, if that is not done, and returns the held-out ones. */
async function readHeldOut(
  { tasks: file, start, settings }: Ablations,
  context: AppContext,
): Promise<Task[]> {
  const { tasks: train, heldOut } = settings;
  if (!existsSync(file))
    return await writeExperimentTasks(file, start.model, { train, heldOut, seed: 1 }, context);
  const tasks: Task[] = [];
  for await (const task of readTasks(file)) if (task.split !== "train") tasks.push(task);
  return tasks;
}

/**
 * The outcomes of the start or, under a profile and seed, of a training, from the folder if they
 * were measured before. Undefined if an alarm ended the training.
 */
async function measure(
  { folder, start, settings, tasks }: Ablations,
  heldOut: readonly Task[],
  context: AppContext,
  training?: { readonly profile: string; readonly seed: number },
): Promise<Outcomes | undefined> {
  const name = training ? `${training.profile}-${training.seed}` : "start";
  const file = join(folder, `${name}.json`);
  if (existsSync(file))
    return readJsonFile(outcomes, file, {
      noun: "the outcomes of a training",
      remedy: "delete it to measure that training again",
    });
  let model = start.model;
  if (training) {
    const run = join(folder, "runs", name);
    const { by, warning } = await trainStudent(
      run,
      start,
      {
        tasks,
        profile: training.profile,
        seed: training.seed,
        steps: settings.steps,
        keepGroups: 0,
      },
      name,
      context,
    );
    if (warning !== undefined) context.printNote(`${name}: ${warning}`);
    if (by === "alarm") return undefined;
    model = readStudent(run);
  }
  const sampled = heldOut.slice(0, settings.sampled);
  const measured: StudentMeasurement = await measureStudent(
    name,
    model,
    { greedy: heldOut, sampled },
    context,
  );
  const collected = collectOutcomes(measured.greedy.rows, measured.sampled.rows);
  writeFileAtomicallySync(file, `${JSON.stringify(collected)}\n`);
  return collected;
}

function createDocument(
  settings: AblationSettings,
  { before, measured, samples }: AblationSummary,
) {
  const paper = measured.find(it => it.name === "paper");
  return {
    settings,
    samples,
    start: measureOutcomes([before]),
    profiles: measured.map(it => {
      const runs = it.runs.map(run => run.outcomes);
      return {
        name: it.name,
        seeds: it.runs.map(run => run.seed),
        outcomes: measureOutcomes(runs),
        fromStart: compareOutcomes(
          runs.map(() => before),
          runs,
        ),
        ...(paper && paper !== it ? { fromPaper: comparePaired(paper, it) } : {}),
      };
    }),
  };
}
