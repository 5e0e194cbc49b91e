import { expect, test } from "vitest";
import { findTypeMismatch } from "../../src/environment/argumentChecks.ts";
import type { Json } from "../../src/environment/json.ts";

const schema = {
  type: "object",
  required: ["n"],
  properties: {
    n: { type: "integer" },
    x: { type: "number" },
    s: { type: "string", maxLength: 2 },
    e: { enum: ["a", "b"] },
    list: {
      type: "array",
      items: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
    },
    maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
} as const;

const cases: [args: unknown, why: string | undefined][] = [
  [{ n: 1 }, undefined],
  [{ n: 3.0 }, undefined],
  [{ n: 1, x: 2 }, undefined],
  [{ n: 1, extra: true }, undefined],
  [{ n: 1, s: "far too long for the whole schema" }, undefined],
  [{ n: 1, e: "z" }, undefined],
  [{ n: 1, maybe: null }, undefined],
  [{}, "missing required argument n"],
  [{ n: 1.5 }, "n must be an integer, not 1.5"],
  [{ n: "1" }, "n must be an integer, not a string"],
  [{ n: 1, x: Number.NaN }, "x must be a number, not NaN"],
  [{ n: 1, e: 4 }, "e must be a string, not 4"],
  [{ n: 1, maybe: 3 }, "maybe must be a string, not 3"],
  [{ n: 1, s: null }, "s must be a string, not null"],
  [{ n: 1, list: [{ id: "a" }, {}] }, "missing required argument list[1].id"],
  [{ n: 1, list: { id: "a" } }, "list must be an array, not an object"],
  [null, "arguments must be an object, not null"],
  [[], "arguments must be an object, not an array"],
];
test("what is no schema, and a type that JSON does not have, leave the value to the server", () => {
  const published = (x: Json) => ({ type: "object", properties: { x }, required: { x: true } });
  const open: Json[] = [
    true,
    false,
    null,
    "text",
    [],
    { type: "float" },
    { type: ["any", "null"] },
  ];
  open.push({ anyOf: [true, { type: "null" }] }, { anyOf: {} }, { enum: "abc" }, { items: true });
  for (const x of open) expect(findTypeMismatch(published(x), { x: [1] })).toBe(undefined);
});

test("of alternatives, the one that fits furthest says what is wrong", () => {
  const x = {
    anyOf: [
      { type: "string" },
      { type: "object", required: ["limit"], properties: { limit: { type: "integer" } } },
      { type: "array", items: { anyOf: [{ type: "boolean" }, { type: "null" }] } },
    ],
  } as const;
  const find = (value: Json) =>
    findTypeMismatch({ type: "object", properties: { x } }, { x: value });
  expect(find({ limit: "y" })).toBe("x.limit must be an integer, not a string");
  expect(find({})).toBe("missing required argument x.limit");
  expect(find([true, "y"])).toBe("x[1] must be a boolean, not a string");
  expect(find(5)).toBe("x must be a string or object or array, not 5");
});

test("what stands beside alternatives is checked, too", () => {
  const either = {
    anyOf: [{ required: ["s"] }, { required: ["x"] }],
    properties: schema.properties,
  };
  const find = (args: Json) => findTypeMismatch(either, args);
  expect(find({ s: "a" })).toBe(undefined);
  expect(find({})).toBe("missing required argument s or x");
  expect(find({ x: "1" })).toBe("x must be a number, not a string");
});

for (const [args, why] of cases)
  test(`${JSON.stringify(args)} ${why === undefined ? "fits" : `does not: ${why}`}`, () =>
    expect(findTypeMismatch(schema as unknown as Record<string, Json>, args)).toBe(why));
