/** The limits on the arguments of every tool, whatever its schema says. */
import { describe, expect, test } from "vitest";
import { findLimitViolation } from "../../src/environment/argumentChecks.ts";
import type { ErrorType } from "../../src/environment/outcome.ts";

function check(args: unknown, type: ErrorType | undefined, message?: RegExp): void {
  const violation = findLimitViolation(args);
  expect(violation?.type).toBe(type);
  if (message) expect(violation?.message).toMatch(message);
}

describe("arguments", () => {
  test("as people write them are accepted", () =>
    check({ name: "Café Lumen", amounts: [0, -1, 2.5], tags: { a: null, b: true } }, undefined));
  test("with 9,999 items are accepted", () =>
    check(
      Array.from({ length: 9_999 }, () => 1),
      undefined,
    ));
  test("with more than 10,000 values are rejected", () =>
    check(
      { list: Array.from({ length: 10_000 }, () => 1) },
      "limit_exceeded",
      /more than 10000 values/,
    ));
  test("with a text of a megabyte are rejected", () =>
    check({ name: "x".repeat(1_000_000) }, "limit_exceeded", /name has 1000000 characters/));
  test("with a key of a megabyte are rejected without repeating it", () =>
    check(
      { ["x".repeat(1_000_000)]: 1 },
      "limit_exceeded",
      /^a key has 1000000 characters; 1000 are the most$/,
    ));
  test("with -0 are rejected", () =>
    check({ amount: -0 }, "invalid_params", /amount is -0: write 0/));
  test("with an accent apart from its letter (e and U+0301 for é) are rejected", () =>
    check({ name: "Cafe\u0301" }, "invalid_params", /name is not in Unicode's composed form/));
  test("with the composed é are accepted", () => check({ name: "Caf\u00e9" }, undefined));
  test("with half a character are rejected", () =>
    check({ name: "\ud83d" }, "invalid_params", /half a character/));
  test("with a whole emoji are accepted", () => check({ name: "\ud83d\ude00" }, undefined));
});
