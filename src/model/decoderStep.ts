/** What a decoder is fed in one step, and the tokens that it chooses. */

/** Tokens for one slot, and how the token after them is to be chosen. */
export interface Feed {
  readonly slot: number;
  /**
   * What follows the slot's sequence so far: a whole prompt, a tool's result, or the one token just
   * sampled. At least one.
   */
  readonly ids: readonly number[];
  /** Choose the next token; without it the tokens are only remembered. */
  readonly choose?: SamplingChoice | undefined;
}

export interface SamplingChoice {
  /** 0 takes the likeliest token; 1 samples from the model's own distribution. */
  readonly temperature: number;
  /**
   * A number in [0, 1) that decides what is sampled: the same number, the same token, whatever else
   * is in the call.
   */
  readonly uniform: number;
}

/** A chosen token. It is not yet part of the slot's sequence: feed it to go on. */
export interface ChosenToken {
  readonly slot: number;
  readonly id: number;
  /**
   * log softmax(logits)[id]: under the model's own distribution (temperature 1), whatever
   * temperature chose it.
   */
  readonly logprob: number;
}
