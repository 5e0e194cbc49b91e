/**
 * Substitutes the partial names that the user has given in a call's arguments. The assistant calls
 * a tool with them first, and the server's refusal says which full name is meant.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Intent } from "./intent.ts";

/**
 * The intent's arguments with partial names in place of full ones, or undefined if the user gave
 * all names in full.
 */
export function substitutePartialNames({
  arguments: args,
  mentions,
}: Pick<Intent, "arguments" | "mentions">): JsonObject | undefined {
  const partialNames = new Map(
    mentions.flatMap(it =>
      it.isIdSpoken && it.partialName !== undefined
        ? [[it.instance.id, it.partialName] as const]
        : [],
    ),
  );
  if (partialNames.size === 0) return undefined;
  const substitute = (value: Json): Json =>
    typeof value === "string"
      ? (partialNames.get(value) ?? value)
      : Array.isArray(value)
        ? value.map(substitute)
        : value;
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, substitute(value)]));
}
