/**
 * Synthesizes tasks on the shipped servers for tests. Data sets that several files read are made
 * once per run, when the first of them asks.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acquireLock } from "../../src/storage/fileLock.ts";
import type { RejectedAttempt } from "../../src/synthesis/pipeline/report/report.ts";
import { synthesize } from "../../src/synthesis/pipeline/run/synthesize.ts";
import type { SynthesisOptions } from "../../src/synthesis/pipeline/synthesisOptions.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { UserError } from "../../src/userError.ts";
import { catalog, root } from "../contracts/transports.ts";

export const resources = join(root, "resources");

export const createSynthesisOptions = (
  changes: Partial<SynthesisOptions> = {},
): SynthesisOptions => ({
  catalog,
  resources,
  seed: 11,
  servers: ["banking", "calendar", "filesystem"],
  menu: "chain",
  preset: "student",
  ...changes,
});

export interface TaskSet {
  readonly tasks: readonly Task[];
  /** The attempts that were rejected on the way. */
  readonly rejected: readonly RejectedAttempt[];
}

/** Synthesizes `count` tasks. */
export async function synthesizeTasks(
  count: number,
  changes: Partial<SynthesisOptions> = {},
): Promise<TaskSet> {
  const tasks: Task[] = [];
  const rejected: RejectedAttempt[] = [];
  for await (const it of synthesize(createSynthesisOptions(changes))) {
    if (it.kind === "rejected") rejected.push(it.rejected);
    else tasks.push(it.task);
    if (tasks.length === count) break;
  }
  return { tasks, rejected };
}

const allServers = [...catalog.servers.keys()];

/** The numbers of tasks and the options of the data sets. */
export const sharedSets = {
  /** The paper's mixture on all servers, with short menus. */
  paper: [400, { servers: allServers, seed: 1, preset: "paper", count: 400 }],
  /** The same with menus of 20 to 40 tools. */
  realistic: [
    400,
    { servers: allServers, seed: 4, preset: "paper", menu: "realistic", count: 400 },
  ],
  /** Short conversations on three servers. */
  student: [300, {}],
} as const satisfies Record<string, readonly [count: number, Partial<SynthesisOptions>]>;

const read = new Map<string, TaskSet>();

/** Returns a data set, in the form that task files have. */
export async function readSharedTasks(name: keyof typeof sharedSets): Promise<TaskSet> {
  const found = read.get(name);
  if (found) return found;
  // the temporary folder is one of this run
  const file = join(tmpdir(), `${name}.shared.json`);
  if (!existsSync(file)) await makeOnce(file, sharedSets[name]);
  const set = JSON.parse(readFileSync(file, "utf8")) as TaskSet;
  read.set(name, set);
  return set;
}

/** Makes the file of a data set, or waits until another process has made it. */
async function makeOnce(
  file: string,
  [count, options]: readonly [number, Partial<SynthesisOptions>],
): Promise<void> {
  const release = await waitForLock(`${file}.lock`);
  try {
    if (existsSync(file)) return;
    writeFileSync(`${file}.part`, JSON.stringify(await synthesizeTasks(count, options)));
    renameSync(`${file}.part`, file);
  } finally {
    release();
  }
}

async function waitForLock(file: string): Promise<() => void> {
  for (;;)
    try {
      return acquireLock(file, {
        createConflict: pid => new UserError(`process ${pid} makes the tasks`, "wait for it"),
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await sleep(100);
    }
}
