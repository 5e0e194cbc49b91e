/** What no tool takes, whatever its schema says. */
import { describe, expect, test } from "vitest";
import { unsound } from "../../src/environment/argumentLimits.ts";
import type { ErrorType } from "../../src/environment/outcome.ts";

function check(args: unknown, type: ErrorType | undefined, why?: RegExp): void {
  const flaw = unsound(args);
  expect(flaw?.type).toBe(type);
  if (why) expect(flaw?.why).toMatch(why);
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

describe("arguments", () => {
  test("as people write them are sound", () =>
    check({ name: "Café Lumen", amounts: [0, -1, 2.5], tags: { a: null, b: true } }, undefined));
  test("with 9,999 items are sound", () =>
    check(
      Array.from({ length: 9_999 }, () => 1),
      undefined,
    ));
  test("with more than 10,000 values are not", () =>
    check(
      { list: Array.from({ length: 10_000 }, () => 1) },
      "limit_exceeded",
      /more than 10000 values/,
    ));
  test("nested deeper than 32 levels are not", () =>
    check(nested(33), "limit_exceeded", /nested more than 32 levels/));
  test("with a text of a megabyte are not", () =>
    check({ name: "x".repeat(1_000_000) }, "limit_exceeded", /name has 1000000 characters/));
  test("with a key of a megabyte are not, and it is not repeated", () =>
    check(
      { ["x".repeat(1_000_000)]: 1 },
      "limit_exceeded",
      /^a key has 1000000 characters; 1000 are the most$/,
    ));
  test("with -0 are not", () => check({ amount: -0 }, "invalid_params", /amount is -0: write 0/));
  test("with an accent apart from its letter are not: e and U+0301 for é", () =>
    check({ name: "Cafe\u0301" }, "invalid_params", /name is not in Unicode's composed form/));
  test("with the composed é are sound", () => check({ name: "Caf\u00e9" }, undefined));
  test("with half a character are not", () =>
    check({ name: "\ud83d" }, "invalid_params", /half a character/));
  test("with a whole emoji are sound", () => check({ name: "\ud83d\ude00" }, undefined));
});
