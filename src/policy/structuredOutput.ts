/**
 * Answers that are JSON of a given shape: asked for by schema, or in words where whoever serves the
 * model knows no schemas, and read back either way. Knows no wire.
 */
import { z } from "zod";
import type { JsonSchema } from "../environment/server.ts";
import type { ChatMessage, ChatModel, ChatRequest } from "./chatModel.ts";

/** What came of it: a value of the shape, or why there is none. */
export type StructuredOutput<T> =
  | { readonly value: T; readonly tokens: number }
  | { readonly flaw: string; readonly tokens: number };

/**
 * Asks for a value of a shape. A fault of the model's server goes up; an answer of another shape is
 * a flaw.
 */
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
  if (answer.cut) return { flaw: "the answer was cut by a limit", tokens };
  const json = extractJson(answer.text);
  if (json === undefined)
    return {
      flaw: answer.text.trim() === "" ? "the answer was empty" : "the answer is no JSON",
      tokens,
    };
  const parsed = shape.safeParse(json);
  if (parsed.success) return { value: parsed.data, tokens };
  const { path, message } = parsed.error.issues[0]!;
  return { flaw: `the answer does not fit (${path.join(".") || "the whole"}: ${message})`, tokens };
}

/** The messages with the shape said at the end of the last one. */
export function describeSchemaInPrompt(
  messages: readonly ChatMessage[],
  schema: JsonSchema,
): readonly ChatMessage[] {
  const words = `Answer with one JSON value and nothing else, no code fence and no remark. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: words }];
  return [...messages.slice(0, -1), { role: "user", content: `${last.content}\n\n${words}` }];
}

function toJsonSchema(shape: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(shape, { io: "input", reused: "inline" });
  return rest as JsonSchema;
}

/**
 * The JSON in a text that may have a fence or a remark around it; undefined where there is none.
 */
function extractJson(text: string): unknown {
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1];
  const between = /[{[][\s\S]*[}\]]/.exec(text)?.[0];
  for (const candidate of [text, fenced, between]) {
    if (candidate === undefined) continue;
    try {
      return JSON.parse(candidate);
    } catch {
      // the next reading may be JSON
    }
  }
  return undefined;
}
