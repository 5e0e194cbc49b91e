/** Named arrays in a file of the safetensors format, in 32 or 16 bits. Written to a temporary name and renamed; knows no architecture. */

export interface NamedArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface Weights {
  readonly arrays: ReadonlyMap<string, NamedArray>;
  /** What the file says of itself. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Writes all arrays in one precision; F16 rounds to nearest, ties to even. */
export declare function writeWeights(file: string, weights: Weights, precision: "F32" | "F16"): Promise<void>;

/** Reads a file of F32 and F16 arrays. Throws a Mistake that names the file if it is torn or of another kind. */
export declare function readWeights(file: string): Promise<Weights>;
