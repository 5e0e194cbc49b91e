/**
 * The interface of a decoder's cache, and its reference implementation, which stores the tokens and
 * computes every sequence again. It is slow and runs on every backend.
 */
import { chooseToken, type SamplingChoice, type ChosenToken, type Feed } from "./decoderStep.ts";
import { packGroups } from "./packedBatch.ts";
import { computeLogits, type Model } from "./transformer.ts";

export interface DecoderCache {
  /** Reads the weights of the model, which may have changed. Called while all slots are empty. */
  readWeights(): void;
  /**
   * Appends tokens; `starts` has the length of each slot before. Returns the chosen tokens of the
   * feeds with a choice, in the order of the feeds.
   */
  feed(feeds: readonly Feed[], starts: readonly number[]): Promise<ChosenToken[]>;
  /** Copies the first `length` tokens of `slot` to `other`. */
  copy(slot: number, other: number, length: number): void;
  dispose(): void;
}

export function createRecomputingCache(model: Model, slots: number): DecoderCache {
  const sequences: number[][] = Array.from({ length: slots }, () => []);
  const { vocabulary } = model.architecture;
  return {
    readWeights() {},
    async feed(feeds, starts) {
      feeds.forEach(
        ({ slot, ids }, i) =>
          (sequences[slot] = [...(sequences[slot] as number[]).slice(0, starts[i]), ...ids]),
      );
      const withChoice = feeds.filter(it => it.choose);
      const chosen: ChosenToken[] = [];
      for (const batch of splitIntoBatches(withChoice, it => sequences[it.slot]!.length)) {
        // the target after each sequence selects the logits of its last token
        const groups = batch.map(({ slot }) => ({
          prefix: sequences[slot] as number[],
          branches: [{ ids: [0], mask: [1] }],
        }));
        const logits = await computeLogits(model, packGroups(groups)); // (batch, vocabulary)
        for (const [i, { slot, choose }] of batch.entries())
          chosen.push({
            slot,
            ...chooseToken(
              logits.subarray(i * vocabulary, (i + 1) * vocabulary),
              choose as SamplingChoice,
            ),
          });
      }
      return chosen;
    },
    copy: (slot, other, length) =>
      void (sequences[other] = (sequences[slot] as number[]).slice(0, length)),
    dispose() {},
  };
}

/** Batches of about 256 tokens: the time of stock attention grows with their square. */
function splitIntoBatches<T>(items: readonly T[], lengthOf: (item: T) => number): T[][] {
  const batches: T[][] = [];
  let room = 0;
  for (const item of items) {
    if (room <= 0) {
      batches.push([]);
      room = 256;
    }
    batches.at(-1)!.push(item);
    room -= lengthOf(item);
  }
  return batches;
}
