/**
 * Reads and writes the files beside a tasks file: the rejected attempts, one per line, and the
 * report with the counts of the synthesis.
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

/** Why an attempt is rejected that failed because of a bug of this program. */
export const bugReason = "bug";

/** A rejected attempt at a task. */
export const rejectedAttemptSchema = z.strictObject({
  format: z.literal(rejectedFormat),
  /** What the task's id would have been. */
  id: z.string(),
  /** Names of the servers, the home server first. */
  servers: z.array(z.string()).min(1),
  kind: z.enum(["normal", "clarify", "abstain", "irrelevant"]),
  chain: z.array(z.string()),
  /**
   * The reason as a keyword: chain, query, teacher, length, broken, menu, no goals, split, replay,
   * errors, leak, provenance, duplicate, solver, bug and others.
   */
  reason: z.string(),
  /** The solver that the task misjudges, where that is the reason. */
  solver: z.string().optional(),
  /** The reason as a text for people. */
  why: z.string(),
  log: logSchema,
  /** The events of the conversation up to the rejection, without patches. */
  events: z.array(eventLineSchema),
});

export type RejectedAttempt = Omit<z.infer<typeof rejectedAttemptSchema>, "events"> & {
  readonly events: readonly Event[];
};

const countsSchema = z.record(z.string(), z.int().min(0));

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
   * Numbers of tasks by property and value. The properties are server, kind, split, info, persona,
   * turns, goals, calls, tools, and every knob.
   */
  by: z.record(z.string(), countsSchema),
  /** Numbers of rejected attempts by reason. */
  rejected: countsSchema,
  /** Numbers of attempts that solvers rejected, by solver; absent in older reports. */
  solvers: countsSchema.optional(),
  /** Numbers of transitions in accepted and rejected attempts together. */
  transitions: z.array(
    z.strictObject({ from: z.string(), event: z.string(), to: z.string(), n: z.int() }),
  ),
  /** The diversity of the user turns, as `measureDiversity` returns it. */
  diversity: z.record(z.string(), z.json()),
  /** The shape of the tasks, as `TaskShapes` measures it; absent in older reports. */
  shape: z
    .strictObject({
      turns: z.number(),
      mostTurns: z.int(),
      calls: z.number(),
      mostCalls: z.int(),
      callsPerTurn: z.number(),
      turnsByCalls: z.tuple([z.number(), z.number(), z.number(), z.number()]),
      turnsWithWrites: z.number(),
      tasksWithWrites: z.number(),
      offeredTools: z.number(),
      servers: z.number(),
      withFailedCall: z.number(),
      withUnmet: z.number(),
      withoutGoals: z.number(),
      withAddedTools: z.number(),
      withCondition: z.number(),
      withLimit: z.number(),
      withChangeOfMind: z.number(),
      withRecovery: z.number(),
      withPolicy: z.number(),
    })
    .optional(),
  /**
   * How far each held-out split is from the training tasks of the file, as `TrainingDistances`
   * measures it; absent in older reports.
   */
  distances: z
    .record(
      z.string(),
      z.strictObject({
        tasks: z.int(),
        contained: z.number(),
        oneTool: z.number(),
        distance: z.number(),
        newSequence: z.number(),
        newEdge: z.number(),
        newName: z.number(),
        far: z.number(),
      }),
    )
    .optional(),
});

export type Report = z.infer<typeof reportSchema>;

/**
 * The files that belong to `NAME.tasks.jsonl`: its rejected attempts, `NAME.rejected.jsonl`, and
 * its report, `NAME.report.json`.
 */
export const getRejectedFile = (tasks: string): string => `${getStem(tasks)}.rejected.jsonl`;
export const getReportFile = (tasks: string): string => `${getStem(tasks)}.report.json`;

const getStem = (tasks: string): string => tasks.replace(/(\.tasks)?\.jsonl$/, "");

export const formatRejected = (rejected: RejectedAttempt): string =>
  JSON.stringify({ ...rejected, events: rejected.events.map(formatEventLine) });

/**
 * Reads a file of rejected attempts. Throws a `UserError` with file and line for an invalid one.
 */
export async function* readRejected(
  file: string,
  signal?: AbortSignal,
): AsyncGenerator<RejectedAttempt> {
  for await (const { json, number } of readJsonLines(file, signal ? { signal } : {}))
    yield parseRejected(json, { file, line: number });
}

/** Validates a rejected attempt. Throws a `UserError` that says where and why it is invalid. */
export function parseRejected(json: unknown, source: JsonSource): RejectedAttempt {
  checkJson(rejectedAttemptSchema, json, { ...source, noun: "a rejected attempt", remedy });
  // the value itself: a copy would lack keys such as __proto__ that a policy may have written
  const line = json as z.infer<typeof rejectedAttemptSchema>;
  return { ...line, events: line.events.map(parseEventLine) };
}

/** Reads a report. Throws a `UserError` if the file is not a report. */
export const readReport = (file: string): Report =>
  readJsonFile(reportSchema, file, { noun: "a report of a synthesis", remedy });

const remedy = "synthesize again, into another file";

/** Writes a report atomically. */
export const writeReport = (file: string, report: Report): Promise<void> =>
  writeFileAtomically(file, `${JSON.stringify(report, undefined, 1)}\n`);
