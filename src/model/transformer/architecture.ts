/** The sizes of a model, and the names and shapes of its parameters that follow from them. */
import { UserError } from "../../userError.ts";

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

  // what other families of models have; a model that is trained here from random weights has none

  /** Added to the mean square before a norm divides by its root; 1e-6 if absent. */
  readonly normEpsilon?: number;
  readonly ropeScaling?: RopeScaling;
  /** Whether queries and keys are normalized by head; true if absent. */
  readonly hasHeadNorms?: boolean;
  /** Whether queries, keys and values have a bias. */
  readonly hasBias?: boolean;
  /** Whether the output layer is a matrix of its own, not the embedding. */
  readonly hasOutput?: boolean;
  /**
   * Whether gate and up are one matrix in the files of the model and for adapters. They always are
   * one parameter here.
   */
  readonly hasJoinedGateUp?: boolean;
  readonly multipliers?: Multipliers;
}

/** Longer wavelengths than the model was first trained with, for longer sequences. */
export type RopeScaling =
  | { readonly kind: "linear"; readonly factor: number }
  | {
      /** Wavelengths that are long compared with the original context are scaled, short ones not. */
      readonly kind: "llama3";
      readonly factor: number;
      readonly lowFrequency: number;
      readonly highFrequency: number;
      readonly originalContext: number;
    };

/** Constant factors of Granite models. */
interface Multipliers {
  /** Of the embedding of a token. */
  readonly embedding: number;
  /** Of the products of queries and keys, instead of 1 / √headWidth. */
  readonly attention: number;
  /** Of what a layer adds to the residual stream. */
  readonly residual: number;
  /** What the logits are divided by. */
  readonly logits: number;
}

/** What is added to the mean square before a norm divides by its root. */
export const getNormEpsilon = ({ normEpsilon }: Architecture): number => normEpsilon ?? 1e-6;

/** The factor of the products of queries and keys, in the precision of the kernels. */
export const getAttentionScale = ({ multipliers, headWidth }: Architecture): number =>
  multipliers?.attention ?? Math.fround(1 / Math.fround(Math.sqrt(headWidth)));

export const hasHeadNorms = (architecture: Architecture): boolean =>
  architecture.hasHeadNorms ?? true;

/**
 * The name and shape of a parameter, and the standard deviation of its initial values. Without a
 * deviation, they are 1.
 */
interface ParameterShape {
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
  const qkvWidth = (heads + 2 * kvHeads) * headWidth;
  for (let layer = 0; layer < layers; layer++) {
    const bias = { name: `layers.${layer}.attention.bias`, shape: [qkvWidth], deviation: 0.02 };
    parameters.push(
      scale(`layers.${layer}.attention.norm`, width),
      matrix(`layers.${layer}.attention.qkv`, qkvWidth, width, 1 / Math.sqrt(width)),
      ...(architecture.hasBias ? [bias] : []),
      ...(hasHeadNorms(architecture)
        ? [
            scale(`layers.${layer}.attention.queryNorm`, headWidth),
            scale(`layers.${layer}.attention.keyNorm`, headWidth),
          ]
        : []),
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
  }
  const output = architecture.hasOutput ? [matrix("output", vocabulary, width, 0.02)] : [];
  return [...parameters, scale("norm", width), ...output];
}

/** The number of parameters of a model, counted as single numbers. */
export const countParameters = (architecture: Architecture): number =>
  listParameters(architecture).reduce(
    (sum, { shape }) => sum + shape.reduce((product, n) => product * n, 1),
    0,
  );

/** Throws a `UserError` if the sizes do not fit together. */
export function checkArchitecture(architecture: Architecture): void {
  const { vocabulary, width, layers, heads, kvHeads, headWidth, hidden, context } = architecture;
  const sizes = { vocabulary, width, layers, heads, kvHeads, headWidth, hidden, context };
  const invalid = Object.entries(sizes).find(([, n]) => !Number.isInteger(n) || n < 1);
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

// The linear layers of a transformer block under the names that Hugging Face models and adapters
// use. Some of them are rows of one matrix here, because one product is faster than three.

/** A linear layer of a block: rows of one of the block's matrices. */
export interface Projection {
  /** As in Hugging Face models, for example `q_proj`. */
  readonly name: string;
  /** The matrix of the block, for example `attention.qkv`. */
  readonly matrix: BlockMatrix;
  /** The first of its rows in the matrix. */
  readonly start: number;
  readonly outputs: number;
  readonly inputs: number;
}

export type BlockMatrix = "attention.qkv" | "attention.out" | "feed.gateUp" | "feed.down";

/** The linear layers of each block; those of one matrix follow each other without gaps. */
export function listProjections(architecture: Architecture): readonly Projection[] {
  const { width, heads, kvHeads, headWidth, hidden, hasJoinedGateUp } = architecture;
  const [queries, keys] = [heads * headWidth, kvHeads * headWidth];
  const create = (
    matrix: BlockMatrix,
    name: string,
    [start, outputs, inputs]: readonly [number, number, number],
  ): Projection => ({ name, matrix, start, outputs, inputs });
  return [
    create("attention.qkv", "q_proj", [0, queries, width]),
    create("attention.qkv", "k_proj", [queries, keys, width]),
    create("attention.qkv", "v_proj", [queries + keys, keys, width]),
    create("attention.out", "o_proj", [0, width, queries]),
    ...(hasJoinedGateUp
      ? [
          create("feed.gateUp", "input_linear", [0, 2 * hidden, width]),
          create("feed.down", "output_linear", [0, width, hidden]),
        ]
      : [
          create("feed.gateUp", "gate_proj", [0, hidden, width]),
          create("feed.gateUp", "up_proj", [hidden, hidden, width]),
          create("feed.down", "down_proj", [0, width, hidden]),
        ]),
  ];
}
