/**
 * A small model as a policy: it holds many conversations at once, feeds each only what is new, and
 * chooses their next tokens together. Conversations that begin alike are worked once up to where
 * they part. Knows no rewards and no tasks.
 */
import { computeRandomKey, randomAt } from "../environment/random.ts";
import type { AssistantMessage, Policy, Conversation } from "../policy/policy.ts";
import type { IdAliases } from "./idAliases.ts";
import { isMessageEnd, parseMessage } from "./parseChat.ts";
import { studentLimits, encodeChat } from "./chatFormat.ts";
import { openDecoder, type Decoder } from "./decoder.ts";
import { type ChosenToken, type Feed } from "./decoderStep.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { Model } from "./transformer.ts";

export interface StudentOptions {
  readonly name: string;
  /** 0 takes the likeliest token, 1 samples from the model's own distribution. */
  readonly temperature: number;
  /**
   * Decides, with a trajectory's id, what is sampled in it: the same whatever else runs beside it.
   */
  readonly seed: number;
  /** Conversations held at once; more wait their turn. */
  readonly slots?: number;
}

export interface Student extends Policy {
  /** Seconds spent in the model since it was opened, and tokens it has chosen. */
  readonly usage: { readonly seconds: number; readonly tokens: number };
  dispose(): void;
}

/** A student over a model's present weights. It owns its cache, not the model. */
export const openStudent = (model: Model, tokenizer: Tokenizer, options: StudentOptions): Student =>
  new BatchedStudent(model, tokenizer, options);

