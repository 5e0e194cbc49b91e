/**
 * What experiments with a student share: tasks on the servers that it knows, and trainings from it
 * that are followed to their end.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../userError.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import { createRunConfigFrom, type RunOptions } from "../run/createRunConfig.ts";
import { createRun, getRunFile } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { readStartModel } from "../run/startModel.ts";
import { synthesize } from "../synthesis/pipeline/run/synthesize.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import type { Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/task.ts";
import type { AppContext } from "./context.ts";
import { followTraining, type FollowedTraining } from "./followTraining.ts";
import { listFixtureFolders } from "./resources.ts";

/** The student that an experiment starts from. */
export interface Start {
  readonly folder: string;
  readonly model: StoredModel;
  /** The share of turns in which its teacher was careless. */
  readonly careless: number;
}

/** Reads a model folder to start from. */
export async function readStart(folder: string): Promise<Start> {
  // loads the numerics
  const { readModelFolder } = await import("../model/modelFolder.ts");
  const model = readModelFolder(folder);
  return { folder, model, careless: readStartModel(folder).careless };
}

interface TaskCounts {
  readonly train: number;
  readonly heldOut: number;
  readonly seed: number;
}

/** Writes a file with tasks to train on and held-out tasks, and returns the held-out ones. */
export async function writeExperimentTasks(
  file: string,
  model: StoredModel,
  { train, heldOut: count, seed }: TaskCounts,
  context: AppContext,
): Promise<Task[]> {
  const heldOut = await makeTasks(context, model, {
    split: "heldout-chain",
    count,
    seed: seed + 1,
  });
  const tasks = await makeTasks(context, model, { split: "train", count: train, seed });
  writeTasks(file, [...tasks, ...heldOut]);
  return heldOut;
}

/** Writes a file with tasks to train on only. */
export async function writeTrainingTasks(
  file: string,
  model: StoredModel,
  { count, seed }: { readonly count: number; readonly seed: number },
  context: AppContext,
): Promise<void> {
  writeTasks(file, await makeTasks(context, model, { split: "train", count, seed }));
}

function writeTasks(file: string, tasks: readonly Task[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomicallySync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
}

/** Makes tasks of one split on the servers that the student was trained on. */
async function makeTasks(
  { catalog, resources, signal, showProgress }: AppContext,
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

/**
 * Trains a run from a student to its end; a run that was interrupted goes on. `label` begins the
 * lines of its progress.
 */
export async function trainStudent(
  folder: string,
  start: Start,
  options: Omit<RunOptions, "startedAt" | "from">,
  label: string,
  context: AppContext,
): Promise<FollowedTraining> {
  const config = createRunConfigFrom(readStartModel(start.folder), {
    startedAt: new Date(),
    keepGroups: 10,
    ...options,
  });
  if (!existsSync(getRunFile(folder))) createRun(folder, config, start.folder);
  const attachment = await startTrainer({
    folder,
    program: join(context.dist, "trainer.js"),
    fixtures: listFixtureFolders(context),
  });
  const training = await followTraining(folder, attachment, context, `${label} `);
  context.signal.throwIfAborted();
  return training;
}
