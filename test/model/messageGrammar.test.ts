/**
 * Constrained decoding: every message that the grammar allows parses as calls that fit the offered
 * tools, and every valid call is allowed.
 */
import type { Call } from "../../src/environment/outcome.ts";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { mulberry32 } from "../../src/environment/random.ts";
import { encodeMessage, isMessageEnd, parseMessage } from "../../src/model/student/compactChat.ts";
import { IdAliases } from "../../src/model/student/idAliases.ts";
import { createMessageGrammar } from "../../src/model/student/messageGrammar.ts";
import {
  parseTokenizer,
  trainTokenizer,
  type Tokenizer,
} from "../../src/model/student/tokenizer.ts";
import type { Conversation } from "../../src/policy/policy.ts";
import { loadServers } from "../../src/servers/catalog.ts";

type Tool = Conversation["tools"][number];
type Schema = Tool["inputSchema"];

const shipped = parseTokenizer(
  readFileSync(new URL("../../resources/models/careless/tokenizer.json", import.meta.url), "utf8"),
);
/** Knows no tool, so that names and keys are spelled. */
const foreign = trainTokenizer(["the tag of a transfer", "the tag of a list"], [], [], 500);

const realTools = (await loadServers()).flatMap(it => [...it.tools.values()]);

const createTool = (name: string, properties: Record<string, object>, required: string[] = []) =>
  ({
    name,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    outputSchema: {},
  }) as unknown as Tool;

/** Schemas that the real tools do not have, but connected servers can. */
const otherTools = [
  createTool("tag", { tag: { enum: ["a", "a b", "a, b", "ä", "5", "true"] } }, ["tag"]),
  createTool("tag_all", {
    tags: { type: "array", items: { enum: ["a", "a b", "a, b", "ä"] } },
    counts: { type: "array", items: { type: "integer" } },
    pages: { type: "array", items: { type: "array", items: { type: "string" } } },
    tables: { type: "array", items: { type: "array", items: { type: "number" } } },
  }),
  createTool("set", {
    until: { anyOf: [{ type: "string" }, { type: "null" }] },
    size: { type: ["number", "null"] },
    level: { anyOf: [{ type: "integer" }, { enum: ["low", "lower"] }] },
    either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] },
    fixed: { const: "yes" },
    names: { type: "array", items: { type: "string" } },
  }),
  createTool("put", {
    point: {
      type: "object",
      properties: {
        x: { type: "number" },
        kind: { enum: ["on", "one"] },
        more: { type: "array", items: { type: "boolean" } },
      },
      required: ["x"],
      additionalProperties: false,
    },
    "key with ü": { type: "boolean" },
  }),
  createTool("empty", {}),
];

const validators = new Map(
  otherTools.map(it => [it.name, z.fromJSONSchema(it.inputSchema as never)]),
);
const checkedIssues = ["invalid_type", "invalid_value", "unrecognized_keys", "invalid_union"];

/** Why a call does not fit the offered tools, in what the grammar covers. */
function findFault(tools: readonly Tool[], { name, arguments: args }: Call): unknown {
  const tool = tools.find(it => it.name === name);
  if (!tool) return `no tool ${name}`;
  const { error } = (validators.get(name) ?? tool.input).safeParse(args);
  return error?.issues.find(it => checkedIssues.includes(it.code));
}

/** Values of a schema, beyond those that a user would think of. */
function createValues(schema: Schema): fc.Arbitrary<unknown> {
  const branches = schema["anyOf"] as readonly Schema[] | undefined;
  if (branches) return fc.oneof(...branches.map(createValues));
  if (schema["enum"]) return fc.constantFrom(...(schema["enum"] as readonly unknown[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  const types = [schema["type"]].flat() as readonly string[];
  if (types.length > 1) return fc.oneof(...types.map(type => createValues({ ...schema, type })));
  switch (types[0]) {
    case "string":
      return fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...awkwardTexts));
    case "integer":
      return fc.maxSafeInteger();
    case "number":
      return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(createValues(schema["items"] as Schema), { maxLength: 4 });
    default:
      return createObjects(schema);
  }
}

const awkwardTexts = ["", " ", "null", "5", "true", "[1]", '["a"]', '"a"', "{}", "a, b", "[a", "="];

const createObjects = (schema: Schema): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(
      Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).map(([key, it]) => [
        key,
        createValues(it),
      ]),
    ),
    { requiredKeys: [...((schema["required"] ?? []) as readonly string[])], noNullPrototype: true },
  );