/** A conversation that waits for the student's next message. */
interface PendingMessage {
  readonly conversation: Conversation;
  /** Everything said so far, up to the mark by which the student is asked to speak. */
  readonly ids: readonly number[];
  readonly opening: number;
  readonly aliases: IdAliases;
  /** Tokens sampled in earlier messages. */
  readonly sampledBefore: number;
  readonly sampledIds: number[];
  readonly logprobs: number[];
  readonly resolve: (message: AssistantMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

class BatchedStudent implements Student {
  readonly name: string;
  readonly usage = { seconds: 0, tokens: 0 };
  readonly #decoder: Decoder;
  readonly #tokenizer: Tokenizer;
  readonly #options: StudentOptions;
  /** The slot of each conversation that has one, by trajectory id, and the ids it holds. */
  readonly #slots = new Map<string, { readonly slot: number; ids: number[] }>();
  #waiting: PendingMessage[] = [];
  #active: PendingMessage[] = [];
  #isRunning = false;

  constructor(model: Model, tokenizer: Tokenizer, options: StudentOptions) {
    this.name = options.name;
    this.#tokenizer = tokenizer;
    this.#options = options;
    this.#decoder = openDecoder(model, { slots: options.slots ?? 64 });
  }

  next(conversation: Conversation, signal?: AbortSignal): Promise<AssistantMessage> {
    const { ids, mask, opening, aliases } = encodeChat(this.#tokenizer, conversation);
    const sampled = mask.reduce((sum, it) => sum + it, 0);
    if (
      opening > studentLimits.prompt ||
      sampled >= studentLimits.sampled ||
      ids.length >= this.#decoder.context
    )
      return Promise.resolve({
        text: "",
        calls: [],
        tokens: [],
        logprobs: [],
        mask: [],
        cut: true,
      });
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        conversation,
        ids,
        opening,
        aliases,
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
    const held = this.#slots.get(conversation.header.id);
    if (!held) return;
    this.#decoder.release(held.slot);
    this.#slots.delete(conversation.header.id);
  }

  dispose(): void {
    this.#decoder.dispose();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      // those who ask in the same breath begin together
      await nextTick();
      while (this.#waiting.length + this.#active.length > 0) {
        this.#dropAborted();
        this.#step();
        // whoever has just been answered runs its calls and may be back for the next token
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
    const lives = (it: PendingMessage) => {
      if (it.signal?.aborted) it.reject(it.signal.reason);
      return !it.signal?.aborted;
    };
    this.#waiting = this.#waiting.filter(lives);
    this.#active = this.#active.filter(lives);
  }

  /** One token for every conversation that has a slot; a new one's whole prompt goes with it. */
  #step(): void {
    const start = performance.now();
    const feeds = [...this.#active.map(it => this.#createFeed(it)), ...this.#admit()];
    // every slot is held by a conversation whose calls are being run elsewhere
    if (feeds.length === 0) return;
    for (const chosen of this.#decoder
      .feed(feeds.map(it => it.feed))
      .map((it, i) => ({ ...it, of: feeds[i]!.of })))
      this.#acceptToken(chosen.of, chosen);
    this.usage.seconds += (performance.now() - start) / 1000;
    this.usage.tokens += feeds.length;
  }

  /** Gives waiting conversations their slots, and what is new in each. */
  #admit(): { of: PendingMessage; feed: Feed }[] {
    const admitted: PendingMessage[] = [];
    const fresh = new Map<string, PendingMessage[]>();
    const still: PendingMessage[] = [];
    for (const it of this.#waiting) {
      const held = this.#slots.get(it.conversation.header.id);
      if (held) this.#resetIfDiverged(held, it);
      else if (this.#slots.size < this.#decoder.slots) {
        this.#slots.set(it.conversation.header.id, { slot: this.#decoder.open(), ids: [] });
        const prompt = it.ids.slice(0, it.opening).join();
        fresh.set(prompt, [...(fresh.get(prompt) ?? []), it]);
      } else {
        still.push(it);
        continue;
      }
      admitted.push(it);
    }
    this.#waiting = still;
    this.#active.push(...admitted);
    for (const alike of fresh.values()) if (alike.length > 1) this.#sharePrompt(alike);
    return admitted.map(it => this.#createFeed(it));
  }

  /** Works the prompt that several conversations begin with once, up to its last token. */
  #sharePrompt([first, ...others]: readonly PendingMessage[]): void {
    const held = (it: PendingMessage) => this.#slots.get(it.conversation.header.id)!;
    const prompt = first!.ids.slice(0, first!.opening - 1);
    this.#decoder.feed([{ slot: held(first!).slot, ids: prompt }]);
    this.#decoder.copy(
      held(first!).slot,
      others.map(it => held(it).slot),
    );
    for (const it of [first!, ...others]) held(it).ids = [...prompt];
  }

  /** A slot whose sequence is not how this conversation begins starts over. */
  #resetIfDiverged(
    held: { slot: number; ids: number[] },
    { conversation, ids }: PendingMessage,
  ): void {
    if (held.ids.length < ids.length && held.ids.every((id, i) => id === ids[i])) return;
    this.#decoder.release(held.slot);
    this.#slots.set(conversation.header.id, { slot: this.#decoder.open(), ids: [] });
  }

  #createFeed(of: PendingMessage): { of: PendingMessage; feed: Feed } {
    const held = this.#slots.get(of.conversation.header.id)!;
    const fresh = [
      ...of.ids.slice(held.ids.length),
      ...of.sampledIds.slice(Math.max(0, held.ids.length - of.ids.length)),
    ];
    held.ids.push(...fresh);
    const uniform = randomAt(
      computeRandomKey(this.#options.seed, of.conversation.header.id),
      of.sampledBefore + of.sampledIds.length,
    );
    return {
      of,
      feed: {
        slot: held.slot,
        ids: fresh,
        choose: { temperature: this.#options.temperature, uniform },
      },
    };
  }

  #acceptToken(it: PendingMessage, { id, logprob }: ChosenToken): void {
    it.sampledIds.push(id);
    it.logprobs.push(logprob);
    const isWhole = isMessageEnd(id);
    const isCut =
      !isWhole &&
      (it.sampledBefore + it.sampledIds.length >= studentLimits.sampled ||
        it.ids.length + it.sampledIds.length >= this.#decoder.context);
    if (!isWhole && !isCut) return;
    this.#active = this.#active.filter(other => other !== it);
    const spoken = isWhole
      ? parseMessage(this.#tokenizer, it.conversation.tools, it.sampledIds, it.aliases)
      : { text: this.#tokenizer.decode(it.sampledIds), calls: [] };
    it.resolve({
      ...spoken,
      tokens: it.sampledIds,
      logprobs: it.logprobs,
      mask: it.sampledIds.map(() => 1),
      ...(isCut ? { cut: true as const } : {}),
    });
  }
}

const nextTick = () => new Promise<void>(resolve => void setImmediate(resolve));
