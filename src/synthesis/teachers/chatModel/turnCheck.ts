/**
 * What is known of a user turn before a chat model words it, and whether the calls of the turn did
 * what it asks for: every intent was called with its values, nothing else was changed, and a
 * missing value was asked for.
 */
import type { Tool } from "../../../environment/server.ts";
import type { Event, CallEvent } from "../../../trajectory/trajectory.ts";
import type { Persona } from "../../text/personas.ts";
import type { EntitySample } from "../../user/entities/entitySample.ts";
import type { Intent } from "../../user/intents/intent.ts";
import type { TurnKind, UserTurn, PlannedIntent } from "../../user/userPlan.ts";
import type { Json } from "../../../environment/json.ts";
import type { IntentResult } from "../turnMessage.ts";

export interface TurnPlan {
  /** The turn as the templates word it. */
  readonly plain: string;
  /** Undefined where no tool should be called. */
  readonly turn: UserTurn | undefined;
  readonly kind: TurnKind;
  readonly persona: Persona;
  readonly now: string;
  readonly isMinimal: boolean;
  /** The entities that the conversation can be about. */
  readonly sample: EntitySample | undefined;
  /** The offered tools. */
  readonly tools: readonly Tool[];
  readonly events: readonly Event[];
}

/** Lists the intents of a turn, each followed by its fallback. */
export const listIntents = ({ turn }: Pick<TurnPlan, "turn">): Intent[] =>
  (turn?.intents ?? []).flatMap(it => (it.fallback ? [it, it.fallback] : [it]));

/**
 * Whether the model gets no names beyond the plain wording, because they would reveal what the
 * assistant has to ask or look up.
 */
export const isReticent = ({ turn, isMinimal }: Pick<TurnPlan, "turn" | "isMinimal">): boolean =>
  isMinimal || turn?.question !== undefined;

// Checks whether the calls of a turn did what the user asked for: every intent was called with its
// values, nothing else was changed, and a missing value was asked for.

export interface TurnResult {
  /** The calls that were made for intents. */
  readonly done: readonly IntentResult[];
  /** Why the turn does not count. */
  readonly failure?: string;
}

/** Checks the calls of a turn. The plan's events end with the reply. */
export function checkTurn(
  { turn, tools, events }: Pick<TurnPlan, "turn" | "tools" | "events">,
  calls: readonly CallEvent[],
): TurnResult {
  const { done, failure } = checkIntents(turn?.intents ?? [], tools, calls);
  if (failure !== undefined) return { done, failure };
  const extra = calls.find(
    it => it.outcome.kind === "ok" && isWrite(it, tools) && !done.some(({ call }) => call === it),
  );
  if (extra) return { done, failure: `${extra.name} was called, which nobody asked for` };
  const reply = events.findLast(it => it.kind === "assistant")?.text ?? "";
  if (turn?.question !== undefined && !reply.includes("?"))
    return { done, failure: "what was missing was not asked for" };
  return { done };
}

function checkIntents(
  intents: readonly PlannedIntent[],
  tools: readonly Tool[],
  calls: readonly CallEvent[],
): TurnResult {
  const done: IntentResult[] = [];
  const findSuccess = (intent: Intent) =>
    calls.find(it => it.outcome.kind === "ok" && matchesIntent(it, intent));
  for (const intent of intents) {
    const { tool, blockedReply, fallback } = intent;
    // no offered tool can do it or find its entity
    if (blockedReply !== undefined || !tools.some(it => it.name === tool.name)) break;
    const call = findSuccess(intent);
    const refusedCall = calls.find(it => matchesIntent(it, intent));
    const fallbackCall = fallback && findSuccess(fallback);
    if (call) done.push({ intent, call });
    else if (!refusedCall)
      return { done, failure: `${tool.name} was not called as the user asked` };
    else if (fallbackCall) done.push({ intent: fallback, call: fallbackCall });
    else if (fallback)
      return { done, failure: `the user's way out of a refused ${tool.name} was not taken` };
    else {
      done.push({ intent, call: refusedCall });
      break;
    }
  }
  return { done };
}

const isWrite = ({ name }: CallEvent, tools: readonly Tool[]): boolean =>
  tools.find(it => it.name === name)?.effect === "write";

/**
 * Whether a call is the one that an intent asks for. A read may have further arguments; a write may
 * not, except for default values.
 */
export function matchesIntent(call: CallEvent, { tool, arguments: args }: Intent): boolean {
  if (
    call.name !== tool.name ||
    call.arguments === null ||
    typeof call.arguments !== "object" ||
    Array.isArray(call.arguments)
  )
    return false;
  const callArguments = call.arguments as Readonly<Record<string, Json>>;
  if (!Object.entries(args).every(([key, value]) => isAlike(value, callArguments[key])))
    return false;
  return (
    tool.effect === "read" ||
    Object.entries(callArguments).every(
      ([key, value]) => key in args || value === null || isAlike(getDefault(tool, key), value),
    )
  );
}

const getDefault = ({ inputSchema }: Tool, key: string): Json | undefined =>
  (inputSchema["properties"] as Record<string, { default?: Json }> | undefined)?.[key]?.default;

/** Whether values are equal. Texts of several words may differ in case, quotes and full stop. */
function isAlike(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a.length === b.length && a.every((it: Json, i) => isAlike(it, (b as readonly Json[])[i]))
    );
  if (typeof a === "string" && typeof b === "string")
    return a === b || (a.includes(" ") && normalizeText(a) === normalizeText(b));
  return JSON.stringify(a) === JSON.stringify(b);
}

const normalizeText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’‘“”"']/g, "'")
    .replaceAll(/\s+/g, " ")
    .replace(/[.!]$/, "")
    .trim();
