/**
 * Which row of a packed batch attends to which, as tensors that are created once for each batch and
 * used by all layers.
 */
import * as tf from "@tensorflow/tfjs-core";

/** Cosines and sines by position, (context, headWidth / 2). */
export interface RopeTables {
  readonly cos: tf.Tensor2D;
  readonly sin: tf.Tensor2D;
}

/** (N) positions, and (S, 4) segments as start, length, parent, rows before. */
interface PackedPositions {
  readonly positions: Int32Array;
  readonly segments: Int32Array;
}

export interface AttentionLayout {
  /** (N) */
  readonly positions: tf.Tensor1D;
  /** (S, 4) */
  readonly segments: tf.Tensor2D;
  /** The most rows that a segment attends to, including those of its parents. */
  readonly longest: number;
  /**
   * (N, N): 0 where a row attends to a column, a large negative number elsewhere. Created at the
   * first call, because attention in one kernel does not use it.
   */
  mask(): tf.Tensor2D;
  dispose(): void;
}

/** What is added to the score of a row and a column that it does not attend to. */
export const maskedScore = -1e9;

export function createLayout(batch: PackedPositions): AttentionLayout {
  const { positions, segments } = batch;
  const rows = tf.tensor1d(positions, "int32");
  const table = tf.tensor2d(segments, [segments.length / 4, 4], "int32");
  let mask: tf.Tensor2D | undefined;
  let longest = 0;
  for (const { length, before } of listSegments(segments))
    longest = Math.max(longest, length + before);
  return {
    positions: rows,
    segments: table,
    longest,
    mask: () =>
      (mask ??= tf.keep(tf.tensor2d(createMask(batch), [positions.length, positions.length]))),
    dispose() {
      tf.dispose([rows, table]);
      mask?.dispose();
    },
  };
}

interface Segment {
  readonly start: number;
  readonly length: number;
  /** The index of the segment before it in its sequences, or -1. */
  readonly parent: number;
  readonly before: number;
}

const listSegments = (segments: Int32Array): Segment[] =>
  Array.from({ length: segments.length / 4 }, (_, i) => {
    const [start, length, parent, before] = segments.subarray(4 * i, 4 * i + 4);
    return { start: start!, length: length!, parent: parent!, before: before! };
  });

function createMask({ positions, segments }: PackedPositions): Float32Array {
  const n = positions.length;
  const mask = new Float32Array(n * n).fill(maskedScore);
  const all = listSegments(segments);
  for (const { start, length, parent } of all)
    for (let row = start; row < start + length; row++) {
      mask.fill(0, row * n + start, row * n + row + 1);
      for (let it = all[parent]; it; it = all[it.parent])
        mask.fill(0, row * n + it.start, row * n + it.start + it.length);
    }
  return mask;
}

// The parameters of an attention operation.

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
