/**
 * The linear layers of a transformer block under the names that Hugging Face models and adapters
 * use. Some of them are rows of one matrix here, because one product is faster than three.
 */
import type { Architecture } from "./architecture.ts";

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
