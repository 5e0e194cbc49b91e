/**
 * Whether the calls of a turn did what the user's turn asked for: every wish called for with its
 * values, nothing changed that nobody asked to change, and a question where something had to be
 * asked. Reads plans and calls only.
 */
import type { Json } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { TurnPlan } from "./turnPrompt.ts";
import type { Intent } from "../user/intent.ts";

export interface TurnResult {
  /** The wishes that were called for, with the answers. */
  readonly done: readonly { readonly wish: Intent; readonly call: CallEvent }[];
  /** Why it came to nothing. */
  readonly failure?: string;
}

/** What the turn came to. The plan's events end with the reply. */
export function checkTurn(
  { turn, tools, events }: Pick<TurnPlan, "turn" | "tools" | "events">,
  calls: readonly CallEvent[],
): TurnResult {
  const done: { wish: Intent; call: CallEvent }[] = [];
  const granted = (wish: Intent) =>
    calls.find(it => it.outcome.kind === "ok" && matchesIntent(it, wish));
  for (const wish of turn?.intents ?? []) {
    // nothing on offer can do it, or find what it is about
    if (wish.blockedReply !== undefined || !tools.some(it => it.name === wish.tool.name)) break;
    const call = granted(wish);
    const refused = calls.find(it => matchesIntent(it, wish));
    const instead = wish.fallback && granted(wish.fallback);
    if (call) done.push({ wish, call });
    else if (!refused)
      return { done, failure: `${wish.tool.name} was not called as the user asked` };
    else if (instead) done.push({ wish: wish.fallback, call: instead });
    else if (wish.fallback)
      return { done, failure: `the user's way out of a refused ${wish.tool.name} was not taken` };
    else {
      done.push({ wish, call: refused });
      break;
    }
  }
  const extra = calls.find(
    it => it.outcome.kind === "ok" && isWrite(it, tools) && !done.some(({ call }) => call === it),
  );
  if (extra) return { done, failure: `${extra.name} was called, which nobody asked for` };
  const reply = events.findLast(it => it.kind === "assistant")?.text ?? "";
  if (turn?.question !== undefined && !reply.includes("?"))
    return { done, failure: "what was missing was not asked for" };
  return { done };
}

const isWrite = ({ name }: CallEvent, tools: readonly Tool[]): boolean =>
  tools.find(it => it.name === name)?.effect === "write";

/**
 * Whether a call is the one that was wished for. A look-up may say more than it must; a change may
 * not.
 */
export function matchesIntent(call: CallEvent, { tool, arguments: args }: Intent): boolean {
  if (
    call.name !== tool.name ||
    call.arguments === null ||
    typeof call.arguments !== "object" ||
    Array.isArray(call.arguments)
  )
    return false;
  const given = call.arguments as Readonly<Record<string, Json>>;
  if (!Object.entries(args).every(([key, value]) => alike(value, given[key]))) return false;
  return (
    tool.effect === "read" ||
    Object.entries(given).every(
      ([key, value]) => key in args || value === null || alike(defaultOf(tool, key), value),
    )
  );
}

const defaultOf = ({ inputSchema }: Tool, key: string): Json | undefined =>
  (inputSchema["properties"] as Record<string, { default?: Json }> | undefined)?.[key]?.default;

/** Equal; texts of several words but for case, quotes and the full stop at the end. */
function alike(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((it: Json, i) => alike(it, (b as readonly Json[])[i]));
  if (typeof a === "string" && typeof b === "string")
    return a === b || (a.includes(" ") && plainly(a) === plainly(b));
  return JSON.stringify(a) === JSON.stringify(b);
}

const plainly = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’‘“”"']/g, "'")
    .replaceAll(/\s+/g, " ")
    .replace(/[.!]$/, "")
    .trim();
