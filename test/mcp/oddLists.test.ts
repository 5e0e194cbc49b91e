/** Servers whose lists and results are odd: what is odd costs only itself. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectServer, type ConnectedSession } from "../../src/mcp/connectedSession.ts";
import { parseServerEntries } from "../../src/mcp/mcpConfig.ts";

let folder: string;
let session: ConnectedSession | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-odd-"));
});
afterEach(async () => {
  await session?.close();
  rmSync(folder, { recursive: true });
});

const read = { readOnlyHint: true };
const well = { name: "well", annotations: read, inputSchema: { type: "object" } };

/** A session on the server of listedServer.ts. */
async function open(script: object): Promise<ConnectedSession> {
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  const program = join(import.meta.dirname, "listedServer.ts");
  const odd = { command: process.execPath, args: [program, "${workspaceFolder}/script.json"] };
  const text = JSON.stringify({ servers: { odd } });
  const entry = parseServerEntries(text, "prove/mcp.json", folder).entries.get("odd")!;
  session = await connectServer(entry, new AbortController().signal);
  return session;
}
const list = async (...pages: readonly unknown[]) => {
  const { tools, omittedTools } = await open({ pages });
  return { names: [...tools.keys()], omittedTools, tools };
};
const listTool = (tool: unknown) => list({ tools: [tool, well] });

describe("a tool is read as far as it can be", () => {
  const { inputSchema: _, ...bare } = { ...well, name: "odd" };
  const cases: [what: string, more: object][] = [
    [
      "null in place of everything optional",
      {
        description: null,
        title: null,
        icons: null,
        outputSchema: null,
        _meta: null,
        execution: null,
        inputSchema: null,
      },
    ],
    ["no arguments", {}],
    ["arguments without a type", { inputSchema: {} }],
    ["arguments that are true", { inputSchema: true }],
    [
      "PHP's empty objects",
      { inputSchema: { type: "object", properties: [], required: [] }, annotations: [] },
    ],
    ["PHP's empty schema", { inputSchema: [] }],
    [
      "nulls in the schema",
      { inputSchema: { type: "object", properties: null, required: null, description: null } },
    ],
    ["results that are a list", { outputSchema: { type: "array", items: true } }],
    ["results that are no schema", { outputSchema: "text" }],
    ["hints that are no booleans", { annotations: { readOnlyHint: null, title: null } }],
    ["a description that is no text", { description: { en: "x" } }],
  ];
  test.each(cases)("%s", async (_what, more) => {
    const { names, omittedTools, tools } = await listTool({ ...bare, ...more });
    expect(names).toEqual(["odd", "well"]);
    expect(omittedTools).toEqual([]);
    expect(tools.get("odd")).toMatchObject({ summary: "odd", inputSchema: { type: "object" } });
  });

  test("only true marks a tool as a read", async () => {
    for (const annotations of [null, [], "read", { readOnlyHint: "true" }, { readOnlyHint: 1 }])
      expect((await listTool({ ...bare, annotations })).tools.get("odd")!.effect).toBe("write");
  });
});

describe("a tool that cannot be offered is left out with the reason", () => {
  const deep = JSON.parse(`${"[".repeat(1000)}${"]".repeat(1000)}`) as unknown;
  const cases: [tool: unknown, name: string, reason: RegExp][] = [
    [
      { ...well, name: "odd", inputSchema: { type: "string" } },
      "odd",
      /of type string, not object/,
    ],
    [{ ...well, name: "odd", inputSchema: { type: ["array", "null"] } }, "odd", /no alternative/],
    [
      { ...well, name: "odd", inputSchema: { anyOf: [{ type: "string" }] } },
      "odd",
      /not object|no alternative/,
    ],
    [{ ...well, name: "odd", inputSchema: false }, "odd", /inputSchema is false/],
    [{ ...well, name: "odd", inputSchema: "{}" }, "odd", /inputSchema is a string/],
    [
      { ...well, name: "odd", inputSchema: { default: deep } },
      "odd",
      /nested more than 96 levels deep/,
    ],
    [{ ...well, name: null }, "tool 1 of page 1", /has no name/],
    ["well", "tool 1 of page 1", /is not an object/],
    [null, "tool 1 of page 1", /is not an object/],
  ];
  test.each(cases)("%#", async (tool, name, reason) => {
    const { names, omittedTools } = await listTool(tool);
    expect(names).toEqual(["well"]);
    expect(omittedTools).toEqual([{ name, reason: expect.stringMatching(reason) }]);
  });

  test("and a call of it says so", async () => {
    const { call } = await open({ pages: [{ tools: [{ name: "odd", inputSchema: 7 }] }] }).then(
      it => ({ call: it.call.bind(it) }),
    );
    expect(await call("odd", {})).toMatchObject({
      kind: "unknown-tool",
      message: "odd cannot be offered: its inputSchema is a number, not a schema",
    });
  });
});

