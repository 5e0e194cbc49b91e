/**
 * What a synthesis leaves beside its tasks: the attempts that were turned down, a line each, and
 * the report that counts it all. Knows the shapes of these files and where they lie, not how a task
 * is made.
 */
import { z } from "zod";
import { writeFileAtomically } from "../../storage/atomicWrite.ts";
import { readJsonLines } from "../../storage/jsonLines.ts";
import { checkJson, readJsonFile, type JsonSource } from "../../storage/parseJson.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import {
  eventLineSchema,
  formatEventLine,
  parseEventLine,
} from "../../trajectory/trajectoryLine.ts";
import { logSchema } from "./stateLog.ts";

export const rejectedFormat = "prove/rejected@1";
export const reportFormat = "prove/report@1";

/** An attempt that became no task. */
export const rejectedSchema = z.strictObject({
  format: z.literal(rejectedFormat),
  /** What the task's id would have been. */
  id: z.string(),
  /** By name, the home first. */
  servers: z.array(z.string()).min(1),
  kind: z.enum(["normal", "clarify", "abstain", "irrelevant"]),
  chain: z.array(z.string()),
  /**
   * One of few words: chain, query, teacher, length, broken, menu, no goals, split, replay, errors,
   * leak, provenance, duplicate.
   */
  reason: z.string(),
  /** The same in full, for a person. */
  why: z.string(),
  log: logSchema,
  /** What was said and called so far, without patches. */
  events: z.array(eventLineSchema),
});

export type RejectedAttempt = Omit<z.infer<typeof rejectedSchema>, "events"> & {
  readonly events: readonly Event[];
};

const counts = z.record(z.string(), z.int().min(0));

export const reportSchema = z.strictObject({
  format: z.literal(reportFormat),
  options: z.strictObject({
    count: z.int(),
    seed: z.int(),
    servers: z.array(z.string()),
    teacher: z.string(),
    preset: z.string(),
    menu: z.string(),
    split: z.string().optional(),
  }),
  attempts: z.int(),
  accepted: z.int(),
  /**
   * How many tasks of each sort, by what they are sorted: server, kind, split, info, persona,
   * turns, goals, calls, tools, and every knob.
   */
  by: z.record(z.string(), counts),
  /** By reason. */
  rejected: counts,
  /** Of accepted and rejected attempts together. */
  transitions: z.array(
    z.strictObject({ from: z.string(), event: z.string(), to: z.string(), n: z.int() }),
  ),
  /** Of all that users say: what `diversityOf` measures. */
  diversity: z.record(z.string(), z.json()),
});

export type Report = z.infer<typeof reportSchema>;

/**
 * The rejections that belong to a tasks file, and its report: `NAME.rejected.jsonl` and
 * `NAME.report.json` beside `NAME.tasks.jsonl`.
 */
export const rejectedFileFor = (tasks: string): string => `${stemOf(tasks)}.rejected.jsonl`;
export const reportFileFor = (tasks: string): string => `${stemOf(tasks)}.report.json`;

const stemOf = (tasks: string): string => tasks.replace(/(\.tasks)?\.jsonl$/, "");

export const formatRejected = (rejected: RejectedAttempt): string =>
  JSON.stringify({ ...rejected, events: rejected.events.map(formatEventLine) });

/** Reads a file of rejections. Throws a `UserError` with file and line where one does not fit. */
export async function* readRejected(
  file: string,
  signal?: AbortSignal,
): AsyncGenerator<RejectedAttempt> {
  for await (const { json, number } of readJsonLines(file, signal ? { signal } : {}))
    yield parseRejected(json, { file, line: number });
}

/**
 * A rejection of parsed JSON. Throws a `UserError` that says where it was and what does not fit.
 */
export function parseRejected(json: unknown, source: JsonSource): RejectedAttempt {
  checkJson(rejectedSchema, json, { ...source, noun: "a rejected attempt", remedy });
  // the value itself: a copy would lack keys such as __proto__ that a policy may have written
  const line = json as z.infer<typeof rejectedSchema>;
  return { ...line, events: line.events.map(parseEventLine) };
}

/** Reads a report. Throws a `UserError` where the file is not one. */
export const readReport = (file: string): Report =>
  readJsonFile(reportSchema, file, { noun: "a report of a synthesis", remedy });

const remedy = "synthesize again, into another file";

/** Writes a report, whole or not at all. */
export const writeReport = (file: string, report: Report): Promise<void> =>
  writeFileAtomically(file, `${JSON.stringify(report, undefined, 1)}\n`);
