/**
 * The chat format of small students: encodes a conversation as the token ids that a student reads
 * (a compact card for each tool, then the turns) and parses what it writes. The same conversation
 * always has the same ids.
 */
import type { Call } from "../../environment/outcome.ts";
import { toPlainTool } from "../../environment/plainSchema.ts";
import { getProperties, listRequired, toSchema } from "../../environment/schemaKeywords.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import { countGivenEvents } from "../../trajectory/oneTurn.ts";
import { listAddedTools } from "../../trajectory/trajectory.ts";
import type { ChatLimits, ChatTokens, ChatFormat } from "../chatFormat.ts";
import { IdAliases } from "./idAliases.ts";
import { type Tokenizer, marks, type Mark } from "./tokenizer.ts";
import { formatArgument, formatResultRows, type Tool, parseArgument } from "./valueText.ts";
import { createMessageGrammar } from "./messageGrammar.ts";

/** The limits of a small student. */
export const studentLimits = {
  prompt: 256,
  sampled: 128,
  result: 64,
  turn: 96,
  context: 768,
} as const satisfies ChatLimits;

type Event = Conversation["events"][number];

type CallStep = Extract<Event, { kind: "call" }>;

/** A conversation as a small student reads it. */
interface CompactChat extends ChatTokens {
  /** The aliases of the entity ids that occur so far. */
  readonly aliases: IdAliases;
}

/** Encodes the first menu, the time, the rules and the first user turn, without the mark that starts a policy message. */
export function encodeOpening(
  tokenizer: Tokenizer,
  conversation: Conversation,
  aliases = new IdAliases(),
): number[] {
  const user = conversation.events.find(it => it.kind === "user")?.text ?? "";
  return [
    ...encodeMenu(tokenizer, listFirstTools(conversation)),
    ...tokenizer.encode(` now ${conversation.now.replace("T", " ")}`),
    ...tokenizer.encode((conversation.rules ?? []).map(it => ` ${it}`).join("")),
    tokenizer.markId("<user>"),
    ...tokenizer.encode(` ${aliases.replaceIds(user)}`),
  ];
}

const encodeMenu = (tokenizer: Tokenizer, tools: readonly Tool[]): number[] => [
  tokenizer.markId("<menu>"),
  ...tools.flatMap(tool => encodeToolCard(tokenizer, tool)),
];

/** The tools that were on the menu before a user turn added others. */
function listFirstTools({ tools, events }: Conversation): readonly Tool[] {
  const added = new Set(listAddedTools(events));
  return tools.filter(it => !added.has(it.name));
}

/**
 * Encodes the whole conversation so far. The cards of tools that a user turn adds are before the
 * turn. It ends with the mark that starts a policy message, unless
 * the last event is a policy message.
 */
export function encodeChat(tokenizer: Tokenizer, conversation: Conversation): CompactChat {
  const chat: CompactChat = {
    ids: [],
    mask: [],
    logprobs: [],
    message: [],
    opening: 0,
    given: 0,
    aliases: new IdAliases(),
  };
  const appendGiven = (ids: readonly number[]) => appendTokens(chat, ids, 0, -1);
  const policyMark = tokenizer.markId("<asst>");
  appendGiven(encodeOpening(tokenizer, conversation, chat.aliases));
  const opening = chat.ids.length + 1;
  const givenEvents = countGivenEvents(conversation);
  let given = opening;
  let isFirstUserTurn = true;
  let isPolicyLast = false;
  for (const [i, event] of conversation.events.entries()) {
    const isGiven = i < givenEvents;
    if (event.kind === "user" && event.adds) {
      const names = event.adds;
      const added = conversation.tools.filter(it => names.includes(it.name));
      appendGiven(encodeMenu(tokenizer, added));
    }
    if (event.kind === "user" && !isFirstUserTurn)
      appendGiven([
        tokenizer.markId("<user>"),
        ...tokenizer.encode(` ${chat.aliases.replaceIds(event.text)}`).slice(0, studentLimits.turn),
      ]);
    if (event.kind === "user") isFirstUserTurn = false;
    if (event.kind === "call")
      appendGiven(encodeResult(tokenizer, conversation.tools, event, chat.aliases));
    if (event.kind === "assistant") {
      appendGiven([policyMark]);
      const text = isGiven ? shortenReply(event.text) : event.text;
      const ids =
        event.tokens ??
        encodeMessage(
          tokenizer,
          conversation.tools,
          { text, calls: listCallsAfter(conversation.events, i) },
          chat.aliases,
        );
      if (isGiven) appendGiven(ids);
      else appendTokens(chat, ids, 1, event.message, event.logprobs);
    }
    if (givenEvents > 0 && i === givenEvents) given = chat.ids.length + 1; // with the mark
    if (event.kind !== "ended") isPolicyLast = event.kind === "assistant";
  }
  if (!isPolicyLast) appendGiven([policyMark]);
  return { ...chat, opening, given };
}

