import { expect, test } from "vitest";
import { dropRepeatedNoun } from "../../../src/synthesis/text/composeTurn.ts";

test.each([
  ["add up the size of a folder", "the folder ~/notes", "~/notes"],
  ["open the room for a meeting", 'the meeting "Brief"', '"Brief"'],
  ["look up a payment", "the payment for invoice 13", "the payment for invoice 13"],
  ["open one of my files", "the folder ~", "the folder ~"],
  ["open a file", "~/a.txt", "~/a.txt"],
])("%s: %s", (clause, value, said) => {
  expect(dropRepeatedNoun(clause, value)).toBe(said);
});
