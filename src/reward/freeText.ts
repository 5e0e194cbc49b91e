/**
 * Compares free texts: those that the user dictated, in which case, punctuation and articles do not
 * matter, and those of which the user gave only the words that must occur.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { GoalCall, Task } from "../trajectory/task.ts";
import { getArgumentAt, normalizeText } from "../trajectory/valueMatching.ts";
import type { CallEvent } from "../trajectory/trajectory.ts";

type FreeTexts = Pick<GoalCall, "arguments" | "mask" | "loose" | "words">;

/** Whether a text may stand for that of a goal call, as the goal call says of the argument. */
export function isSameText(
  { arguments: args, mask, loose, words }: FreeTexts,
  key: string,
  text: Json | undefined,
): boolean {
  if (typeof text !== "string") return false;
  if (mask?.includes(key)) return true;
  const wanted = words?.[key];
  if (wanted) {
    const normalized = ` ${normalizeText(text)} `;
    return wanted.every(it => normalized.includes(` ${normalizeText(it)} `));
  }
  return loose?.includes(key) === true && areAlike(text, args[key]);
}

const areAlike = (text: Json | undefined, goalText: Json | undefined): boolean =>
  typeof text === "string" &&
  typeof goalText === "string" &&
  normalizeText(text) === normalizeText(goalText);

/**
 * An argument of a call, in which texts that stand for texts within that argument of a goal call
 * are replaced by these.
 */
export function replaceInnerTexts(
  { arguments: args, loose }: FreeTexts,
  key: string,
  value: Json,
): Json {
  const inner = loose?.filter(it => it.startsWith(`${key}/`)) ?? [];
  if (inner.length === 0) return value;
  const replace = (at: string, own: Json): Json => {
    if (inner.includes(at)) {
      const goalText = getArgumentAt(args, at);
      return areAlike(own, goalText) ? goalText! : own;
    }
    if (Array.isArray(own))
      return (own as readonly Json[]).map((it, i) => replace(`${at}/${i}`, it));
    if (!isJsonObject(own)) return own;
    return Object.fromEntries(
      Object.entries(own).map(([inKey, it]) => [inKey, replace(`${at}/${inKey}`, it)]),
    );
  };
  return replace(key, value);
}

/** The texts of an attempt that stand for other texts of the goals, with those texts. */
export function listTextAliases(
  { goals }: Task,
  calls: readonly CallEvent[],
): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  for (const goalCall of goals.flatMap(it => it.calls)) {
    const { mask = [], loose = [], words = {} } = goalCall;
    const keys = [...mask, ...loose, ...Object.keys(words)];
    if (keys.length === 0) continue;
    for (const call of calls) {
      if (call.name !== goalCall.name || call.outcome.kind !== "ok") continue;
      for (const key of keys) {
        const text = getArgumentAt(call.arguments, key);
        const goalText = getArgumentAt(goalCall.arguments, key);
        if (typeof text !== "string" || typeof goalText !== "string" || text === goalText) continue;
        if (!aliases.has(text) && (isSameText(goalCall, key, text) || areAlike(text, goalText)))
          aliases.set(text, goalText);
      }
    }
  }
  return aliases;
}
