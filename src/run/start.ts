/**
 * Starts a trainer process on a run folder and attaches to it. The process keeps running when the
 * program that started it exits. A new run whose training is refused before its first step leaves
 * nothing behind: its folder would stand in the way of the next attempt to start it.
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { appendBytes, openLogFile } from "../storage/writtenFiles.ts";
import { UserError } from "../userError.ts";
import { attachTrainer, type Attachment } from "./attach.ts";
import { getBackendsFolder, listInstalledBackends } from "./backends.ts";
import type { RunConfig } from "./config.ts";
import { clearEnd, getMetricsFile, readEnd, readRun, createRun } from "./folder.ts";
import { readTrainerLock, reserveTrainerLock } from "./locks.ts";

interface StartOptions {
  readonly folder: string;
  /** The path of the built trainer program. */
  readonly program: string;
  /** Folders of fixtures; the first match counts. */
  readonly fixtures: readonly string[];
  /** The Node executable; that of this process if absent. */
  readonly node?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The file with the trainer's output, such as warnings and the stack of a crash. */
export const getLogFile = (folder: string) => join(folder, "trainer.log");

/**
 * Limits the space for new objects, in MB. With the default of Node, a run of the default settings
 * takes a quarter of a gigabyte more and is no faster.
 */
const youngGeneration = "--max-semi-space-size=8";

/**
 * Lets the heap of each worker grow by an eighth between full collections. With the default of V8,
 * it can grow to several times what is in use, and keeps the pages.
 */
const heapGrowth = "--heap-growing-percent=12";

/**
 * How glibc allocates, where it is the C library. By default it keeps freed buffers of up to 32 MB
 * in a heap for each thread, and these heaps grow with the steps of a run.
 */
const allocation = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "262144" };

/**
 * Starts training from the newest checkpoint of a run folder. Resolves once the trainer accepts
 * requests; throws a `UserError` if it could not start.
 */
export async function startTrainer({
  folder,
  program,
  fixtures,
  node = process.execPath,
  env = process.env,
}: StartOptions): Promise<Attachment> {
  const running = await attachTrainer(folder);
  if (running) {
    running.close();
    throw new UserError(`${folder} is being trained already`, "attach to it, or stop it first");
  }
  // a folder that is no run, or one of a newer version, is left as it is
  readRun(folder);
  clearEnd(folder);
  const log = withWriteErrors(getLogFile(folder), () => openLogFile(getLogFile(folder)));
  const child = spawn(node, [youngGeneration, heapGrowth, program, folder, ...fixtures], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...allocation, ...env },
    windowsHide: true,
  });
  closeSync(log);
  const { pid } = child;
  let failure: Error | undefined;
  let isOver = false;
  child.once("error", error => (failure = error));
  child.once("exit", (code, signal) => {
    isOver = true;
    if (pid !== undefined) logDeath(folder, pid, signal ?? `code ${code}`);
  });
  child.unref();
  if (pid !== undefined)
    try {
      reserveTrainerLock(folder, pid);
      appendToLog(folder, `${formatTrainer(pid)} started`);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  for (let wait = 10; ; wait = Math.min(100, wait * 1.5)) {
    const attachment = await attachTrainer(folder);
    if (attachment) return attachment;
    if (failure)
      throw new UserError(
        `cannot start ${node} (${failure.message})`,
        "check that this Node runs",
        {
          cause: failure,
        },
      );
    if (isOver && pid !== undefined) throw createStartError(folder, pid);
    await sleep(wait);
  }
}

/** Adds how a trainer ended to its log, if it did not write an end, and if nobody has done it. */
function logDeath(folder: string, pid: number, how: string): void {
  const isKnown = !existsSync(folder) || readEnd(folder) || readTrainerLog(folder, pid).end;
  if (isKnown) return;
  appendToLog(folder, `${formatTrainer(pid)} ended by ${how}`);
}

const formatTrainer = (pid: number) => `the trainer, process ${pid},`;

function appendToLog(folder: string, text: string): void {
  const line = `${new Date().toISOString()} ${text}\n`;
  withWriteErrors(getLogFile(folder), () => appendBytes(getLogFile(folder), Buffer.from(line)));
}

/** The end of a log that is read, in characters. */
const logTail = 20_000;

interface TrainerLog {
  /** What the trainer and the system wrote. */
  readonly output: string;
  /** The signal or code with which it ended, if that was logged. */
  readonly end: string | undefined;
}

/** What the log has of one trainer. */
function readTrainerLog(folder: string, pid: number): TrainerLog {
  const file = getLogFile(folder);
  const log = readIfExists(file, () => readFileSync(file, "utf8"))?.slice(-logTail) ?? "";
  const [, own = log] = log.split(`${formatTrainer(pid)} started\n`).slice(-2);
  const [output = "", end] = own.split(new RegExp(`\\S+ ${formatTrainer(pid)} ended by `));
  return { output, end: end?.split("\n")[0] };
}

