/** Every server refuses hostile arguments quickly and leaves its state unchanged. */
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import type { JsonSchema, Tool } from "../../src/environment/server.ts";
import { catalog } from "./transports.ts";

const megabyte = "x".repeat(1_000_000);
const long = Array.from({ length: 100_000 }, (_, i) => i);

/**
 * By JSON type: values of that type which no tool may take. A number below zero or a huge one may
 * fit a coordinate's or a limit's schema, and is then the server's to refuse.
 */
const hostile: Record<string, [what: string, value: unknown][]> = {
  number: [
    ["NaN", Number.NaN],
    ["Infinity", Infinity],
    ["1e308", 1e308],
    ["-1e308", -1e308],
    ["-0", -0],
    ["text", "5"],
  ],
  integer: [
    ["NaN", Number.NaN],
    ["1e308", 1e308],
    ["-0", -0],
    ["a fraction", 1.5],
    ["text", "5"],
  ],
  string: [
    ["a number", 7],
    ["null", null],
    ["a megabyte", megabyte],
    ["half a character", "a\ud800"],
    ["two spellings", "Cafe\u0301"],
    ["a list", []],
  ],
  boolean: [
    ["text", "true"],
    ["1", 1],
  ],
  array: [
    ["100,000 items", long],
    ["text", "a"],
    ["a record", {}],
  ],
  object: [
    ["a list", []],
    ["text", "a"],
  ],
};

const typeOf = (schema: JsonSchema): string => {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches) return typeOf(branches.find(it => it["type"] !== "null")!);
  return (
    (schema["type"] as string | undefined) ?? typeof (schema["enum"] as Json[] | undefined)?.[0]
  );
};

const properties = (tool: Tool) =>
  (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;

/** Arguments that fit by type, so that only the one under test is out of order. */
function plausible(tool: Tool): JsonObject {
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  return Object.fromEntries(required.map(key => [key, valueFor(properties(tool)[key]!)]));
}

function valueFor(schema: JsonSchema): Json {
  if (Array.isArray(schema["enum"])) return (schema["enum"] as Json[])[0]!;
  if (Array.isArray(schema["examples"])) return (schema["examples"] as Json[])[0]!;
  switch (typeOf(schema)) {
    case "array":
      return [];
    case "object":
      return {};
    case "boolean":
      return true;
    case "string":
      return "x";
    default:
      return 1;
  }
}

const turnedDown = ["refused", "bad-arguments"];

for (const server of catalog.servers.values())
  describe(server.name, () => {
    const session = openSessionByName(catalog, {
      servers: [{ name: server.name, fixture: "full" }],
      seed: 1,
    });
    const { digest } = session;
    const check = (tool: Tool, args: unknown, what: string): number => {
      const { outcome } = session.call(tool.name, args);
      expect(
        turnedDown,
        `${tool.name} ${what}: ${JSON.stringify(outcome).slice(0, 300)}`,
      ).toContain(outcome.kind);
      expect(session.digest, `${tool.name} ${what}`).toBe(digest);
      expect(
        JSON.stringify(outcome).length,
        `${tool.name} ${what}: words a person can read`,
      ).toBeLessThan(2_000);
      return 1;
    };

    test("refuses hostile values of every parameter", () => {
      for (const tool of server.tools.values())
        for (const [key, schema] of Object.entries(properties(tool)))
          for (const [what, value] of hostile[typeOf(schema)]!)
            check(tool, { ...plausible(tool), [key]: value }, `${key}: ${what}`);
    });

    test("refuses prototype keys and unknown keys", () => {
      for (const tool of server.tools.values()) {
        check(
          tool,
          JSON.parse(
            `{${JSON.stringify(plausible(tool)).slice(1, -1)}${Object.keys(plausible(tool)).length ? "," : ""}"__proto__":{"a":1}}`,
          ),
          "__proto__",
        );
        check(tool, { ...plausible(tool), constructor: 1 }, "constructor");
        check(tool, { ...plausible(tool), [megabyte]: 1 }, "a key of a megabyte");
      }
    });

    test("finds nothing under names that objects inherit", () => {
      let checked = 0;
      for (const tool of server.tools.values())
        for (const [key, schema] of Object.entries(properties(tool)))
          if (schema["x-entity"] !== undefined && schema["x-spoken"] !== true)
            for (const name of ["__proto__", "constructor", "toString"])
              checked += check(tool, { ...plausible(tool), [key]: name }, `${key}: ${name}`);
      expect(checked).toBeGreaterThan(server.name === "filesystem" ? -1 : 5);
    });

    test("refuses days that do not exist", () => {
      let checked = 0;
      for (const tool of server.tools.values())
        for (const [key, schema] of Object.entries(properties(tool))) {
          const format = (schema["format"] ??
            (schema["anyOf"] as JsonSchema[] | undefined)?.[0]?.["format"]) as string | undefined;
          if (format === "date")
            checked += check(
              tool,
              { ...plausible(tool), [key]: "2026-02-30" },
              `${key}: 30 February`,
            );
          if (format === "date-time")
            checked += check(
              tool,
              { ...plausible(tool), [key]: "2026-02-30T10:00" },
              `${key}: 30 February`,
            );
        }
      const dated = [...server.tools.values()].some(it =>
        JSON.stringify(it.inputSchema).includes('"format":"date'),
      );
      expect(checked > 0).toBe(dated);
    });
  });
