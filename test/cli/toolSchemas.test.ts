/**
 * The schemas of tools as models read them: short, the same wherever a model or an engine gets
 * them, and complete enough to write a call. Calls are checked against the whole schemas.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { exportTasks } from "../../src/cli/export.ts";
import { tools } from "../../src/cli/tools.ts";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { isJsonObject, type JsonObject } from "../../src/environment/json.ts";
import { describeTool } from "../../src/environment/toolDescription.ts";
import { formatTool } from "../../src/service/servedAttempt.ts";
import { startHttpServer } from "../../src/service/httpServer.ts";
import { catalog, root } from "../contracts/transports.ts";
import { sendRequest } from "../service/countingService.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

type Schema = JsonObject & { readonly properties?: Readonly<Record<string, Schema>> };
interface FunctionTool {
  readonly function: { readonly name: string; readonly parameters: Schema };
}

const readParameters = (list: readonly FunctionTool[]): ReadonlyMap<string, Schema> =>
  new Map(list.map(it => [it.function.name, it.function.parameters]));

let listed: ReadonlyMap<string, Schema>;
beforeAll(async () => {
  const { out } = await runCommand(tools, ["--json"]);
  listed = readParameters(JSON.parse(out.join("\n")) as FunctionTool[]);
});

/** The schemas in a schema, itself included; names of arguments are no keywords. */
const listSchemas = (schema: Schema): readonly Schema[] => [
  schema,
  ...[...Object.values(schema.properties ?? {}), schema["items"]]
    .filter(isJsonObject)
    .flatMap(it => listSchemas(it as Schema)),
];

test("have types, descriptions, enums and formats, and nothing that a model can do without", () => {
  expect(listed.size).toBe(343);
  const schemas = [...listed.values()].flatMap(listSchemas);
  const keywords = new Set(schemas.flatMap(it => Object.keys(it)));
  const known = "description enum format items properties required type".split(" ");
  const bounds = "maxItems maximum minItems minimum multipleOf".split(" ");
  expect(keywords).toEqual(new Set([...known, ...bounds]));
  for (const it of schemas) expect(it["type"] ?? it["enum"], JSON.stringify(it)).toBeDefined();
  for (const [name, { properties = {} }] of listed)
    for (const [key, it] of Object.entries(properties))
      expect(it["description"], `${name}.${key}`).toEqual(expect.any(String));
});

test("keep arguments that are named like keywords, and bounds that a model needs", () => {
  const { properties = {} } = listed.get("filesystem_grep")!;
  expect(properties["pattern"]).toMatchObject({ type: "string" });
  expect(listed.get("banking_list_transactions")!.properties).toMatchObject({
    from_date: { type: "string", format: "date", description: "First day" },
    min_amount: { type: "number", description: expect.any(String) as string },
    limit: { type: "integer", maximum: 50, description: "At most this many, default 10" },
    account_id: { type: "string", description: "Account id from banking_list_accounts" },
  });
});

test("say how a time is written, also where only the pattern did", () => {
  const { properties = {} } = listed.get("food_delivery_place_order")!;
  expect(properties["at"]).toEqual({
    type: "string",
    description: "When it should arrive, as soon as possible by default; YYYY-MM-DDTHH:MM",
  });
});

test("are short: thirty tools have 15,200 characters", () => {
  const shown = [...catalog.tools.values()].map(formatTool);
  expect((30 * JSON.stringify(shown).length) / shown.length).toBeLessThan(15_200);
});

test("are the same in the service's catalog, over MCP and in OpenEnv", async () => {
  const serving = await startHttpServer({ catalog });
  try {
    const { json } = await sendRequest(`${serving.url}/v1/catalog`, "GET");
    expect(readParameters((json as unknown as { tools: FunctionTool[] }).tools)).toEqual(listed);
    const servers = [...catalog.servers.keys()].map(name => ({ name, fixture: "small" }));
    const { id } = serving.sessions.open({ owner: "test", servers, seed: 1 });
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const addresses = servers.map(it => serving.mcpPath(id, it.name));
    for (const [paths, what] of [
      [addresses, "MCP"],
      [["/mcp"], "OpenEnv"],
    ] as const) {
      const shown: [string, Schema][] = [];
      for (const path of paths) {
        const headers = { accept: "application/json, text/event-stream" };
        const answer = await sendRequest(`${serving.url}${path}`, "POST", { body, headers });
        const { result } = answer.json as unknown as {
          result: { tools: { name: string; inputSchema: Schema; outputSchema?: Schema }[] };
        };
        const results = JSON.stringify(result.tools.map(it => it.outputSchema));
        expect(results).not.toMatch(/"(x-[a-z]+|pattern|examples)":/);
        shown.push(...result.tools.map((it): [string, Schema] => [it.name, it.inputSchema]));
      }
      expect(new Map(shown), what).toEqual(listed);
    }
  } finally {
    await serving.close();
  }
});

