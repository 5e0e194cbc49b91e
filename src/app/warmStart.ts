/**
 * Trains a student on synthesized conversations (SFT): learns a tokenizer, trains a model with
 * random weights or goes on from one, and writes the last checkpoint as a model folder.
 */
import { rmSync, mkdirSync } from "node:fs";
import { writeFileOver } from "../storage/writtenFiles.ts";
import { join, basename } from "node:path";
import { defaultSftSettings, type SftSettings } from "../run/config.ts";
import { createRunConfig, type RunOptions } from "../run/createRunConfig.ts";
import { trainNewRun, startTrainer } from "../run/start.ts";
import type { AppContext } from "./context.ts";
import { followTraining, type FollowedTraining } from "./followTraining.ts";
import { listFixtureFolders } from "./resources.ts";
import { startBackend } from "../compute/backend.ts";
import type { Catalog } from "../environment/catalog.ts";
import type { Architecture } from "../model/transformer/architecture.ts";
import { studentLimits } from "../model/student/compactChat.ts";
import {
  copyWeights,
  createConfig,
  loadModel,
  readModelFolder,
  writeModelFolder,
} from "../model/modelFolder.ts";
import { trainTokenizer, type Tokenizer } from "../model/student/tokenizer.ts";
import { initializeModel } from "../model/transformer/transformer.ts";
import { formatArgument, formatResultRows } from "../model/student/valueText.ts";
import { getCheckpointFolder, readMetrics, readRun } from "../run/folder.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";

/** A high rate and a loss on all tokens: the student learns to copy from what it reads sooner. */
const warmStartSettings: SftSettings = {
  ...defaultSftSettings,
  conversations: 16,
  learningRate: 3e-3,
  warmUp: 200,
  decay: 0.5,
  given: 0.1,
};

/**
 * A model that has learned to copy takes smaller steps, and keeps what it knows. The rate falls
 * from the start: at a constant one, the loss hardly does.
 */
const continuedSettings: SftSettings = {
  ...warmStartSettings,
  learningRate: 1e-3,
  warmUp: 50,
  decay: 1,
};

interface WarmStart {
  /** The tasks file. */
  readonly tasks: string;
  /** The run folder to write. */
  readonly run: string;
  /** The model folder to write. */
  readonly out: string;
  /** The model folder to go on from; random weights where absent. */
  readonly from?: string;
  readonly seed: number;
  readonly workers?: number;
  readonly seconds: number;
  readonly sft?: RunOptions["sft"];
}

/**
 * Trains a student on the conversations of a tasks file, and writes it unless an alarm ended the
 * training.
 */
export async function trainWarmStart(
  { tasks, run, out, from, seed, workers, seconds, sft }: WarmStart,
  context: AppContext,
): Promise<FollowedTraining> {
  const randomModel = `${run}.start`;
  const config = createRunConfig({
    startedAt: new Date(),
    tasks,
    method: "sft",
    seed,
    ...(workers === undefined ? {} : { workers }),
    seconds,
    saveEvery: 250,
    keepGroups: 0,
    sft: { ...(from === undefined ? warmStartSettings : continuedSettings), ...sft },
    ...(from === undefined ? {} : { from: readModelFolder(from).config.name }),
  });
  if (from === undefined) await writeRandomModel(randomModel, { tasks, seed }, context);
  const removeRandomModel = () => rmSync(randomModel, { recursive: true, force: true });
  const training = await trainNewRun(run, { config, model: from ?? randomModel }, async () => {
    removeRandomModel();
    const attachment = await startTrainer({
      folder: run,
      program: join(context.dist, "trainer.js"),
      fixtures: listFixtureFolders(context),
    });
    return followTraining(run, attachment, context);
  }).finally(removeRandomModel);
  context.signal.throwIfAborted();
  if (training.by !== "alarm") await exportCheckpoint(run, training.step, out, context.dist);
  return training;
}

/** The shipped student: about a million weights. */
const smallStudent: Omit<Architecture, "vocabulary"> = {
  width: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headWidth: 32,
  hidden: 384,
  context: studentLimits.context,
  ropeBase: 10_000,
};

