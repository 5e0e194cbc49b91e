/**
 * The record of one attempt at a task: a header and the events after it, in order, append-only.
 * In files, only the line of a call differs from its event: the parts of the outcome are keys of
 * their own, and a fault's message has the key `error`.
 */
import { z } from "zod";
import { replaceTooDeep } from "../storage/jsonDepth.ts";
import type { Json } from "../environment/json.ts";
import type { Call, CallResult, Fault, Patch } from "../environment/outcome.ts";

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

const userEventSchema = z.strictObject({
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
const assistantEventSchema = z.strictObject({
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
const endedEventSchema = z.strictObject({
  kind: z.literal("ended"),
  by: z.enum(["policy", "limit", "fault"]),
  fault: z.string().optional(),
});

export type Header = z.infer<typeof headerSchema>;
export type UserEvent = z.infer<typeof userEventSchema>;
type AssistantEvent = z.infer<typeof assistantEventSchema>;
export type EndedEvent = z.infer<typeof endedEventSchema>;

/**
 * A call's outcome as a record keeps it. It is the session's `Outcome`, but a record of another
 * program may lack a fault's type or message.
 */
export type RecordedOutcome = { readonly kind: "ok"; readonly value: Json } | RecordedFault;

type RecordedFault = {
  [Kind in Fault["kind"]]: {
    readonly kind: Kind;
    readonly type?: string;
    readonly message?: string;
    readonly hint?: string;
  };
}[Fault["kind"]];

/**
 * One call and its outcome, with the text of a block that could not be parsed under `unparsed`.
 * Calls of one message share `message` and ran in their listed order.
 */
export interface CallEvent extends Call {
  readonly kind: "call";
  readonly message: number;
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

/** A message of a conversation that was recorded elsewhere: its calls are not executed. */
export type RecordedMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly (Call & { readonly outcome: RecordedOutcome })[];
    };

/** The events of recorded messages. Without a session, the digests of the calls are empty. */
export function createEvents(messages: readonly RecordedMessage[]): Event[] {
  let number = 0;
  return messages.flatMap((it): Event[] => {
    if (it.role === "user") return [{ kind: "user", text: it.text }];
    const message = number++;
    return [
      { kind: "assistant", message, text: it.text },
      ...it.calls.map(({ name, arguments: args, outcome }): Event => ({
        kind: "call",
        message,
        name,
        arguments: args,
        outcome,
        digest: "",
      })),
    ];
  });
}

/** The result of an `ok` call, undefined for any other. */
export const getCallValue = ({ outcome }: CallEvent): Json | undefined =>
  outcome.kind === "ok" ? outcome.value : undefined;

/** Why a call was not `ok`, undefined for one that was. */
export const getCallFault = ({ outcome }: CallEvent): RecordedFault | undefined =>
  outcome.kind === "ok" ? undefined : outcome;

const jsonSchema = z.json() as z.ZodType<Json>;

const patchSchema = z.strictObject({
  op: z.enum(["add", "remove", "replace"]),
  path: z.string(),
  value: jsonSchema.optional(),
});

/** A call and its outcome. Calls of one message share `message` and ran in their listed order. */
const callLineSchema = z.strictObject({
  kind: z.literal("call"),
  message: z.int().min(0),
  /**
   * As the policy wrote it. A block that could not be parsed has the name "" and its text under
   * `unparsed`.
   */
  name: z.string(),
  arguments: jsonSchema,
  outcome: z.enum(["ok", "refused", "bad-arguments", "unknown-tool", "broken"]),
  /** The result of an `ok` call. */
  value: jsonSchema.optional(),
  /** The type, the message and the hint of any other call. */
  type: z.string().optional(),
  error: z.string().optional(),
  hint: z.string().optional(),
  /** The call's changes (RFC 6902); absent if the file omits them, because replay restores them. */
  patches: z.array(patchSchema).optional(),
  /** The digest of the session's state after the call. */
  digest: z.string(),
});

/** A line after the header. */
export const eventLineSchema = z.discriminatedUnion("kind", [
  userEventSchema,
  assistantEventSchema,
  callLineSchema,
  endedEventSchema,
]);

type CallLine = z.infer<typeof callLineSchema>;
type EventLine = z.infer<typeof eventLineSchema>;

/** A header and its event lines together, as the lines of groups hold them. */
export const trajectoryLineSchema = z.strictObject({
  header: headerSchema,
  events: z.array(eventLineSchema),
});
export type TrajectoryLine = z.infer<typeof trajectoryLineSchema>;

/** Checks an event line and gives its event. */
export const eventSchema = eventLineSchema.transform(parseEventLine);

/** Checks a trajectory that is part of a line and gives the trajectory. */
export const trajectorySchema = trajectoryLineSchema.transform(parseTrajectoryLine);

/** The trajectory of a checked line. */
export function parseTrajectoryLine({ header, events }: TrajectoryLine): Trajectory {
  return { header, events: events.map(parseEventLine) };
}

/** The event of a checked line. */
export function parseEventLine(line: EventLine): Event {
  if (line.kind !== "call") return line;
  const { kind, message, name, arguments: args, patches, digest } = line;
  return {
    kind,
    message,
    name,
    arguments: args,
    outcome: parseOutcome(line),
    ...(patches ? { patches: patches as CallEvent["patches"] & {} } : {}),
    digest,
  };
}

function parseOutcome({ outcome, value, type, error, hint }: CallLine): RecordedOutcome {
  if (outcome === "ok") return { kind: "ok", value: value ?? null };
  return {
    kind: outcome,
    ...(type === undefined ? {} : { type }),
    ...(error === undefined ? {} : { message: error }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** The line of an event. */
export const formatEventLine = (event: Event): EventLine =>
  event.kind === "call" ? formatCallLine(event) : event;

/** The line of a call. */
export function formatCallLine(event: CallEvent): CallLine {
  const { kind, message, name, arguments: args, outcome, patches, digest } = event;
  return {
    kind,
    message,
    name,
    arguments: args,
    ...formatOutcome(outcome),
    ...(patches ? { patches: patches as CallLine["patches"] & {} } : {}),
    digest,
  };
}

function formatOutcome(
  outcome: RecordedOutcome,
): Pick<CallLine, "outcome" | "value" | "type" | "error" | "hint"> {
  if (outcome.kind === "ok") return { outcome: "ok", value: outcome.value };
  const { kind, type, message, hint } = outcome;
  return {
    outcome: kind,
    ...(type === undefined ? {} : { type }),
    ...(message === undefined ? {} : { error: message }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** A trajectory as part of a line. */
export const formatTrajectoryLine = ({ header, events }: Trajectory): TrajectoryLine => ({
  header,
  events: events.map(formatEventLine),
});

/** A trajectory as the lines of a file of its own. */
export const formatTrajectory = ({ header, events }: Trajectory): string =>
  `${[header, ...events.map(formatEventLine)].map(it => JSON.stringify(it)).join("\n")}\n`;
