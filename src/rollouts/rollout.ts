/** A rollout of other software, read from one of its files, and the trajectory that shows it. */
import { z } from "zod";
import { computeDigest, deepFreeze } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { Call } from "../environment/outcome.ts";
import { parseJsonOrText } from "../policy/chatMessages.ts";
import type { LineRange } from "../storage/lineIndex.ts";
import {
  trajectoryFormat,
  createEvents,
  type EndedEvent,
  type Header,
  type RecordedMessage,
  type RecordedOutcome,
  type Trajectory,
} from "../trajectory/trajectory.ts";

export interface RolloutCall extends Call {
  /** What the model saw; undefined if the file has no result of the call. */
  readonly result?: string | undefined;
  /** Whether the file says that the call failed. */
  readonly isError?: boolean;
}

export type RolloutMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly RolloutCall[];
    };

export interface Rollout {
  /** Whatever the software calls the attempt. */
  readonly id: string;
  /** The task's id, and the only turn that was attempted, as our exports write them. */
  readonly task?: string | undefined;
  readonly turn?: number | undefined;
  /** The model, if the file names it. */
  readonly policy?: string | undefined;
  /** The names of the tools on offer, if the file lists them. */
  readonly menu?: readonly string[] | undefined;
  /** The conversation before the attempt. */
  readonly prompt: readonly RolloutMessage[];
  /** The attempt. */
  readonly completion: readonly RolloutMessage[];
  readonly end?: EndedEvent;
  /** What the software gave for the attempt, and its reason. */
  readonly score?: number | undefined;
  readonly why?: string | undefined;
}

/** The attempt as it is in the file. Its calls are not executed. */
export function createShownTrajectory(
  rollout: Rollout,
  { id, format, policy }: { readonly id: string; readonly format: string; readonly policy: string },
): Trajectory {
  const { prompt, completion, end, score, why } = rollout;
  const messages = [...prompt, ...completion];
  const header: Header = {
    kind: "header",
    format: trajectoryFormat,
    id,
    task: "",
    servers: [],
    catalog: emptyCatalogDigest,
    seed: 0,
    menu: [...(rollout.menu ?? listCalledNames(messages))],
    policy,
    imported: {
      format,
      ...(score === undefined ? {} : { score }),
      ...(why === undefined ? {} : { why }),
    },
  };
  return {
    header,
    events: [...createEvents(messages.map(addOutcomes)), end ?? guessEnd(completion)],
  };
}

/** The attempt with its own id, by the policy that the file names. */
export const showRollout = (rollout: Rollout, { name }: RolloutFormat): Trajectory =>
  createShownTrajectory(rollout, {
    id: rollout.id,
    format: name,
    policy: rollout.policy ?? name,
  });

const emptyCatalogDigest = computeDigest(deepFreeze([]));

const addOutcomes = (message: RolloutMessage): RecordedMessage =>
  message.role === "user"
    ? message
    : {
        ...message,
        calls: message.calls.map(it => ({
          ...it,
          outcome: parseOutcome(it),
        })),
      };

/** An attempt whose last message has no calls ended by itself. */
function guessEnd(messages: readonly RolloutMessage[]): EndedEvent {
  const last = messages.at(-1);
  const isAnswered = last?.role === "assistant" && last.calls.length === 0;
  return { kind: "ended", by: isAnswered ? "policy" : "limit" };
}

const listCalledNames = (messages: readonly RolloutMessage[]): readonly string[] => [
  ...new Set(
    messages.flatMap(it => (it.role === "assistant" ? it.calls.map(call => call.name) : [])),
  ),
];

/**
 * The outcome that a result's text tells. Text that is no JSON is the value itself. An object whose
 * only key is `error`, and the errors of our servers, are refusals.
 */
function parseOutcome({ result, isError = false }: RolloutCall): RecordedOutcome {
  if (result === undefined) return { kind: "broken", message: "the file has no result" };
  const value = parseJsonOrText(result);
  const fault = findFault(value);
  if (fault) return { kind: "refused", ...fault };
  return isError ? { kind: "refused", message: result } : { kind: "ok", value };
}