function appendTokens(
  to: CompactChat,
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
 * Encodes a tool as its name and keys, with the optional keys after a question mark. Keys of
 * numbers, booleans and lists have a mark for their type.
 */
function encodeToolCard(tokenizer: Tokenizer, tool: Tool): number[] {
  const properties = Object.entries(getProperties(tool.inputSchema));
  const required = new Set(listRequired(tool.inputSchema));
  const encodeKeys = (isRequired: boolean) =>
    properties
      .filter(([key]) => required.has(key) === isRequired)
      .flatMap(([key, schema]) => [
        ...encodeKey(tokenizer, key),
        ...tokenizer.encode(getTypeMark(schema)),
      ]);
  const optional = encodeKeys(false);
  return [
    ...encodeName(tokenizer, tool.name),
    ...encodeKeys(true),
    ...(optional.length ? [...tokenizer.encode("?"), ...optional] : []),
  ];
}

const typeMarks: ReadonlyMap<unknown, string> = new Map([
  ["number", "#"],
  ["integer", "#"],
  ["boolean", "!"],
  ["array", "*"],
]);

const getTypeMark = (schema: Tool["inputSchema"]): string =>
  typeMarks.get(toSchema(schema)["type"]) ?? "";

const encodeName = (tokenizer: Tokenizer, name: string): readonly number[] => {
  const id = tokenizer.nameId(name);
  return id === undefined ? [tokenizer.markId("<arg>"), ...tokenizer.encode(` ${name}`)] : [id];
};

/** A key without an id of its own is spelled as text between a mark and an equals sign. */
const encodeKey = (tokenizer: Tokenizer, key: string): readonly number[] => {
  const id = tokenizer.keyId(key);
  return id === undefined ? [tokenizer.markId("<arg>"), ...tokenizer.encode(` ${key}=`)] : [id];
};

/** Encodes a policy message as a student writes it: its calls, or text for the user. */
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
  const args = Object.entries(call.arguments ?? {}) as [string, Call["arguments"]][];
  const order = Object.keys(properties);
  const getPosition = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const ids = [
    ...(tokenizer.nameId(call.name) === undefined
      ? tokenizer.encode(` ${call.name}`)
      : encodeName(tokenizer, call.name)),
  ];
  for (const [key, value] of args.toSorted(([a], [b]) => getPosition(a) - getPosition(b)))
    ids.push(
      ...encodeKey(tokenizer, key),
      ...tokenizer.encode(` ${aliases.replaceIds(formatArgument(value, properties[key]))}`),
    );
  return ids;
}

/**
 * Encodes the result of a call within the limit: the whole result if it fits, else only names and
 * ids, else the first rows and how many more there are.
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

export const createCompactFormat = (tokenizer: Tokenizer): ChatFormat => ({
  limits: studentLimits,
  describesTools: false,
  callSyntax: "compact",
  hasGrammar: true,
  encode(conversation) {
    const tools = conversation.tools.map(toPlainTool);
    const { aliases, ...chat } = encodeChat(tokenizer, { ...conversation, tools });
    return {
      ...chat,
      readReply: onText => new ReplyStream(tokenizer, aliases, onText),
      parse: ids => parseMessage(tokenizer, tools, ids, aliases),
      openGrammar: ({ tools: callable, kind }) =>
        createMessageGrammar(tokenizer, { tools: callable.map(toPlainTool), kind, aliases }),
    };
  },
  countTools: tools => tools.flatMap(it => encodeToolCard(tokenizer, it)).length,
  isMessageEnd,
  decode: ids => tokenizer.decode(ids),
  readToken: id =>
    tokenizer.isText(id) ? tokenizer.bytesOf(id) : Buffer.from(tokenizer.decode([id])),
  indexCalls(ids) {
    const also = tokenizer.markId("<also>");
    let call = 0;
    return ids.map(id => (id === also ? ++call : call));
  },
  shortenReply,
});

// Parses the token ids that the student writes into a message: calls, or text for the user.

/**
 * Whether a message ends with this id: with its end mark, or with a mark that a policy must not
 * write.
 */
export const isMessageEnd = (id: number): boolean =>
  id < marks.length && !marksInMessages.has(marks[id]!);

const marksInMessages: ReadonlySet<Mark> = new Set<Mark>(["<call>", "<also>", "<arg>", "<fin>"]);

/**
 * Parses a message of the student. Ids that cannot be parsed become a call with an empty name whose
 * argument is their text.
 */
export function parseMessage(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  ids: readonly number[],
  aliases = new IdAliases(),
): Pick<AssistantMessage, "text" | "calls"> {
  const end = ids.at(-1);
  const [first, ...body] = ids;
  if (
    first === tokenizer.markId("<fin>") &&
    end === tokenizer.markId("<eot>") &&
    body.slice(0, -1).every(id => tokenizer.isText(id))
  )
    return {
      text: aliases.restoreIds(tokenizer.decode(body.slice(0, -1)).replace(/^ /, "")),
      calls: [],
    };
  if (first !== tokenizer.markId("<call>") || end !== tokenizer.markId("<eoc>"))
    return { text: "", calls: [createUnparsedCall(tokenizer, ids)] };
  const blocks = splitIds(body.slice(0, -1), id => id === tokenizer.markId("<also>"));
  return {
    text: "",
    calls: blocks.map(
      block => parseCall(tokenizer, tools, block, aliases) ?? createUnparsedCall(tokenizer, block),
    ),
  };
}

