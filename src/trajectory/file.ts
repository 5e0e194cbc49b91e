/**
 * Tasks and trajectories as files of JSON Lines, checked line by line while they stream. Does not
 * know who wants them.
 */
import { createReadStream, type Stats } from "node:fs";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import type { z } from "zod";
import { UserError } from "../userError.ts";
import { linesOf, orMistake, writeMistake } from "../storage/jsonLines.ts";
import { taskFormat, type Task } from "./task.ts";
import { migrated, taskLineSchema, taskOfLine } from "./taskLine.ts";
import {
  event,
  header,
  trajectoryFormat,
  trajectorySchema,
  type Event,
  type Header,
  type Trajectory,
} from "./trajectory.ts";

export interface Reading {
  /** Told of a torn last line, which is skipped: a write that was cut off. */
  readonly onTorn?: (remark: string) => void;
  readonly signal?: AbortSignal;
}

/** Reads a tasks file. Throws a `Mistake` with file and line where one does not fit. */
export async function* readTasks(file: string, reading: Reading = {}): AsyncGenerator<Task> {
  for await (const line of jsonLines(file, reading))
    yield parseTask(line.json, `${file}:${line.number}`);
}

/**
 * Reads the attempts of a trajectory file, each from its header on. Throws a `Mistake` with file
 * and line where one does not fit.
 */
export async function* readTrajectories(
  file: string,
  reading: Reading = {},
): AsyncGenerator<Trajectory> {
  let current: { header: Header; events: Event[] } | undefined;
  for await (const { json, number } of jsonLines(file, reading)) {
    const place = `${file}:${number}`;
    if (kindOf(json) === "header") {
      if (current) yield current;
      current = {
        header: parsed(header, json, place, "a trajectory's header", trajectoryFormat),
        events: [],
      };
    } else if (current) current.events.push(parsed(event, json, place, "an event of a trajectory"));
    else
      throw new UserError(
        `${place} comes before a header`,
        "a trajectory file begins with a line of kind header",
      );
  }
  if (current) yield current;
}

/** A task of parsed JSON, or a `Mistake` that says where it was and what does not fit. */
export const parseTask = (json: unknown, place: string): Task =>
  taskOfLine(parsed(taskLineSchema, migrated(json), place, "a task", taskFormat));

/**
 * A trajectory of parsed JSON, header and events together, or a `Mistake` that says where it was
 * and what does not fit.
 */
export const parseTrajectory = (json: unknown, place: string): Trajectory =>
  parsed(trajectorySchema, json, place, "a trajectory");

/** A trajectory as its lines, the last one ended too. */
export const trajectoryText = ({ header, events }: Trajectory): string =>
  `${[header, ...events].map(it => JSON.stringify(it)).join("\n")}\n`;

/** Writes a trajectory to a file of its own, whole or not at all. */
export const writeTrajectory = (file: string, trajectory: Trajectory): Promise<void> =>
  writeWhole(file, trajectoryText(trajectory));

/**
 * Writes a file to a temporary name and renames it. Throws a `Mistake` where the disk is full; what
 * stood there before still does.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flush: true });
    await renameOver(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw writeMistake(file, cause as NodeJS.ErrnoException, "what stood there before is kept");
  }
}

/** On Windows a file that somebody has open cannot be replaced: it is tried again for a second. */
async function renameOver(from: string, to: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rename(from, to);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== "EPERM" && code !== "EBUSY" && code !== "EACCES") || attempt === 10)
        throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

async function statOf(file: string): Promise<Stats> {
  const [stats] = await Promise.allSettled([stat(file)]);
  return orMistake(file, () => {
    if (stats.status === "rejected") throw stats.reason;
    return stats.value;
  });
}

async function* bytesOf(file: string, { signal }: Reading): AsyncGenerator<Uint8Array> {
  await statOf(file);
  for await (const chunk of createReadStream(file, {
    highWaterMark: 2 ** 18,
  }) as AsyncIterable<Uint8Array>) {
    signal?.throwIfAborted();
    yield chunk;
  }
}

/**
 * The lines of a file as JSON, checked no further. Throws a `Mistake` with file and line where one
 * is none.
 */
export async function* jsonLines(
  file: string,
  reading: Reading,
): AsyncGenerator<{ json: unknown; number: number }> {
  for await (const { text, number, whole } of linesOf(bytesOf(file, reading), file)) {
    const json = jsonOf(text);
    if (json !== undefined) yield { json, number };
    else if (whole) mustBeJson(text, `${file}:${number}`);
    else reading.onTorn?.(tornRemark(file, number));
  }
}

const tornRemark = (file: string, line: number) =>
  `${file}:${line} is torn (a write was cut off) and was skipped`;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mustBeJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError(
      `${place} is not JSON (${(cause as Error).message})`,
      "mend or delete that line",
      { cause },
    );
  }
}

/**
 * The value itself, once it is known to fit: what a schema gives back is a copy, and one without
 * keys such as __proto__ that a policy may well have written.
 */
function parsed<T>(
  schema: z.ZodType<T>,
  json: unknown,
  place: string,
  noun: string,
  format?: string,
): T {
  if (format) refuseOtherFormat(json, place, noun, format);
  const result = schema.safeParse(json);
  if (result.success) return json as T;
  const issue = result.error.issues[0]!;
  throw new UserError(
    `${place} is not ${noun}: at /${issue.path.join("/")}: ${issue.message}`,
    "mend or delete that line",
  );
}

function refuseOtherFormat(json: unknown, place: string, noun: string, format: string): void {
  const found =
    json !== null && typeof json === "object" ? (json as { format?: unknown }).format : undefined;
  if (found === format) return;
  const [kind, version] = format.split("@") as [string, string];
  const [foundKind, foundVersion] = typeof found === "string" ? found.split("@") : [];
  if (foundKind === kind && Number(foundVersion) > Number(version))
    throw new UserError(
      `${place} has the format ${String(found)}, which is newer than ${format}, the newest this program reads`,
      "update PROVE",
    );
  throw new UserError(
    `${place} is not ${noun} (format ${JSON.stringify(found) ?? "missing"})`,
    `its format must be ${format}`,
  );
}

const kindOf = (json: unknown) =>
  json !== null && typeof json === "object" ? (json as { kind?: unknown }).kind : undefined;
