/**
 * `loop`: synthesizes tasks on the live servers, trains the shipped student on its own attempts,
 * and measures it on held-out tasks before and after. A control is trained for the same time with
 * supervised fine-tuning.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../userError.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import type { GrpoSettings } from "../run/config.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import { createRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { synthesize } from "../synthesis/pipeline/synthesize.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import type { Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/taskLine.ts";
import { defineCommand, option, type CliContext, type OptionValues } from "./command.ts";
import { compareEvaluations, type MeasuredPolicy } from "./compareEvaluations.ts";
import { followTraining } from "./followTraining.ts";
import { countOf, existingPath } from "./parsers.ts";
import { findEarlyModel, listFixtureFolders } from "./resources.ts";
import { jsonFlag, seedOption } from "./sharedOptions.ts";

const loopOptions = {
  seconds: option("--seconds <n>", "seconds of training, for each of the two methods", {
    parser: countOf("a whole number above zero"),
    default: 240,
  }),
  train: option("--train <n>", "tasks to train on", {
    parser: countOf("a whole number above zero"),
    default: 2000,
  }),
  heldout: option("--heldout <n>", "held-out tasks to measure on", {
    parser: countOf("a whole number above zero"),
    default: 1000,
  }),
  seed: seedOption,
  model: option("--model <folder>", "model folder to start from (default: the early student)", {
    parser: existingPath("a model folder"),
  }),
  json: jsonFlag,
};

export const loop = defineCommand({
  name: "loop",
  description:
    "Run everything once: synthesize tasks, train the student on its own attempts (GRPO) and, as a control, on its teachers' conversations (SFT), and measure it on held-out tasks before and after. Takes about ten minutes with the defaults. Writes to prove/tasks and prove/runs.",
  arguments: [],
  options: loopOptions,
  examples: ["loop", "loop --seconds 60 --train 500 --heldout 200"],
  async run(context, _positionals, options) {
    const { prove, resources, printNote, print, cwd } = context;
    // loads the numerics
    const { readModelFolder } = await import("../model/modelFolder.ts");
    const from =
      options.model === undefined ? findEarlyModel(resources) : resolve(cwd, options.model);
    const model = readModelFolder(from);
    const name = findFreeName(prove);
    printNote(`1 of 4  tasks: ${options.train} to train on, ${options.heldout} held out`);
    const file = join(prove, "tasks", `${name}.tasks.jsonl`);
    const heldOut = await writeTasks(file, model, options, context);
    const rows = await trainAndMeasure({ name, file, from, model, heldOut, options }, context);
    if (options.json)
      print(
        JSON.stringify({
          tasks: file,
          rows: rows.map(it => ({
            name: it.name,
            metrics: it.evaluation.metrics,
            zeroVariance: it.zeroVariance,
            steps: it.steps,
          })),
        }),
      );
    else
      for (const line of [
        ...compareEvaluations(rows),
        "",
        `tasks   ${relative(cwd, file)}`,
        `run     ${relative(cwd, join(prove, "runs", `${name}-grpo`))}`,
        "To see them in the editor: npm run open, then the PROVE view: Runs shows the curves and the attempts, Tasks the conversations.",
      ])
        print(line);
    return 0;
  },
});

type LoopOptions = OptionValues<typeof loopOptions>;

interface Experiment {
  readonly name: string;
  /** The tasks file. */
  readonly file: string;
  /** The model folder to start from, and its contents. */
  readonly from: string;
  readonly model: StoredModel;
  readonly heldOut: readonly Task[];
  readonly options: LoopOptions;
}

