/** Where a value stands in JSON text, whole or broken. */
import { expect, test } from "vitest";
import { placeOf } from "../../src/editor/jsonPlace.ts";

const text = `{
  "name": "full",
  "state": { "cards": [ { "limit": -3 }, { "limit": "two\\"}" } ], "a/b": true }
}`;

const check = (path: readonly PropertyKey[], expected: string, of = text) => {
  const { start, end } = placeOf(of, path);
  expect(of.slice(start, end)).toBe(expected);
};

test("a value is found by its path", () => {
  check(["name"], '"full"');
  check(["state", "cards", 0, "limit"], "-3");
  check(["state", "cards", 1, "limit"], '"two\\"}"');
  check(["state", "a/b"], "true");
  check([], text);
});

test("of an object that lacks the value its bracket is found", () => {
  check(["state", "cards", 0, "owner"], "{");
  check(["state", "payees", "pay_1"], "{");
});

test("broken text is read as far as it goes", () => {
  check(["name"], '"full"', `{ "name": "full", "state": { "cards": [ { `);
  check(["gone"], "{", `{ "name`);
  check(["gone"], "", "");
});
