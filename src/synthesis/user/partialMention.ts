/**
 * What is called for at first where the user has only half said a name that people know: the half.
 * The server's refusal says which name was meant. Knows arguments, no sessions.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Intent } from "./intent.ts";

/**
 * The wish's arguments with the user's own words for what they have half said, or undefined where
 * they have said it all.
 */
export function substitutePartialNames({
  arguments: args,
  mentions,
}: Pick<Intent, "arguments" | "mentions">): JsonObject | undefined {
  const halves = new Map(
    mentions.flatMap(it =>
      it.isIdSpoken && it.partialName !== undefined
        ? [[it.instance.id, it.partialName] as const]
        : [],
    ),
  );
  if (halves.size === 0) return undefined;
  const guessed = (value: Json): Json =>
    typeof value === "string"
      ? (halves.get(value) ?? value)
      : Array.isArray(value)
        ? value.map(guessed)
        : value;
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, guessed(value)]));
}