describe("a list ends", () => {
  const t1 = { ...well, name: "t1" };
  const t2 = { ...well, name: "t2" };
  const cases: [what: string, pages: unknown[], names: string[]][] = [
    ["at a cursor that is null", [{ tools: [t1], nextCursor: null }, { tools: [t2] }], ["t1"]],
    ["at an empty cursor", [{ tools: [t1], nextCursor: "" }, { tools: [t2] }], ["t1"]],
    ["at a cursor that is no text", [{ tools: [t1], nextCursor: {} }, { tools: [t2] }], ["t1"]],
    [
      "at a cursor that repeats",
      [{ tools: [t1], nextCursor: "x" }, { tools: [t2], nextCursor: "x" }, { tools: [well] }],
      ["t1", "t2"],
    ],
    [
      "at a page without a new tool",
      [{ tools: [t1], nextCursor: "x" }, { tools: [t1], nextCursor: "y" }, { tools: [t2] }],
      ["t1"],
    ],
    ["after its pages", [{ tools: [t1], nextCursor: "x" }, { tools: [t2] }], ["t1", "t2"]],
    ["at once without tools", [{ tools: null }], []],
  ];
  test.each(cases)("%s", async (_, pages, names) => {
    const listed = await list(...pages);
    expect([listed.names, listed.omittedTools]).toEqual([names, []]);
  });

  test("at a page that is no list, which is said", async () => {
    const { names, omittedTools } = await list({ tools: [t1], nextCursor: "x" }, { tools: "none" });
    expect(names).toEqual(["t1"]);
    expect(omittedTools).toEqual([
      { name: "the rest of the list", reason: "page 2 has no list of tools" },
    ]);
  });
});

test.each([
  [
    "nulls in the first answer",
    {
      initialize: {
        serverInfo: null,
        instructions: null,
        capabilities: { tools: null, prompts: null },
      },
    },
  ],
  ["a greeting without a line break", { before: "ready " }],
  ["a byte order mark", { before: "\ufeff" }],
  [
    "a log that quotes a request",
    { before: 'got {"jsonrpc":"2.0","id":9,"method":"x"}\n{"level":"info","id":1}\n' },
  ],
])("%s costs nothing", async (_, more) => {
  const { tools, call } = await open({ pages: [{ tools: [well] }], ...more }).then(it => ({
    tools: it.tools,
    call: it.call("well", {}),
  }));
  expect([...tools.keys()]).toEqual(["well"]);
  expect(await call).toMatchObject({ kind: "ok" });
});

test("a server that cannot be spoken to is shown with what it wrote", async () => {
  await expect(
    open({ pages: [], before: "usage: odd --stdio\n", refusal: "wrong mode" }),
  ).rejects.toThrow(
    /^odd is no MCP server .*wrong mode\) \(it wrote to stdout: usage: odd --stdio\): correct entry odd/,
  );
});