/** What the log says where nobody has seen how the trainer ended. */
const unknownEnd = "an unknown cause";

/** How long the process that started a trainer may take to log how it ended, in milliseconds. */
const logTimeout = 2_000;

/**
 * The error of a trainer whose connection is lost. Undefined if it has written its end, or still
 * runs. Only the process that started it learns by which signal it ended, and logs it.
 */
export async function findDeathError(folder: string, pid: number): Promise<UserError | undefined> {
  for (let waited = 0; waited < logTimeout && isProcess(pid); waited += 50) await sleep(50);
  if (readTrainerLock(folder)?.pid === pid || !existsSync(folder) || readEnd(folder))
    return undefined;
  logDeath(folder, pid, unknownEnd);
  return createDeathError(folder, pid);
}

/** Whether a process has this id, which stays until the process that started it has noticed. */
function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * The error of a trainer that ended without saying why. What Node or the operating system wrote
 * last is in its log, and so is the signal that ended it, if that is known.
 */
export function createDeathError(folder: string, pid: number): UserError {
  const { output, end } = readTrainerLog(folder, pid);
  if (/out of memory|cannot allocate memory|Allocation failed/i.test(output))
    return new UserError(
      "the trainer died, because no memory was left",
      "end other programs, or compare the memory that prove-rl plan prints with that of this machine; then continue with --resume",
    );
  if (end === "SIGKILL")
    return new UserError(
      "the trainer was killed (SIGKILL), which the system does when no memory is left",
      "end other programs, then continue with --resume",
    );
  const installed = listInstalledBackends(getBackendsFolder());
  const after = end === undefined || end === unknownEnd ? "" : ` (${end})`;
  if (installed.length > 0 && output === "" && !existsSync(getMetricsFile(folder)))
    return new UserError(
      `the trainer died before its first step, without a message${after}`,
      `find out with prove-rl backend check whether the native backend ${installed.join(" or ")} ends it, and remove that; then continue with --resume`,
    );
  return new UserError(
    `the trainer died${after}`,
    "read trainer.log in the run folder, then continue with --resume",
  );
}

function createStartError(folder: string, pid: number): UserError {
  const end = readEnd(folder);
  return end?.by === "failed" ? new UserError(end.what, end.remedy) : createDeathError(folder, pid);
}

/** What a run writes into its folder before its first step. Other files are never removed. */
const written =
  /^(?:(?:run|tasks|ended)\.json|trainer\.(?:log|lock)|groups|checkpoints|base|events\.out\.tfevents\..+)$/;

/** Milliseconds in which a trainer that has failed ends. */
const timeout = 10_000;

/**
 * Creates a run as `createRun` does, and trains it with the function. If the run cannot be created,
 * or a trainer has refused to train it, it is removed; what was in the folder before stays.
 */
export async function trainNewRun<Result>(
  folder: string,
  { config, model }: { readonly config: RunConfig; readonly model: string },
  trainRun: () => Promise<Result>,
): Promise<Result> {
  const list = () => [...listWritten(folder), folder, ...listParents(folder)];
  const before = new Set(list().filter(it => existsSync(it)));
  let isCreated = false;
  try {
    createRun(folder, config, model);
    isCreated = true;
    return await trainRun();
  } catch (error) {
    if (!isCreated || (await wasRefused(folder)))
      for (const it of list()) if (!before.has(it)) removeEntry(it);
    throw error;
  }
}

/** Whether the trainer of a run has ended and refused to train it. */
async function wasRefused(folder: string): Promise<boolean> {
  for (let waited = 0; readTrainerLock(folder); waited += 20) {
    if (waited > timeout) return false;
    await sleep(20);
  }
  const end = readEnd(folder);
  return end?.by === "failed" && end.isRefused === true;
}

/** The entries of a run, each folder after what is in it. */
const listWritten = (folder: string): readonly string[] =>
  listEntries(folder, name => written.test(name));

function listEntries(parent: string, isListed: (name: string) => boolean): readonly string[] {
  if (!existsSync(parent) || !statSync(parent).isDirectory()) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter(it => isListed(it.name))
    .flatMap(it => {
      const path = join(parent, it.name);
      return it.isDirectory() ? [...listEntries(path, () => true), path] : [path];
    });
}

/** The folders that a path is in, from the inside out. */
function listParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listParents(parent)];
}

/** Removes a file, or a folder unless something is in it. */
function removeEntry(path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) rmSync(path, { force: true, maxRetries: 10 });
  else if (readdirSync(path).length === 0) rmdirSync(path);
}
