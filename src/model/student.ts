/**
 * A small model as a policy. It generates the messages of many conversations in one batch, feeds
 * the decoder only the new tokens of each, and computes a prompt that several conversations share
 * once.
 */
import { runningBackend } from "../compute/runningBackend.ts";
import { computeRandomKey, randomAt } from "../environment/random.ts";
import {
  PolicyFault,
  type AssistantMessage,
  type Conversation,
  type Decoding,
  type Excess,
  type Policy,
} from "../policy/policy.ts";
import { UserError } from "../userError.ts";
import type { ChatFormat, EncodedChat, ReplyReader } from "./chatFormat.ts";
import { openDecoder, type Decoder } from "./transformer/decoder.ts";
import type { ChosenToken, Feed } from "./transformer/decoderStep.ts";
import type { MessageGrammar } from "./student/messageGrammar.ts";
import type { TokenMask } from "./textTokens.ts";
import type { Model } from "./transformer/transformer.ts";

export interface StudentOptions {
  readonly name: string;
  /** 0 takes the most likely token, 1 samples from the model's own distribution. */
  readonly temperature: number;
  /**
   * Decides, together with the id of a trajectory, which tokens are sampled in it. Conversations
   * that run at the same time have no influence.
   */
  readonly seed: number;
  /** The most conversations at a time; others wait. */
  readonly slots?: number;
  /**
   * Whether only messages that can be parsed and calls that fit the offered tools are written. The
   * log-probabilities are then those among the tokens that were allowed.
   */
  readonly isConstrained?: boolean;
  /**
   * Called for each token with the tokens that were allowed in its place, and the id of the
   * trajectory; only if decoding is constrained.
   */
  readonly onMask?: (trajectory: string, mask: TokenMask) => void;
}

export interface Student extends Policy {
  /** Seconds of computation and tokens chosen since the student was opened. */
  readonly usage: { readonly seconds: number; readonly tokens: number };
  dispose(): void;
}

/**
 * Opens a student of a model. It owns its cache, but not the model. Throws a `UserError` if the
 * model's chat format cannot be constrained, and it should be.
 */
export function openStudent(
  model: Model,
  chatFormat: ChatFormat,
  options: StudentOptions,
): Student {
  if (options.isConstrained && !chatFormat.hasGrammar)
    throw new UserError(
      `the decoding of ${options.name} cannot be constrained`,
      "leave out --constrain, which works with small students",
    );
  return new BatchedStudent(model, chatFormat, options);
}

