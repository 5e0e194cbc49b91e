/**
 * Reads and writes the files of a run's folder: run.json, metrics.jsonl with a line per step,
 * groups and checkpoints. Tensors are written by the trainer.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  createReadStream,
} from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import {
  adapterWeightsFile,
  isAdapterFolder,
  writeAdapterConfig,
} from "../storage/adapterConfig.ts";
import { renameOver, writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { toWriteError, withWriteErrors, type WriteContext } from "../storage/fileErrors.ts";
import { readLog, type Log } from "../storage/jsonLines.ts";
import { appendLine } from "../storage/lineWriter.ts";
import { keepModelName } from "../storage/modelName.ts";
import { parseJson, readJsonFile } from "../storage/parseJson.ts";
import { maxLogBytes, readTextFile } from "../storage/textFiles.ts";
import { formatRelative } from "../storage/relativePath.ts";
import { checkWrittenFile, copyFileOver } from "../storage/writtenFiles.ts";
import { UserError } from "../userError.ts";
import { runConfig, runFormat, type LoraSettings, type RunConfig } from "./config.ts";
import { stepMetrics, type StepMetrics } from "./metrics.ts";
import { readStartModel } from "./startModel.ts";

/** Says in write errors that a run whose disk was full can be continued. */
export const resumable: WriteContext = {
  kept: "what was written before is kept",
  whenFull: "free some space, then continue with --resume",
};

export const getRunFile = (folder: string) => join(folder, "run.json");
export const getMetricsFile = (folder: string) => join(folder, "metrics.jsonl");
export const getDiscardedFile = (folder: string) => join(folder, "metrics.discarded.jsonl");
export const getGroupsFile = (folder: string, step: number) =>
  join(folder, "groups", `${step}.jsonl`);
export const getCheckpointFolder = (folder: string, step: number) =>
  join(folder, "checkpoints", String(step));

/** The steps of a run with recorded groups, newest first. */
export function listRecordedSteps(folder: string): readonly number[] {
  const groups = join(folder, "groups");
  if (!existsSync(groups)) return [];
  const steps = readdirSync(groups).map(it => /^(\d+)\.jsonl$/.exec(it)?.[1]);
  return steps.flatMap(it => (it === undefined ? [] : [Number(it)])).sort((a, b) => b - a);
}

/**
 * Creates a run from a model folder, which becomes checkpoint 0. Of a run that trains adapters,
 * checkpoint 0 has only those; a Hugging Face model stays where it is, and a student is copied to
 * the folder `base`. Throws a `UserError` if the folder already contains a run or
 * checkpoints of one, or the model lacks a file.
 */
export function createRun(folder: string, config: RunConfig, start: string): void {
  if (existsSync(getRunFile(folder)))
    throw new UserError(
      `${folder} already holds a run`,
      "continue it with --resume, or choose another folder",
    );
  if (listCheckpoints(folder).some(it => it > 0))
    throw new UserError(
      `${folder} has checkpoints of another run, whose run.json is gone`,
      "choose another folder",
    );
  if (!config.lora) checkModelFiles(start);
  const first = getCheckpointFolder(folder, 0);
  withWriteErrors(folder, () => {
    mkdirSync(join(folder, "groups"), { recursive: true });
    mkdirSync(first, { recursive: true });
    if (config.lora) writeFirstAdapters(folder, config.lora, start);
    else copyModel(start, first, listModelFiles(start));
    // the folder of a checkpoint would give the model its own name
    const { kind, name } = readStartModel(start);
    if (kind === "hugging-face" && !config.lora) keepModelName(first, name);
  });
  writeFileAtomicallySync(getRunFile(folder), `${JSON.stringify(config, undefined, 2)}\n`);
}

/** Writes checkpoint 0 of a run that trains adapters. Its configuration is last. */
function writeFirstAdapters(folder: string, lora: LoraSettings, start: string): void {
  const first = getCheckpointFolder(folder, 0);
  const { kind, base = start } = readStartModel(start);
  const listExisting = (...files: readonly string[]) =>
    files.filter(it => existsSync(join(start, it)));
  if (kind === "student") {
    const copy = join(folder, "base");
    mkdirSync(copy, { recursive: true });
    copyModel(base, copy, listModelFiles(base));
    copyModel(start, first, listExisting(adapterWeightsFile, "config.json"));
    writeAdapterConfig(first, lora, formatRelative(first, copy));
  } else {
    copyModel(start, first, listExisting(adapterWeightsFile, "prove.json"));
    writeAdapterConfig(first, lora, base);
  }
}

function checkModelFiles(folder: string): void {
  const missing = listModelFiles(folder).find(it => !existsSync(join(folder, it)));
  if (missing !== undefined)
    throw new UserError(
      `the model folder ${folder} has no ${missing}`,
      "copy the whole folder again, or choose another model",
    );
}

