/** The expression language of watches and conditions: paths and comparisons. */
import { describe, expect, test } from "vitest";
import {
  evaluateExpression,
  ExpressionError,
  parseCallExpression,
  type Variables,
} from "../../../../src/editor/attempts/debug/expression.ts";

const scope: Variables = {
  banking: {
    world: {
      accounts: { acc_101: { balance: 12.5, name: "Everyday" } },
      tags: ["a", "b"],
      "odd key": 1,
    },
    clock: "2026-03-09T09:00",
  },
  call: { name: "banking_transfer", error: null },
};

const check = (text: string, expected: unknown) =>
  expect(evaluateExpression(text, scope)).toEqual(expected);
const checkRefused = (text: string, why: RegExp) => {
  expect(() => evaluateExpression(text, scope)).toThrow(ExpressionError);
  expect(() => evaluateExpression(text, scope)).toThrow(why);
};

test("a path evaluates to the value at that place", () => {
  check("banking.world.accounts.acc_101.balance", 12.5);
  check(" banking . world . tags [ 1 ] ", "b");
  check('banking.world["odd key"]', 1);
  check("banking.world.tags.0", "a");
  check("call", { name: "banking_transfer", error: null });
});

test("a comparison evaluates to true or false", () => {
  check("banking.world.accounts.acc_101.balance > 12", true);
  check("banking.world.accounts.acc_101.balance <= -12", false);
  check('call.name == "banking_transfer"', true);
  check("call.error != null", false);
  check('banking.clock >= "2026-03-09"', true);
  check('banking.world.tags == "a"', false);
});

test("conditions are combined, and the second is evaluated only where it is needed", () => {
  check('call.name == "banking_transfer" && banking.world.tags[0] == "a"', true);
  check('call.name == "other" && call.missing', false);
  check("call.error == null || call.missing", true);
  check("!(call.error == null) || 1 < 2 && 2 < 1", false);
});

test("a number with too many digits is compared by them, and refused in a call", () => {
  const text = "order == 9007199254740993";
  expect(evaluateExpression(text, { order: "9007199254740993" })).toBe(true);
  expect(evaluateExpression(text, { order: "9007199254740992" })).toBe(false);
  for (const call of ["find(id: 9007199254740993)", ' find( {"id": [9007199254740993]} )'])
    expect(() => parseCallExpression(call)).toThrow(
      "9007199254740993 has more digits than a number can keep: write it as a text",
    );
  expect(parseCallExpression('find(id: "9007199254740993")')).toEqual({
    name: "find",
    arguments: { id: "9007199254740993" },
  });
});

describe("an invalid expression is refused with a reason", () => {
  test("a path that does not exist", () =>
    checkRefused("banking.world.cards", /there is no banking\.world\.cards/));
  test("an inherited property", () =>
    checkRefused("banking.constructor", /there is no banking\.constructor/));
  test("the prototype", () => checkRefused("call.__proto__", /there is no/));
  test("a call", () => checkRefused("process.exit()", /is not part of/));
  test("a value where a condition is needed", () =>
    checkRefused("call && true", /neither true nor false/));
  test("an unclosed parenthesis", () => checkRefused("(1 < 2", /a \) is missing/));
  test("too many parentheses", () => checkRefused("(".repeat(1e5), /nested too deeply/));
  test("more than one comparison", () => checkRefused("1 < 2 < 3", /is not part of/));
  test("an order between different types", () => checkRefused("call.name > 3", /have no order/));
  test("an empty text", () => checkRefused("", /is not a path/));
  test("an unclosed bracket", () => checkRefused("banking.world.tags[", /is not part of/));
});
