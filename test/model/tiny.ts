/** A small architecture and groups of sequences with odd lengths, shared prompts and masks. */
import type { Architecture } from "../../src/model/transformer/architecture.ts";
import type { Branch, PackedGroup } from "../../src/model/transformer/packedBatch.ts";
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

/** Random token ids of the tiny vocabulary. */
export function createTokens(n: number, seed: number): number[] {
  const uniform = mulberry32(seed);
  return Array.from({ length: n }, () => Math.floor(uniform() * tiny.vocabulary));
}

/** A branch that begins with the first `n` tokens of another. */
function createFork(of: Branch, n: number, length: number, seed: number): Branch {
  const own = createBranch(length, seed);
  return {
    ids: [...of.ids.slice(0, n), ...own.ids],
    mask: [...of.mask.slice(0, n), ...own.mask],
  };
}

const trunk = createBranch(19, 10);
const fork = createFork(trunk, 9, 12, 11);

/** A branch of n tokens, of which the last and about two thirds of the others are targets. */
function createBranch(n: number, seed: number): Branch {
  const uniform = mulberry32(seed + 1000);
  return {
    ids: createTokens(n, seed),
    mask: Array.from({ length: n }, (_, i) => (uniform() < 0.66 || i === n - 1 ? 1 : 0)),
  };
}

/**
 * A single sequence and three groups with a common prompt. The lengths are odd, up to more than a
 * tile of the attention kernel; one branch has a single token. In the last group, branches part
 * after common tokens, and one is there twice.
 */
export const groups: readonly PackedGroup[] = [
  { prefix: createTokens(5, 1), branches: [createBranch(6, 2)] },
  {
    prefix: createTokens(41, 3),
    branches: [createBranch(7, 4), { ids: createTokens(1, 5), mask: [1] }, createBranch(35, 6)],
  },
  { prefix: createTokens(1, 7), branches: [createBranch(2, 8), createBranch(3, 9)] },
  {
    prefix: createTokens(5, 12),
    branches: [trunk, fork, createFork(trunk, 4, 6, 13), createFork(fork, 15, 3, 14), fork],
  },
];

/** The same sequences, each with its own copy of the prompt. */
export const separateBranches = (packed: readonly PackedGroup[]): PackedGroup[] =>
  packed.flatMap(({ prefix, branches }) => branches.map(it => ({ prefix, branches: [it] })));

/** The same groups, with a random half of the vocabulary allowed in place of each target. */
export const constrainBranches = (packed: readonly PackedGroup[], seed: number): PackedGroup[] => {
  const uniform = mulberry32(seed);
  const createMask = (target: number) =>
    Uint8Array.from({ length: tiny.vocabulary }, (_, id) =>
      Number(id === target || uniform() < 0.5),
    );
  return packed.map(({ prefix, branches }) => ({
    prefix,
    branches: branches.map(({ ids, mask }) => ({
      ids,
      mask,
      allowed: ids.map((id, i) => (mask[i] ? createMask(id) : undefined)),
    })),
  }));
};