function copyModel(from: string, to: string, files: readonly string[]): void {
  for (const name of files) copyFileOver(join(from, name), join(to, name));
}

/** The files of a model. config.json is last: a checkpoint without it is incomplete. */
function listModelFiles(start: string): readonly string[] {
  if (readStartModel(start).kind === "student")
    return ["weights.safetensors", "tokenizer.json", "config.json"];
  const ofCheckpoint = ["config.json", "optimizer.safetensors", "state.json"];
  const files = readdirSync(start).filter(
    it => !ofCheckpoint.includes(it) && statSync(join(start, it)).isFile(),
  );
  return [...files, "config.json"];
}

/**
 * Reads a run's configuration. The path of the tasks file may be relative to the run's folder in
 * run.json; it is absolute in the result. Throws a `UserError` if there is none or it is not valid.
 */
export function readRun(folder: string): RunConfig {
  const file = getRunFile(folder);
  let text: string;
  try {
    text = readTextFile(file);
  } catch (cause) {
    throw new UserError(
      `${folder} is not a run folder: it has no readable run.json`,
      "choose a folder that prove-rl train wrote",
      { cause },
    );
  }
  const config = parseJson(runConfig, text, {
    file,
    noun: "a run",
    format: runFormat,
    remedy: "correct that value, or start a new run",
  });
  return { ...config, tasks: resolve(folder, config.tasks) };
}

/** Records in run.json what the trainer computes with. */
export const writeTrainedWith = (folder: string, trainedWith: RunConfig["trainedWith"]): void =>
  changeRun(folder, { trainedWith });

/**
 * Replaces both limits of a run, so that training can go on after it has ended. Throws a
 * `UserError` if the run has reached the new ones already.
 */
export function extendRun(folder: string, limits: Pick<RunConfig, "steps" | "seconds">): void {
  const trained = measureTraining(folder);
  const { steps = Infinity, seconds = Infinity } = limits;
  if (steps <= trained.steps || seconds <= trained.seconds)
    throw new UserError(
      `${folder} has been trained for ${trained.steps} steps and ${Math.round(trained.seconds)} seconds already`,
      "give larger numbers: they count from the beginning of the run",
    );
  changeRun(folder, { steps: limits.steps, seconds: limits.seconds });
}

/** How long a run has been trained, up to its last checkpoint, from which it is resumed. */
export function measureTraining(folder: string): {
  readonly steps: number;
  readonly seconds: number;
} {
  const { step } = findLatestCheckpoint(folder);
  const lines = readMetrics(folder).lines.filter(it => it.step <= step);
  return { steps: lines.length, seconds: lines.reduce((sum, it) => sum + it.seconds.total, 0) };
}

function changeRun(folder: string, changes: Partial<RunConfig>): void {
  // not through `readRun`, which makes paths absolute
  const file = getRunFile(folder);
  const stored = JSON.parse(readTextFile(file)) as object;
  const text = `${JSON.stringify({ ...stored, ...changes }, undefined, 2)}\n`;
  writeFileAtomicallySync(file, text, resumable);
}

/** The completed steps of a run, in order, and the lines that could not be read. */
export const readMetrics = (folder: string): Log<StepMetrics> =>
  readLog(stepMetrics, getMetricsFile(folder));

export const appendMetrics = (folder: string, metrics: StepMetrics): void =>
  appendLine(getMetricsFile(folder), JSON.stringify(metrics), resumable);

/** The steps with a complete checkpoint, in order. Incomplete ones have temporary names. */
export function listCheckpoints(folder: string): readonly number[] {
  const all = join(folder, "checkpoints");
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .filter(it => /^\d+$/.test(it) && isModelFolder(join(all, it)))
    .map(Number)
    .sort((a, b) => a - b);
}

const isModelFolder = (folder: string): boolean =>
  existsSync(join(folder, "config.json")) || isAdapterFolder(folder);

/** The newest checkpoint's folder. Throws a `UserError` if there is none. */
export function findLatestCheckpoint(folder: string): {
  readonly step: number;
  readonly folder: string;
} {
  const step = listCheckpoints(folder).at(-1);
  if (step === undefined)
    throw new UserError(
      `${folder} has no checkpoint`,
      "it cannot be resumed; start a new run in another folder",
    );
  return { step, folder: getCheckpointFolder(folder, step) };
}

/** The folder of the newest checkpoint of a run; a folder that is no run is one of a model. */
export const findModelFolder = (folder: string): string =>
  existsSync(getRunFile(folder)) ? findLatestCheckpoint(folder).folder : folder;

