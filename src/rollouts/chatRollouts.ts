/**
 * Rollouts as chat messages or as text: message logs in OpenAI's chat format (fine-tuning files and
 * our exports `openai` and `sft`) and in that of ShareGPT, the completions that TRL logs with
 * `log_completions` and rows of our export `trl`, and what verl writes with
 * `trainer.rollout_data_dir`.
 */
import { z } from "zod";
import {
  chatRowsSchema,
  isMessage,
  isRecord,
  parseChatRows,
  parseMessageList,
  parseOrUndefined,
} from "./chatRows.ts";
import { parseHermesText, parseToolCallText } from "./hermesText.ts";
import {
  type CountOmitted,
  type RolloutMessage,
  taskColumns,
  type RolloutFormat,
  numberSchema,
} from "./rollout.ts";

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

/** The messages of a row, which some data sets have in two lists, or in ShareGPT's format. */
function findMessages(row: unknown): unknown {
  if (Array.isArray(row)) return { messages: row };
  if (!isRecord(row) || row["messages"] !== undefined) return row;
  const { conversations, conversation, prompt, completion } = row;
  const turns = conversations ?? conversation;
  if (Array.isArray(turns)) return { ...row, messages: turns.flatMap(parseTurn) };
  if (prompt === undefined || completion === undefined) return row;
  const sides = [toRows(prompt, "user"), toRows(completion, "assistant")];
  return sides.every(Array.isArray) ? { ...row, messages: sides.flat() } : row;
}

function toRows(side: unknown, role: "user" | "assistant"): unknown {
  if (typeof side !== "string") return side;
  return parseMessageList(side) ?? [{ role, content: side }];
}

const roles: Readonly<Record<string, string>> = {
  human: "user",
  gpt: "assistant",
  chatgpt: "assistant",
  model: "assistant",
  observation: "tool",
  function_response: "tool",
};

/** The message of a turn in ShareGPT's format; one that is not in it, as it is. */
function parseTurn(turn: unknown): unknown {
  if (!isRecord(turn) || typeof turn["from"] !== "string" || isMessage(turn)) return turn;
  const { from, value } = turn;
  if (from !== "function_call") return { role: roles[from] ?? from, content: value };
  const calls = typeof value === "string" ? parseOrUndefined(value) : value;
  return isRecord(calls) || Array.isArray(calls)
    ? { role: "assistant", content: "", tool_calls: [calls].flat() }
    : { role: "assistant", content: `<tool_call>${String(value)}</tool_call>` };
}

const openaiRow = z.preprocess(
  findMessages,
  z.looseObject({
    messages: chatRowsSchema.refine(it => it.length > 0, "there are no messages"),
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
  parseRow(json, { check, omit }) {
    const row = check(openaiRow, json);
    const { task_id, trajectory_id, turn } = { ...row.metadata, ...row };
    return {
      id: trajectory_id ?? task_id ?? undefined,
      task: task_id ?? undefined,
      turn: turn ?? undefined,
      policy: row.model ?? undefined,
      menu: row.tools,
      prompt: [],
      completion: parseChatRows(row.messages, omit),
      score: numberSchema.safeParse(row["reward"] ?? row["score"]).data ?? undefined,
    };
  },
};

/** A text that is the JSON of a list of messages stands for the list. */
const textOrMessages = z.preprocess(
  it => (typeof it === "string" ? (parseMessageList(it) ?? it) : it),
  z.union([z.string(), chatRowsSchema]),
);

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
  parseRow(json, { check, omit }) {
    const row = check(trlRow, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      menu: row.menu,
      prompt: parseSide(row.prompt, omit, text => ({ role: "user", text })),
      completion: parseSide(row.completion ?? [], omit, parseToolCallText),
      ...(row.completion == null ? { end: { kind: "ended", by: "limit" } } : {}),
      score: findReward(json as Readonly<Record<string, unknown>>),
    };
  },
};

const parseSide = (
  side: TextOrMessages,
  omit: CountOmitted,
  parseText: (text: string) => RolloutMessage,
): readonly RolloutMessage[] =>
  typeof side === "string" ? [parseText(side)] : parseChatRows(side, omit);

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
  parseRow(json, { check, omit }) {
    const row = check(verlRow, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      prompt: parseHermesText(row.input, "user", omit),
      completion: parseHermesText(row.output, "assistant", omit),
      score: row.score ?? undefined,
    };
  },
};
