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

/** Reads a tasks file. Throws a `UserError` with file and line where one does not fit. */
export async function* readTasks(file: string, options: ReadOptions = {}): AsyncGenerator<Task> {
  for await (const { json, number } of readJsonLines(file, options))
    yield parseTask(json, { file, line: number });
}

/**
 * Reads the attempts of a trajectory file, each from its header on. Throws a `UserError` with file
 * and line where one does not fit.
 */
export async function* readTrajectories(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<Trajectory> {
  let current: { header: Header; events: Event[] } | undefined;
  for await (const { json, number } of readJsonLines(file, options)) {
    const source = { file, line: number };
    if (kindOf(json) === "header") {
      if (current) yield current;
      current = {
        header: checkWritten(headerSchema, json, {
          ...source,
          noun: "a trajectory's header",
          format: trajectoryFormat,
        }),
        events: [],
      };
    } else if (current)
      current.events.push(
        parseEventLine(
          checkWritten(eventLineSchema, json, { ...source, noun: "an event of a trajectory" }),
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

/** A task of parsed JSON. Throws a `UserError` that says where it was and what does not fit. */
export const parseTask = (json: unknown, source: JsonSource): Task =>
  parseTaskLine(
    checkWritten(taskLineSchema, migrateTaskLine(json), {
      ...source,
      noun: "a task",
      format: taskFormat,
    }),
  );

/**
 * A trajectory of parsed JSON, header and events together. Throws a `UserError` that says where it
 * was and what does not fit.
 */
export const parseTrajectory = (json: unknown, source: JsonSource): Trajectory =>
  parseTrajectoryLine(
    checkWritten(trajectoryLineSchema, json, { ...source, noun: "a trajectory" }),
  );

/** Writes a trajectory to a file of its own, whole or not at all. */
export const writeTrajectory = (file: string, trajectory: Trajectory): Promise<void> =>
  writeFileAtomically(file, formatTrajectory(trajectory));

/**
 * The value itself, once it has been checked: what a schema returns is a copy without keys such as
 * __proto__, which a policy may have written.
 */
function checkWritten<T>(schema: z.ZodType<T>, json: unknown, source: JsonSource): T {
  checkJson(schema, json, source);
  return json as T;
}

const kindOf = (json: unknown) =>
  json !== null && typeof json === "object" ? (json as { kind?: unknown }).kind : undefined;