/** The first token that the grammar does not allow, with what comes before it. */
function findRefused(tokenizer: Tokenizer, tools: readonly Tool[], ids: readonly number[]) {
  const grammar = createMessageGrammar(tokenizer, { tools, aliases: new IdAliases() });
  for (const [i, id] of ids.entries()) {
    if (grammar.computeMask()[id] !== 1) return tokenizer.decode(ids.slice(0, i + 1));
    grammar.append(id);
  }
  return undefined;
}

/** A message of tokens that are drawn from those that the grammar allows. */
function drawMessage(tokenizer: Tokenizer, tools: readonly Tool[], seed: number): number[] {
  const uniform = mulberry32(seed);
  const grammar = createMessageGrammar(tokenizer, { tools, aliases: new IdAliases() });
  const ids: number[] = [];
  do {
    const mask = grammar.computeMask();
    const allowed = [...mask.keys()].filter(id => mask[id] === 1);
    expect(allowed, tokenizer.decode(ids)).not.toEqual([]);
    // marks, names and keys are few among the many text tokens
    const others = allowed.filter(id => !tokenizer.isText(id));
    const isCall = others.includes(tokenizer.markId("<call>"));
    const from = others.length > 0 && uniform() < 0.3 ? others : allowed;
    const id = isCall ? tokenizer.markId("<call>") : from[Math.floor(uniform() * from.length)]!;
    grammar.append(id);
    ids.push(id);
  } while (!isMessageEnd(ids.at(-1)!) && ids.length < 400);
  return ids;
}

const cases = [
  { name: "real tools", tokenizer: shipped, tools: realTools },
  {
    name: "real tools that the tokenizer does not know",
    tokenizer: foreign,
    tools: realTools.filter((_, i) => i % 8 === 0),
  },
  { name: "other schemas", tokenizer: foreign, tools: otherTools },
];

test.each([
  ["an argument", (it: object) => it],
  ["items", (it: object) => ({ type: "array", items: it })],
  [
    "a property",
    (it: object) => ({ type: "object", properties: { x: it }, additionalProperties: false }),
  ],
])("an enum of a hundred thousand texts is followed as %s", (_, nest) => {
  const values = Array.from({ length: 100_000 }, (_, i) => `v${(i * 7_919) % 1_000_003}x`);
  const tools = [createTool("tag", { tag: nest({ enum: values }) }, ["tag"])];
  const some = [values[70_001], [values[70_001]], { x: values[70_001] }];
  const valid = some.filter(tag => encodes(tools, tag));
  expect(valid).toHaveLength(1);
  const other = encodeMessage(foreign, tools, {
    text: "",
    calls: [{ name: "tag", arguments: { tag: "v1y" } }],
  });
  expect(findRefused(foreign, tools, other)).toBeDefined();
});

function encodes(tools: readonly Tool[], tag: unknown): boolean {
  const calls = [{ name: "tag", arguments: { tag } as Call["arguments"] }];
  const ids = encodeMessage(foreign, tools, { text: "", calls });
  return findRefused(foreign, tools, ids) === undefined;
}

describe.each(cases)("$name", ({ tokenizer, tools }) => {
  test("every valid call is allowed", () => {
    const calls = fc.constantFrom(...tools).chain(tool =>
      fc.record({
        name: fc.constant(tool.name),
        arguments: createObjects(tool.inputSchema),
      }),
    );
    fc.assert(
      fc.property(fc.array(calls as fc.Arbitrary<Call>, { minLength: 1, maxLength: 3 }), some => {
        const ids = encodeMessage(tokenizer, tools, { text: "", calls: some });
        expect(findRefused(tokenizer, tools, ids)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test("every allowed message has calls that fit the offered tools", () => {
    let parsed = 0;
    for (let seed = 0; seed < 80; seed++) {
      const offered = tools.filter((_, i) => (i * 7 + seed) % 5 === 0);
      const ids = drawMessage(tokenizer, offered, seed);
      if (!isMessageEnd(ids.at(-1)!)) continue;
      parsed++;
      for (const call of parseMessage(tokenizer, offered, ids).calls)
        expect(findFault(offered, call), tokenizer.decode(ids)).toBeUndefined();
    }
    expect(parsed).toBeGreaterThan(40);
  });
});
