/** The form of a tool's arguments: its fields, and the validation of what a person types. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readForm, parseField, type Field } from "../../../src/editor/servers/argumentForm.ts";
import { day, id, minute, money } from "../../../src/environment/fieldSchemas.ts";
import type { JsonSchema } from "../../../src/environment/server.ts";
import { server as banking } from "../../../src/servers/banking/server.ts";
import { readInputSchema } from "../../../src/environment/plainSchema.ts";
import { loadServers } from "../../../src/servers/catalog.ts";

const servers = await loadServers();

test("the fields of a tool are read from its schema, required ones first", () => {
  const fields = readForm(banking.tools.get("banking_list_transactions")!);
  expect(fields.map(it => `${it.key}${it.isRequired ? "" : "?"} ${it.kind}`)).toEqual([
    "account_id text",
    "from_date? day",
    "to_date? day",
    "text? text",
    "min_amount? number",
    "limit? number",
  ]);
  expect(fields[0]).toMatchObject({
    entity: "account",
    description: expect.stringContaining("Account id"),
  });
  const kinds = readForm(banking.tools.get("banking_list_accounts")!).find(it => it.key === "kind");
  expect(kinds).toMatchObject({ kind: "choice", choices: ["checking", "savings", "credit"] });
});

test("no argument of any server must be typed as JSON", () => {
  const listJsonFields = (field: Field): readonly string[] => {
    if (field.kind === "json") return [field.key];
    if (field.kind === "list") return listJsonFields(field.item);
    if (field.kind === "record") return field.fields.flatMap(listJsonFields);
    return field.kind === "either" ? field.branches.flatMap(listJsonFields) : [];
  };
  const tools = servers.flatMap(it => [...it.tools.values()]);
  expect(
    tools.flatMap(tool =>
      readForm(tool)
        .flatMap(listJsonFields)
        .map(it => `${tool.name}.${it}`),
    ),
  ).toEqual([]);
});

/** The field of a tool's argument `x` with a zod schema, as our servers have. */
const createOwnField = (x: z.ZodType) => {
  const input = z.strictObject({ x, other: z.string().min(3) });
  return readForm({ inputSchema: z.toJSONSchema(input, { io: "input" }) as JsonSchema, input })[0]!;
};
/** The same field from a JSON Schema alone, as third-party servers publish it. */
const createConnectedField = (x: JsonSchema) =>
  readForm({ inputSchema: { type: "object", properties: { x }, required: ["x"] } })[0]!;
const check = (field: Field, typed: string, expected: unknown) =>
  expect(parseField(field, typed)).toEqual(expected);

describe("the form of a tool that a third-party server publishes", () => {
  const describeForm = (published: object) => {
    const input = readInputSchema(published);
    if ("reason" in input) throw new Error(input.reason);
    const show = (field: Field): string => {
      const parts =
        field.kind === "record" ? field.fields : field.kind === "either" ? field.branches : [];
      const inner = parts.length > 0 ? `(${parts.map(show).join(", ")})` : "";
      return `${field.key}${field.isRequired ? "" : "?"} ${field.kind}${inner}`;
    };
    const fields = readForm({ inputSchema: input.schema });
    // what a person types is checked without an error of the program
    for (const it of fields) for (const text of ["x", "1", "null", "{}", ""]) parseField(it, text);
    return fields.map(show).join("; ");
  };
  const item = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const x = (schema: unknown, more: object = {}) => ({
    type: "object",
    properties: { x: schema },
    ...more,
  });
  const cases: [what: string, published: object, form: string][] = [
    ["a boolean schema", x(true), "x? json"],
    [
      "a boolean schema below",
      x({ type: "object", properties: { y: true } }),
      "x? record(y? json)",
    ],
    [
      "a boolean alternative",
      x({ anyOf: [true, { type: "null" }] }),
      "x? either(x json, x choice)",
    ],
    ["a required key that is no text", x({ type: "string" }, { required: ["x", 7] }), "x text"],
    ["an argument that may not be given", x(false), ""],
    ["a schema that is no schema", x("text"), "x? json"],
    ["null in the place of a schema", x(null), "x? json"],
    ["a reference", x({ $ref: "#/$defs/I" }, { $defs: { I: item } }), "x? record(n number)"],
    [
      "a reference in allOf",
      x({ allOf: [{ $ref: "#/$defs/I" }] }, { $defs: { I: item } }),
      "x? record(n number)",
    ],
    [
      "a reference to itself",
      x(
        { $ref: "#/$defs/T" },
        { $defs: { T: { type: "object", properties: { t: { $ref: "#/$defs/T" } } } } },
      ),
      "x? record(t? json)",
    ],
    ["a reference without a target", x({ $ref: "other.json" }), "x? json"],
    ["a type of another language", x({ type: "float" }), "x? json"],
    ["a type named like a method", x({ type: "constructor" }), "x? json"],
    ["a format named like a method", x({ type: "string", format: "constructor" }), "x? text"],
    ["several types", x({ type: ["string", "null"] }), "x? either(x text, x choice)"],
    [
      "null beside alternatives",
      x({ type: "null", anyOf: [{ type: "string" }, { type: "null" }] }),
      "x? either(x text, x choice)",
    ],
    [
      "keywords beside alternatives",
      x({ ...item, oneOf: [{ required: ["n"] }] }),
      "x? record(n number)",
    ],
    ["alternatives at the root", { anyOf: [item, x({ type: "string" })] }, "n? number; x? text"],
    [
      "numbers that are none",
      x({ type: "array", items: {}, minItems: "1", maxItems: null }),
      "x? list",
    ],
    [
      "lists that are none",
      x({ type: "string", enum: "abc", examples: "abc", anyOf: {} }),
      "x? text",
    ],
  ];
  test.each(cases)("%s", (_, published, form) => expect(describeForm(published)).toBe(form));
});

