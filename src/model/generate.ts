/**
 * Next tokens for many sequences at once. A decoder has slots; each holds one sequence and what the model remembers of it. Any tokens
 * may be fed to any slots in one call. It knows token ids only: stop tokens, turns and tools are the caller's.
 */
import type { Model } from "./transformer.ts";

/** Tokens for one slot, and how the token after them is to be chosen. */
export interface Feed {
  readonly slot: number;
  /** What follows the slot's sequence so far: a whole prompt, a tool's result, or the one token just sampled. At least one. */
  readonly ids: readonly number[];
  /** Choose the next token; without it the tokens are only remembered. */
  readonly choose?: Choice;
}

export interface Choice {
  /** 0 takes the likeliest token; 1 samples from the model's own distribution. */
  readonly temperature: number;
  /** A number in [0, 1) that decides what is sampled: the same number, the same token, whatever else is in the call. */
  readonly uniform: number;
}

/** A chosen token. It is not yet part of the slot's sequence: feed it to go on. */
export interface Chosen {
  readonly slot: number;
  readonly id: number;
  /** log softmax(logits)[id]: under the model's own distribution (temperature 1), whatever temperature chose it. */
  readonly logprob: number;
}

export interface Decoder {
  /** Slots that can be open at once. */
  readonly slots: number;
  /** The longest sequence a slot can hold, in tokens. */
  readonly context: number;
  /** An empty slot. Throws when all are open. */
  open(): number;
  /** Makes each of `others` (open slots) hold what `slot` holds: a group works its prompt once. */
  copy(slot: number, others: readonly number[]): void;
  /** Tokens held by a slot. */
  lengthOf(slot: number): number;
  /** Feeds every slot named (each once a call) and answers those with a choice, in the order fed. */
  feed(feeds: readonly Feed[]): Chosen[];
  release(slot: number): void;
  dispose(): void;
}

/** A decoder over a model's present weights: later changes of the weights count, but what slots remember is not worked again. */
export declare function openDecoder(model: Model, slots: number): Decoder;
