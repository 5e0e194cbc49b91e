/**
 * The chat format of a Hugging Face model: its tokenizer and its chat template. A conversation is
 * encoded piece by piece: what the model sampled stays as it was sampled, and what users and tools
 * add is encoded alone, from the text that the template puts after a message of the assistant.
 */
import type { Call } from "../../environment/outcome.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import {
  callSeparators,
  createUnparsedCall,
  detectCallSyntax,
  readMessageText,
  type CallSyntax,
} from "../../policy/callText/callText.ts";
import { describeTool } from "../../environment/toolDescription.ts";
import { formatInstructions, formatResult } from "../../policy/chatMessages.ts";
import { formatChatTool } from "../../policy/endpointFormat.ts";
import type { Conversation } from "../../policy/policy.ts";
import { countGivenEvents } from "../../trajectory/oneTurn.ts";
import { resultTextBudget } from "../../trajectory/excerpt.ts";
import type { ChatFormat, ChatLimits, EncodedChat, MessageContent } from "../chatFormat.ts";
import type { ChatTemplate, TemplateInput } from "./chatTemplate.ts";
import { addSignatures, formatSignatures, type ToolStyle } from "./compactTools.ts";
import type { HuggingFaceTokenizer, ControlToken } from "./tokenizer.ts";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../userError.ts";

interface HuggingFaceChatOptions {
  /** The folder of the model, for messages to a person. */
  readonly folder: string;
  readonly tokenizer: HuggingFaceTokenizer;
  readonly template: ChatTemplate;
  /** The tokens that end a generated message according to the model's configuration. */
  readonly endIds: readonly number[];
  readonly limits: ChatLimits;
  /** `json` where absent. */
  readonly tools?: ToolStyle;
}

/**
 * Throws a `UserError` if the template does not show tools, does not end messages with a token, or
 * writes calls in a syntax that is not known.
 */
export const createHuggingFaceFormat = (options: HuggingFaceChatOptions): ChatFormat =>
  new HuggingFaceFormat(options);

type Event = Conversation["events"][number];
type AssistantEvent = Extract<Event, { kind: "assistant" }>;
type CallEvent = Extract<Event, { kind: "call" }>;
type UserEvent = Extract<Event, { kind: "user" }>;

/** Encoded texts that are kept, because a conversation is encoded again for each message. */
const maxCachedTexts = 500;

class HuggingFaceFormat implements ChatFormat {
  readonly limits: ChatLimits;
  readonly describesTools = true;
  readonly hasGrammar = false;
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #template: ChatTemplate;
  readonly #traits: TemplateTraits;
  readonly #tools: ToolStyle;
  readonly #endIds: ReadonlySet<number>;
  readonly #stopIds: ReadonlySet<number>;
  readonly #idsByText = new Map<string, readonly number[]>();
  readonly #results = new WeakMap<CallEvent, string>();

  constructor({
    folder,
    tokenizer,
    template,
    endIds,
    limits,
    tools = "json",
  }: HuggingFaceChatOptions) {
    this.limits = limits;
    this.#tools = tools;
    this.#tokenizer = tokenizer;
    this.#template = template;
    this.#traits = inspectTemplate(folder, template, tokenizer);
    this.#endIds = new Set([...endIds, this.#traits.end.id]);
    // a policy must not write the marks of other roles
    const marks = tokenizer.controlTokens.filter(
      it => it.isSpecial && !/tool|think|python/i.test(it.text),
    );
    this.#stopIds = new Set([...this.#endIds, ...marks.map(it => it.id)]);
  }

  get callSyntax(): string {
    return this.#traits.syntax;
  }