/** A conversation whose next message is being generated. */
interface PendingMessage {
  readonly conversation: Conversation;
  /** The whole conversation, up to the message. */
  readonly chat: EncodedChat;
  readonly grammar: MessageGrammar | undefined;
  readonly decoding: Decoding;
  readonly stream: ReplyReader | undefined;
  /** How many tokens were sampled in earlier messages. */
  readonly sampledBefore: number;
  readonly sampledIds: number[];
  readonly logprobs: number[];
  readonly resolve: (message: AssistantMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** A slot of the decoder, and the ids in it. */
interface Slot {
  readonly number: number;
  ids: number[];
}

class BatchedStudent implements Student {
  readonly name: string;
  readonly decoding?: "constrained";
  readonly usage = { seconds: 0, tokens: 0 };
  readonly #decoder: Decoder;
  readonly #chatFormat: ChatFormat;
  readonly #options: StudentOptions;
  /** The slots of conversations by trajectory id. */
  readonly #slots = new Map<string, Slot>();
  #waiting: PendingMessage[] = [];
  #active: PendingMessage[] = [];
  #isRunning = false;

  constructor(model: Model, chatFormat: ChatFormat, options: StudentOptions) {
    this.name = options.name;
    if (options.isConstrained) this.decoding = "constrained";
    this.#chatFormat = chatFormat;
    this.#options = options;
    const context = Math.min(model.architecture.context, chatFormat.limits.context);
    const isWasm = runningBackend().memory !== undefined;
    const slots = options.slots ?? countSlots(model.architecture, context, isWasm);
    this.#decoder = openDecoder(model, { slots, context });
  }

  next(
    conversation: Conversation,
    signal?: AbortSignal,
    decoding: Decoding = {},
  ): Promise<AssistantMessage> {
    const chat = this.#chatFormat.encode(conversation);
    const sampled = chat.mask.reduce((sum, it) => sum + it, 0);
    const excess = this.#findExcess(chat, sampled);
    if (excess)
      return Promise.resolve({
        text: "",
        calls: [],
        tokens: [],
        logprobs: [],
        mask: [],
        cut: true,
        excess,
        usage: { read: chat.ids.length, written: 0 },
      });
    const grammar = this.#createGrammar(conversation.tools, chat, decoding.tool);
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        conversation,
        chat,
        grammar,
        decoding,
        stream: chat.readReply?.(decoding.onText),
        sampledBefore: sampled,
        sampledIds: [],
        logprobs: [],
        resolve,
        reject,
        signal,
      });
      if (!this.#isRunning) void this.#run();
    });
  }

  release(conversation: Conversation): void {
    const slot = this.#slots.get(conversation.header.id);
    if (!slot) return;
    this.#decoder.release(slot.number);
    this.#slots.delete(conversation.header.id);
  }

  readToken(id: number): Uint8Array {
    return this.#chatFormat.readToken(id);
  }

  dispose(): void {
    this.#decoder.dispose();
  }

  /** The part of a conversation that leaves no room for a message. */
  #findExcess(chat: EncodedChat, sampled: number): Excess | undefined {
    const { limits } = this.#chatFormat;
    const { context } = this.#decoder;
    if (chat.opening > limits.prompt)
      return { part: "prompt", tokens: chat.opening, limit: limits.prompt };
    if (sampled >= limits.sampled)
      return { part: "student's messages", tokens: sampled, limit: limits.sampled };
    if (chat.ids.length >= context)
      return { part: "conversation", tokens: chat.ids.length, limit: context };
    return undefined;
  }

  #createGrammar(
    offered: Conversation["tools"],
    chat: EncodedChat,
    choice: Decoding["tool"],
  ): MessageGrammar | undefined {
    if (choice === undefined && !this.#options.isConstrained) return undefined;
    const name = typeof choice === "object" ? choice.name : undefined;
    if (!chat.openGrammar)
      throw new UserError(
        `the messages of ${this.name} cannot be limited to calls or to text`,
        "leave the choice to the model",
      );
    return chat.openGrammar({
      tools: name === undefined ? offered : offered.filter(it => it.name === name),
      ...(choice === undefined ? {} : { kind: choice === "none" ? "text" : "calls" }),
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      // conversations that were requested in the same turn of the event loop start together
      await nextTick();
      while (this.#waiting.length + this.#active.length > 0) {
        this.#dropAborted();
        await this.#step();
        // a conversation that has its message can execute its calls and request the next one
        await nextTick();
      }
    } catch (error) {
      for (const it of [...this.#waiting, ...this.#active]) it.reject(error);
      this.#waiting = [];
      this.#active = [];
    } finally {
      this.#isRunning = false;
    }
  }

  #dropAborted(): void {
    const rejectIfAborted = (it: PendingMessage) => {
      if (it.signal?.aborted) it.reject(it.signal.reason);
      return !it.signal?.aborted;
    };
    this.#waiting = this.#waiting.filter(rejectIfAborted);
    this.#active = this.#active.filter(rejectIfAborted);
  }

  /** Chooses a token for every conversation that has a slot. New ones are fed their prompt. */
  async #step(): Promise<void> {
    const start = performance.now();
    const active = [...this.#active];
    const pending: PendingMessage[] = [];
    const feeds: Feed[] = [];
    for (const it of [...active, ...(await this.#admit())])
      try {
        feeds.push(this.#createFeed(it));
        pending.push(it);
      } catch (error) {
        // others go on
        this.#active = this.#active.filter(other => other !== it);
        it.reject(error);
      }
    // every slot may belong to a conversation whose calls are being executed
    if (pending.length === 0) return;
    for (const [i, chosen] of (await this.#decoder.feed(feeds)).entries())
      this.#acceptToken(pending[i]!, chosen);
    this.usage.seconds += (performance.now() - start) / 1000;
    this.usage.tokens += feeds.length;
  }

  /** Activates waiting conversations that have a slot or get one. */
  async #admit(): Promise<readonly PendingMessage[]> {
    const admitted: PendingMessage[] = [];
    const newByPrompt = new Map<string, PendingMessage[]>();
    const stillWaiting: PendingMessage[] = [];
    for (const it of this.#waiting) {
      const slot = this.#slots.get(it.conversation.header.id);
      if (slot) this.#resetIfDiverged(slot, it);
      else if (this.#slots.size < this.#decoder.slots) {
        this.#slots.set(it.conversation.header.id, { number: this.#decoder.open(), ids: [] });
        const prompt = it.chat.ids.slice(0, it.chat.given).join();
        newByPrompt.set(prompt, [...(newByPrompt.get(prompt) ?? []), it]);
      } else {
        stillWaiting.push(it);
        continue;
      }
      admitted.push(it);
    }
    this.#waiting = stillWaiting;
    this.#active.push(...admitted);
    for (const group of newByPrompt.values()) if (group.length > 1) await this.#sharePrompt(group);
    return admitted;
  }

  /** Computes the prompt of several new conversations once, except for its last token. */
  async #sharePrompt(group: readonly PendingMessage[]): Promise<void> {
    const [first, ...others] = group.map(it => this.#slots.get(it.conversation.header.id)!);
    const prompt = group[0]!.chat.ids.slice(0, group[0]!.chat.given - 1);
    await this.#decoder.feed([{ slot: first!.number, ids: prompt }]);
    this.#decoder.copy(
      first!.number,
      others.map(it => it.number),
    );
    for (const slot of [first!, ...others]) slot.ids = [...prompt];
  }

  /** Clears a slot whose sequence is not the beginning of this conversation. */
  #resetIfDiverged(slot: Slot, { conversation, chat: { ids } }: PendingMessage): void {
    if (slot.ids.length < ids.length && slot.ids.every((id, i) => id === ids[i])) return;
    this.#decoder.release(slot.number);
    this.#slots.set(conversation.header.id, { number: this.#decoder.open(), ids: [] });
  }

  /** The tokens that the slot of a conversation lacks, and the choice of the next one. */
  #createFeed(pending: PendingMessage): Feed {
    const { conversation, chat, grammar, decoding, sampledBefore, sampledIds } = pending;
    const { ids } = chat;
    const allowed = grammar && computeMask(grammar);
    const slot = this.#slots.get(conversation.header.id)!;
    const newIds = [
      ...ids.slice(slot.ids.length),
      ...sampledIds.slice(Math.max(0, slot.ids.length - ids.length)),
    ];
    slot.ids.push(...newIds);
    const key =
      decoding.seed === undefined
        ? computeRandomKey(this.#options.seed, conversation.header.id)
        : computeRandomKey(decoding.seed, "");
    const uniform = randomAt(key, sampledBefore + sampledIds.length);
    const { temperature = this.#options.temperature } = decoding;
    const { onMask } = this.#options;
    if (allowed) onMask?.(conversation.header.id, allowed);
    return { slot: slot.number, ids: newIds, choose: { temperature, uniform, allowed } };
  }

  #acceptToken(it: PendingMessage, { id, logprob }: ChosenToken): void {
    it.grammar?.append(id);
    it.sampledIds.push(id);
    it.logprobs.push(logprob);
    it.stream?.append(id);
    const isComplete = this.#chatFormat.isMessageEnd(id);
    const isCut =
      !isComplete &&
      (it.sampledBefore + it.sampledIds.length >= this.#chatFormat.limits.sampled ||
        it.sampledIds.length >= (it.decoding.maxTokens ?? Infinity) ||
        it.chat.ids.length + it.sampledIds.length >= this.#decoder.context);
    if (!isComplete && !isCut) return;
    this.#active = this.#active.filter(other => other !== it);
    const message = isComplete
      ? it.chat.parse(it.sampledIds)
      : { text: it.stream?.text ?? this.#chatFormat.decode(it.sampledIds), calls: [] };
    it.resolve({
      ...message,
      tokens: it.sampledIds,
      logprobs: it.logprobs,
      mask: it.sampledIds.map(() => 1),
      usage: { read: it.chat.ids.length, written: it.sampledIds.length },
      ...(isCut ? { cut: true as const } : {}),
    });
  }
}

/** Throws a `PolicyFault` if the schemas of the offered tools cannot be followed. */
function computeMask(grammar: MessageGrammar): TokenMask {
  try {
    const mask = grammar.computeMask();
    if (mask.includes(1)) return mask;
  } catch (cause) {
    throw new PolicyFault(`the schema of an offered tool cannot be read: ${String(cause)}`, {
      cause,
    });
  }
  throw new PolicyFault("the schema of an offered tool allows no value for a required argument");
}

const nextTick = () => new Promise<void>(resolve => void setImmediate(resolve));

/** The most conversations at a time. */
const maxSlots = 64;

/**
 * The bytes that their caches may take together, if all conversations are as long as they can be.
 * `wasm` can address four gigabytes, which also hold weights and activations.
 */
const maxCacheBytes = { wasm: 2 ** 29, other: 2 ** 31 };

/** As many slots as fit: the cache of a conversation has a key and a value for each token. */
export function countSlots(
  { layers, kvHeads, headWidth }: Model["architecture"],
  context: number,
  isWasm: boolean,
): number {
  const bytes = 4 * 2 * layers * kvHeads * headWidth * context;
  const limit = isWasm ? maxCacheBytes.wasm : maxCacheBytes.other;
  return Math.max(1, Math.min(maxSlots, Math.floor(limit / bytes)));
}
