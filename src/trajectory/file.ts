/** Reads and writes files of tasks and of trajectories, checking them line by line. */
import type { z } from "zod";
import { UserError } from "../userError.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { readJsonLines, type ReadOptions } from "../storage/jsonLines.ts";
import { checkJson, type JsonSource } from "../storage/parseJson.ts";
import { taskFormat, type Task } from "./task.ts";
import { migrateTaskLine, taskLineSchema, parseTaskLine } from "./taskLine.ts";
import {
  headerSchema,
  trajectoryFormat,
  type Event,
  type Header,
  type Trajectory,
} from "./trajectory.ts";
import {
  eventLineSchema,
  formatTrajectory,
  parseEventLine,
  parseTrajectoryLine,
  trajectoryLineSchema,
} from "./trajectoryLine.ts";

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
export const parseTask = (json: unknown, source: JsonSource): Task =>
  parseTaskLine(
    checkOriginal(taskLineSchema, migrateTaskLine(json), {
      ...source,
      noun: "a task",
      format: taskFormat,
    }),
  );

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
