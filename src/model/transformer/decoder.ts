/**
 * Decodes many sequences at once. A decoder has slots; each holds one sequence and its cache, and
 * one call can feed any tokens to any slots. The caller decides where a message ends.
 */
import { runningBackend } from "../../compute/runningBackend.ts";
import { createKeyValueCache } from "./keyValueCache.ts";
import type { DecoderCache, ChosenToken, Feed } from "./decoderStep.ts";
import { createTensorCache } from "./tensorCache.ts";
import type { Model } from "./transformer.ts";

export interface Decoder {
  /** How many slots can be open at once. */
  readonly slots: number;
  /** The longest sequence a slot can hold, in tokens. */
  readonly context: number;
  /** Opens an empty slot. Throws if all slots are open. */
  open(): number;
  /** Copies a slot to other open slots, so that a group computes its prompt once. */
  copy(slot: number, others: readonly number[]): void;
  /** The number of tokens in a slot. */
  lengthOf(slot: number): number;
  /**
   * Appends tokens to slots, each at most once per call, and returns the chosen tokens of the feeds
   * with a choice, in the order of the feeds.
   */
  feed(feeds: readonly Feed[]): Promise<ChosenToken[]>;
  release(slot: number): void;
  dispose(): void;
}

interface DecoderOptions {
  readonly slots: number;
  /** The longest sequence; shorter than the architecture allows to save memory. */
  readonly context?: number | undefined;
}

/**
 * Opens a decoder of a model. It does not notice when the weights change: release all slots and
 * open them again.
 */
export function openDecoder(
  model: Model,
  { slots, context = model.architecture.context }: DecoderOptions,
): Decoder {
  const { memory } = runningBackend();
  const cache = memory
    ? createKeyValueCache(model, memory, slots, context)
    : createTensorCache(model, slots);
  return createDecoder(cache, { slots, context, vocabulary: model.architecture.vocabulary });
}

/** Manages the slots, independent of the kind of cache. */
function createDecoder(
  cache: DecoderCache,
  { slots, context, vocabulary }: { slots: number; context: number; vocabulary: number },
): Decoder {
  const lengths = new Map<number, number>();
  const free = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  const lengthOf = (slot: number): number => {
    const length = lengths.get(slot);
    if (length === undefined) throw new Error(`slot ${slot} is not open`);
    return length;
  };
  return {
    slots,
    context,
    lengthOf,
    open() {
      const slot = free.pop();
      if (slot === undefined) throw new Error(`all ${slots} slots are open`);
      if (lengths.size === 0) cache.readWeights();
      lengths.set(slot, 0);
      return slot;
    },
    copy(slot, others) {
      const length = lengthOf(slot);
      for (const other of others) {
        lengthOf(other);
        lengths.set(other, length);
      }
      cache.copy(slot, others, length);
    },
    async feed(feeds) {
      checkFeeds(feeds, lengthOf, { context, vocabulary });
      const starts = feeds.map(({ slot }) => lengthOf(slot));
      for (const { slot, ids } of feeds) lengths.set(slot, lengthOf(slot) + ids.length);
      return cache.feed(feeds, starts);
    },
    release(slot) {
      lengthOf(slot);
      lengths.delete(slot);
      cache.release(slot);
      free.push(slot);
    },
    dispose: () => cache.dispose(),
  };
}

/** The kernels use these numbers as memory offsets without checking them. */
function checkFeeds(
  feeds: readonly Feed[],
  lengthOf: (slot: number) => number,
  { context, vocabulary }: { context: number; vocabulary: number },
): void {
  if (new Set(feeds.map(it => it.slot)).size < feeds.length)
    throw new Error("a slot is fed twice in one call");
  for (const { slot, ids } of feeds) {
    if (ids.length === 0) throw new Error(`slot ${slot} is fed no tokens`);
    if (lengthOf(slot) + ids.length > context)
      throw new Error(
        `slot ${slot} would hold ${lengthOf(slot) + ids.length} tokens of at most ${context}`,
      );
    for (const id of ids)
      if (!(id >= 0 && id < vocabulary))
        throw new Error(`slot ${slot} is fed token ${id} of a vocabulary of ${vocabulary}`);
  }
}
