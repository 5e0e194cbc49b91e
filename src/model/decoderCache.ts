/**
 * How a decoder remembers sequences, and the plain way to: keep the tokens and work every sequence
 * again. Slow, runs everywhere, the reference.
 */
import type { SamplingChoice, ChosenToken, Feed } from "./decoderStep.ts";
import { packGroups } from "./packedBatch.ts";
import { computeLogits, type Model } from "./transformer.ts";

export interface DecoderCache {
  /**
   * Adds the tokens; `starts` are the lengths of the fed slots before. Answers feeds with a choice,
   * in their order.
   */
  feed(feeds: readonly Feed[], starts: readonly number[]): ChosenToken[];
  /** Makes `other` begin with the first `length` tokens of `slot`. */
  copy(slot: number, other: number, length: number): void;
  dispose(): void;
}

export function createRecomputingCache(model: Model, slots: number): DecoderCache {
  const sequences: number[][] = Array.from({ length: slots }, () => []);
  const { vocabulary } = model.architecture;
  return {
    feed(feeds, starts) {
      feeds.forEach(
        ({ slot, ids }, i) =>
          (sequences[slot] = [...(sequences[slot] as number[]).slice(0, starts[i]), ...ids]),
      );
      const asked = feeds.filter(it => it.choose);
      return splitIntoBatches(asked, ({ slot }) => (sequences[slot] as number[]).length).flatMap(
        batch => {
          // a target stands behind each sequence only so that its last row is asked for
          const sheaves = batch.map(({ slot }) => ({
            prefix: sequences[slot] as number[],
            branches: [{ ids: [0], mask: [1] }],
          }));
          const logits = computeLogits(model, packGroups(sheaves)); // (batch, vocabulary)
          return batch.map(({ slot, choose }, i) => ({
            slot,
            ...chooseToken(
              logits.subarray(i * vocabulary, (i + 1) * vocabulary),
              choose as SamplingChoice,
            ),
          }));
        },
      );
    },
    copy: (slot, other, length) =>
      void (sequences[other] = (sequences[slot] as number[]).slice(0, length)),
    dispose() {},
  };
}

/** Runs of items of about 256 tokens: stock attention takes time of all tokens squared. */
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

function chooseToken(
  logits: Float32Array,
  { temperature, uniform }: SamplingChoice,
): { id: number; logprob: number } {
  const most = logits.reduce((a, b) => Math.max(a, b));
  const sumExp = (heat: number) =>
    logits.reduce((sum, it) => sum + Math.exp((it - most) / heat), 0);
  let id = temperature > 0 ? -1 : logits.indexOf(most);
  if (temperature > 0) {
    let left = uniform * sumExp(temperature);
    id = logits.findIndex(it => (left -= Math.exp((it - most) / temperature)) < 0);
    // rounding left a crumb that no token takes
    if (id < 0) id = logits.indexOf(most);
  }
  return { id, logprob: (logits[id] as number) - most - Math.log(sumExp(1)) };
}
