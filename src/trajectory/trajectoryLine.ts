/**
 * Converts events to the lines of a file and back. Only the line of a call differs from its event:
 * the parts of the outcome are keys of their own, and a fault's message has the key `error`.
 */
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import {
  assistantEventSchema,
  endedEventSchema,
  headerSchema,
  userEventSchema,
  type CallEvent,
  type Event,
  type RecordedOutcome,
  type Trajectory,
} from "./trajectory.ts";

const jsonSchema = z.json() as z.ZodType<Json>;

const patchSchema = z.strictObject({
  op: z.enum(["add", "remove", "replace"]),
  path: z.string(),
  value: jsonSchema.optional(),
});

/** A call and its outcome. Calls of one message share `message` and ran in their listed order. */
export const callLineSchema = z.strictObject({
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

export type CallLine = z.infer<typeof callLineSchema>;
export type EventLine = z.infer<typeof eventLineSchema>;

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
