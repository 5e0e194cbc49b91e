/** What the strip of a message's tokens says. */
import { expect, test } from "vitest";
import { describeStrip } from "../../../webview/group/tokenStrip.ts";

test("tokens with an advantage were made more likely, those with a disadvantage less", () => {
  expect(describeStrip({ count: 7, clipped: [], advantage: 0.3 })).toBe(
    "7 tokens made more likely",
  );
  expect(describeStrip({ count: 1, clipped: [], advantage: -2 })).toBe("1 token made less likely");
});

test("clipped tokens are counted", () =>
  expect(describeStrip({ count: 7, clipped: [2, 3], advantage: 1 })).toBe(
    "7 tokens made more likely, 2 clipped",
  ));

test("without an advantage there is no gradient", () =>
  expect(describeStrip({ count: 2, clipped: [], advantage: 0 })).toBe(
    "2 tokens without gradient: the advantage is 0",
  ));