function findFault(value: Json): { readonly type?: string; readonly message: string } | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const { error, error_type: type, message, ...rest } = value as Readonly<Record<string, Json>>;
  if (typeof type === "string" && typeof message === "string" && error === undefined)
    return { type, message };
  if (typeof error !== "string" || type !== undefined || message !== undefined) return undefined;
  return Object.keys(rest).length === 0 ? { message: error } : undefined;
}

/** What files have and transcripts do not show: its name for one, and for several. */
const omittedParts = {
  result: ["result that belongs to no call", "results that belong to no call"],
  media: ["image or other medium", "images or other media"],
  thought: ["thought", "thoughts"],
  userCall: ["call of a simulated user", "calls of a simulated user"],
  agent: ["agent inside an agent", "agents inside an agent"],
  branch: ["branch of a conversation", "branches of conversations"],
  item: ["item of an unknown type", "items of unknown types"],
} as const;

export type OmittedPart = keyof typeof omittedParts;

/** Counts parts of a file that are not shown. */
export type CountOmitted = (part: OmittedPart, count?: number) => void;

/** Completes "not shown: ". */
export const formatOmitted = (counts: ReadonlyMap<OmittedPart, number>): string =>
  [...counts]
    .map(([part, count]) => `${count} ${omittedParts[part][count === 1 ? 0 : 1]}`)
    .join(", ");

/** How a format reads a row. */
export interface RowReader {
  /** Checks a row. Throws a `UserError` that names the line and the key. */
  readonly check: <T>(schema: z.ZodType<T>, json: unknown) => T;
  readonly omit: CountOmitted;
  /** Reports that a row is left out. `reason` completes "log.jsonl:3 …". */
  readonly skip: (reason: string) => undefined;
}

/** A row of a file, which mostly is a rollout. */
export interface Row {
  readonly json: unknown;
  /** From 1. */
  readonly number: number;
  /** Where the row is in its file, of which it can be read alone. */
  readonly line?: LineRange;
}

/** Where a rollout is in its file. */
export interface RolloutPlace {
  /** Its number in the file, from 0. */
  readonly attempt: number;
  /** The row that it is in, if that can be read alone; in an archive, the row has no bytes. */
  readonly line?: LineRange;
  /** Its number among the rollouts of the row, from 0. */
  readonly part?: number;
}

/** A rollout whose id is the file and line unless the row has one. */
type ParsedRollout = Omit<Rollout, "id"> & { readonly id?: string | undefined };

export interface RolloutFormat {
  readonly name: string;
  /** What a row is; completes "log.jsonl:3 is not …". */
  readonly noun: string;
  /** The software that writes such files. */
  readonly writer: string;
  /** The key of the list, if a file is one JSON document with a list of rollouts. */
  readonly listKey?: string;
  /** The name of the folder with a file for each row, if a folder of results can have one. */
  readonly rowFolder?: string;
  /** The names of the rows in an archive, if files can be archives. */
  readonly archivedRows?: RegExp;
  /** The rollouts of a file as rows, if its own rows have several, or parts of them. */
  readonly regroup?: (rows: AsyncIterable<Row>) => AsyncIterable<Row>;
  /** Undefined for a row that is no rollout, such as a heading. */
  readonly parseRow: (json: unknown, reader: RowReader) => ParsedRollout | undefined;
}

/**
 * A number as Python software writes it, perhaps as a text. Null stands for no number, as do the
 * texts of Python for NaN and infinity.
 */
export function toNumber(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^(?:[+-]?(?:nan|inf(?:inity)?))?$/i.test(value.trim())) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

export const numberSchema = z.preprocess(toNumber, z.number().nullish()).nullish();

/** Arguments of calls. Some software writes null for none. */
export const argumentsSchema = z.preprocess(it => it ?? {}, z.json());

/** The columns of our exports that name the attempted task. */
export const taskColumns = {
  task_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  // -1 stands for the whole task
  turn: z
    .preprocess(toNumber, z.int().min(-1).nullish())
    .nullish()
    .transform(it => (it === -1 ? undefined : it)),
};
