/**
 * Creates a run that leaves nothing behind if its training is refused before the first step: its
 * folder would stand in the way of the next attempt to start it.
 */
import { existsSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunConfig } from "./config.ts";
import { createRun, readEnd } from "./folder.ts";
import { readTrainerLock } from "./trainerLock.ts";

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
