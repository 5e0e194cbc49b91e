/**
 * Divides the work of a step among replicas, so that all take about as long for their shares. Every
 * replica comes to the same result.
 */
import {
  countTokens,
  sortAttempts,
  type TrainingAttempt,
  type TrainingGroup,
} from "./trainingGroup.ts";

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
