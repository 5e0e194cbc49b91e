/**
 * How a small student reads and writes a conversation: compact tool cards and turns as token ids,
 * and its own messages back as calls. Pure: the same talk gives the same ids. Knows no tensors and
 * no rewards.
 */
import type { AssistantMessage, Call, Conversation } from "../policy/policy.ts";
import { IdAliases } from "./idAliases.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { formatArgument, formatResultRows, type Tool } from "./valueText.ts";

/** What a small student can hold. Over-long, the attempt ends by `limit`. */
export const studentLimits = {
  /** Tokens of the menu and the first user turn. */
  prompt: 256,
  /** Tokens the student may write, over all turns. */
  sampled: 128,
  /** Tokens of one result. */
  result: 64,
  /** Tokens of a user's later turn. */
  turn: 96,
  /** Tokens of a whole conversation. */
  context: 768,
} as const;

type Event = Conversation["events"][number];

type CallStep = Extract<Event, { kind: "call" }>;

/** A conversation as ids, and for each whether the policy wrote it. */
export interface EncodedChat {
  readonly ids: number[];
  /** 1 where the policy wrote the token itself. */
  readonly mask: number[];
  /** Of the tokens it wrote, as recorded when they were sampled; 0 elsewhere. */
  readonly logprobs: number[];
  /** Tokens of the opening: menu, time and first user turn, with the mark after them. */
  readonly opening: number;
  /** The message each token belongs to, -1 where it was given. */
  readonly message: number[];
  /** The ids met so far, as the student sees them. */
  readonly aliases: IdAliases;
}

/** Menu, time and first user turn. The mark by which the policy is asked to speak follows. */
export function encodeOpening(
  tokenizer: Tokenizer,
  conversation: Conversation,
  aliases = new IdAliases(),
): number[] {
  const user = conversation.events.find(it => it.kind === "user")?.text ?? "";
  return [
    tokenizer.markId("<menu>"),
    ...conversation.tools.flatMap(tool => encodeToolCard(tokenizer, tool)),
    ...tokenizer.encode(` now ${conversation.now.replace("T", " ")}`),
    tokenizer.markId("<user>"),
    ...tokenizer.encode(` ${aliases.replaceIds(user)}`),
  ];
}

/**
 * The whole conversation so far. It ends with the mark by which the policy is asked to speak,
 * unless the policy spoke last.
 */
export function encodeChat(tokenizer: Tokenizer, conversation: Conversation): EncodedChat {
  const it: EncodedChat = {
    ids: [],
    mask: [],
    logprobs: [],
    message: [],
    opening: 0,
    aliases: new IdAliases(),
  };
  const give = (ids: readonly number[]) => appendTokens(it, ids, 0, -1);
  const speak = tokenizer.markId("<asst>");
  give(encodeOpening(tokenizer, conversation, it.aliases));
  let opening = it.ids.length + 1;
  let isFirst = true;
  let spoke = false;
  for (const [i, event] of conversation.events.entries()) {
    if (event.kind === "user" && !isFirst)
      give([
        tokenizer.markId("<user>"),
        ...tokenizer.encode(` ${it.aliases.replaceIds(event.text)}`).slice(0, studentLimits.turn),
      ]);
    if (event.kind === "user") isFirst = false;
    if (event.kind === "call") give(encodeResult(tokenizer, conversation.tools, event, it.aliases));
    if (event.kind === "assistant") {
      give([speak]);
      const own =
        event.tokens ??
        encodeMessage(
          tokenizer,
          conversation.tools,
          { text: event.text, calls: listCallsAfter(conversation.events, i) },
          it.aliases,
        );
      appendTokens(it, own, 1, event.message, event.logprobs);
    }
    if (event.kind !== "ended") spoke = event.kind === "assistant";
  }
  if (!spoke) give([speak]);
  return { ...it, opening };
}

function appendTokens(
  to: EncodedChat,
  ids: readonly number[],
  mask: 0 | 1,
  message: number,
  logprobs?: readonly number[],
) {
  for (const [i, id] of ids.entries()) {
    to.ids.push(id);
    to.mask.push(mask);
    to.message.push(message);
    to.logprobs.push(logprobs?.[i] ?? 0);
  }
}

const listCallsAfter = (events: readonly Event[], i: number): readonly Call[] => {
  const end = events.findIndex((it, j) => j > i && it.kind !== "call");
  return events.slice(i + 1, end < 0 ? undefined : end).filter(it => it.kind === "call");
};

/**
 * A tool as its name and keys, the optional ones after a question mark; numbers, booleans and lists
 * are marked.
 */
