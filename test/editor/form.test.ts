/** A tool's arguments as a person fills them in. */
import { describe, expect, test } from "vitest";
import { fieldsOf, idsFor, parseField } from "../../src/editor/form.ts";
import type { JsonSchema } from "../../src/environment/server.ts";
import { banking } from "../../src/servers/banking.ts";

test("the fields of a real tool, required ones first", () => {
  const fields = fieldsOf(banking.tools.get("banking_list_transactions")!.inputSchema);
  expect(fields.map(it => `${it.key}${it.isRequired ? "" : "?"}`)).toEqual(["account_id", "from_date?", "to_date?", "text?", "min_amount?", "limit?"]);
  expect(fields[0]).toMatchObject({ entity: "account", description: expect.stringContaining("Account id") });
  const kinds = fieldsOf(banking.tools.get("banking_list_accounts")!.inputSchema).find(it => it.key === "kind");
  expect(kinds?.choices).toEqual(["checking", "savings", "credit"]);
});

const check = (schema: JsonSchema, typed: string, expected: unknown) =>
  expect(parseField(fieldsOf({ type: "object", properties: { x: schema }, required: ["x"] })[0]!, typed)).toEqual(expected);

describe("what is typed becomes a value", () => {
  test("text is text, even where it looks like a number", () => check({ type: "string" }, "42", { value: "42" }));
  test("a number", () => check({ type: "number" }, "42.5", { value: 42.5 }));
  test("a list is JSON", () => check({ type: "array", items: { type: "string" } }, '["a"]', { value: ["a"] }));
  test("no number", () => check({ type: "number" }, "forty", { why: "x must be number, written as JSON" }));
  test("a fraction where a whole number is wanted", () => check({ type: "integer" }, "1.5", { why: "x must be an integer, not 1.5" }));
  test("a list of the wrong things", () => check({ type: "array", items: { type: "string" } }, "[1]", { why: "x[0] must be a string, not 1" }));
});

test("ids are offered with the words people know them by", () => {
  const world = { accounts: { acc_1: { name: "Everyday", balance: 1 } }, categories: { cat_1: { title: "Food" } }, notes: { n_1: { at: "09:00", size: 3 } } };
  expect(idsFor("account", world)).toEqual([{ id: "acc_1", about: "Everyday" }]);
  expect(idsFor("category", world)).toEqual([{ id: "cat_1", about: "Food" }]);
  expect(idsFor("note", world)).toEqual([{ id: "n_1", about: "09:00, 3" }]);
  expect(idsFor("payee", world)).toEqual([]);
});
