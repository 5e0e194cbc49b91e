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

/** (N) positions, and (S, 4) segments as start, length, prefix start, prefix length. */
export interface PackedPositions {
  readonly positions: Int32Array;
  readonly segments: Int32Array;
}

export interface AttentionLayout {
  /** (N) */
  readonly positions: tf.Tensor1D;
  /** (S, 4) */
  readonly segments: tf.Tensor2D;
  /** The most rows that a segment attends to, including its prefix. */
  readonly longest: number;
  /**
   * (N, N): 0 where a row attends to a column, a large negative number elsewhere. Created at the
   * first call, because the fused kernels do not use it.
   */
  mask(): tf.Tensor2D;
  dispose(): void;
}

const maskedScore = -1e9;

export function createLayout(batch: PackedPositions): AttentionLayout {
  const { positions, segments } = batch;
  const rows = tf.tensor1d(positions, "int32");
  const table = tf.tensor2d(segments, [segments.length / 4, 4], "int32");
  let mask: tf.Tensor2D | undefined;
  let longest = 0;
  for (const [, length, , prefixLength] of iterateSegments(segments))
    longest = Math.max(longest, length + prefixLength);
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

export function* iterateSegments(
  segments: Int32Array,
): Generator<readonly [start: number, length: number, prefixStart: number, prefixLength: number]> {
  for (let at = 0; at < segments.length; at += 4)
    yield [...segments.subarray(at, at + 4)] as unknown as [number, number, number, number];
}

function createMask({ positions, segments }: PackedPositions): Float32Array {
  const n = positions.length;
  const mask = new Float32Array(n * n).fill(maskedScore);
  for (const [start, length, prefixStart, prefixLength] of iterateSegments(segments))
    for (let row = start; row < start + length; row++) {
      mask.fill(0, row * n + start, row * n + row + 1);
      mask.fill(0, row * n + prefixStart, row * n + prefixStart + prefixLength);
    }
  return mask;
}
