/** What a result shows. */
import { expect, test } from "vitest";
import { indexResult, showsFact, showsValue } from "../../src/trajectory/resultIndex.ts";

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
