/** A small model and batches for tests: odd lengths, shared prompts, several masks. */
import type { Architecture } from "../../src/model/architecture.ts";
import type { Branch, PackedGroup } from "../../src/model/packedBatch.ts";
import { mulberry32 } from "../../src/environment/random.ts";

export const tiny: Architecture = {
  vocabulary: 37,
  width: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headWidth: 8,
  hidden: 24,
  context: 96,
  ropeBase: 10_000,
};

/** n token ids of the tiny vocabulary. */
export function tokens(n: number, seed: number): number[] {
  const uniform = mulberry32(seed);
  return Array.from({ length: n }, () => Math.floor(uniform() * tiny.vocabulary));
}

/** A branch of n tokens of which about two thirds are targets, the last among them. */
export function branch(n: number, seed: number): Branch {
  const uniform = mulberry32(seed + 1000);
  return {
    ids: tokens(n, seed),
    mask: Array.from({ length: n }, (_, i) => (uniform() < 0.66 || i === n - 1 ? 1 : 0)),
  };
}

/**
 * Conversations of odd lengths, longer than a tile of the attention kernel, one of a single token,
 * and two groups with a prompt in common.
 */
export const sheaves: readonly PackedGroup[] = [
  { prefix: tokens(5, 1), branches: [branch(6, 2)] },
  {
    prefix: tokens(41, 3),
    branches: [branch(7, 4), { ids: tokens(1, 5), mask: [1] }, branch(35, 6)],
  },
  { prefix: tokens(1, 7), branches: [branch(2, 8), branch(3, 9)] },
];

/** The same sequences, each with a prompt of its own. */
export const apart = (sheaves: readonly PackedGroup[]): PackedGroup[] =>
  sheaves.flatMap(({ prefix, branches }) => branches.map(it => ({ prefix, branches: [it] })));