const createUnparsedCall = (tokenizer: Tokenizer, ids: readonly number[]): Call => ({
  name: "",
  arguments: { unparsed: tokenizer.decode(ids) },
});

function parseCall(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  block: readonly number[],
  aliases: IdAliases,
): Call | undefined {
  const isKey = (id: number) =>
    tokenizer.keyOf(id) !== undefined || id === tokenizer.markId("<arg>");
  const parts: number[][] = [[]];
  for (const id of block) {
    if (isKey(id)) parts.push([]);
    parts.at(-1)!.push(id);
  }
  const [head, ...pairs] = parts as [number[], ...number[][]];
  const name = parseName(tokenizer, head);
  if (name === undefined) return undefined;
  const properties = (tools.find(it => it.name === name)?.inputSchema["properties"] ??
    {}) as Record<string, Tool["inputSchema"]>;
  const args: Record<string, Call["arguments"]> = Object.create(null) as Record<string, never>;
  for (const pair of pairs) {
    const knownKey = tokenizer.keyOf(pair[0]!);
    if (!pair.slice(1).every(id => tokenizer.isText(id))) return undefined;
    const text = tokenizer.decode(pair.slice(1));
    const equalsSign = knownKey === undefined ? text.indexOf("=") : -1;
    const key = knownKey ?? text.slice(1, Math.max(equalsSign, 1));
    if (key === "" || Object.hasOwn(args, key)) return undefined;
    args[key] = parseArgument(
      aliases.restoreIds(text.slice(equalsSign + 1).replace(/^ /, "")),
      Object.hasOwn(properties, key) ? properties[key] : undefined,
    );
  }
  return { name, arguments: { ...args } };
}

function parseName(tokenizer: Tokenizer, head: readonly number[]): string | undefined {
  if (head.length === 1 && tokenizer.nameOf(head[0]!) !== undefined)
    return tokenizer.nameOf(head[0]!);
  if (head.length === 0 || !head.every(id => tokenizer.isText(id))) return undefined;
  const name = tokenizer.decode(head).trim();
  return /^[\w.-]{1,64}$/.test(name) ? name : undefined;
}

function splitIds(ids: readonly number[], isSeparator: (id: number) => boolean): number[][] {
  const blocks: number[][] = [[]];
  for (const id of ids) {
    if (isSeparator(id)) blocks.push([]);
    else blocks.at(-1)!.push(id);
  }
  return blocks;
}

// The text of a reply to the user while a student writes it. Whole words are passed on at once:
// only then is it known which ids are aliases, and which bytes form a character.

class ReplyStream {
  readonly #tokenizer: Tokenizer;
  readonly #aliases: IdAliases;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #ids: number[] = [];
  /** Undefined until the first token, then whether the message is a reply. */
  #isReply: boolean | undefined;
  #sent = 0;

  constructor(tokenizer: Tokenizer, aliases: IdAliases, onText?: (text: string) => void) {
    this.#tokenizer = tokenizer;
    this.#aliases = aliases;
    this.#onText = onText;
  }

  /** What the reply says so far; undefined for a message of calls. */
  get text(): string | undefined {
    if (!this.#isReply) return undefined;
    return this.#aliases.restoreIds(this.#tokenizer.decode(this.#ids).replace(/^ /, ""));
  }

  append(id: number): void {
    if (this.#isReply === undefined) this.#isReply = id === this.#tokenizer.markId("<fin>");
    else if (this.#isReply && this.#tokenizer.isText(id)) this.#ids.push(id);
    else this.#isReply = this.#isReply && id === this.#tokenizer.markId("<eot>");
    if (this.#onText && this.#isReply) this.#sendWords(this.#onText);
  }

  #sendWords(onText: (text: string) => void): void {
    const text = this.text!;
    const end = text.lastIndexOf(" ");
    if (end <= this.#sent) return;
    onText(text.slice(this.#sent, end));
    this.#sent = end;
  }
}

// The replies of small students, which are shorter than those of teachers.

/** The most characters in a reply of a small student. */
const maxReplyLength = 60;

/**
 * Shortens a teacher's reply for a small student: a question, and the first other sentences that
 * fit.
 */
export function shortenReply(text: string): string {
  if (text.length <= maxReplyLength) return text;
  const sentences = text.match(/.+?(?:[.!?](?=\s|$)|$)\s*/gs) ?? [text];
  const question = sentences.find(it => it.trimEnd().endsWith("?")) ?? "";
  let left = maxReplyLength - question.length;
  const fitting = sentences.filter(it => it === question || (left -= it.length) >= 0);
  const reply = fitting.join("").trimEnd();
  return reply === "" ? `${text.slice(0, maxReplyLength - 1).replace(/\s\S*$/, "")}…` : reply;
}
