/**
 * What the attempts of a group are trained on: tokens, log-probabilities and advantages. It is
 * small, so that any replica can train on the attempts of another one: the work of a step is
 * divided so that all replicas take about as long for their shares, and each comes to the same
 * result.
 */
import { packGroups, type Branch, type PackedBatch } from "../model/transformer/packedBatch.ts";
import { listTokenAdvantages } from "./grpo/advantages.ts";
import type { GroupAttempt } from "./grpo/scoredAttempt.ts";

interface TrainingAttempt {
  /** Its place in the group. */
  readonly number: number;
  readonly branch: Branch;
  /** lp_old of the sampled tokens, at least one. */
  readonly logprobs: readonly number[];
  /** The advantages of the sampled tokens. */
  readonly advantages: readonly number[];
}

export interface TrainingGroup {
  /** Its place in the step. */
  readonly number: number;
  /** Whether the KL term is measured on it. */
  readonly isMeasured: boolean;
  /** The tokens that all attempts begin with. */
  readonly opening: readonly number[];
  readonly attempts: readonly TrainingAttempt[];
}

/** Attempts without a sampled token are left out. */
export const createTrainingGroup = (
  attempts: readonly GroupAttempt[],
  { number, isMeasured }: Pick<TrainingGroup, "number" | "isMeasured">,
): TrainingGroup => ({
  number,
  isMeasured,
  opening: attempts[0]!.opening,
  attempts: attempts.flatMap((it, i) =>
    it.logprobs.length === 0
      ? []
      : [
          {
            number: i,
            branch: it.branch,
            logprobs: it.logprobs,
            advantages: listTokenAdvantages(it),
          },
        ],
  ),
});

/** The prompt of a group is computed once, and its attempts branch off it. */
export const packAttempts = (groups: readonly TrainingGroup[]): PackedBatch =>
  packGroups(
    groups.map(({ opening, attempts }) => ({
      prefix: opening,
      branches: attempts.map(it => it.branch),
    })),
  );

/** Attempts in an order in which those with a common beginning are neighbors. */
const sortAttempts = (attempts: readonly TrainingAttempt[]): readonly TrainingAttempt[] =>
  attempts.toSorted((a, b) => compareIds(a.branch.ids, b.branch.ids) || a.number - b.number);

function compareIds(a: readonly number[], b: readonly number[]): number {
  const n = countCommon(a, b);
  return (a[n] ?? -1) - (b[n] ?? -1);
}