/** Writes a checkpoint atomically: `fill` writes to a temporary folder, which is then renamed. */
export async function writeCheckpoint(
  folder: string,
  step: number,
  fill: (temporary: string) => Promise<void>,
): Promise<string> {
  const at = getCheckpointFolder(folder, step);
  const temporary = `${at}.${process.pid}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  withWriteErrors(at, () => mkdirSync(temporary, { recursive: true }), resumable);
  try {
    await fill(temporary);
  } catch (error) {
    // a part of a checkpoint only takes the room that a full disk lacks
    rmSync(temporary, { recursive: true, force: true });
    throw toWriteError(at, getWriteCause(error), resumable);
  }
  rmSync(at, { recursive: true, force: true });
  renameOver(temporary, at);
  return at;
}

/** The system's error of a failed write, which says more about one file than about a checkpoint. */
const getWriteCause = (error: unknown): unknown => {
  const cause = error instanceof UserError ? (error.cause as NodeJS.ErrnoException) : undefined;
  return cause?.code === undefined ? error : cause;
};

/**
 * Deletes what a trainer left behind that was killed while it wrote: unfinished checkpoints and
 * temporary files. Only the process that holds the trainer's lock may do so.
 */
export function removeUnfinishedFiles(folder: string): void {
  const remove = (parent: string, isUnfinished: RegExp) => {
    for (const name of existsSync(parent) ? readdirSync(parent) : [])
      if (isUnfinished.test(name)) rmSync(join(parent, name), { recursive: true, force: true });
  };
  remove(join(folder, "checkpoints"), /^\d+\.\d+\.tmp$/);
  // the names that `writeFileAtomicallySync` writes to
  remove(folder, /^(?:run|ended)\.json\.\d+$/);
}

/**
 * Discards the steps after a checkpoint: their metrics move to metrics.discarded.jsonl, and their
 * groups are deleted.
 */
export function discardAfter(folder: string, step: number): { readonly discarded: number } {
  const file = getMetricsFile(folder);
  if (!existsSync(file)) return { discarded: 0 };
  const lines = readTextFile(file, maxLogBytes)
    .split("\n")
    .filter(it => it !== "");
  const parseStep = (line: string): number => {
    try {
      return z.object({ step: z.int() }).parse(JSON.parse(line)).step;
    } catch {
      return Infinity; // a torn line belongs to the step that was being written
    }
  };
  const from = lines.findIndex(it => parseStep(it) > step);
  if (from < 0) return { discarded: 0 };
  const discarded = lines.slice(from);
  for (const line of discarded) appendLine(getDiscardedFile(folder), line);
  const kept = lines.slice(0, from).map(it => `${it}\n`);
  checkWrittenFile(file);
  withWriteErrors(file, () => truncateSync(file, Buffer.byteLength(kept.join(""))), resumable);
  for (const name of existsSync(join(folder, "groups")) ? readdirSync(join(folder, "groups")) : [])
    if (Number.parseInt(name) > step) rmSync(join(folder, "groups", name));
  return { discarded: discarded.length };
}

const endSchema = z.discriminatedUnion("by", [
  z.object({ by: z.enum(["steps", "time", "stop"]), step: z.int() }),
  z.object({
    by: z.literal("failed"),
    step: z.int(),
    what: z.string(),
    remedy: z.string(),
    /** Whether the user has to change something before it can begin. */
    isRefused: z.boolean().optional(),
  }),
]);

/** How the last training in a run folder ended. */
export type RunEnd = z.infer<typeof endSchema>;

const endFile = (folder: string) => join(folder, "ended.json");

/** Undefined while training runs, and after a trainer that was killed. */
export const readEnd = (folder: string): RunEnd | undefined =>
  readLog(endSchema, endFile(folder)).lines[0];

export const writeEnd = (folder: string, end: RunEnd): void =>
  writeFileAtomicallySync(endFile(folder), `${JSON.stringify(end)}\n`, resumable);

export const clearEnd = (folder: string): void => rmSync(endFile(folder), { force: true });

/** The runs in a folder of runs, by name. */
export function listRuns(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(it => it.isDirectory() && existsSync(getRunFile(join(folder, it.name))))
    .map(it => resolve(folder, it.name))
    .sort();
}

const digestSchema = z.strictObject({ sha256: z.string() });

/** Throws a `UserError` if the tasks file is not the one that the run began with. */
export async function checkTasksFile(folder: string, tasks: string): Promise<void> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(tasks), hash);
  } catch (cause) {
    throw new UserError(
      `the tasks file ${tasks} cannot be read`,
      "restore it, or start a new run on another file",
      { cause },
    );
  }
  const sha256 = hash.digest("hex");
  const file = join(folder, "tasks.json");
  if (!existsSync(file)) return writeFileAtomicallySync(file, `${JSON.stringify({ sha256 })}\n`);
  const began = readJsonFile(digestSchema, file, {
    noun: "the digest of a tasks file",
    remedy: "delete it to train on the tasks as they are now",
  });
  if (began.sha256 !== sha256)
    throw new UserError(
      `${tasks} has changed since the run in ${folder} began`,
      "restore the file, or start a new run; to go on with the changed tasks, delete tasks.json in the run folder",
    );
}
