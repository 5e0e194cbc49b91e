/** How the work of a step is divided among replicas. */
import { describe, expect, test } from "vitest";
import { divideGroups, divideItems, type TrainingGroup } from "../../src/train/trainingGroup.ts";

/** A group whose attempts are these tokens after an opening. */
const createGroup = (
  number: number,
  opening: number,
  attempts: readonly (readonly number[])[],
): TrainingGroup => ({
  number,
  isMeasured: false,
  opening: Array.from({ length: opening }, () => 1),
  attempts: attempts.map((ids, i) => ({
    number: i,
    branch: { ids, mask: ids.map(() => 1) },
    logprobs: ids.map(() => -1),
    advantages: ids.map(() => 1),
  })),
});

/** Attempts of this length that have no beginning in common. */
const createAttempts = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => Array.from({ length }, () => 10 + i));

/** The numbers of the groups of each share, with those of their attempts. */
const describeShares = (shares: readonly (readonly TrainingGroup[])[]) =>
  shares.map(share =>
    share.map(({ number, attempts }) => `${number}: ${attempts.map(it => it.number).join(" ")}`),
  );

test("items go to the replica that has least, and stay in their order", () => {
  expect(divideItems([3, 9, 4, 2, 8], 2, it => it)).toEqual([
    [3, 9, 2],
    [4, 8],
  ]);
  expect(divideItems([1], 3, it => it)).toEqual([[1], [], []]);
  // nothing is known about how long they take
  expect(divideItems([0, 0, 0, 0], 2, it => it).map(it => it.length)).toEqual([2, 2]);
});

describe("groups", () => {
  test("stay whole if that is fair", () => {
    const groups = [0, 1, 2, 3].map(it => createGroup(it, 20, createAttempts(2, 30)));
    expect(describeShares(divideGroups(groups, 2))).toEqual([
      ["0: 0 1", "2: 0 1"],
      ["1: 0 1", "3: 0 1"],
    ]);
  });

  test("are all of the only replica, as they are", () => {
    const groups = [createGroup(1, 5, createAttempts(3, 4))];
    expect(divideGroups(groups, 1)).toEqual([groups]);
  });

  test("are split between attempts if that is faster, although both compute the opening", () => {
    expect(describeShares(divideGroups([createGroup(7, 10, createAttempts(4, 50))], 2))).toEqual([
      ["7: 0 1"],
      ["7: 2 3"],
    ]);
    // not if the others would then have to wait for the one that got more
    const groups = [createGroup(0, 90, createAttempts(2, 9)), createGroup(1, 50, [[2, 2]])];
    expect(describeShares(divideGroups(groups, 2))).toEqual([["0: 0 1"], ["1: 0"]]);
  });

  test("are split where attempts have least in common", () => {
    const [a, b] = [Array.from({ length: 40 }, () => 5), Array.from({ length: 40 }, () => 6)];
    const attempts = [
      [...a, 1],
      [...b, 1],
      [...a, 2],
      [...b, 2],
    ];
    expect(describeShares(divideGroups([createGroup(0, 4, attempts)], 2))).toEqual([
      ["0: 0 2"],
      ["0: 1 3"],
    ]);
  });

  test("lose no attempt, for any number of replicas", () => {
    const groups = [4, 9, 2, 7, 1].map((length, i) =>
      createGroup(i, 15, createAttempts(5, 8 * length)),
    );
    for (const count of [2, 3, 4]) {
      const shares = divideGroups(groups, count);
      expect(shares.length).toBe(count);
      const all = shares.flat().flatMap(it => it.attempts.map(other => [it.number, other.number]));
      expect(all.toSorted((x, y) => x[0]! - y[0]! || x[1]! - y[1]!)).toEqual(
        groups.flatMap(it => it.attempts.map(other => [it.number, other.number])),
      );
    }
  });
});
