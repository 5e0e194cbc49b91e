/**
 * Next tokens for many sequences at once. A decoder has slots; each holds one sequence and what the
 * model remembers of it. Any tokens may be fed to any slots in one call. It knows token ids only:
 * stop tokens, turns and tools are the caller's.
 */
import { runningBackend } from "../compute/backend.ts";
import { createKeyValueCache } from "./keyValueCache.ts";
import { createRecomputingCache, type DecoderCache } from "./decoderCache.ts";
import type { Model } from "./transformer.ts";
import type { Feed } from "./decoderStep.ts";
import type { ChosenToken } from "./decoderStep.ts";

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
  /**
   * Feeds every slot named (each at most once a call) and answers those with a choice, in the order
   * fed.
   */
  feed(feeds: readonly Feed[]): ChosenToken[];
  release(slot: number): void;
  dispose(): void;
}

export interface DecoderOptions {
  readonly slots: number;
  /** Shorter than the architecture's to take less memory. */
  readonly context?: number | undefined;
}

/**
 * A decoder over a model's present weights. When weights change, what slots remember does not: open
 * anew.
 */
export function openDecoder(
  model: Model,
  { slots, context = model.architecture.context }: DecoderOptions,
): Decoder {
  const { memory } = runningBackend();
  const recall = memory
    ? createKeyValueCache(model, memory, slots, context)
    : createRecomputingCache(model, slots);
  return createDecoder(recall, { slots, context, vocabulary: model.architecture.vocabulary });
}

/** The keeping of slots, the same however sequences are remembered. */
function createDecoder(
  recall: DecoderCache,
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
      lengths.set(slot, 0);
      return slot;
    },
    copy(slot, others) {
      const length = lengthOf(slot);
      for (const other of others) {
        lengthOf(other);
        lengths.set(other, length);
        recall.copy(slot, other, length);
      }
    },
    feed(feeds) {
      checkFeeds(feeds, lengthOf, { context, vocabulary });
      const starts = feeds.map(({ slot }) => lengthOf(slot));
      for (const { slot, ids } of feeds) lengths.set(slot, lengthOf(slot) + ids.length);
      return recall.feed(feeds, starts);
    },
    release(slot) {
      lengthOf(slot);
      lengths.delete(slot);
      free.push(slot);
    },
    dispose: () => recall.dispose(),
  };
}

/** What is worked below reads memory by these numbers without looking. */
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
