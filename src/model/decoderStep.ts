/** The input of one decoder step for a slot, and the choice of a token. */

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
  /** 1 for each token that may be chosen; all if absent. The others have probability 0. */
  readonly allowed?: Uint8Array | undefined;
}

/** A chosen token. It is not part of the slot's sequence until it is fed. */
export interface ChosenToken {
  readonly slot: number;
  readonly id: number;
  /**
   * log softmax(logits / temperature)[id]: the log-probability in the distribution that the token
   * was sampled from. At temperature 0, it is that at temperature 1. If only some tokens were
   * allowed, the distribution is that of the allowed ones.
   */
  readonly logprob: number;
}

/** Chooses a token. Throws if none is allowed. */
export function chooseToken(
  logits: Float32Array,
  { temperature, uniform, allowed }: SamplingChoice,
): { id: number; logprob: number } {
  const isAllowed = (id: number) => !allowed || allowed[id] === 1;
  let best = -1;
  for (let id = 0; id < logits.length; id++)
    if (isAllowed(id) && (best < 0 || logits[id]! > logits[best]!)) best = id;
  if (best < 0) throw new Error("no token is allowed");
  const max = logits[best]!;
  const divisor = temperature > 0 ? temperature : 1;
  let sumExp = 0;
  for (let id = 0; id < logits.length; id++)
    if (isAllowed(id)) sumExp += Math.exp((logits[id]! - max) / divisor);
  let chosen = best; // rounding can leave a remainder after the last token
  if (temperature > 0) {
    let left = uniform * sumExp;
    for (let id = 0; id < logits.length; id++)
      if (isAllowed(id) && (left -= Math.exp((logits[id]! - max) / divisor)) < 0) {
        chosen = id;
        break;
      }
  }
  return { id: chosen, logprob: (logits[chosen]! - max) / divisor - Math.log(sumExp) };
}
