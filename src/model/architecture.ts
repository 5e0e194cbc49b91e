/** The sizes of a model, and the names and shapes of its parameters that follow from them. */
import { UserError } from "../userError.ts";

/** The sizes of a model. Weights of the same architecture are interchangeable. */
export interface Architecture {
  /** How many token ids there are. */
  readonly vocabulary: number;
  /** The size of the vector of a token between layers; a multiple of 4. */
  readonly width: number;
  readonly layers: number;
  /** Query heads; a multiple of `kvHeads`. */
  readonly heads: number;
  /** Key and value heads; each is shared by `heads / kvHeads` query heads. */
  readonly kvHeads: number;
  /** The size of a head; a multiple of 8. */
  readonly headWidth: number;
  /** The inner size of the feed-forward layers; a multiple of 4. */
  readonly hidden: number;
  /** The longest sequence, in tokens. */
  readonly context: number;
  /** The base of the wavelengths of the rotary position embedding. */
  readonly ropeBase: number;
}

/**
 * The name and shape of a parameter, and the standard deviation of its initial values. Without a
 * deviation, they are 1.
 */
export interface ParameterShape {
  readonly name: string;
  readonly shape: readonly number[];
  readonly deviation: number | undefined;
}

/** The parameters of an architecture, in the order that is used everywhere. */
export function listParameters(architecture: Architecture): readonly ParameterShape[] {
  const { vocabulary, width, layers, heads, kvHeads, headWidth, hidden } = architecture;
  // scales what a layer adds to the residual stream, so that the stream does not grow with depth
  const residualScale = 1 / Math.sqrt(2 * layers);
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
  const parameters = [matrix("embedding", vocabulary, width, 0.02)];
  for (let layer = 0; layer < layers; layer++)
    parameters.push(
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
        residualScale / Math.sqrt(heads * headWidth),
      ),
      scale(`layers.${layer}.feed.norm`, width),
      matrix(`layers.${layer}.feed.gateUp`, 2 * hidden, width, 1 / Math.sqrt(width)),
      matrix(`layers.${layer}.feed.down`, width, hidden, residualScale / Math.sqrt(hidden)),
    );
  return [...parameters, scale("norm", width)];
}

/** The number of parameters of a model, counted as single numbers. */
export const countParameters = (architecture: Architecture): number =>
  listParameters(architecture).reduce(
    (sum, { shape }) => sum + shape.reduce((product, n) => product * n, 1),
    0,
  );

/** Throws a `UserError` if the sizes do not fit together. */
export function checkArchitecture(architecture: Architecture): void {
  const { width, heads, kvHeads, headWidth, hidden } = architecture;
  const invalid = Object.entries(architecture).find(([, n]) => !Number.isInteger(n) || n < 1);
  const remedy = "choose sizes that fit together";
  if (invalid)
    throw new UserError(
      `a model's ${invalid[0]} is ${invalid[1]}`,
      "use a whole number above zero",
    );
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
