/**
 * What every tool must declare, so that models can choose it, forms can ask for its arguments and
 * the dependency graph can be built.
 */
import { describe, expect, test } from "vitest";
import type { JsonSchema, Tool } from "../../src/environment/server.ts";
import { catalog } from "./transports.ts";

const tools = [...catalog.tools.values()];
const properties = (schema: JsonSchema) =>
  Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);

/** A schema's places with their schemas, branches and items included. */
function* placesIn(schema: JsonSchema, at: string): Generator<[string, JsonSchema]> {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches) for (const it of branches) yield* placesIn(it, at);
  else yield [at, schema];
  for (const [key, it] of properties(schema)) yield* placesIn(it, `${at}.${key}`);
  const { items } = schema;
  if (items !== null && typeof items === "object" && !Array.isArray(items))
    yield* placesIn(items as JsonSchema, `${at}[]`);
}

const inputs = (tool: Tool) => [...placesIn(tool.inputSchema, tool.name)];
const unbounded = (kind: string, isBounded: (schema: JsonSchema) => boolean) =>
  tools.flatMap(it =>
    inputs(it)
      .filter(([, schema]) => schema["type"] === kind && !isBounded(schema))
      .map(([at]) => at),
  );
const has = (schema: JsonSchema, ...keywords: string[]) =>
  keywords.some(it => schema[it] !== undefined);

test("every string has a maximum length, a pattern, a format or a list of values", () =>
  expect(
    unbounded("string", it => has(it, "maxLength", "pattern", "format", "enum", "const")),
  ).toEqual([]));
test("every list has a maximum length", () =>
  expect(unbounded("array", it => has(it, "maxItems"))).toEqual([]));
test("every number has a minimum and a maximum", () =>
  expect(
    ["number", "integer"].flatMap(kind =>
      unbounded(
        kind,
        it =>
          has(it, "minimum", "exclusiveMinimum", "enum", "const") &&
          has(it, "maximum", "exclusiveMaximum", "enum", "const"),
      ),
    ),
  ).toEqual([]));
test("every parameter is described", () =>
  expect(
    tools.flatMap(it =>
      properties(it.inputSchema)
        .filter(([, schema]) => !schema["description"])
        .map(([key]) => `${it.name}.${key}`),
    ),
  ).toEqual([]));
test("every result is an object with named fields", () =>
  expect(
    tools
      .filter(
        it => it.outputSchema["type"] !== "object" || properties(it.outputSchema).length === 0,
      )
      .map(it => it.name),
  ).toEqual([]));

test("no two tools differ only in their names", () => {
  const seen = new Map<string, string>();
  const alike = tools.flatMap(it => {
    const other = seen.get(it.summary);
    seen.set(it.summary, it.name);
    return other === undefined ? [] : [`${other} and ${it.name}`];
  });
  expect(alike).toEqual([]);
});

test("names are identifiers that no engine reserves", () => {
  const kept = new Set([
    "reset",
    "get_reward",
    "step",
    "state",
    "close",
    "verify",
    "seed_session",
    "aggregate_metrics",
    "mcp",
  ]);
  expect(
    tools
      .filter(it => !/^[a-z][a-z0-9_]{2,63}$/.test(it.name) || kept.has(it.name))
      .map(it => it.name),
  ).toEqual([]);
});

for (const server of catalog.servers.values())
  describe(server.name, () => {
    const own = [...server.tools.values()];
    const entitiesIn = (schema: JsonSchema): string[] =>
      [...placesIn(schema, "")].flatMap(([, it]) =>
        typeof it["x-entity"] === "string" ? [it["x-entity"]] : [],
      );

    test("returns every entity that one of its tools needs", () => {
      const given = new Set(
        own.flatMap(it => [...entitiesIn(it.outputSchema), ...labelsIn(it.outputSchema)]),
      );
      const needed = own.flatMap(it =>
        entitiesIn(it.inputSchema)
          .filter(entity => !given.has(entity))
          .map(entity => `${it.name}: ${entity}`),
      );
      expect(needed).toEqual([]);
    });

    test("both reads and writes", () =>
      expect(new Set(own.map(it => it.effect))).toEqual(new Set(["read", "write"])));

    test("marks only writes as destructive", () =>
      expect(own.filter(it => it.destructive && it.effect === "read").map(it => it.name)).toEqual(
        [],
      ));
  });

function labelsIn(schema: JsonSchema): string[] {
  return [...placesIn(schema, "")].flatMap(([, it]) =>
    typeof it["x-label"] === "string" ? [it["x-label"]] : [],
  );
}