function countCommon(a: readonly number[], b: readonly number[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** Tokens to compute for sorted attempts of a group; what neighbors have in common counts once. */
const countTokens = (
  { opening }: Pick<TrainingGroup, "opening">,
  sorted: readonly TrainingAttempt[],
): number => sorted.reduce((sum, it, i) => sum + countNewTokens(it, sorted[i - 1]), opening.length);

/** A beginning in common with the attempt before is computed already. */
const countNewTokens = ({ branch }: TrainingAttempt, before?: TrainingAttempt): number =>
  branch.ids.length - countCommon(before?.branch.ids ?? [], branch.ids);

/**
 * Tokens in one backward pass: its memory grows with them, and WebAssembly memory never shrinks.
 */
export const tokensPerBatch = 2_000;

/**
 * Batches of about `tokensPerBatch` tokens to compute. The attempts of a group that has more are
 * divided, and the batches of each part begin with the opening.
 */
export function splitIntoBatches(groups: readonly TrainingGroup[]): (readonly TrainingGroup[])[] {
  const batches: TrainingGroup[][] = [];
  let room = 0;
  for (const { group, tokens } of groups.flatMap(splitGroup)) {
    if (tokens > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(group);
    room -= tokens;
  }
  return batches;
}

/** A group, or a part of one, and the number of tokens to compute for it. */
interface SizedGroup {
  readonly group: TrainingGroup;
  readonly tokens: number;
}

/** Divides a group whose attempts take more tokens than a batch. */
function splitGroup(group: TrainingGroup): SizedGroup[] {
  const sorted = sortAttempts(group.attempts);
  const total = countTokens(group, sorted);
  if (total <= tokensPerBatch) return [{ group, tokens: total }];
  const parts: { readonly attempts: TrainingAttempt[]; tokens: number }[] = [];
  for (const attempt of sorted) {
    const part = parts.at(-1);
    const added = countNewTokens(attempt, part?.attempts.at(-1));
    if (part && part.tokens + added <= tokensPerBatch) {
      part.attempts.push(attempt);
      part.tokens += added;
    } else parts.push({ attempts: [attempt], tokens: countTokens(group, [attempt]) });
  }
  return parts.map(({ attempts, tokens }) => ({ group: { ...group, attempts }, tokens }));
}

/** How much longer a token takes whose group is also computed by the reference model. */
const measuredFactor = 1.3;

/** Some attempts of a group, in an order in which those with a common beginning are neighbors. */
interface Piece {
  readonly group: TrainingGroup;
  readonly attempts: readonly TrainingAttempt[];
  readonly cost: number;
}

/**
 * Divides items among replicas: the most costly ones first, each to the replica with the lowest
 * cost so far, or with the fewest items if costs are equal. Items stay in their order.
 */
export function divideItems<Item>(
  items: readonly Item[],
  count: number,
  getCost: (item: Item) => number,
): Item[][] {
  const shares = Array.from({ length: count }, () => ({ indices: [] as number[], cost: 0 }));
  const costs = items.map(getCost);
  for (const index of [...costs.keys()].toSorted((a, b) => costs[b]! - costs[a]! || a - b)) {
    const share = shares.toSorted(
      (a, b) => a.cost - b.cost || a.indices.length - b.indices.length,
    )[0]!;
    share.indices.push(index);
    share.cost += costs[index]!;
  }
  return shares.map(({ indices }) => indices.toSorted((a, b) => a - b).map(it => items[it]!));
}

/**
 * Divides the groups of a minibatch among replicas. Then some attempts of a group move from the
 * replica that has most to the one that has least, if that makes the largest share smaller: what
 * the attempts have in common is then computed by both.
 */
export function divideGroups(groups: readonly TrainingGroup[], count: number): TrainingGroup[][] {
  if (count === 1) return [[...groups]];
  const pieces = groups.map(group => createPiece(group, sortAttempts(group.attempts)));
  const shares = divideItems(pieces, count, it => it.cost);
  for (let i = 1; i < count; i++) moveAttempts(shares);
  return shares.map(share => share.map(({ group, attempts }) => ({ ...group, attempts })));
}

const sumCosts = (share: readonly Piece[]): number => share.reduce((sum, it) => sum + it.cost, 0);

/** Moves a part of a group from the largest share to the smallest one, if that helps. */
function moveAttempts(shares: readonly Piece[][]): void {
  const sorted = shares.toSorted((a, b) => sumCosts(a) - sumCosts(b));
  const [to, from] = [sorted[0]!, sorted.at(-1)!];
  const [least, most] = [sumCosts(to), sumCosts(from)];
  let largest = most;
  let apply: (() => void) | undefined;
  for (const [i, piece] of from.entries())
    for (const [kept, moved] of listSplits(piece)) {
      const now = Math.max(most - piece.cost + kept.cost, least + moved.cost);
      if (now >= largest) continue;
      largest = now;
      apply = () => (from.splice(i, 1, kept), void to.push(moved));
    }
  apply?.();
}

/** All ways to split a piece between two of its attempts. */
const listSplits = ({ group, attempts }: Piece): [Piece, Piece][] =>
  attempts.slice(1).flatMap((_, i): [Piece, Piece][] => {
    const [first, second] = [attempts.slice(0, i + 1), attempts.slice(i + 1)].map(it =>
      createPiece(group, it),
    ) as [Piece, Piece];
    return [
      [first, second],
      [second, first],
    ];
  });

/** The cost is the number of tokens to compute, more for those of groups that are measured. */
const createPiece = (group: TrainingGroup, attempts: readonly TrainingAttempt[]): Piece => ({
  group,
  attempts,
  cost: countTokens(group, attempts) * (group.isMeasured ? measuredFactor : 1),
});
