/**
 * Chat messages of other software as the messages of a rollout. Arguments may be objects or JSON
 * texts, and results may lack the ids of their calls.
 */
import { z } from "zod";
import type { Json } from "../../environment/json.ts";
import { assistantMessageSchema, parseAssistantMessage } from "../../policy/endpointFormat.ts";
import type { RolloutMessage } from "./rollout.ts";

const contentSchema = z
  .union([
    z.string(),
    z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() })),
  ])
  .nullish();

const textMessageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user"]),
  content: contentSchema,
});

const toolMessageSchema = z.looseObject({
  role: z.literal("tool"),
  content: z.json().optional(),
  tool_call_id: z.string().nullish(),
});

/** One message; keys that are not read here are allowed. */
export const chatMessageSchema = z.discriminatedUnion("role", [
  textMessageSchema,
  assistantMessageSchema.extend({ role: z.literal("assistant") }),
  toolMessageSchema,
]);

export type ChatMessageRow = z.infer<typeof chatMessageSchema>;

/**
 * The messages without those of the system. A result belongs to the call with its id, or to the
 * first of the last message's calls that has none yet.
 */
export function parseChatMessages(rows: readonly ChatMessageRow[]): readonly RolloutMessage[] {
  const messages: RolloutMessage[] = [];
  let open: OpenCall[] = [];
  for (const row of rows)
    if (row.role === "user") messages.push({ role: "user", text: formatContent(row.content) });
    else if (row.role === "assistant") {
      const { text, calls } = parseAssistantMessage(row);
      open = calls.map(it => ({ ...it }));
      messages.push({ role: "assistant", text, calls: open });
    } else if (row.role === "tool") {
      const call =
        open.find(it => it.id === row.tool_call_id) ?? open.find(it => it.result === undefined);
      if (call) call.result = formatResult(row.content);
    }
  return messages;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  result?: string;
}

export const formatContent = (content: z.infer<typeof contentSchema>): string =>
  typeof content === "string" ? content : (content ?? []).map(it => it.text ?? "").join("");

function formatResult(content: Json | undefined): string {
  if (typeof content === "string") return content;
  const parts = z.array(z.looseObject({ text: z.string() })).safeParse(content).data;
  return parts ? parts.map(it => it.text).join("") : JSON.stringify(content ?? null);
}

/** The names in OpenAI function definitions, which are objects or a JSON text with a list. */
export const toolsSchema = z
  .union([z.string(), z.array(z.looseObject({}))])
  .nullish()
  .transform(value => {
    const list = typeof value === "string" ? parseOrUndefined(value) : value;
    const tools = z.array(namedToolSchema).safeParse(list).data;
    return tools?.map(it => ("function" in it ? it.function.name : it.name));
  });

const named = z.looseObject({ name: z.string() });
const namedToolSchema = z.union([z.looseObject({ function: named }), named]) as z.ZodType<
  { readonly function: { readonly name: string } } | { readonly name: string }
>;

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
