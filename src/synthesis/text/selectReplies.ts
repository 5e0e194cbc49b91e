/** Selects the reply templates whose conditions a result meets. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { ReplyTemplate } from "./templateSchema.ts";

/** The words of replies that this result allows, those made for it first. */
export function selectReplies(
  replies: readonly ReplyTemplate[],
  field: (path: string) => Json | undefined,
  order: <T>(list: readonly T[]) => readonly T[],
): string[] {
  const isMet = ([path, wanted]: [string, Json]) =>
    [wanted].flat().some(it => matchesCondition(field(path) ?? null, it));
  const made = replies.flatMap(it =>
    typeof it !== "string" && Object.entries(it.if).every(isMet) ? [it.say] : [],
  );
  return [...order(made), ...order(replies.filter(it => typeof it === "string"))];
}

/**
 * Whether a result's value is what a reply is for: the same, or a number on the right side of a
 * bound such as `<0`.
 */
function matchesCondition(value: Json, wanted: Json): boolean {
  const bound =
    typeof wanted === "string" && typeof value === "number"
      ? wanted.match(/^([<>])(-?\d+(?:\.\d+)?)$/)
      : null;
  if (!bound) return value === wanted;
  return bound[1] === "<"
    ? (value as number) < Number(bound[2])
    : (value as number) > Number(bound[2]);
}

/** A field of a result by its dotted path. */
export function getField(value: Json | undefined, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const key of path.split(".")) {
    if (at === null || typeof at !== "object" || Array.isArray(at) || !Object.hasOwn(at, key))
      return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