function encodeToolCard(tokenizer: Tokenizer, tool: Tool): number[] {
  const properties = Object.entries(
    (tool.inputSchema["properties"] ?? {}) as Record<string, Tool["inputSchema"]>,
  );
  const required = new Set((tool.inputSchema["required"] ?? []) as readonly string[]);
  const keys = (isRequired: boolean) =>
    properties
      .filter(([key]) => required.has(key) === isRequired)
      .flatMap(([key, schema]) => [
        ...encodeKey(tokenizer, key),
        ...tokenizer.encode(typeMark(schema)),
      ]);
  const optional = keys(false);
  return [
    ...encodeName(tokenizer, tool.name),
    ...keys(true),
    ...(optional.length ? [...tokenizer.encode("?"), ...optional] : []),
  ];
}

const typeMarks: Readonly<Record<string, string>> = {
  number: "#",
  integer: "#",
  boolean: "!",
  array: "*",
};

const typeMark = (schema: Tool["inputSchema"]): string => typeMarks[schema["type"] as string] ?? "";

const encodeName = (tokenizer: Tokenizer, name: string): readonly number[] => {
  const id = tokenizer.nameId(name);
  return id === undefined ? [tokenizer.markId("<arg>"), ...tokenizer.encode(` ${name}`)] : [id];
};

/** A key that has no id of its own is spelled after a mark, up to its equals sign. */
const encodeKey = (tokenizer: Tokenizer, key: string): readonly number[] => {
  const id = tokenizer.keyId(key);
  return id === undefined ? [tokenizer.markId("<arg>"), ...tokenizer.encode(` ${key}=`)] : [id];
};

/**
 * A policy's message as the tokens a student would have written: its calls, or words for the user.
 */
export function encodeMessage(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  { text, calls }: Pick<AssistantMessage, "text" | "calls">,
  aliases = new IdAliases(),
): number[] {
  if (calls.length === 0)
    return [
      tokenizer.markId("<fin>"),
      ...tokenizer.encode(text ? ` ${aliases.replaceIds(text)}` : ""),
      tokenizer.markId("<eot>"),
    ];
  return calls.flatMap((call, i) => [
    tokenizer.markId(i === 0 ? "<call>" : "<also>"),
    ...encodeCall(tokenizer, tools, call, aliases),
    ...(i === calls.length - 1 ? [tokenizer.markId("<eoc>")] : []),
  ]);
}

function encodeCall(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  call: Call,
  aliases: IdAliases,
): number[] {
  const properties = (tools.find(it => it.name === call.name)?.inputSchema["properties"] ??
    {}) as Record<string, Tool["inputSchema"]>;
  const given = Object.entries(call.arguments ?? {}) as [string, Call["arguments"]][];
  const order = Object.keys(properties);
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const ids = [
    ...(tokenizer.nameId(call.name) === undefined
      ? tokenizer.encode(` ${call.name}`)
      : encodeName(tokenizer, call.name)),
  ];
  for (const [key, value] of given.toSorted(([a], [b]) => place(a) - place(b)))
    ids.push(
      ...encodeKey(tokenizer, key),
      ...tokenizer.encode(` ${aliases.replaceIds(formatArgument(value, properties[key]))}`),
    );
  return ids;
}

/**
 * What a call gave, cut to the limit: whole if it fits, else names and ids only, else the first
 * rows and how many more there are.
 */
export function encodeResult(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  step: CallStep,
  aliases = new IdAliases(),
): number[] {
  const mark = tokenizer.markId("<res>");
  const room = studentLimits.result - 1;
  if (step.outcome.kind !== "ok")
    return [
      mark,
      ...tokenizer
        .encode(` error ${aliases.replaceIds(step.outcome.message ?? step.outcome.kind)}`)
        .slice(0, room),
    ];
  const schema = tools.find(it => it.name === step.name)?.outputSchema;
  const { value } = step.outcome;
  const whole = tokenizer.encode(
    ` ${aliases.replaceIds(formatResultRows(value, schema, false).join("; "))}`,
  );
  if (whole.length <= room) return [mark, ...whole];
  const rows = formatResultRows(value, schema, true);
  const ids: number[] = [];
  for (const [i, row] of rows.entries()) {
    const next = tokenizer.encode(`${i ? ";" : ""} ${aliases.replaceIds(row)}`);
    const more = tokenizer.encode(`; ${rows.length - i} more`);
    if (ids.length + next.length + (i + 1 < rows.length ? more.length : 0) > room) {
      ids.push(...(i === 0 ? next : more).slice(0, room - ids.length));
      break;
    }
    ids.push(...next);
  }
  return [mark, ...ids];
}
