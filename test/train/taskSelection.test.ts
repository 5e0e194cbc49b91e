/** Which tasks a step takes, with and without a curriculum. */
import { describe, expect, test } from "vitest";
import {
  createTaskSelector,
  selectTurn,
  type TaskSelector,
} from "../../src/train/grpo/taskSelection.ts";
import { moveTwice } from "../trajectory/sampleTasks.ts";

const count = (n: number, from = 0) => Array.from({ length: n }, (_, i) => from + i);
const open = (curriculum: number, places = count(40)) =>
  createTaskSelector({ places, prompts: 4, seed: 2, curriculum });
const take = (selector: TaskSelector, step: number): number[] =>
  selector.select(step).map(it => it.index);
const outcome = (task: number, successes: number) => ({ task, attempts: 8, successes });

test("without a curriculum, ten steps of four take each of forty tasks once", () => {
  const selector = open(0);
  const taken = Array.from({ length: 10 }, (_, i) => take(selector, i + 1)).flat();
  expect(taken.toSorted((a, b) => a - b)).toEqual(count(40));
});

describe("with a curriculum of a half", () => {
  test("two tasks of a step are the most undecided ones of some steps ago", () => {
    const selector = open(0.5);
    const [first, second] = [take(open(0), 1), take(open(0), 2)];
    selector.record(1, [
      outcome(first[0]!, 8),
      outcome(first[1]!, 2),
      outcome(first[2]!, 0),
      outcome(first[3]!, 7),
    ]);
    selector.record(2, [outcome(second[0]!, 4)]);
    // too early to take them again
    expect(take(selector, 3)).toEqual(take(open(0), 3));
    expect(take(selector, 7)).toEqual([...take(open(0), 7).slice(0, 2), first[1], first[3]]);
    expect(selector.select(7).map(it => it.isUndecided)).toEqual([false, false, true, true]);
    expect(take(selector, 8)).toEqual([...take(open(0), 8).slice(0, 2), second[0], first[1]]);
  });

  test("mastered tasks make room for undecided ones", () => {
    const selector = open(0.5, count(100));
    const [first, ...others] = take(open(0, count(100)), 11);
    selector.record(1, [outcome(first!, 8), ...[1, 2, 3].map(it => outcome(others[0]!, it))]);
    selector.record(2, [outcome(99, 4), outcome(98, 4), outcome(97, 4)]);
    expect(take(selector, 11)).toEqual([97, others[0], 98, 99]);
  });

  test("outcomes belong to the places of tasks, and those of tasks that are gone are ignored", () => {
    const places = [0, ...count(39, 2)]; // the second task is gone
    const selector = open(0.5, places);
    selector.record(1, [outcome(0, 8), outcome(1, 4), outcome(2, 4)]);
    const step = [7, 8].find(it => !take(open(0, places), it).includes(1))!;
    const chosen = selector.select(step).filter(it => it.isUndecided);
    expect(chosen).toEqual([{ index: 1, isUndecided: true }]);
  });

  test("choices after a resumption are those of an uninterrupted run", () => {
    const [whole, resumed] = [open(0.5), open(0.5)];
    const steps = Array.from({ length: 9 }, (_, i) => ({
      step: i + 1,
      outcomes: take(whole, i + 1).map((task, j) => outcome(task, (3 * i + 5 * j) % 9)),
    }));
    for (const it of steps) whole.record(it.step, it.outcomes);
    for (const it of steps) resumed.record(it.step, it.outcomes);
    expect(take(resumed, 10)).toEqual(take(whole, 10));
    expect(resumed.selectExtra(10, 3)).toBe(whole.selectExtra(10, 3));
  });
});

test("the turn of a group depends on seed, step and place alone, and each turn is drawn as often", async () => {
  const task = await moveTwice();
  const turns = Array.from({ length: 1000 }, (_, i) =>
    selectTurn(task, 3, Math.floor(i / 4), i % 4),
  );
  expect(turns).toEqual(turns.map((_, i) => selectTurn(task, 3, Math.floor(i / 4), i % 4)));
  const second = turns.filter(it => it === 1).length;
  expect(turns.every(it => it === 0 || it === 1)).toBe(true);
  expect(second).toBeGreaterThan(450);
  expect(second).toBeLessThan(550);
  expect(turns).not.toEqual(turns.map((_, i) => selectTurn(task, 4, Math.floor(i / 4), i % 4)));
});
