/**
 * Asks a chat model for JSON that matches a schema, and parses the answer. For endpoints that do
 * not support schemas, the schema is described in the prompt.
 */
import { z } from "zod";
import type { JsonSchema } from "../environment/server.ts";
import { isTooDeep } from "../storage/jsonDepth.ts";
import type { ChatMessage, ChatModel, ChatRequest } from "./chatModel.ts";
import { findReason } from "../storage/schemaIssue.ts";

/** A value that matches the schema, or why there is none, with the tokens that it took. */
type StructuredOutput<T> =
  | { readonly value: T; readonly tokens: number }
  | { readonly flaw: string; readonly tokens: number };

/** Asks for a value. An answer that does not match is a flaw; a `PolicyFault` is rethrown. */
export async function completeStructured<T>(
  model: ChatModel,
  name: string,
  shape: z.ZodType<T>,
  request: Omit<ChatRequest, "schema" | "tools">,
  signal?: AbortSignal,
): Promise<StructuredOutput<T>> {
  const answer = await model.complete(
    { ...request, schema: { name, schema: toJsonSchema(shape) } },
    signal,
  );
  const tokens = answer.tokens.read + answer.tokens.written;
  if (answer.cut) return { flaw: "the answer was truncated by a limit", tokens };
  const json = extractJson(answer.text);
  if (json === undefined)
    return {
      flaw: answer.text.trim() === "" ? "the answer was empty" : "the answer is no JSON",
      tokens,
    };
  const parsed = shape.safeParse(json);
  if (parsed.success) return { value: parsed.data, tokens };
  const { path, message } = findReason(parsed.error);
  return { flaw: `the answer does not fit (${path.join(".") || "the whole"}: ${message})`, tokens };
}

/** The messages, with instructions to follow the schema at the end of the last one. */
export function describeSchemaInPrompt(
  messages: readonly ChatMessage[],
  schema: JsonSchema,
): readonly ChatMessage[] {
  const instructions = `Answer with one JSON value and nothing else, no code fence and no remark. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: instructions }];
  return [
    ...messages.slice(0, -1),
    { role: "user", content: `${last.content}\n\n${instructions}` },
  ];
}

function toJsonSchema(shape: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(shape, { io: "input", reused: "inline" });
  return rest as JsonSchema;
}

/** The JSON in a text that may have a code fence or a remark around it, or undefined. */
function extractJson(text: string): unknown {
  for (const candidate of [text, findFencedText(text), findBracketedText(text)]) {
    if (candidate === undefined) continue;
    try {
      const value: unknown = JSON.parse(candidate);
      if (!isTooDeep(value, "value")) return value;
    } catch {
      // try the next candidate
    }
  }
  return undefined;
}

/** The content of the first code fence that is closed. */
function findFencedText(text: string): string | undefined {
  const [, content, rest] = text.split("```", 3);
  return rest === undefined ? undefined : content!.replace(/^json/, "");
}

/** From the first opening bracket to the last closing one. */
function findBracketedText(text: string): string | undefined {
  const start = text.search(/[{[]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  return start < 0 || end < start ? undefined : text.slice(start, end + 1);
}
