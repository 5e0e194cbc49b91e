/**
 * Whatever of our files holds attempts, read as attempts: a tasks file gives each task's teacher, a
 * trajectory file its attempts, a run's group file those of one step. Does not know what they are
 * wanted for.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../userError.ts";
import { readJsonLines, type ReadOptions } from "../storage/jsonLines.ts";
import { parseTask, parseTrajectory, readTrajectories } from "./file.ts";
import type { Task } from "./task.ts";
import type { Trajectory } from "./trajectory.ts";

export interface RecordedAttempt {
  readonly trajectory: Trajectory;
  /** The task it is an attempt at, where the file holds that too. */
  readonly task?: Task;
}

export interface ReadRecordsOptions extends ReadOptions {
  /** Told what is wrong with a file; the others are still read. */
  readonly onUserError: (mistake: UserError) => void;
}

/**
 * Reads the attempts of files, one after the other; a folder stands for the files of JSON Lines in
 * it.
 */
export async function* readRecordedAttempts(
  paths: readonly string[],
  reading: ReadRecordsOptions,
): AsyncGenerator<RecordedAttempt> {
  for (const path of paths) {
    try {
      for (const file of await listFiles(path)) yield* readFile(file, reading);
    } catch (error) {
      // being told to stop is a mistake of no file's
      if (!(error instanceof UserError) || reading.signal?.aborted) throw error;
      reading.onUserError(error);
    }
  }
}

async function* readFile(file: string, reading: ReadOptions): AsyncGenerator<RecordedAttempt> {
  for await (const { json, number } of readJsonLines(file, reading)) {
    const source = { file, line: number };
    switch (kindOf(json)) {
      case "trajectory":
        for await (const trajectory of readTrajectories(file, reading)) yield { trajectory };
        return;
      case "group":
        yield {
          trajectory: parseTrajectory((json as { trajectory?: unknown }).trajectory, source),
        };
        break;
      case "task": {
        const task = parseTask(json, source);
        yield { task, trajectory: task.trajectory };
        break;
      }
      default:
        throw new UserError(
          `${file}:${number} is neither a task nor the header of a trajectory`,
          "give *.tasks.jsonl or *.trajectory.jsonl files",
        );
    }
  }
}

function kindOf(json: unknown): string | undefined {
  const format =
    json !== null && typeof json === "object" ? (json as { format?: unknown }).format : undefined;
  return typeof format === "string" ? /^prove\/(\w+)@/.exec(format)?.[1] : undefined;
}

async function listFiles(path: string): Promise<readonly string[]> {
  const isFolder = await stat(path).then(
    it => it.isDirectory(),
    () => false,
  );
  if (!isFolder) return [path];
  const names = (await readdir(path)).filter(it => it.endsWith(".jsonl"));
  if (names.length === 0)
    throw new UserError(
      `there are no *.jsonl files in ${path}`,
      "give a folder that holds tasks or trajectories",
    );
  return names.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)).map(it => join(path, it));
}

/** 2 before 10. */
const sortKey = (name: string) => name.replaceAll(/\d+/g, it => it.padStart(12, "0"));
