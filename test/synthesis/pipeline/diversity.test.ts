/** Diversity metrics of texts that are small enough to count by hand. */
import { expect, test } from "vitest";
import { measureDiversity } from "../../../src/synthesis/pipeline/report/measures.ts";

test("distinct-n is the share of different n-grams: 5 of 6 words, 4 of 4 pairs, 2 of 2 triples", () => {
  const { distinct } = measureDiversity(["freeze the card", "thaw the account"]);
  expect(distinct).toEqual([0.8333, 1, 1]);
});

test("repeated turns are found whatever their case and punctuation: 2 of 3", () => {
  expect(measureDiversity(["Freeze it, please.", "freeze it please", "thaw it"]).repeated).toBe(
    0.6667,
  );
});

test("self-BLEU is 1 for equal texts and small for texts without common words", () => {
  const same = "move fifty euros to my savings account";
  expect(measureDiversity([same, same, same]).selfBleu).toBe(1);
  expect(
    measureDiversity(["move fifty euros today", "freeze that old card"]).selfBleu,
  ).toBeLessThan(0.1);
});

test("self-BLEU by hand: a b c d against a b c e is (3/4 · 2/3 · 1/2 · 0.1/1) to the power of 1/4 = 0.3976", () => {
  expect(measureDiversity(["a b c d", "a b c e"]).selfBleu).toBe(0.3976);
});

test("self-BLEU clips counts and penalizes brevity: a a against a is (1/2 · 0.1/1) to the power of 1/2, and a against a a is divided by e", () => {
  // 0.2236 for the first; for the second precision 1 times exp(1 - 2/1) = 0.3679
  expect(measureDiversity(["a a", "a"]).selfBleu).toBeCloseTo((0.2236 + 0.3679) / 2, 3);
});

test("the metrics of no texts are zero", () => {
  expect(measureDiversity([])).toEqual({
    turns: 0,
    measured: 0,
    distinct: [0, 0, 0],
    repeated: 0,
    selfBleu: 0,
  });
});

test("many texts are measured by a thousand spread evenly, and repeated texts by all", () => {
  const texts = Array.from({ length: 3000 }, (_, i) => `turn number ${i % 2900}`);
  const { turns, measured, repeated } = measureDiversity(texts);
  expect([turns, measured, repeated]).toEqual([3000, 1000, 0.0667]);
});
