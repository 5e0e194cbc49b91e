/** The sizes of a model, and from them the names and shapes of its parameters. No tensors here. */
import { UserError } from "../userError.ts";

/** The sizes of a model. Weights of the same architecture are interchangeable. */
export interface Architecture {
  /** Distinct token ids. */
  readonly vocabulary: number;
  /** Numbers that stand for a token between layers; a multiple of 4. */
  readonly width: number;
  readonly layers: number;
  /** Query heads; a multiple of `kvHeads`. */
  readonly heads: number;
  /** Key and value heads. */
  readonly kvHeads: number;
  /** Numbers in a head; a multiple of 8. */
  readonly headWidth: number;
  /** Numbers inside the feed-forward part; a multiple of 4. */
  readonly hidden: number;
  /** The longest sequence, in tokens. */
  readonly context: number;
  /** The base of the rotary positions' wavelengths. */
  readonly ropeBase: number;
}

/**
 * A parameter's name, shape and the deviation of its first values; those without one start at 1.
 */
export interface ParameterShape {
  readonly name: string;
  readonly shape: readonly number[];
  readonly deviation: number | undefined;
}

/** The parameters of an architecture, in the order in which everything lists them. */
export function listParameters(architecture: Architecture): readonly ParameterShape[] {
  const { vocabulary, width, layers, heads, kvHeads, headWidth, hidden } = architecture;
  // what a layer adds to the stream is scaled so that the stream's size does not grow with depth
  const added = 1 / Math.sqrt(2 * layers);
  const scale = (name: string, n: number): ParameterShape => ({
    name,
    shape: [n],
    deviation: undefined,
  });
  const matrix = (
    name: string,
    outputs: number,
    inputs: number,
    deviation: number,
  ): ParameterShape => ({ name, shape: [outputs, inputs], deviation });
  const list = [matrix("embedding", vocabulary, width, 0.02)];
  for (let layer = 0; layer < layers; layer++)
    list.push(
      scale(`layers.${layer}.attention.norm`, width),
      matrix(
        `layers.${layer}.attention.qkv`,
        (heads + 2 * kvHeads) * headWidth,
        width,
        1 / Math.sqrt(width),
      ),
      scale(`layers.${layer}.attention.queryNorm`, headWidth),
      scale(`layers.${layer}.attention.keyNorm`, headWidth),
      matrix(
        `layers.${layer}.attention.out`,
        width,
        heads * headWidth,
        added / Math.sqrt(heads * headWidth),
      ),
      scale(`layers.${layer}.feed.norm`, width),
      matrix(`layers.${layer}.feed.gateUp`, 2 * hidden, width, 1 / Math.sqrt(width)),
      matrix(`layers.${layer}.feed.down`, width, hidden, added / Math.sqrt(hidden)),
    );
  return [...list, scale("norm", width)];
}

/** How many numbers a model of this architecture holds. */
export const countParameters = (architecture: Architecture): number =>
  listParameters(architecture).reduce(
    (sum, { shape }) => sum + shape.reduce((product, n) => product * n, 1),
    0,
  );

/** Throws a UserError where the sizes do not fit together. */
export function checkArchitecture(architecture: Architecture): void {
  const { width, heads, kvHeads, headWidth, hidden } = architecture;
  const wrong = Object.entries(architecture).find(([, n]) => !Number.isInteger(n) || n < 1);
  const remedy = "choose sizes that fit together";
  if (wrong)
    throw new UserError(`a model's ${wrong[0]} is ${wrong[1]}`, "use a whole number above zero");
  if (width % 4 !== 0 || hidden % 4 !== 0)
    throw new UserError(
      `a model's width ${width} and hidden ${hidden} are not both multiples of 4`,
      remedy,
    );
  if (headWidth % 8 !== 0)
    throw new UserError(`a model's headWidth ${headWidth} is not a multiple of 8`, remedy);
  if (heads % kvHeads !== 0)
    throw new UserError(`a model's ${heads} heads cannot share ${kvHeads} kvHeads evenly`, remedy);
}
