/** What a result shows. */
import { expect, test } from "vitest";
import type { Json } from "../../src/environment/json.ts";
import { indexResult, showsFact, showsValue } from "../../src/trajectory/resultIndex.ts";
import { areEqual } from "../../src/trajectory/valueMatching.ts";

test("a dictated text is read back without its case and final stop", () => {
  const result = { note_id: "note_1", text: "Call the bank." };
  const wanted = { texts: new Set(["note_1"]), aliases: new Map<string, string>() };
  const index = indexResult(result, {}, wanted);
  const fact = { entity: "note_1", field: "text", value: "call the bank" };
  expect(showsFact(index, fact)).toBe(false);
  expect(showsFact(index, { ...fact, loose: true })).toBe(true);
  expect(showsFact(index, { ...fact, value: "call the vet", loose: true })).toBe(false);
  expect(showsValue(result, "text", "call the bank", true)).toBe(true);
  expect(showsValue(result, "text", "call the bank")).toBe(false);
});

test("a small number is shown where it is an id, and not where it counts something", () => {
  const wanted = { texts: new Set(["3"]), aliases: new Map<string, string>() };
  const tool = {
    inputSchema: {},
    outputSchema: { properties: { number: { type: "integer", "x-entity": "issue" } } },
  };
  const shows = (result: Json) => showsFact(indexResult(result, {}, wanted, tool), { entity: "3" });
  expect(shows({ number: 3, title: "Slow search" })).toBe(true);
  expect(shows({ number: 4, comments: 3 })).toBe(false);
});

test("the next number is the id of something else, however large it is", () => {
  expect(areEqual(20_000_001, 20_000_002, { type: "integer", "x-entity": "issue" })).toBe(false);
  expect(areEqual(20_000_001, 20_000_002, { type: "integer" })).toBe(true);
});
