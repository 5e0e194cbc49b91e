/**
 * Starts a trainer process on a run folder and attaches to it. The process keeps running when the
 * program that started it exits.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../userError.ts";
import { attachTrainer, type Attachment } from "./attach.ts";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { clearEnd, getMetricsFile, readEnd, readRun } from "./folder.ts";
import { getBackendsFolder, listInstalledBackends } from "./nativeBackends.ts";

export interface StartOptions {
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
  const log = withWriteErrors(getLogFile(folder), () => openSync(getLogFile(folder), "a"));
  const child = spawn(node, [youngGeneration, heapGrowth, program, folder, ...fixtures], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...allocation, ...env },
    windowsHide: true,
  });
  closeSync(log);
  let failure: Error | undefined;
  let isOver = false;
  child.once("error", error => (failure = error));
  child.once("exit", () => (isOver = true));
  child.unref();
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
    if (isOver) throw createStartError(folder);
    await sleep(wait);
  }
}

/** The end of a log that is read, in characters. */
const logTail = 20_000;

/**
 * The error of a trainer that ended without saying why: who follows it sees only that it is gone.
 * What Node or the operating system wrote last is in its log.
 */
export function createDeathError(folder: string): UserError {
  const log = readIfExists(getLogFile(folder), () => readFileSync(getLogFile(folder), "utf8"));
  const hadNoMemory = /out of memory|cannot allocate memory|Allocation failed/i.test(
    log?.slice(-logTail) ?? "",
  );
  if (hadNoMemory)
    return new UserError(
      "the trainer died, because no memory was left",
      "end other programs, or compare the memory that prove-rl plan prints with that of this machine; then continue with --resume",
    );
  const installed = listInstalledBackends(getBackendsFolder());
  if (installed.length > 0 && !log && !existsSync(getMetricsFile(folder)))
    return new UserError(
      "the trainer died before its first step, without a message",
      `find out with prove-rl backend check whether the native backend ${installed.join(" or ")} ends it, and remove that; then continue with --resume`,
    );
  return new UserError(
    "the trainer died",
    "read trainer.log in the run folder, then continue with --resume",
  );
}

function createStartError(folder: string): UserError {
  const end = readEnd(folder);
  return end?.by === "failed"
    ? new UserError(end.what, end.remedy)
    : new UserError(`the trainer of ${folder} ended before it began`, `read ${getLogFile(folder)}`);
}