describe("a result is read as far as it can be", () => {
  const texts = (...values: readonly unknown[]) => values.map(text => ({ type: "text", text }));
  const cases: [what: string, result: unknown, value: unknown][] = [
    ["a structured list", { content: texts("[1]"), structuredContent: [1] }, [1]],
    ["a structured list alone", { structuredContent: [{ id: 1 }] }, [{ id: 1 }]],
    [
      "a structured text beside the text",
      { content: texts("three events"), structuredContent: "ok" },
      "three events",
    ],
    ["a structured text alone", { structuredContent: "ok" }, "ok"],
    ["null as structured value", { content: texts("hi"), structuredContent: null }, "hi"],
    ["null as isError", { content: texts("hi"), isError: null }, "hi"],
    ["null as _meta", { content: texts("hi"), _meta: null }, "hi"],
    [
      "null annotations in a part",
      { content: [{ type: "text", text: "hi", annotations: null, _meta: null }] },
      "hi",
    ],
    ["content that is one part", { content: { type: "text", text: "hi" } }, "hi"],
    ["content that is a text", { content: "hi" }, "hi"],
    ["content that is null", { content: null }, []],
    [
      "an unknown part beside a text",
      { content: [...texts("hi"), { type: "smell", of: "roses" }] },
      ["hi", { type: "smell", of: "roses" }],
    ],
    ["a null beside a text", { content: [null, ...texts("hi")] }, "hi"],
    [
      "an image without data",
      { content: [{ type: "image", mimeType: null }] },
      { type: "image", bytes: 0 },
    ],
    [
      "a resource with nulls",
      { content: [{ type: "resource", resource: { uri: "x:y", text: null } }] },
      { type: "resource", uri: "x:y" },
    ],
    ["toolResult of the first version", { toolResult: { n: 1 } }, { n: 1 }],
    ["toolResult as text", { toolResult: "hi" }, "hi"],
  ];
  test.each(cases)("%s", async (_, result, value) => {
    const odd = await open({ pages: [{ tools: [well] }], calls: { well: result } });
    expect(await odd.call("well", {})).toEqual({ kind: "ok", value });
  });

  test.each([{}, "hi", { isError: false }])("%j is no result", async result => {
    const odd = await open({ pages: [{ tools: [well] }], calls: { well: result } });
    expect(await odd.call("well", {})).toMatchObject({
      kind: "broken",
      message: expect.stringContaining("no MCP result"),
    });
  });
});

describe("a number that JavaScript would round", () => {
  const findOrder = {
    ...well,
    inputSchema: {
      type: "object",
      properties: { id: { type: "integer" }, note: { type: "string" } },
    },
  };

  test("keeps its digits in a result", async () => {
    const value = '{"id":1915883588174806058,"ids":[-9007199254740993,7,0.1],"far":1e400}';
    const texts = {
      structured: `{"structuredContent":${value}}`,
      written: `{"content":[{"type":"text","text":${JSON.stringify(value)}}]}`,
    };
    const tools = Object.keys(texts).map(name => ({ ...well, name }));
    const odd = await open({ pages: [{ tools }], texts });
    for (const name of Object.keys(texts))
      expect(await odd.call(name, {})).toEqual({
        kind: "ok",
        value: { id: "1915883588174806058", ids: ["-9007199254740993", 7, 0.1], far: "1e400" },
      });
  });

  test("reaches the server with its digits, again when the call is repeated", async () => {
    const odd = await open({
      pages: [{ tools: [findOrder] }],
      texts: { well: '{"content":[{"type":"text","text":REQUEST}]}' },
    });
    const args = '{"id": 2512292042121000001,\n "note": "a\\nb"}';
    await odd.call("well", args);
    await odd.restart(1);
    expect(odd.calls).toMatchObject([{ arguments: args, outcome: { kind: "ok" } }]);
    expect(JSON.stringify(odd.calls[0]!.outcome)).toContain("2512292042121000001");
    expect(await odd.call("well", '{"note": 2512292042121000001}')).toMatchObject({
      kind: "bad-arguments",
      message: "note must be a string, not a number",
    });
    expect(await odd.call("well", '{"id": 1e400}')).toMatchObject({ kind: "bad-arguments" });
  });
});

