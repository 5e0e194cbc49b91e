/**
 * Chat messages in the formats of OpenAI's API, old and new, and of what is trained on them: calls
 * as `tool_calls`, as `function_call`, as parts or as text.
 */
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import { assistantMessageSchema, parseAssistantMessage } from "../policy/endpointFormat.ts";
import { ConversationBuilder, type NamedCall } from "./conversation.ts";
import { listToolResponses } from "./hermesText.ts";
import { argumentsSchema, type CountOmitted, type RolloutMessage } from "./rollout.ts";

const partSchema = z.looseObject({ type: z.string().nullish(), text: z.string().nullish() });
type Part = z.infer<typeof partSchema>;

/** A text, or parts, which may be images and other media. */
export const contentSchema = z.union([z.string(), z.array(partSchema)]).nullish();

/** The text of a content. Parts that are not text become a placeholder, and are counted. */
export function formatContent(content: z.infer<typeof contentSchema>, omit: CountOmitted): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(it => formatPart(it, omit)).join("");
}

function formatPart({ type, text, ...rest }: Part, omit: CountOmitted): string {
  if (typeof text === "string" && !isThought(type)) return text;
  if (isThought(type)) omit("thought");
  else if (typeof rest["refusal"] === "string") return rest["refusal"];
  else if (type != null) {
    omit("media");
    return `[${type.replace(/^input_|_url$/g, "")}]`;
  }
  return "";
}

const isThought = (type: string | null | undefined): boolean =>
  type === "reasoning" || type === "thinking" || type === "redacted_thinking" || type === "think";

const textMessageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user"]),
  content: contentSchema,
});

const functionSchema = z.looseObject({ name: z.string(), arguments: argumentsSchema });

/** Calls may lack the level of `function`, or be a JSON text. */
const callsSchema = z.preprocess(value => {
  const calls = typeof value === "string" ? parseOrUndefined(value) : value;
  if (!Array.isArray(calls)) return calls;
  return calls.map((it: unknown) =>
    isRecord(it) && it["function"] === undefined && it["name"] !== undefined
      ? { ...it, function: { name: it["name"], arguments: it["arguments"] } }
      : it,
  );
}, assistantMessageSchema.shape.tool_calls);

const assistantRowSchema = z.looseObject({
  ...assistantMessageSchema.shape,
  role: z.literal("assistant"),
  content: contentSchema,
  tool_calls: callsSchema,
  function_call: functionSchema.nullish(),
  reasoning_content: z.string().nullish(),
});

/** Before `tool`, the role was `function`; Llama's is `ipython`. */
const resultSchema = z.looseObject({
  role: z.enum(["tool", "function", "ipython"]),
  content: z.json().optional(),
  tool_call_id: z.string().nullish(),
  name: z.string().nullish(),
});

/** One message; keys that are not read here are allowed. */
const chatRowSchema = z.discriminatedUnion("role", [
  textMessageSchema,
  assistantRowSchema,
  resultSchema,
]);

type ChatRow = z.infer<typeof chatRowSchema>;

/** Messages, as a list or as its JSON text. */
export const chatRowsSchema = z.preprocess(
  it => (typeof it === "string" ? (parseMessageList(it) ?? it) : it),
  z.array(chatRowSchema),
);

/** The messages in a text that is JSON. */
export function parseMessageList(text: string): readonly unknown[] | undefined {
  if (!/^\s*\[\s*\{/.test(text)) return undefined;
  const list = parseOrUndefined(text);
  return Array.isArray(list) && list.every(isMessage) ? (list as unknown[]) : undefined;
}

export const isMessage = (json: unknown): boolean => isRecord(json) && "role" in json;

export const isRecord = (json: unknown): json is Readonly<Record<string, unknown>> =>
  json !== null && typeof json === "object" && !Array.isArray(json);

export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The messages without those of the system. */
export function parseChatRows(
  rows: readonly ChatRow[],
  omit: CountOmitted,
): readonly RolloutMessage[] {
  const conversation = new ConversationBuilder(omit);
  for (const row of rows)
    if (row.role === "assistant") addAssistant(conversation, row, omit);
    else if (row.role === "user") addUser(conversation, row.content, omit);
    else if (row.role === "tool" || row.role === "function" || row.role === "ipython")
      for (const text of listResults(row.content, omit))
        conversation.addResult({ id: row.tool_call_id, name: row.name, text });
  return conversation.messages;
}

function addAssistant(
  conversation: ConversationBuilder,
  row: z.infer<typeof assistantRowSchema>,
  omit: CountOmitted,
): void {
  if (row.reasoning_content) omit("thought");
  const parts = Array.isArray(row.content) ? row.content : [];
  const used = parts.flatMap(it => parseUsedTool(it) ?? []);
  const content = formatContent(
    Array.isArray(row.content) ? parts.filter(it => !parseUsedTool(it)) : row.content,
    omit,
  );
  const { text, calls } = parseAssistantMessage({ content, tool_calls: row.tool_calls });
  const named = [
    ...calls.map(({ name, arguments: args }, i): NamedCall => {
      return { id: row.tool_calls?.[i]?.id, name, arguments: args };
    }),
    ...used,
    ...(row.function_call ? parseFunctionCall(row.function_call) : []),
  ];
  conversation.addAssistant(text || (row.refusal ?? ""), named);
}

const parseFunctionCall = (call: z.infer<typeof functionSchema>): readonly NamedCall[] =>
  parseAssistantMessage({ tool_calls: [{ function: call }] }).calls.map(it => ({
    name: it.name,
    arguments: it.arguments,
  }));

/** A call as a part of a message, as in Anthropic's API. */
function parseUsedTool({ type, id, name, input }: Part): NamedCall | undefined {
  if (type !== "tool_use" || typeof name !== "string") return undefined;
  return { id: typeof id === "string" ? id : undefined, name, arguments: (input ?? {}) as Json };
}

/** The results in a user's message: as parts, or as text after calls that are text. */
function addUser(
  conversation: ConversationBuilder,
  content: z.infer<typeof contentSchema>,
  omit: CountOmitted,
): void {
  const parts = Array.isArray(content) ? content : [];
  const results = parts.filter(it => it.type === "tool_result");
  for (const it of results)
    conversation.addResult({
      id: typeof it["tool_use_id"] === "string" ? it["tool_use_id"] : undefined,
      text: formatResult(it["content"] as Json | undefined, omit),
      isError: it["is_error"] === true,
    });
  const rest = results.length === 0 ? content : parts.filter(it => it.type !== "tool_result");
  const text = formatContent(rest, omit);
  const texts = conversation.awaitsResult ? listToolResponses(text) : [];
  for (const it of texts) conversation.addResult({ text: it });
  if (texts.length === 0 && (results.length === 0 || text !== "")) conversation.addUser(text);
}

/** The results of a message, of which a text in tags may have several. */
function listResults(content: Json | undefined, omit: CountOmitted): readonly string[] {
  const text = formatResult(content, omit);
  const texts = /^\s*<tool_response>/.test(text) ? listToolResponses(text) : [];
  return texts.length > 0 ? texts : [text];
}

function formatResult(content: Json | undefined, omit: CountOmitted): string {
  if (typeof content === "string") return content;
  const parts = z.array(partSchema).safeParse(content).data;
  return parts?.some(it => it.type != null || typeof it.text === "string")
    ? formatContent(parts, omit)
    : JSON.stringify(content ?? null);
}
