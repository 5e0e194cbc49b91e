/** Chat messages in the form that a data set needs. */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";

export interface ToolCall extends JsonObject {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: Json };
}

/** The calls of a message of the assistant. */
export const listToolCalls = (message: JsonObject): readonly ToolCall[] =>
  (message["tool_calls"] ?? []) as unknown as readonly ToolCall[];

/** A message whose calls have their arguments as objects instead of JSON texts. */
export function parseArguments(message: JsonObject): JsonObject {
  if (message["tool_calls"] === undefined) return message;
  const calls = listToolCalls(message).map(it => ({
    ...it,
    function: { ...it.function, arguments: toObject(it.function.arguments) },
  }));
  return { ...message, tool_calls: calls };
}

function toObject(text: Json): JsonObject {
  const value = JSON.parse(text as string) as Json;
  return isJsonObject(value) ? value : { unparsed: value };
}