describe("the arguments of a tool are checked by what its schema says", () => {
  const openWith = (inputSchema: object) =>
    open({ pages: [{ tools: [{ ...well, inputSchema }] }] });
  const location = {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
  };
  const either = {
    anyOf: [
      location,
      { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    ],
  };
  const cases: [what: string, schema: object, fits: object, doesNot?: object][] = [
    [
      "a reference at the root",
      { $ref: "#/$defs/W", $defs: { W: location } },
      { location: "x" },
      {},
    ],
    [
      "a reference in an argument",
      {
        type: "object",
        properties: { w: { $ref: "#/definitions/W" } },
        definitions: { W: location },
      },
      { w: { location: "x" } },
      { w: {} },
    ],
    ["alternatives at the root", either, { id: 3 }, {}],
    [
      "allOf",
      { type: "object", allOf: [location, { required: ["id"] }] },
      { location: "x", id: 1 },
      { location: "x" },
    ],
    [
      "a schema within itself through allOf",
      { ...location, allOf: [{ $ref: "#" }, { $ref: "#/allOf/1" }] },
      { location: "x" },
      {},
    ],
    [
      "two schemas within each other through allOf",
      {
        type: "object",
        properties: { w: { $ref: "#/$defs/A" } },
        $defs: {
          A: { allOf: [{ $ref: "#/$defs/B" }, { $ref: "#/$defs/A" }] },
          B: { ...location, allOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }] },
        },
      },
      { w: { location: "x" } },
      { w: {} },
    ],
    [
      "a schema that is true",
      { type: "object", properties: { x: true, y: { items: true } } },
      { x: [1], y: [2] },
    ],
    [
      "a type of another language",
      { type: "object", properties: { n: { type: "float" }, d: { type: "dict" } } },
      { n: 1.5, d: { a: 1 } },
    ],
    [
      "types beside alternatives",
      {
        type: "object",
        properties: { x: { type: "null", anyOf: [{ type: "string" }, { type: "null" }] } },
      },
      { x: "y" },
      { x: 1 },
    ],
    [
      "a reference that leads nowhere",
      { type: "object", properties: { x: { $ref: "#/$defs/gone" } } },
      { x: 1 },
    ],
  ];
  test.each(cases)("%s", async (_, schema, fits, doesNot) => {
    const odd = await openWith(schema);
    expect(await odd.call("well", fits)).toMatchObject({ kind: "ok" });
    if (doesNot) expect(await odd.call("well", doesNot)).toMatchObject({ kind: "bad-arguments" });
  });

  test("a bad argument in an alternative is named", async () => {
    const odd = await openWith({
      type: "object",
      properties: { to: { anyOf: [{ type: "string" }, either.anyOf[1]] } },
    });
    expect(await odd.call("well", { to: { id: "seven" } })).toMatchObject({
      message: "to.id must be an integer, not a string",
    });
  });

  test("references that repeat each other do not grow without an end", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d${i}`,
        {
          type: "object",
          properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } },
        },
      ]),
    );
    const { tools } = await openWith({
      type: "object",
      properties: { x: { $ref: "#/$defs/d0" } },
      $defs,
    });
    expect(JSON.stringify(tools.get("well")).length).toBeLessThan(2_000_000);
  });
});

test("ten thousand tools, in pages of fifty", async () => {
  const listTools = (from: number) =>
    Array.from({ length: 50 }, (_, i) => ({ ...well, name: `t${from + i}` }));
  const pages = Array.from({ length: 200 }, (_, i) => ({
    tools: listTools(i * 50),
    ...(i < 199 ? { nextCursor: String(i) } : {}),
  }));
  const odd = await open({ pages });
  expect([odd.tools.size, odd.omittedTools]).toEqual([10_000, []]);
  expect(await odd.call("t9999", {})).toMatchObject({ kind: "ok" });
});

test("a tool that is no read is not called, whatever its server's list looks like", async () => {
  const log = join(folder, "log");
  writeFileSync(log, "");
  writeFileSync(
    join(folder, "script.json"),
    JSON.stringify({ pages: [{ tools: [{ ...well, name: "erase", annotations: null }] }] }),
  );
  const args = [join(import.meta.dirname, "listedServer.ts"), join(folder, "script.json"), log];
  const text = JSON.stringify({ servers: { odd: { command: process.execPath, args } } });
  const entry = parseServerEntries(text, "prove/mcp.json", folder).entries.get("odd")!;
  session = await connectServer(entry, new AbortController().signal);
  expect(await session.call("erase", {})).toMatchObject({ type: "permission_denied" });
  expect(readFileSync(log, "utf8")).toBe("");
});