async function trainAndMeasure(
  { name, file, from, model, heldOut, options }: Experiment,
  context: CliContext,
): Promise<MeasuredPolicy[]> {
  const { prove, printNote } = context;
  const { seconds, seed } = options;
  const { measureStudent } = await import("./measureStudent.ts");
  const { readStudent } = await import("./policies.ts");
  printNote(`2 of 4  before: ${model.config.name}, ${heldOut.length} held-out tasks`);
  const rows: MeasuredPolicy[] = [await measureStudent("before", model, heldOut, context)];
  for (const [i, method] of (["grpo", "sft"] as const).entries()) {
    printNote(
      `${i + 3} of 4  ${method === "grpo" ? `GRPO, ${seconds} s` : `the control: SFT on the teachers' conversations, ${seconds} s`}`,
    );
    const folder = join(prove, "runs", `${name}-${method}`);
    const settings = options.model === undefined ? earlySettings : {};
    const training = { method, folder, file, from, model, seconds, seed, settings };
    const steps = await runTraining(training, context);
    const row = `after ${method.toUpperCase()}`;
    rows.push({ ...(await measureStudent(row, readStudent(folder), heldOut, context)), steps });
  }
  return rows;
}

/** Writes a file with tasks to train on and held-out tasks, and returns the held-out ones. */
async function writeTasks(
  file: string,
  model: StoredModel,
  { train, heldout, seed }: LoopOptions,
  context: CliContext,
): Promise<Task[]> {
  const heldOut = await makeTasks(context, model, {
    split: "heldout-chain",
    count: heldout,
    seed: seed + 1,
  });
  const tasks = await makeTasks(context, model, { split: "train", count: train, seed });
  mkdirSync(join(context.prove, "tasks"), { recursive: true });
  writeFileAtomicallySync(
    file,
    [...tasks, ...heldOut].map(it => `${formatTaskLine(it)}\n`).join(""),
  );
  return heldOut;
}

/** The first of `loop-1`, `loop-2`, … that overwrites nothing of an earlier loop. */
function findFreeName(prove: string): string {
  for (let n = 1; ; n++)
    if (
      ![`tasks/loop-${n}.tasks.jsonl`, `runs/loop-${n}-grpo`, `runs/loop-${n}-sft`].some(it =>
        existsSync(join(prove, it)),
      )
    )
      return `loop-${n}`;
}

/** Makes tasks of one split on the servers that the student was trained on. */
async function makeTasks(
  { catalog, resources, signal, showProgress }: CliContext,
  { config }: StoredModel,
  { split, count, seed }: { split: "train" | "heldout-chain"; count: number; seed: number },
): Promise<Task[]> {
  const tasks: Task[] = [];
  const servers = [...catalog.servers.keys()].filter(it => Object.hasOwn(config.saw.servers, it));
  for await (const it of synthesize({
    catalog,
    resources,
    seed,
    servers,
    menu: "chain",
    preset: "student",
    split,
    signal,
  })) {
    // lets an interruption be noticed
    await setImmediate();
    if (it.kind === "rejected") continue;
    tasks.push(it.task);
    showProgress(`${split}: ${tasks.length}/${count} tasks`);
    if (tasks.length === count) return tasks;
  }
  throw new UserError(
    `the servers gave ${tasks.length} tasks of the split ${split}, ${count} were wanted`,
    "ask for fewer",
  );
}

interface Training {
  readonly method: "grpo" | "sft";
  readonly folder: string;
  readonly file: string;
  /** The model folder to start from, and its contents. */
  readonly from: string;
  readonly model: StoredModel;
  readonly seconds: number;
  readonly seed: number;
  /** Settings that differ from the defaults. */
  readonly settings: Partial<GrpoSettings>;
}

/** The early student improves with larger steps, which make a fully trained one worse. */
const earlySettings: Partial<GrpoSettings> = { prompts: 16, learningRate: 3e-4 };

/** Trains a run to its end, and returns the number of its steps. */
async function runTraining(
  { method, folder, file, from, model, seconds, seed, settings }: Training,
  context: CliContext,
): Promise<number> {
  const config = createRunConfig({
    startedAt: new Date(),
    tasks: file,
    from: model.config.name,
    seed,
    seconds,
    keepGroups: 10,
    method,
    grpo: settings,
  });
  createRun(folder, config, from);
  const attachment = await startTrainer({
    folder,
    program: join(context.dist, "trainer.js"),
    fixtures: listFixtureFolders(context),
  });
  const { steps } = await followTraining(attachment, context, `${method} `);
  context.signal.throwIfAborted();
  return steps.length;
}
