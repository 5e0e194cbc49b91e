/** Conditions on what a look-up shows: chooses a limit, and says whether the condition holds. */
import type { Json } from "../../../environment/json.ts";
import { isCut } from "../../../environment/listTotals.ts";
import type { Random } from "../../../environment/random.ts";
import type { Tool } from "../../../environment/server.ts";
import { addDays } from "../../../environment/time.ts";
import { getField } from "../../text/replies.ts";
import type { ScenarioCondition } from "../../text/scenarios.ts";
import type { Intent } from "../intents/intent.ts";

/** A condition with its limit. */
export interface SettledCondition {
  readonly isMet: boolean;
  /** What the value is compared with; absent where it has to equal something. */
  readonly limit?: number | string;
}

/** How often a condition with a limit holds. */
const metShare = 0.55;

/**
 * A field of a tool's result; `count` is the number of rows of its first list where there is no
 * such field. Undefined for the count of a list that is cut.
 */
export function getShownValue(
  { outputSchema }: Pick<Tool, "outputSchema">,
  result: Json,
  field: string,
): Json | undefined {
  const value = getField(result, field);
  if (value !== undefined || field !== "count" || isCut(outputSchema, result)) return value;
  return findFirstList(result)?.length;
}

/** The first list in a result. */
export const findFirstList = (result: Json): readonly Json[] | undefined =>
  result !== null && typeof result === "object"
    ? (Object.values(result).find(it => Array.isArray(it)) as readonly Json[] | undefined)
    : undefined;

/** The condition with a limit near the live value, or undefined if no limit fits. */
export function settleCondition(
  { field, is, equals, most }: ScenarioCondition,
  { intent: { tool }, result }: { readonly intent: Pick<Intent, "tool">; readonly result: Json },
  random: Random,
): SettledCondition | undefined {
  const value = getShownValue(tool, result, field);
  if (value === undefined) return undefined;
  if (!is) return { isMet: [equals ?? null].flat().some(it => it === value) };
  const isMet = random.boolean(metShare);
  const isLower = isMet === (is === "over" || is === "at least" || is === "after");
  if (typeof value === "number") {
    const wanted = pickNumber(value, isLower, random);
    const limit = wanted !== undefined && most !== undefined ? Math.min(wanted, most) : wanted;
    return limit === undefined || limit === value || limit < value !== isLower
      ? undefined
      : { isMet, limit };
  }
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}/.test(value)) return undefined;
  const days = (1 + random.integer(5)) * (isLower ? -1 : 1);
  return { isMet, limit: addDays(value.slice(0, 10), days) };
}

/** Round steps for limits, the coarsest that still leaves one. */
const steps = [1000, 500, 100, 50, 20, 10, 5, 2, 1];

/** A round number well below or above a value. */
function pickNumber(value: number, isLower: boolean, random: Random): number | undefined {
  const factor = isLower ? 0.4 + 0.5 * random.next() : 1.1 + 0.8 * random.next();
  const size = Math.abs(value);
  if (size < 1) return isLower ? undefined : random.pick([1, 2, 5]);
  if (value < 0) return isLower ? undefined : random.pick([20, 50, 100]);
  const wanted = size < 6 && Number.isInteger(value) ? value + (isLower ? -1 : 1) : size * factor;
  for (const step of steps.filter(it => it <= Math.max(1, size / 4))) {
    const limit = Math.round(wanted / step) * step;
    if (limit > 0 && (isLower ? limit < value : limit > value)) return limit;
  }
  return undefined;
}