  encode(conversation: Conversation): EncodedChat {
    const chat = { ids: [], mask: [], logprobs: [], message: [], opening: 0, given: 0 };
    const writer = new ChatWriter(chat);
    const { events } = conversation;
    const givenEvents = countGivenEvents(conversation);
    const firstUser = events.findIndex(it => it.kind === "user");
    writer.append(this.#encodeText(this.#renderOpening(conversation), { isContinuation: false }));
    const opening = writer.length;
    let given = opening;
    let added: (UserEvent | CallEvent)[] = [];
    for (const [i, event] of events.entries()) {
      if (event.kind === "ended" || i === firstUser) continue;
      if (event.kind !== "assistant") {
        added.push(event);
        continue;
      }
      this.#appendAdded(writer, conversation, added);
      added = [];
      const isGiven = i < givenEvents;
      if (!isGiven && givenEvents > 0 && given === opening) given = writer.length;
      const ids = event.tokens ?? this.#encodeMessage(events, i, conversation.now);
      if (isGiven) writer.append(ids);
      else writer.appendSampled(ids, event);
    }
    this.#appendAdded(writer, conversation, added);
    const isNextOwn = givenEvents > 0 && given === opening;
    return {
      ...chat,
      opening,
      given: isNextOwn ? writer.length : given,
      parse: ids => this.#parse(ids, conversation.tools),
    };
  }

  countTools(tools: Conversation["tools"]): number {
    const text =
      this.#tools === "compact"
        ? formatSignatures(tools.map(describeTool))
        : JSON.stringify(tools.map(it => formatChatTool(describeTool(it))));
    return this.#encodeText(this.#tokenizer.protect(text)).length;
  }

  isMessageEnd(id: number): boolean {
    return this.#stopIds.has(id);
  }

  decode(ids: readonly number[]): string {
    return this.#tokenizer.decode(ids);
  }

  readToken(id: number): Uint8Array {
    return Buffer.from(this.#tokenizer.decode([id]));
  }

  indexCalls(ids: readonly number[]): number[] {
    const pieces = ids.map(id => this.#tokenizer.decode([id]));
    const { starts } = readMessageText(pieces.join(""), { syntax: this.#traits.syntax });
    let end = 0;
    return pieces.map(piece => {
      end += piece.length;
      return Math.max(0, starts.filter(it => it < end).length - 1);
    });
  }

  shortenReply(text: string): string {
    return text;
  }

  #parse(ids: readonly number[], tools: Conversation["tools"]): MessageContent {
    const written = this.#tokenizer.decode(ids.slice(0, -1));
    if (!this.#endIds.has(ids.at(-1) ?? -1))
      return { text: "", calls: [createUnparsedCall(written, "the message has no end")] };
    const { text, calls } = readMessageText(written, { syntax: this.#traits.syntax, tools });
    return { text, calls };
  }

  #encodeText(text: string, options = { isContinuation: true }): readonly number[] {
    const key = `${options.isContinuation ? "" : "opening "}${text}`;
    let ids = this.#idsByText.get(key);
    if (!ids) {
      if (this.#idsByText.size >= maxCachedTexts) this.#idsByText.clear();
      this.#idsByText.set(key, (ids = this.#tokenizer.encode(text, options)));
    }
    return ids;
  }

  #render(input: Omit<TemplateInput, "addGenerationPrompt">, addGenerationPrompt: boolean): string {
    return this.#template.render({ ...input, addGenerationPrompt });
  }

  #renderOpening({ tools, events, now, rules }: Conversation): string {
    const [first, ...later] = events.filter(it => it.kind === "user");
    const addedLater = new Set(later.flatMap(it => it.adds ?? []));
    const offered = tools.filter(it => !addedLater.has(it.name));
    const protect = (text: string) => this.#tokenizer.protect(text);
    const instructions = formatInstructions(now, rules);
    const isCompact = this.#tools === "compact";
    const { syntax } = this.#traits;
    return this.#render(
      {
        messages: [
          {
            role: "system",
            content: isCompact
              ? addSignatures(instructions, offered.map(describeTool), { syntax, protect })
              : protect(instructions),
          },
          { role: "user", content: protect(first?.text ?? "") },
        ],
        tools: isCompact ? [] : offered.map(it => this.#describeTool(it)),
        now,
      },
      true,
    );
  }

  #describeTool(tool: Conversation["tools"][number]): Json {
    return this.#protect({ type: "function", function: describeTool(tool) as unknown as Json });
  }

  /** Protects all texts of a value. */
  #protect(value: Json): Json {
    if (typeof value === "string") return this.#tokenizer.protect(value);
    if (Array.isArray(value)) return (value as readonly Json[]).map(it => this.#protect(it));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, it]) => [this.#tokenizer.protect(key), this.#protect(it)]),
    );
  }

  /** Appends what the user and the tools said after a message, and the beginning of the next. */
  #appendAdded(
    writer: ChatWriter,
    conversation: Conversation,
    added: readonly (UserEvent | CallEvent)[],
  ): void {
    if (added.length === 0) return;
    const messages = added.map(it =>
      it.kind === "call"
        ? { role: "tool", name: it.name, content: this.#formatResult(it) }
        : { role: "user", content: this.#formatUserTurn(it, conversation) },
    );
    const answered = added[0]!.kind === "call" ? placeholder.call : placeholder.reply;
    const text = this.#render(
      {
        messages: [placeholder.user, answered, ...messages],
        tools: [placeholder.tool],
        now: conversation.now,
      },
      true,
    );
    writer.append(this.#encodeText(this.#traits.cutAfterPlaceholder(text)));
  }

  /** The system message cannot change any more: tools that are added are a part of the turn. */
  #formatUserTurn({ text, adds }: UserEvent, { tools }: Conversation): string {
    if (!adds) return this.#tokenizer.protect(text);
    const added = tools.filter(it => adds.includes(it.name));
    const lines =
      this.#tools === "compact"
        ? this.#tokenizer.protect(formatSignatures(added.map(describeTool)))
        : added.map(it => JSON.stringify(this.#describeTool(it))).join("\n");
    return `${this.#tokenizer.protect(text)}\n\nMore tools that you can call from now on:\n${lines}`;
  }

  /** The result within the limit of tokens, as valid JSON. */
  #formatResult(event: CallEvent): string {
    let text = this.#results.get(event);
    for (let budget = resultTextBudget; text === undefined; budget = Math.floor(budget / 2)) {
      const shortened = this.#tokenizer.protect(formatResult(event, budget));
      if (this.#encodeText(shortened).length <= this.limits.result || budget <= 64)
        this.#results.set(event, (text = shortened));
    }
    return text;
  }

  /** A message that the model did not sample, as it would write it, with the token at the end. */
  #encodeMessage(events: readonly Event[], index: number, now: string): readonly number[] {
    const { text, message } = events[index] as AssistantEvent;
    const calls = events.filter(it => it.kind === "call" && it.message === message) as CallEvent[];
    const render = (content: string, own: readonly Call[]) => {
      const messages = [placeholder.user, this.#createMessage(content, own)];
      const rendered = this.#render({ messages, tools: [placeholder.tool], now }, false);
      return this.#traits.cutMessage(rendered, now);
    };
    const { takesSeveralCalls, syntax, end } = this.#traits;
    const separator = callSeparators[syntax];
    if (takesSeveralCalls || separator === undefined || calls.length < 2)
      return this.#encodeText(render(text, calls));
    const parts = calls.map((it, i) => render(i === 0 ? text : "", [it]));
    const withoutEnds = parts.map(it => it.slice(0, -end.text.length));
    return this.#encodeText(withoutEnds.join(separator) + end.text);
  }

  #createMessage(text: string, calls: readonly Call[]): JsonObject {
    const content = this.#tokenizer.protect(text);
    if (calls.length === 0) return { role: "assistant", content };
    return {
      role: "assistant",
      content,
      tool_calls: calls.map(it => ({
        type: "function",
        function: {
          name: this.#tokenizer.protect(it.name),
          arguments: this.#protect(it.arguments),
        },
      })),
    };
  }
}

/** Appends tokens to a chat. */
class ChatWriter {
  readonly #chat: Pick<EncodedChat, "ids" | "mask" | "logprobs" | "message">;

  constructor(chat: Pick<EncodedChat, "ids" | "mask" | "logprobs" | "message">) {
    this.#chat = chat;
  }

  get length(): number {
    return this.#chat.ids.length;
  }

  append(ids: readonly number[]): void {
    for (const id of ids) this.#push(id, 0, 0, -1);
  }

  appendSampled(ids: readonly number[], { message, logprobs }: AssistantEvent): void {
    for (const [i, id] of ids.entries()) this.#push(id, 1, logprobs?.[i] ?? 0, message);
  }

  #push(id: number, mask: number, logprob: number, message: number): void {
    this.#chat.ids.push(id);
    this.#chat.mask.push(mask);
    this.#chat.logprobs.push(logprob);
    this.#chat.message.push(message);
  }
}

// Finds out how a chat template behaves, by rendering small chats with it: whether it shows tools,
// how it writes calls, and which token ends a message of the assistant.

interface TemplateTraits {
  readonly syntax: CallSyntax;
  /** Whether the template writes several calls in one message: some refuse more than one. */
  readonly takesSeveralCalls: boolean;
  /** The token that ends a message of the assistant. */
  readonly end: ControlToken;
  /** What a rendered chat has after its message of the assistant that has the placeholder. */
  cutAfterPlaceholder(rendered: string): string;
  /** The message of the assistant that ends a rendered chat after the user's placeholder. */
  cutMessage(rendered: string, now: string): string;
}

/** A text that no chat contains. */
const placeholderText = "PROVE-PLACEHOLDER-93157";

/** Messages that stand for the earlier part of a chat while its next part is rendered. */
const placeholder = {
  user: { role: "user", content: "question" },
  reply: { role: "assistant", content: placeholderText },
  call: {
    role: "assistant",
    content: "",
    tool_calls: [
      { type: "function", function: { name: "placeholder", arguments: { text: placeholderText } } },
    ],
  },
  tool: {
    type: "function",
    function: {
      name: "placeholder",
      description: `Description of ${placeholderText}`,
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  },
} as const;

/** A call whose syntax is recognized, and its tool. Some syntaxes cannot write null. */
const sampleCall = {
  name: "placeholder",
  arguments: { text: 'a "b"\nc', count: 3, flag: true, list: ["é", 1.5], digits: "12" },
};
const nullCall = { ...sampleCall, arguments: { ...sampleCall.arguments, nothing: null } };
const sampleTool = {
  name: "placeholder",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string" },
      count: { type: "integer" },
      flag: { type: "boolean" },
      list: { type: "array" },
      digits: { type: "string" },
      nothing: { type: ["string", "null"] },
    },
  },
};

const remedy =
  "choose PROVE's default template with prove-rl model FOLDER --template default, or choose a model that is made for tools";

/** Throws a `UserError` if the template cannot be used for conversations with tools. */
function inspectTemplate(
  folder: string,
  template: ChatTemplate,
  tokenizer: HuggingFaceTokenizer,
): TemplateTraits {
  const name = `the chat template of ${folder}`;
  const render = (messages: readonly object[], addGenerationPrompt: boolean, now = sampleNow) =>
    template.render({
      messages: messages as never,
      tools: [placeholder.tool],
      addGenerationPrompt,
      now,
    });
  const opening = render([{ role: "system", content: "system" }, placeholder.user], true);
  if (!opening.includes("placeholder") || !opening.includes(placeholder.tool.function.description))
    throw new UserError(`${name} does not show tools to the model`, remedy);

  const end = findEnd(folder, render([placeholder.user, placeholder.reply], false), tokenizer);
  const cutMessage = (rendered: string, now: string): string => {
    const before = render([placeholder.user], true, now);
    const stop = rendered.lastIndexOf(end.text);
    if (!rendered.startsWith(before) || stop < before.length)
      throw new UserError(
        `${name} begins a message of the assistant in another way when it is asked to generate one than in a finished chat, so that the model cannot be trained on it`,
        "choose PROVE's default template with prove-rl model FOLDER --template default, or change the template",
      );
    return rendered.slice(before.length, stop + end.text.length);
  };
  const renderCalls = (...calls: readonly object[]): string => {
    const toolCalls = calls.map(it => ({ type: "function", function: it }));
    const message = { role: "assistant", content: "", tool_calls: toolCalls };
    const cut = cutMessage(render([placeholder.user, message], false), sampleNow);
    return cut.slice(0, -end.text.length);
  };
  const syntax = detectCallSyntax(renderCalls(sampleCall));
  const isReadAgain = (...calls: readonly object[]): boolean =>
    isDeepStrictEqual(
      readMessageText(renderCalls(...calls), { syntax, tools: [sampleTool] }).calls,
      calls,
    );
  if (!syntax || !isReadAgain(sampleCall) || !isReadAgain(nullCall))
    throw new UserError(`${name} writes calls in a syntax that is not supported`, remedy);
  return {
    syntax,
    takesSeveralCalls: takesSeveralCalls(() => isReadAgain(sampleCall, sampleCall)),
    end,
    cutMessage,
    cutAfterPlaceholder(rendered) {
      const at = rendered.lastIndexOf(placeholderText);
      const stop = rendered.indexOf(end.text, at);
      if (at < 0 || stop < 0)
        throw new UserError(`${name} leaves out a message of the assistant`, remedy);
      return rendered.slice(stop + end.text.length);
    },
  };
}

function takesSeveralCalls(areReadAgain: () => boolean): boolean {
  try {
    return areReadAgain();
  } catch (error) {
    if (error instanceof UserError) return false; // the template raises an exception
    throw error;
  }
}

const sampleNow = "2026-03-02T09:00";

/** The first special token after a message of the assistant. */
function findEnd(
  folder: string,
  rendered: string,
  { controlTokens }: HuggingFaceTokenizer,
): ControlToken {
  const after = rendered.slice(rendered.lastIndexOf(placeholderText) + placeholderText.length);
  const found = controlTokens
    .filter(it => it.isSpecial && after.includes(it.text))
    .toSorted((a, b) => after.indexOf(a.text) - after.indexOf(b.text))[0];
  if (found) return found;
  throw new UserError(
    `the chat template of ${folder} ends a message of the assistant with no special token of the tokenizer, so that the model would never stop`,
    `take template and tokenizer from the same model, or ${remedy}`,
  );
}
