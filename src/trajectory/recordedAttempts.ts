/**
 * Reads attempts from files of three kinds: the teachers' attempts in a tasks file, the attempts in
 * a trajectory file, and those of one step in a run's group file.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../userError.ts";
import { readJsonLines, type ReadOptions } from "../storage/jsonLines.ts";
import type { RecordedAttempt } from "./attempt.ts";
import { parseTask, parseTrajectory, readTrajectories } from "./file.ts";

export interface ReadRecordsOptions extends ReadOptions {
  /** Receives the error of a file that cannot be read; the others are still read. */
  readonly onUserError: (error: UserError) => void;
}

/** Reads the attempts of files in order; a folder stands for the JSON Lines files in it. */
export async function* readRecordedAttempts(
  paths: readonly string[],
  options: ReadRecordsOptions,
): AsyncGenerator<RecordedAttempt> {
  const report = (error: unknown): void => {
    // an abort is not an error of the file
    if (!(error instanceof UserError) || options.signal?.aborted) throw error;
    options.onUserError(error);
  };
  for (const path of paths) {
    let files: readonly string[] = [];
    try {
      files = await listFiles(path);
    } catch (error) {
      report(error);
    }
    for (const file of files)
      try {
        yield* readFile(file, options);
      } catch (error) {
        report(error);
      }
  }
}

async function* readFile(file: string, options: ReadOptions): AsyncGenerator<RecordedAttempt> {
  for await (const { json, number } of readJsonLines(file, options)) {
    const source = { file, line: number };
    switch (getFormatKind(json)) {
      case "trajectory":
        for await (const trajectory of readTrajectories(file, options)) yield { trajectory };
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

function getFormatKind(json: unknown): string | undefined {
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

/** Pads the numbers in a name, so that 2 comes before 10. */
const sortKey = (name: string) => name.replaceAll(/\d+/g, it => it.padStart(12, "0"));
