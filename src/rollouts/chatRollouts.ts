/**
 * Rollouts as chat messages or as text: message logs in OpenAI's chat format (fine-tuning files and
 * our exports `openai` and `sft`), the completions that TRL logs with `log_completions` and rows of
 * our export `trl`, and what verl writes with `trainer.rollout_data_dir`.
 */
import { z } from "zod";
import type { Json } from "../environment/json.ts";
import { assistantMessageSchema, parseAssistantMessage } from "../policy/endpointFormat.ts";
import { type RolloutMessage, taskColumns, type RolloutFormat, numberSchema } from "./rollout.ts";
import { parseHermesText, parseToolCallText } from "./hermesText.ts";

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
const chatMessageSchema = z.discriminatedUnion("role", [
  textMessageSchema,
  assistantMessageSchema.extend({ role: z.literal("assistant") }),
  toolMessageSchema,
]);

type ChatMessageRow = z.infer<typeof chatMessageSchema>;

/**
 * The messages without those of the system. A result belongs to the call with its id, or to the
 * first of the last message's calls that has none yet.
 */
function parseChatMessages(rows: readonly ChatMessageRow[]): readonly RolloutMessage[] {
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
const toolsSchema = z
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

const messages = z.array(chatMessageSchema).min(1);

const openaiRow = z.preprocess(
  it => (Array.isArray(it) ? { messages: it } : it),
  z.looseObject({
    messages,
    tools: toolsSchema,
    model: z.string().nullish(),
    metadata: z.looseObject(taskColumns).nullish(),
    ...taskColumns,
  }),
);

export const openai: RolloutFormat = {
  name: "openai",
  noun: "a row with messages in OpenAI's chat format",
  writer: "an endpoint's client or a fine-tuning export",
  parseRow(json, check) {
    const row = check(openaiRow, json);
    const { task_id, trajectory_id, turn } = { ...row.metadata, ...row };
    return {
      id: trajectory_id ?? task_id ?? undefined,
      task: task_id ?? undefined,
      turn: turn ?? undefined,
      policy: row.model ?? undefined,
      menu: row.tools,
      prompt: [],
      completion: parseChatMessages(row.messages),
    };
  },
};

const textOrMessages = z.union([z.string(), z.array(chatMessageSchema)]);

const trlRow = z.looseObject({
  prompt: textOrMessages,
  completion: textOrMessages.nullish(),
  step: numberSchema,
  menu: toolsSchema,
  ...taskColumns,
});

type TextOrMessages = z.infer<typeof textOrMessages>;

export const trl: RolloutFormat = {
  name: "trl",
  noun: "a row of TRL's completions",
  writer: "TRL's log_completions or our export",
  parseRow(json, check) {
    const row = check(trlRow, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      menu: row.menu,
      prompt: parseSide(row.prompt, text => ({ role: "user", text })),
      completion: parseSide(row.completion ?? [], parseToolCallText),
      ...(row.completion == null ? { end: { kind: "ended", by: "limit" } } : {}),
      score: findReward(json as Readonly<Record<string, unknown>>),
    };
  },
};

const parseSide = (
  side: TextOrMessages,
  parseText: (text: string) => RolloutMessage,
): readonly RolloutMessage[] =>
  typeof side === "string" ? [parseText(side)] : parseChatMessages(side);

/**
 * The column `reward`, or TRL's first reward. Null stands for no score. The row is the one of the
 * file, because a schema changes the order of its columns.
 */
function findReward(row: Readonly<Record<string, unknown>>): number | undefined {
  const columns = Object.keys(row);
  const rewards = columns.slice(columns.indexOf("completion") + 1, columns.indexOf("advantage"));
  const column = "reward" in row ? "reward" : "advantage" in row ? rewards[0] : undefined;
  return column === undefined ? undefined : (numberSchema.safeParse(row[column]).data ?? undefined);
}

const verlRow = z.looseObject({
  input: z.string(),
  output: z.string(),
  score: numberSchema,
  step: numberSchema,
  ...taskColumns,
});

export const verl: RolloutFormat = {
  name: "verl",
  noun: "a row of verl's rollouts",
  writer: "verl's trainer.rollout_data_dir",
  parseRow(json, check) {
    const row = check(verlRow, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      prompt: parseHermesText(row.input, "user"),
      completion: parseHermesText(row.output, "assistant"),
      score: row.score ?? undefined,
    };
  },
};
