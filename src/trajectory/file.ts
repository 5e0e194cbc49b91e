/**
 * Reads and writes files of tasks and of trajectories, checking them line by line; and reads the
 * attempts of both kinds and of a step's group file alike.
 */
import type { z } from "zod";
import { UserError } from "../userError.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { readJsonLines, type ReadOptions } from "../storage/jsonLines.ts";
import { checkJson, type JsonSource } from "../storage/parseJson.ts";
import {
  isEarlierTaskLine,
  migrateTaskLine,
  parseTaskLine,
  taskFormat,
  taskLineSchema,
  type Task,
} from "./task.ts";
import {
  headerSchema,
  trajectoryFormat,
  type Event,
  type Header,
  type Trajectory,
  eventLineSchema,
  formatTrajectory,
  parseEventLine,
  parseTrajectoryLine,
  trajectoryLineSchema,
} from "./trajectory.ts";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedAttempt } from "./attempt.ts";

/** Reads a tasks file. Throws a `UserError` with file and line for an invalid task. */
export async function* readTasks(file: string, options: ReadOptions = {}): AsyncGenerator<Task> {
  for await (const { json, number } of readJsonLines(file, options))
    yield parseTask(json, { file, line: number });
}

/**
 * Reads the attempts of a trajectory file; each begins with a header. Throws a `UserError` with
 * file and line for an invalid line.
 */
export async function* readTrajectories(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<Trajectory> {
  let current: { header: Header; events: Event[] } | undefined;
  for await (const { json, number } of readJsonLines(file, options)) {
    const source = { file, line: number };
    if (getKind(json) === "header") {
      if (current) yield current;
      current = {
        header: checkOriginal(headerSchema, json, {
          ...source,
          noun: "a trajectory's header",
          format: trajectoryFormat,
        }),
        events: [],
      };
    } else if (current)
      current.events.push(
        parseEventLine(
          checkOriginal(eventLineSchema, json, { ...source, noun: "an event of a trajectory" }),
        ),
      );
    else
      throw new UserError(
        `${file}:${number} comes before a header`,
        "a trajectory file begins with a line of kind header",
      );
  }
  if (current) yield current;
}

/** Checks the parsed JSON of a task. Throws a `UserError` with its source and what is invalid. */
export function parseTask(json: unknown, source: JsonSource): Task {
  const line = migrateTaskLine(json);
  const format = isEarlierTaskLine(line) ? line.format : taskFormat;
  return parseTaskLine(checkOriginal(taskLineSchema, line, { ...source, noun: "a task", format }));
}

/**
 * Checks the parsed JSON of a trajectory, header and events together. Throws a `UserError` with its
 * source and what is invalid.
 */
export const parseTrajectory = (json: unknown, source: JsonSource): Trajectory =>
  parseTrajectoryLine(
    checkOriginal(trajectoryLineSchema, json, { ...source, noun: "a trajectory" }),
  );

/** Writes a trajectory to a file of its own, atomically. */
export const writeTrajectory = (file: string, trajectory: Trajectory): Promise<void> =>
  writeFileAtomically(file, formatTrajectory(trajectory));

/**
 * Checks a value and returns the value itself. The copy that a schema returns lacks keys such as
 * __proto__, which a policy may have written.
 */
function checkOriginal<T>(schema: z.ZodType<T>, json: unknown, source: JsonSource): T {
  checkJson(schema, json, source);
  return json as T;
}

const getKind = (json: unknown) =>
  json !== null && typeof json === "object" ? (json as { kind?: unknown }).kind : undefined;

interface ReadRecordsOptions extends ReadOptions {
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
