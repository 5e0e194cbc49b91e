/**
 * The record of one attempt at a task: a header and the events after it, in order, append-only.
 * `trajectoryLine.ts` writes it to files and reads it back.
 */
import { z } from "zod";
import { replaceTooDeep } from "../storage/jsonDepth.ts";
import type { Json } from "../environment/json.ts";
import type { CallResult, Fault, Patch } from "../environment/outcome.ts";

export const trajectoryFormat = "prove/trajectory@1";

/** The task in the header of calls that were made in a session, without a task. */
export const noTask = "session";

/** What was attempted, and by which policy. */
export const headerSchema = z.strictObject({
  kind: z.literal("header"),
  format: z.literal(trajectoryFormat),
  id: z.string(),
  /** The task's id; with fixtures, catalog and seed it is enough to replay without the task. */
  task: z.string(),
  servers: z.array(z.strictObject({ name: z.string(), fixture: z.string(), digest: z.string() })),
  catalog: z.string(),
  seed: z.int().min(0),
  menu: z.array(z.string()),
  policy: z.string(),
  /**
   * The only turn that was attempted, from 0: the turns before it are the teacher's, run anew. The
   * attempt is at the whole task if it is absent.
   */
  turn: z.int().min(0).optional(),
  /**
   * What a student was trained on of that which the task asks for, such as `the tools …`: its
   * attempt says nothing about new tasks. Recorded where a person lets a student try a task.
   */
  trainedOn: z.string().optional(),
  /**
   * Present if other software executed the calls, so that they cannot be replayed: the format of
   * its file, and what it gave for the attempt.
   */
  imported: z
    .strictObject({
      format: z.string(),
      score: z.number().optional(),
      why: z.string().optional(),
    })
    .optional(),
});

export const userEventSchema = z.strictObject({
  kind: z.literal("user"),
  text: z.string(),
  /** The user answers a question of the policy; the text is none of the task's turns. */
  answers: z.literal(true).optional(),
  /** Full names of tools that are on the menu from here on. */
  adds: z.array(z.string()).min(1).optional(),
});

/**
 * A message of the policy. `message` is its number, from 0; tokens, logprobs and mask have one
 * entry per token of the message.
 */
export const assistantEventSchema = z.strictObject({
  kind: z.literal("assistant"),
  message: z.int().min(0),
  text: z.string(),
  tokens: z.array(z.int()).optional(),
  logprobs: z.array(z.number()).optional(),
  mask: z.array(z.int().min(0).max(1)).optional(),
});

/**
 * How it ended. `by`: the policy finished, a limit was reached, or the environment or the policy's
 * endpoint failed.
 */
export const endedEventSchema = z.strictObject({
  kind: z.literal("ended"),
  by: z.enum(["policy", "limit", "fault"]),
  fault: z.string().optional(),
});

export type Header = z.infer<typeof headerSchema>;
export type UserEvent = z.infer<typeof userEventSchema>;
export type AssistantEvent = z.infer<typeof assistantEventSchema>;
export type EndedEvent = z.infer<typeof endedEventSchema>;

/**
 * A call's outcome as a record keeps it. It is the session's `Outcome`, but a record of another
 * program may lack a fault's type or message.
 */
export type RecordedOutcome = { readonly kind: "ok"; readonly value: Json } | RecordedFault;

export type RecordedFault = {
  [Kind in Fault["kind"]]: {
    readonly kind: Kind;
    readonly type?: string;
    readonly message?: string;
    readonly hint?: string;
  };
}[Fault["kind"]];

/** One call and its outcome. Calls of one message share `message` and ran in their listed order. */
export interface CallEvent {
  readonly kind: "call";
  readonly message: number;
  /**
   * As the policy wrote it. A block that could not be parsed has the name "" and its text under
   * `unparsed`.
   */
  readonly name: string;
  readonly arguments: Json;
  readonly outcome: RecordedOutcome;
  /** The call's changes (RFC 6902); absent if the file omits them, because replay restores them. */
  readonly patches?: readonly Patch[];
  /** The digest of the session's state after the call. */
  readonly digest: string;
}

export type Event = UserEvent | AssistantEvent | CallEvent | EndedEvent;

export interface Trajectory {
  readonly header: Header;
  readonly events: readonly Event[];
}

declare const finished: unique symbol;

/**
 * A trajectory that has ended and can therefore be scored. The mark exists in the type only, never
 * in a file.
 */
export type Finished<T extends Trajectory> = T & { readonly [finished]: true };

/** The trajectory as a finished one, or undefined while its last event is not `ended`. */
export const asFinished = (trajectory: Trajectory): Finished<Trajectory> | undefined =>
  trajectory.events.at(-1)?.kind === "ended" ? (trajectory as Finished<Trajectory>) : undefined;

/** Whether an event begins one of the task's turns; an answer to a question does not. */
export const startsTurn = (event: Event): event is UserEvent =>
  event.kind === "user" && event.answers !== true;

/** Full names of the tools that came onto the menu after the start. */
export const listAddedTools = (events: readonly Event[]): readonly string[] =>
  events.flatMap(it => (it.kind === "user" ? (it.adds ?? []) : []));

/** Why an imported attempt has no reward; undefined for any other. */
export function explainImport({ imported }: Header): string | undefined {
  if (!imported) return undefined;
  const { format, score, why } = imported;
  const given = score === undefined ? "" : `, with the score ${score}`;
  return `it was imported (${format})${given}${why === undefined ? "" : `: ${why}`}`;
}

/** The calls, in order: the position in this list is the μ of the paper's equation (1). */
export const listCalls = (trajectory: Trajectory): readonly CallEvent[] =>
  trajectory.events.filter(it => it.kind === "call");

/** How a finished trajectory ended. */
export const getEnd = (trajectory: Finished<Trajectory>): EndedEvent =>
  trajectory.events.at(-1) as EndedEvent;

/**
 * The event that records a session's answer to a call. Arguments that are nested too deeply are not
 * recorded: they could be neither read nor compared.
 */
export const createCallEvent = (
  message: number,
  name: string,
  args: Json,
  { outcome, patches, digest }: CallResult,
): CallEvent => ({
  kind: "call",
  message,
  name,
  arguments: replaceTooDeep(args),
  outcome,
  patches,
  digest,
});

/** The result of an `ok` call, undefined for any other. */
export const getCallValue = ({ outcome }: CallEvent): Json | undefined =>
  outcome.kind === "ok" ? outcome.value : undefined;

/** Why a call was not `ok`, undefined for one that was. */
export const getCallFault = ({ outcome }: CallEvent): RecordedFault | undefined =>
  outcome.kind === "ok" ? undefined : outcome;
