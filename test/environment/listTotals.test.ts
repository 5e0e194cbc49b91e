/** A recorded list result may be from before list results had a total. */
import { expect, test } from "vitest";
import { isSameResult } from "../../src/environment/listTotals.ts";

const executed = { total: 2, rows: ["a", "b"] };

test("a record without the total is the same result", () => {
  expect(isSameResult({ rows: ["a", "b"] }, executed)).toBe(true);
  expect(isSameResult({ rows: ["a", "b"], total: 2 }, executed)).toBe(true);
});

test("a record with another total or other rows is not", () => {
  expect(isSameResult({ rows: ["a", "b"], total: 3 }, executed)).toBe(false);
  expect(isSameResult({ rows: ["a"] }, executed)).toBe(false);
  expect(isSameResult(executed, { rows: ["a", "b"] })).toBe(false);
  expect(isSameResult("a", executed)).toBe(false);
});
