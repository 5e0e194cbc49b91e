/** Selects the reply templates whose conditions a result meets. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { ReplyTemplate } from "./templateSchema.ts";

/**
 * Selects the texts of the replies that suit a result: those whose conditions it meets, then those
 * without conditions. `field` returns a field of the result; `order` sorts each of the two groups.
 */
export function selectReplies(
  replies: readonly ReplyTemplate[],
  field: (path: string) => Json | undefined,
  order: <T>(list: readonly T[]) => readonly T[],
): string[] {
  const isMet = ([path, expected]: [string, Json]) =>
    [expected].flat().some(it => matchesCondition(field(path) ?? null, it));
  const conditional = replies.flatMap(it =>
    typeof it !== "string" && Object.entries(it.if).every(isMet) ? [it.say] : [],
  );
  return [...order(conditional), ...order(replies.filter(it => typeof it === "string"))];
}

/** Whether a result meets all conditions. */
export const meets = (value: Json, conditions: JsonObject): boolean =>
  Object.entries(conditions).every(([path, expected]) =>
    [expected].flat().some(it => matchesCondition(getField(value, path) ?? null, it)),
  );

/** Whether a value equals the expected one or, for a bound such as `<0`, is on its right side. */
function matchesCondition(value: Json, expected: Json): boolean {
  const bound =
    typeof expected === "string" && typeof value === "number"
      ? expected.match(/^([<>])(-?\d+(?:\.\d+)?)$/)
      : null;
  if (!bound) return value === expected;
  return bound[1] === "<"
    ? (value as number) < Number(bound[2])
    : (value as number) > Number(bound[2]);
}

/** The field of a result at a dotted path. */
export function getField(value: Json | undefined, path: string): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path.split(".")) {
    if (
      current === null ||
      typeof current !== "object" ||
      Array.isArray(current) ||
      !Object.hasOwn(current, key)
    )
      return undefined;
    current = (current as JsonObject)[key];
  }
  return current;
}
