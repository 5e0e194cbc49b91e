/**
 * The record of one attempt at a task, append-only, one JSON line an event. Knows neither who
 * decided the steps nor whether they were good.
 */
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import type { CallResult } from "../environment/outcome.ts";

export const trajectoryFormat = "prove/trajectory@1";

const json = z.json() as z.ZodType<Json>;
const patch = z.strictObject({
  op: z.enum(["add", "remove", "replace"]),
  path: z.string(),
  value: json.optional(),
});

/** What it was an attempt at, and by whom. */
export const header = z.strictObject({
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
});

export const userEvent = z.strictObject({ kind: z.literal("user"), text: z.string() });

/**
 * A message of the policy. `message` counts them from 0; tokens, logprobs and mask run over the
 * message's own tokens.
 */
export const assistantEvent = z.strictObject({
  kind: z.literal("assistant"),
  message: z.int().min(0),
  text: z.string(),
  tokens: z.array(z.int()).optional(),
  logprobs: z.array(z.number()).optional(),
  mask: z.array(z.int().min(0).max(1)).optional(),
});

/**
 * A step: one call as it was answered. Calls of one message share `message` and ran in their listed
 * order.
 */
export const callEvent = z.strictObject({
  kind: z.literal("call"),
  message: z.int().min(0),
  /**
   * As the policy wrote it. A block that could not be parsed has the name "" and its text under
   * `unparsed`.
   */
  name: z.string(),
  arguments: json,
  outcome: z.enum(["ok", "refused", "bad-arguments", "unknown-tool", "broken"]),
  /** What an `ok` call gave. */
  value: json.optional(),
  /** Why any other was turned down. */
  type: z.string().optional(),
  error: z.string().optional(),
  hint: z.string().optional(),
  /**
   * RFC 6902, what the call changed; absent where the file keeps none (they come back by replay).
   */
  patches: z.array(patch).optional(),
  /** Of the session's state after the call. */
  digest: z.string(),
});

/**
 * How it ended. `by`: the policy had nothing more to say, a limit was met, or something of the
 * world's or ours failed.
 */
export const endedEvent = z.strictObject({
  kind: z.literal("ended"),
  by: z.enum(["policy", "limit", "fault"]),
  fault: z.string().optional(),
});

export const event = z.discriminatedUnion("kind", [
  userEvent,
  assistantEvent,
  callEvent,
  endedEvent,
]);

export type Header = z.infer<typeof header>;
export type UserEvent = z.infer<typeof userEvent>;
export type AssistantEvent = z.infer<typeof assistantEvent>;
export type CallEvent = z.infer<typeof callEvent>;
export type EndedEvent = z.infer<typeof endedEvent>;
export type Event = z.infer<typeof event>;

export interface Trajectory {
  readonly header: Header;
  readonly events: readonly Event[];
}

export const trajectorySchema = z.strictObject({ header, events: z.array(event) });

declare const finished: unique symbol;

/**
 * A trajectory that has ended: what can be scored. The mark is in the type alone, never in a file.
 */
export type Finished<T extends Trajectory> = T & { readonly [finished]: true };

/** The trajectory as a finished one, or undefined while its last event is not `ended`. */
export const finishedOf = (trajectory: Trajectory): Finished<Trajectory> | undefined =>
  trajectory.events.at(-1)?.kind === "ended" ? (trajectory as Finished<Trajectory>) : undefined;

/** The steps, in order: position in this list is the μ of the paper's equation (1). */
export const callsOf = (trajectory: Trajectory): readonly CallEvent[] =>
  trajectory.events.filter(it => it.kind === "call");

/** How a finished trajectory ended. */
export const endOf = (trajectory: Finished<Trajectory>): EndedEvent =>
  trajectory.events.at(-1) as EndedEvent;

/** A session's answer as the event that records it. */
export function callEventOf(
  message: number,
  name: string,
  args: Json,
  called: CallResult,
): CallEvent {
  const { outcome, patches, digest } = called;
  const asked = { kind: "call" as const, message, name, arguments: args };
  if (outcome.kind === "ok")
    return { ...asked, outcome: "ok", value: outcome.value, patches: [...patches], digest };
  return {
    ...asked,
    outcome: outcome.kind,
    type: outcome.type,
    error: outcome.message,
    ...(outcome.hint === undefined ? {} : { hint: outcome.hint }),
    patches: [],
    digest,
  };
}