const vocabularySize = 1792;

/** Writes a model folder with random weights and a tokenizer learned from the tasks. */
async function writeRandomModel(
  folder: string,
  { tasks, seed }: { readonly tasks: string; readonly seed: number },
  { catalog, dist, showProgress, signal }: AppContext,
): Promise<void> {
  showProgress("learning the tokenizer");
  const tokenizer = await learnTokenizer(tasks, catalog, signal);
  await startBackend("auto", { programs: dist });
  const model = initializeModel({ ...smallStudent, vocabulary: tokenizer.size }, seed);
  mkdirSync(folder, { recursive: true });
  await writeModelFolder(
    folder,
    {
      config: createConfig("small", model.architecture, tokenizer),
      tokenizer,
      weights: await copyWeights(model),
    },
    "F32",
  );
  model.dispose();
}

/** The tokenizer is learned from this many conversations, which contain every template. */
const tokenizerConversations = 6_000;

async function learnTokenizer(
  file: string,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<Tokenizer> {
  const texts: string[] = [];
  let conversations = 0;
  for await (const task of readTasks(file, { signal })) {
    if (task.split !== "train") continue;
    texts.push(...listTexts(task, catalog));
    if (++conversations === tokenizerConversations) break;
  }
  const tools = [...catalog.tools.values()];
  const keys = new Set(
    tools.flatMap(it => Object.keys((it.inputSchema["properties"] ?? {}) as object)),
  );
  return trainTokenizer(
    texts,
    tools.map(it => it.name),
    [...keys],
    vocabularySize,
  );
}

/** The messages, arguments and results of a task, each as the student reads it. */
function listTexts({ trajectory }: Task, catalog: Catalog): string[] {
  return trajectory.events.flatMap(it => {
    if (it.kind === "user" || it.kind === "assistant") return [` ${it.text}`];
    if (it.kind !== "call") return [];
    const tool = catalog.tools.get(it.name);
    const answer =
      it.outcome.kind === "ok"
        ? formatResultRows(it.outcome.value, tool?.outputSchema, false).join("; ")
        : `error ${it.outcome.message}`;
    return [
      ` ${answer}`,
      ...Object.values((it.arguments ?? {}) as Record<string, never>).map(
        value => ` ${formatArgument(value, undefined)}`,
      ),
    ];
  });
}

/** Writes a checkpoint as a model folder with 16-bit weights, its run's configuration and curve. */
async function exportCheckpoint(
  run: string,
  step: number,
  out: string,
  programs: string,
): Promise<void> {
  const stored = readModelFolder(getCheckpointFolder(run, step));
  if (stored.kind !== "student") throw new Error(`${run} trains no student`);
  await startBackend("auto", { programs });
  const model = await loadModel(stored);
  mkdirSync(out, { recursive: true });
  await writeModelFolder(
    out,
    {
      config: { ...stored.config, name: basename(out) },
      tokenizer: stored.tokenizer,
      weights: await copyWeights(model),
    },
    "F16",
  );
  model.dispose();
  // without the folder of this machine
  const config = readRun(run);
  writeFileOver(
    join(out, "training.json"),
    `${JSON.stringify({ ...config, tasks: basename(config.tasks) }, undefined, 2)}\n`,
  );
  writeFileOver(join(out, "curve.csv"), formatCurve(run, step));
}

/** The loss over the run as CSV, with a row for each measured validation loss. */
function formatCurve(run: string, lastStep: number): string {
  let seconds = 0;
  let losses: number[] = [];
  const rows = ["step,seconds,loss,validation,learning_rate"];
  for (const it of readMetrics(run).lines) {
    if (it.method !== "sft" || it.step > lastStep) continue;
    seconds += it.seconds.total;
    losses.push(it.loss);
    if (it.validation === undefined) continue;
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    rows.push(
      [
        it.step,
        seconds.toFixed(0),
        mean.toFixed(4),
        it.validation.toFixed(4),
        it.learningRate.toExponential(2),
      ].join(),
    );
    losses = [];
  }
  return `${rows.join("\n")}\n`;
}
