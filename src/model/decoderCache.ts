/** The interface of a decoder's cache. */
import type { ChosenToken, Feed } from "./decoderStep.ts";

export interface DecoderCache {
  /** Reads the weights of the model, which may have changed. Called while all slots are empty. */
  readWeights(): void;
  /**
   * Appends tokens; `starts` has the length of each slot before. Returns the chosen tokens of the
   * feeds with a choice, in the order of the feeds.
   */
  feed(feeds: readonly Feed[], starts: readonly number[]): Promise<ChosenToken[]>;
  /** Copies the first `length` tokens of `slot` to other slots. */
  copy(slot: number, others: readonly number[], length: number): void;
  /** Empties a slot. */
  release(slot: number): void;
  dispose(): void;
}
