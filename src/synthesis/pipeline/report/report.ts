/**
 * Reads and writes the files beside a tasks file: the rejected attempts, one per line, and the
 * report with the counts of the synthesis.
 */
import { z } from "zod";
import { writeFileAtomically } from "../../../storage/atomicWrite.ts";
import { readJsonLines } from "../../../storage/jsonLines.ts";
import { checkJson, readJsonFile, type JsonSource } from "../../../storage/parseJson.ts";
import {
  type Event,
  eventLineSchema,
  formatEventLine,
  parseEventLine,
} from "../../../trajectory/trajectory.ts";
import { logSchema } from "../conversation/stateLog.ts";
import { difficulties, type Difficulty, type TaskDemands } from "./demands.ts";
import type { TaskShape, TrainingDistance } from "./measures.ts";

export const rejectedFormat = "prove/rejected@1";
export const reportFormat = "prove/report@1";

/** Why an attempt is rejected that failed because of a bug of this program. */
export const bugReason = "bug";

/** Why a task is rejected that is easier or harder than wanted. */
export const difficultyReason = "difficulty";

/** Why a task is rejected that takes more tokens than it may. */
export const tokensReason = "tokens";

/** A rejected attempt at a task. */
const rejectedAttemptSchema = z.strictObject({
  format: z.literal(rejectedFormat),
  /** What the task's id would have been. */
  id: z.string(),
  /** Names of the servers, the home server first. */
  servers: z.array(z.string()).min(1),
  kind: z.enum(["normal", "clarify", "abstain", "irrelevant"]),
  chain: z.array(z.string()),
  /**
   * The reason as a keyword: chain, query, teacher, length, broken, menu, no goals, split, replay,
   * errors, leak, provenance, duplicate, solver, difficulty, tokens, bug and others.
   */
  reason: z.string(),
  /** The solver that the task misjudges, where that is the reason. */
  solver: z.string().optional(),
  /** How many tokens it takes, where that is the reason. */
  tokens: z.int().optional(),
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

const reportSchema = z.strictObject({
  format: z.literal(reportFormat),
  options: z.strictObject({
    count: z.int(),
    seed: z.int(),
    servers: z.array(z.string()),
    teacher: z.string(),
    preset: z.string(),
    menu: z.string(),
    split: z.string().optional(),
    maxTokens: z.int().optional(),
    difficulty: z.enum(difficulties).optional(),
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
  /** What the tasks demand, as `DemandCounts` measures it; absent in older reports. */
  demands: z
    .strictObject({
      verbatim: z.number(),
      lookedUp: z.number(),
      normalized: z.number(),
      computed: z.number(),
      turnsWithThreeWrites: z.number(),
      oneHit: z.number(),
      severalHits: z.number(),
      noHit: z.number(),
      wordsPerTurn: z.number(),
      relativeDates: z.number(),
      decidingPolicy: z.number(),
      // absent in older reports
      longTurns: z.number().exactOptional(),
      normalDecided: z.number().exactOptional(),
      normalOutcomes: z.number().exactOptional(),
      easy: z.number().exactOptional(),
      medium: z.number().exactOptional(),
      hard: z.number().exactOptional(),
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

// The shape and the distances of a report as text, for the terminal and the editor.

const formatShare = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** Names and values, in the order in which they are read. */
export function formatShape(shape: TaskShape): readonly (readonly [string, string])[] {
  const [none, one, two, more] = shape.turnsByCalls;
  return [
    ["user turns of a task", `${shape.turns.toFixed(2)}, at most ${shape.mostTurns}`],
    ["calls of a task with goals", `${shape.calls.toFixed(2)}, at most ${shape.mostCalls}`],
    ["calls of a turn", shape.callsPerTurn.toFixed(2)],
    ["turns without a call", formatShare(none)],
    ["turns with one call", formatShare(one)],
    ["turns with two calls", formatShare(two)],
    ["turns with three or more calls", formatShare(more)],
    ["turns with two or more writes", formatShare(shape.turnsWithWrites)],
    ["tasks with two or more writes", formatShare(shape.tasksWithWrites)],
    ["offered tools", shape.offeredTools.toFixed(1)],
    ["servers of a task with goals", shape.servers.toFixed(2)],
    ["tasks with a failed call", formatShare(shape.withFailedCall)],
    ["tasks with a refusal or question", formatShare(shape.withUnmet)],
    ["tasks without goals", formatShare(shape.withoutGoals)],
    ["tasks with tools added later", formatShare(shape.withAddedTools)],
    ["tasks with a condition", formatShare(shape.withCondition)],
    ["tasks with a limit", formatShare(shape.withLimit)],
    ["tasks with a change of mind", formatShare(shape.withChangeOfMind)],
    ["tasks with a recovery", formatShare(shape.withRecovery)],
    ["tasks with a policy", formatShare(shape.withPolicy)],
  ];
}

type LaterDemand = Difficulty | "longTurns" | "normalDecided" | "normalOutcomes";
type StoredDemands = Omit<TaskDemands, LaterDemand> & Partial<Pick<TaskDemands, LaterDemand>>;

const formatKnown = (name: string, share: number | undefined): [string, string][] =>
  share === undefined ? [] : [[name, formatShare(share)]];

/** The same for what tasks demand. */
export const formatDemands = (it: StoredDemands): readonly (readonly [string, string])[] => [
  ["values of arguments that the user says", formatShare(it.verbatim)],
  ["values that are looked up", formatShare(it.lookedUp)],
  ["values that are normalized (dates, fixed words, flags)", formatShare(it.normalized)],
  ["values that are computed or inferred", formatShare(it.computed)],
  ["turns with three or more writes", formatShare(it.turnsWithThreeWrites)],
  ["look-ups with one hit", formatShare(it.oneHit)],
  ["look-ups with several hits", formatShare(it.severalHits)],
  ["look-ups with no hit", formatShare(it.noHit)],
  ["words of a turn", it.wordsPerTurn.toFixed(1)],
  ...formatKnown("tasks with a turn of 25 words or more", it.longTurns),
  ["turns with a relative date", formatShare(it.relativeDates)],
  ["tasks in which a policy decides", formatShare(it.decidingPolicy)],
  ...formatKnown("normal tasks in which a policy decides", it.normalDecided),
  ...formatKnown("normal tasks in which it decides the outcome", it.normalOutcomes),
  ...difficulties.flatMap((level): [string, string][] => {
    const share = it[level];
    return share === undefined ? [] : [[`normal tasks that are ${level}`, formatShare(share)]];
  }),
];

interface Column {
  readonly heading: string;
  readonly description: string;
  readonly format: (it: TrainingDistance) => string;
}

const columns: readonly Column[] = [
  { heading: "tasks", description: "with goals", format: it => String(it.tasks) },
  {
    heading: "contained",
    description: "one training task calls all of their tools",
    format: it => formatShare(it.contained),
  },
  {
    heading: "one tool",
    description: "the tools of a training task differ by at most one",
    format: it => formatShare(it.oneTool),
  },
  {
    heading: "Jaccard",
    description: "mean distance to the most similar set of tools of a training task",
    format: it => it.distance.toFixed(3),
  },
  {
    heading: "sequence",
    description: "a turn with a sequence of calls that training does not have",
    format: it => formatShare(it.newSequence),
  },
  {
    heading: "edge",
    description: "a dependency between two tools that training does not have",
    format: it => formatShare(it.newEdge),
  },
  {
    heading: "names",
    description: "names in the users' words that training does not have",
    format: it => formatShare(it.newName),
  },
  {
    heading: "far",
    description: "not contained, and with a new sequence",
    format: it => formatShare(it.far),
  },
];

interface DistanceTable {
  /** The headings of the columns after the split, and what each means. */
  readonly headings: readonly { readonly text: string; readonly description: string }[];
  readonly rows: readonly { readonly split: string; readonly cells: readonly string[] }[];
}

export const formatDistances = (
  distances: Readonly<Record<string, TrainingDistance>> = {},
): DistanceTable => ({
  headings: columns.map(({ heading, description }) => ({ text: heading, description })),
  rows: Object.entries(distances).map(([split, it]) => ({
    split,
    cells: columns.map(({ format }) => format(it)),
  })),
});

// How far a synthesis is, as data and as text.

export interface SynthesisProgress {
  /** Tasks accepted so far. */
  readonly done: number;
  /** Tasks asked for. */
  readonly total: number;
  /** Absent during the first second, when there is too little to estimate it from. */
  readonly pace?: {
    readonly tasksPerSecond: number;
    readonly secondsLeft: number;
  };
}

export function measureProgress(
  done: number,
  total: number,
  milliseconds: number,
): SynthesisProgress {
  if (milliseconds < 1000) return { done, total };
  const tasksPerSecond = (1000 * done) / milliseconds;
  const secondsLeft = Math.ceil((total - done) / tasksPerSecond);
  return { done, total, pace: { tasksPerSecond, secondsLeft } };
}

/** `12 of 300 tasks, 210 a second, 1 min 2 s left`. */
export function formatProgress({ done, total, pace }: SynthesisProgress): string {
  const counts = `${formatCount(done)} of ${formatCount(total)} tasks`;
  if (!pace) return counts;
  const { tasksPerSecond, secondsLeft } = pace;
  const rate = tasksPerSecond < 10 ? tasksPerSecond.toFixed(1) : Math.round(tasksPerSecond);
  return `${counts}, ${rate} a second, ${formatDuration(secondsLeft)} left`;
}

function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** A whole number with commas between groups of three digits. */
const formatCount = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
