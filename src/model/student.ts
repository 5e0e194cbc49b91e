/**
 * A small model as a policy: it holds many conversations at once, feeds each only what is new, and
 * chooses their next tokens together. Conversations that begin alike are worked once up to where
 * they part. Knows no rewards and no tasks.
 */
import { computeRandomKey, randomAt } from "../environment/random.ts";
import type { AssistantMessage, Policy, Conversation } from "../policy/policy.ts";
import type { Aliases } from "./aliases.ts";
import { endsMessage, limits, parseMessage, writtenTalk } from "./chat.ts";
import { openDecoder, type Chosen, type Decoder, type Feed } from "./generate.ts";
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
  readonly spent: { readonly seconds: number; readonly tokens: number };
  dispose(): void;
}

/** A student over a model's present weights. It owns its cache, not the model. */
export const openStudent = (model: Model, tokenizer: Tokenizer, options: StudentOptions): Student =>
  new Batch(model, tokenizer, options);

/** A conversation that waits for the student's next message. */
interface Waiting {
  readonly conversation: Conversation;
  /** Everything said so far, up to the mark by which the student is asked to speak. */
  readonly ids: readonly number[];
  readonly opening: number;
  readonly aliases: Aliases;
  /** Tokens sampled in earlier messages. */
  readonly sampled: number;
  readonly said: number[];
  readonly logprobs: number[];
  readonly resolve: (message: AssistantMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

class Batch implements Student {
  readonly name: string;
  readonly spent = { seconds: 0, tokens: 0 };
  readonly #decoder: Decoder;
  readonly #tokenizer: Tokenizer;
  readonly #options: StudentOptions;
  /** The slot of each conversation that has one, by trajectory id, and the ids it holds. */
  readonly #held = new Map<string, { readonly slot: number; ids: number[] }>();
  #waiting: Waiting[] = [];
  #speaking: Waiting[] = [];
  #isRunning = false;

  constructor(model: Model, tokenizer: Tokenizer, options: StudentOptions) {
    this.name = options.name;
    this.#tokenizer = tokenizer;
    this.#options = options;
    this.#decoder = openDecoder(model, { slots: options.slots ?? 64 });
  }

  next(conversation: Conversation, signal?: AbortSignal): Promise<AssistantMessage> {
    const { ids, mask, opening, aliases } = writtenTalk(this.#tokenizer, conversation);
    const sampled = mask.reduce((sum, it) => sum + it, 0);
    if (opening > limits.prompt || sampled >= limits.sampled || ids.length >= this.#decoder.context)
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
        sampled,
        said: [],
        logprobs: [],
        resolve,
        reject,
        signal,
      });
      if (!this.#isRunning) void this.#run();
    });
  }

  ended(conversation: Conversation): void {
    const held = this.#held.get(conversation.header.id);
    if (!held) return;
    this.#decoder.release(held.slot);
    this.#held.delete(conversation.header.id);
  }

  dispose(): void {
    this.#decoder.dispose();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      // those who ask in the same breath begin together
      await breath();
      while (this.#waiting.length + this.#speaking.length > 0) {
        this.#dropAborted();
        this.#step();
        // whoever has just been answered runs its calls and may be back for the next token
        await breath();
      }
    } catch (error) {
      for (const it of [...this.#waiting, ...this.#speaking]) it.reject(error);
      this.#waiting = [];
      this.#speaking = [];
    } finally {
      this.#isRunning = false;
    }
  }

  #dropAborted(): void {
    const lives = (it: Waiting) => {
      if (it.signal?.aborted) it.reject(it.signal.reason);
      return !it.signal?.aborted;
    };
    this.#waiting = this.#waiting.filter(lives);
    this.#speaking = this.#speaking.filter(lives);
  }

  /** One token for every conversation that has a slot; a new one's whole prompt goes with it. */
  #step(): void {
    const start = performance.now();
    const feeds = [...this.#speaking.map(it => this.#feed(it)), ...this.#admit()];
    // every slot is held by a conversation whose calls are being run elsewhere
    if (feeds.length === 0) return;
    for (const chosen of this.#decoder
      .feed(feeds.map(it => it.feed))
      .map((it, i) => ({ ...it, of: feeds[i]!.of })))
      this.#take(chosen.of, chosen);
    this.spent.seconds += (performance.now() - start) / 1000;
    this.spent.tokens += feeds.length;
  }

  /** Gives waiting conversations their slots, and what is new in each. */
  #admit(): { of: Waiting; feed: Feed }[] {
    const admitted: Waiting[] = [];
    const fresh = new Map<string, Waiting[]>();
    const still: Waiting[] = [];
    for (const it of this.#waiting) {
      const held = this.#held.get(it.conversation.header.id);
      if (held) this.#rewind(held, it);
      else if (this.#held.size < this.#decoder.slots) {
        this.#held.set(it.conversation.header.id, { slot: this.#decoder.open(), ids: [] });
        const prompt = it.ids.slice(0, it.opening).join();
        fresh.set(prompt, [...(fresh.get(prompt) ?? []), it]);
      } else {
        still.push(it);
        continue;
      }
      admitted.push(it);
    }
    this.#waiting = still;
    this.#speaking.push(...admitted);
    for (const alike of fresh.values()) if (alike.length > 1) this.#share(alike);
    return admitted.map(it => this.#feed(it));
  }

  /** Works the prompt that several conversations begin with once, up to its last token. */
  #share([first, ...others]: readonly Waiting[]): void {
    const held = (it: Waiting) => this.#held.get(it.conversation.header.id)!;
    const prompt = first!.ids.slice(0, first!.opening - 1);
    this.#decoder.feed([{ slot: held(first!).slot, ids: prompt }]);
    this.#decoder.copy(
      held(first!).slot,
      others.map(it => held(it).slot),
    );
    for (const it of [first!, ...others]) held(it).ids = [...prompt];
  }

  /** A slot whose sequence is not how this conversation begins starts over. */
  #rewind(held: { slot: number; ids: number[] }, { conversation, ids }: Waiting): void {
    if (held.ids.length < ids.length && held.ids.every((id, i) => id === ids[i])) return;
    this.#decoder.release(held.slot);
    this.#held.set(conversation.header.id, { slot: this.#decoder.open(), ids: [] });
  }

  #feed(of: Waiting): { of: Waiting; feed: Feed } {
    const held = this.#held.get(of.conversation.header.id)!;
    const fresh = [
      ...of.ids.slice(held.ids.length),
      ...of.said.slice(Math.max(0, held.ids.length - of.ids.length)),
    ];
    held.ids.push(...fresh);
    const uniform = randomAt(
      computeRandomKey(this.#options.seed, of.conversation.header.id),
      of.sampled + of.said.length,
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

  #take(it: Waiting, { id, logprob }: Chosen): void {
    it.said.push(id);
    it.logprobs.push(logprob);
    const isWhole = endsMessage(id);
    const isCut =
      !isWhole &&
      (it.sampled + it.said.length >= limits.sampled ||
        it.ids.length + it.said.length >= this.#decoder.context);
    if (!isWhole && !isCut) return;
    this.#speaking = this.#speaking.filter(other => other !== it);
    const spoken = isWhole
      ? parseMessage(this.#tokenizer, it.conversation.tools, it.said, it.aliases)
      : { text: this.#tokenizer.decode(it.said), calls: [] };
    it.resolve({
      ...spoken,
      tokens: it.said,
      logprobs: it.logprobs,
      mask: it.said.map(() => 1),
      ...(isCut ? { cut: true as const } : {}),
    });
  }
}

const breath = () => new Promise<void>(resolve => void setImmediate(resolve));