describe("a typed text is parsed by the type of its field", () => {
  test("text stays text, even if it looks like a number", () =>
    check(createConnectedField({ type: "string" }), "42", { value: "42" }));
  test("a number", () => check(createConnectedField({ type: "number" }), "42.5", { value: 42.5 }));
  test("a day", () => check(createOwnField(day()), "2026-03-09", { value: "2026-03-09" }));
  test("a day and time", () =>
    check(createOwnField(minute()), "2026-03-09T10:30", { value: "2026-03-09T10:30" }));
  test("a value without known parts is JSON", () =>
    check(createConnectedField({ type: "object" }), '{"a": 1}', { value: { a: 1 } }));
  test("a text that is not a number is an error", () =>
    check(createConnectedField({ type: "number" }), "forty", { error: "x must be a number" }));
  test("a fraction for a whole number is an error", () =>
    check(createConnectedField({ type: "integer" }), "1.5", {
      error: "x must be an integer, not 1.5",
    }));
  test("a list for a record is an error", () =>
    check(createConnectedField({ type: "object" }), "[1]", {
      error: "x must be an object, not an array",
    }));
  test("invalid JSON is an error", () =>
    check(createConnectedField({ type: "object" }), "{", {
      error: "x must be a record, written as JSON",
    }));
});

describe("a violated rule is an error", () => {
  const cases: [what: string, field: Field, typed: string, why: string][] = [
    [
      "a number that is too large",
      createOwnField(z.int().min(1).max(50)),
      "51",
      "x must be at most 50",
    ],
    [
      "a number that is too small",
      createOwnField(z.int().min(1).max(50)),
      "0",
      "x must be at least 1",
    ],
    [
      "a third decimal of money",
      createOwnField(money()),
      "12.345",
      "x must have at most two decimals",
    ],
    ["a negative amount of money", createOwnField(money()), "-3", "x must be at least 0.01"],
    ["an empty text", createOwnField(z.string().min(1)), "", "x must not be empty"],
    ["a long text", createOwnField(z.string().max(3)), "four", "x must have at most 3 characters"],
    [
      "a pattern",
      createOwnField(z.string().regex(/^[A-Z]{3}$/)),
      "eur",
      "x must look like /^[A-Z]{3}$/",
    ],
    [
      "a day that does not exist",
      createOwnField(day()),
      "2026-02-30",
      "x must be a day that exists, YYYY-MM-DD",
    ],
    [
      "a time with a zone",
      createOwnField(minute()),
      "2026-03-09T10:30Z",
      "x must be in the session's own time, without Z",
    ],
    [
      "a time that does not exist",
      createOwnField(minute()),
      "2026-03-09T25:30",
      "x must be a minute that exists, YYYY-MM-DDTHH:MM",
    ],
    [
      "the range of a third-party server",
      createConnectedField({ type: "number", exclusiveMinimum: 0 }),
      "0",
      "x must be more than 0",
    ],
    [
      "the day of a third-party server",
      createConnectedField({ type: "string", format: "date" }),
      "2026-02-30",
      "x must be a valid date",
    ],
    [
      "the pattern of a third-party server",
      createConnectedField({ type: "string", pattern: "^a" }),
      "b",
      "x must look like /^a/",
    ],
  ];
  test.each(cases)("%s", (_, field, typed, why) => check(field, typed, { error: why }));
});

describe("a value with parts has fields for them", () => {
  const line = z.strictObject({
    product: id("product").describe("Which"),
    quantity: z.int().min(1).max(9),
    gift: z.boolean().optional(),
  });
  const lines = createOwnField(z.array(line).min(1).max(2));

  test("a list of records validates each part by its own rule", () => {
    if (lines.kind !== "list" || lines.item.kind !== "record")
      throw new Error("not a list of records");
    expect(lines).toMatchObject({ minItems: 1, maxItems: 2 });
    const [product, quantity, gift] = lines.item.fields;
    expect([product, quantity, gift].map(it => it!.kind)).toEqual(["text", "number", "choice"]);
    expect(product).toMatchObject({ entity: "product", description: "Which" });
    check(quantity!, "10", { error: "quantity must be at most 9" });
    check(quantity!, "3", { value: 3 });
  });

  test("a list validates itself as a whole", () => {
    const one = { product: "p_1", quantity: 1 };
    expect(lines.validate([one])).toBeUndefined();
    expect(lines.validate([])).toBe("x must have at least 1 item");
    expect(lines.validate([one, one, one])).toBe("x must have at most 2 items");
    expect(lines.validate([one, { ...one, quantity: 0 }])).toBe(
      "x at 1.quantity must be at least 1",
    );
  });

  test("a union has a field for each branch", () => {
    const either = createOwnField(
      z.union([z.literal("all"), z.array(z.string()).max(2), z.null()]),
    );
    if (either.kind !== "either") throw new Error("not one of several");
    expect(either.branches.map(it => it.kind)).toEqual(["choice", "list", "choice"]);
    expect(either.branches[1]!.validate(["a"])).toBeUndefined();
    expect(either.branches[1]!.validate(["a", "b", "c"])).toBe("x must have at most 2 items");
  });

  test("an invalid schema accepts every text", () => {
    check(createConnectedField({ type: "string", pattern: "(" }), "b", { value: "b" });
  });
});
