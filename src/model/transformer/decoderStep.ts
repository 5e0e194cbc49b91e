/**
 * One step of a decoder: its input for a slot, in tiles of limited size, the cache that computes
 * it, and the choice of a token.
 */
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

interface SamplingChoice {
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

// The interface of a decoder's cache.

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

// The tokens of a decoder step in parts of limited size, which a cache computes one at a time.

/** The most rows in one pass. A call with more takes several. */
export const rowsPerTile = 256;

/** At most `rowsPerTile` rows. Each row is a token at a position of a slot. */
export interface Tile {
  readonly ids: number[];
  readonly slots: number[];
  readonly positions: number[];
  /** The rows after which a token is sampled. */
  readonly sampled: (SamplingChoice & { readonly row: number; readonly slot: number })[];
}

export function* splitIntoTiles(
  feeds: readonly Feed[],
  starts: readonly number[],
): Generator<Tile> {
  const createEmpty = (): Tile => ({ ids: [], slots: [], positions: [], sampled: [] });
  let tile = createEmpty();
  for (const [i, { slot, ids, choose }] of feeds.entries())
    for (const [j, id] of ids.entries()) {
      tile.ids.push(id);
      tile.slots.push(slot);
      tile.positions.push((starts[i] as number) + j);
      if (choose && j === ids.length - 1)
        tile.sampled.push({ row: tile.ids.length - 1, slot, ...choose });
      if (tile.ids.length === rowsPerTile) {
        yield tile;
        tile = createEmpty();
      }
    }
  if (tile.ids.length > 0) yield tile;
}
