/** The input of one decoder step for a slot, and the token that the decoder chooses. */

/** Tokens for one slot, and how the next token is chosen. */
export interface Feed {
  readonly slot: number;
  /**
   * The tokens to append to the slot's sequence, at least one: a prompt, a tool result, or the
   * token that was sampled last.
   */
  readonly ids: readonly number[];
  /** How to choose the next token. If absent, the tokens are only appended. */
  readonly choose?: SamplingChoice | undefined;
}

export interface SamplingChoice {
  /** 0 takes the likeliest token; 1 samples from the model's own distribution. */
  readonly temperature: number;
  /**
   * A number in [0, 1) that decides which token is sampled. The result does not depend on other
   * feeds of the call.
   */
  readonly uniform: number;
}

/** A chosen token. It is not part of the slot's sequence until it is fed. */
export interface ChosenToken {
  readonly slot: number;
  readonly id: number;
  /**
   * log softmax(logits / temperature)[id]: the log-probability in the distribution that the token
   * was sampled from. At temperature 0, it is that at temperature 1.
   */
  readonly logprob: number;
}
