/** The parameters of an attention operation. */
import type * as tf from "@tensorflow/tfjs-core";
import type { AttentionLayout, RopeTables } from "./attentionLayout.ts";

/** The weights with which queries and keys are normalized, (headWidth). */
export interface HeadNorms {
  readonly query: tf.Tensor1D;
  readonly key: tf.Tensor1D;
}

/** The sizes of the heads, and the rotary tables. */
export interface HeadShape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  /** Added to the mean square of a head that is normalized. */
  readonly epsilon: number;
  /** The factor of the products of queries and keys. */
  readonly scale: number;
  readonly rope: RopeTables;
}

/** Also which row attends to which. */
export interface AttentionShape extends HeadShape {
  readonly layout: AttentionLayout;
}

/** The queries, keys and values of rows, by head. */
export interface Heads {
  /** (kvHeads, heads / kvHeads, N, headWidth) */
  readonly queries: tf.Tensor4D;
  /** (kvHeads, M, headWidth) */
  readonly keys: tf.Tensor3D;
  readonly values: tf.Tensor3D;
}
