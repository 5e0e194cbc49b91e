import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import { isSimilar, misspell } from "../../../src/synthesis/text/misspelling.ts";

test("a misspelt name is another one that is still similar", () => {
  for (let seed = 0; seed < 200; seed++) {
    const slip = misspell("Quill Square", createRandom(seed))!;
    expect(slip).not.toBe("Quill Square");
    expect(slip).toMatch(/^Q\S+l S\S+e$/);
    expect(isSimilar("Quill Square", slip)).toBe(true);
  }
});

test("names of short words and numbers are not misspelt", () => {
  for (const name of ["Rent", "4107", "WEB-12"])
    expect(misspell(name, createRandom(1))).toBeUndefined();
});

test("names that could be meant by each other are similar", () => {
  expect(isSimilar("Travel card", "Gravel card")).toBe(true);
  expect(isSimilar("Travel card", "Gym card")).toBe(false);
});