test("are the same in data sets", async () => {
  const folder = join(emptyFolder(), "out");
  const file = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
  await runCommand(exportTasks, ["--tasks", file, "--to", "trl", "--out", folder]);
  const rows = readFileSync(join(folder, "train.jsonl"), "utf8").trim().split("\n");
  const menus = rows.map(it => JSON.parse((JSON.parse(it) as { menu: string }).menu));
  let compared = 0;
  for (const { function: it } of (menus as FunctionTool[][]).flat()) {
    const own = listed.get(it.name);
    // in some menus, a tool has no enums
    if (!own || JSON.stringify(own).includes('"enum"')) continue;
    expect(it.parameters).toEqual(own);
    compared++;
  }
  expect(compared).toBeGreaterThan(100);
});

test("of other servers keep what they mean", () => {
  const inputSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      pattern: { type: "string", pattern: "^a+$", minLength: 1, default: "a", examples: ["aa"] },
      examples: { type: "array", items: { $ref: "#/$defs/examples" }, minItems: 1, maxItems: 3 },
      count: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      shift: { type: "integer", minimum: -20, maximum: 20 },
      labels: { type: "object", additionalProperties: { type: "string", maxLength: 9 } },
      kind: { anyOf: [{ const: { pattern: "x" } }, { enum: [{ examples: 1 }], "x-own": true }] },
      page_size: { type: "integer", title: "Page Size", default: null },
      lang: { type: "string", title: "Language", pattern: "^[a-z]{2}$" },
      title: { type: "string", title: "Heading", description: "Its title", pattern: "." },
    },
    title: "findArguments",
    $defs: { examples: { type: "string", format: "uri", maxLength: 200 } },
    required: ["pattern", "examples"],
    additionalProperties: false,
  };
  const copy = structuredClone(inputSchema);
  expect(describeTool({ name: "find", summary: "Find.", inputSchema }).parameters).toEqual({
    type: "object",
    properties: {
      pattern: { type: "string", pattern: "^a+$", default: "a" },
      examples: { type: "array", items: { $ref: "#/$defs/examples" }, maxItems: 3 },
      count: { type: "integer" },
      shift: { type: "integer", minimum: -20, maximum: 20 },
      labels: { type: "object", additionalProperties: { type: "string" } },
      kind: { anyOf: [{ const: { pattern: "x" } }, { enum: [{ examples: 1 }] }] },
      page_size: { type: "integer" },
      lang: { type: "string", title: "Language", pattern: "^[a-z]{2}$" },
      title: { type: "string", description: "Its title" },
    },
    $defs: { examples: { type: "string", format: "uri" } },
    required: ["pattern", "examples"],
  });
  expect(inputSchema).toEqual(copy);
});

test("leave out nothing that a session checks", () => {
  const session = openSessionByName(catalog, {
    servers: [
      { name: "banking", fixture: "small" },
      { name: "food_delivery", fixture: "small" },
    ],
    seed: 1,
  });
  for (const [name, args, message] of [
    ["banking_get_statement", { account_id: "acc_115", month: "March" }, "month"],
    ["banking_list_transactions", { account_id: "acc_115", limit: 0 }, "limit"],
    ["banking_list_accounts", { colour: "red" }, "colour"],
    ["banking_deposit", { account_id: "acc_115", amount: 1_000_001 }, "amount"],
    ["food_delivery_place_order", { at: "half past six" }, "YYYY-MM-DDTHH:MM"],
  ] as const)
    expect(session.call(name, args).outcome, name).toMatchObject({
      kind: "refused",
      type: "invalid_params",
      message: expect.stringContaining(message) as string,
    });
});
