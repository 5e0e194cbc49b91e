/**
 * Compares free texts: those that the user dictated, in which case, punctuation and articles do not
 * matter, and those of which the user gave only the words that must occur.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { GoalCall, Task } from "../trajectory/task.ts";
import { normalizeText } from "../trajectory/valueMatching.ts";
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
  const normalized = ` ${normalizeText(text)} `;
  const wanted = words?.[key];
  if (wanted) return wanted.every(it => normalized.includes(` ${normalizeText(it)} `));
  const goalText = args[key];
  return (
    loose?.includes(key) === true &&
    typeof goalText === "string" &&
    normalized === ` ${normalizeText(goalText)} `
  );
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
        const text = isJsonObject(call.arguments) ? call.arguments[key] : undefined;
        const goalText = goalCall.arguments[key];
        if (typeof text !== "string" || typeof goalText !== "string" || text === goalText) continue;
        if (!aliases.has(text) && isSameText(goalCall, key, text)) aliases.set(text, goalText);
      }
    }
  }
  return aliases;
}
