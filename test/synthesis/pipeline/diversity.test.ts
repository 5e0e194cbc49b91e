/** Figures of variety against texts small enough to count by hand. */
import { expect, test } from "vitest";
import { measureDiversity } from "../../../src/synthesis/pipeline/diversity.ts";

test("distinct-n counts different n-grams over all: 5 of 6 words, 4 of 4 pairs, 2 of 2 triples", () => {
  const { distinct } = measureDiversity(["freeze the card", "thaw the account"]);
  expect(distinct).toEqual([0.8333, 1, 1]);
});

test("case and punctuation do not hide that two turns say the same: 2 of 3", () => {
  expect(measureDiversity(["Freeze it, please.", "freeze it please", "thaw it"]).repeated).toBe(
    0.6667,
  );
});

test("self-BLEU is 1 where everybody says the same and small where nobody shares a word", () => {
  const same = "move fifty euros to my savings account";
  expect(measureDiversity([same, same, same]).selfBleu).toBe(1);
  expect(
    measureDiversity(["move fifty euros today", "freeze that old card"]).selfBleu,
  ).toBeLessThan(0.1);
});

test("self-BLEU by hand: a b c d against a b c e is (3/4 · 2/3 · 1/2 · 0.1/1) to the power of 1/4 = 0.3976", () => {
  expect(measureDiversity(["a b c d", "a b c e"]).selfBleu).toBe(0.3976);
});

test("a word said twice counts no more often than the other text has it: a a against a is (1/2 · 0.1/1) to the power of 1/2, and a against a a is cut for its length by e", () => {
  // 0.2236 for the first; for the second precision 1 times exp(1 - 2/1) = 0.3679
  expect(measureDiversity(["a a", "a"]).selfBleu).toBeCloseTo((0.2236 + 0.3679) / 2, 3);
});

test("nothing said is no variety, and no error", () => {
  expect(measureDiversity([])).toEqual({
    turns: 0,
    measured: 0,
    distinct: [0, 0, 0],
    repeated: 0,
    selfBleu: 0,
  });
});

test("large bodies are measured over a thousand texts spread evenly, and repeats over all", () => {
  const texts = Array.from({ length: 3000 }, (_, i) => `turn number ${i % 2900}`);
  const { turns, measured, repeated } = measureDiversity(texts);
  expect([turns, measured, repeated]).toEqual([3000, 1000, 0.0667]);
});
