/** Attacks by an MCP client over stdio. */
import { PassThrough } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { createConnectionSessions, StdioTransport } from "../../src/mcp/stdioTransport.ts";
import { exposeServer } from "../../src/mcp/exposedServer.ts";
import { counting, countingCatalog } from "../service/countingService.ts";

let input: PassThrough;
let output: PassThrough;
let isClosed: boolean;
beforeEach(async () => {
  const catalog = countingCatalog();
  const defaults = { catalog, fixture: "full", seed: 1 };
  const { getSession, methods } = createConnectionSessions(counting, defaults);
  const exposed = exposeServer(counting, getSession, methods);
  input = new PassThrough();
  output = new PassThrough({ encoding: "utf8" });
  isClosed = false;
  exposed.sdkServer.onclose = () => void (isClosed = true);
  await exposed.sdkServer.connect(new StdioTransport(exposed, input, output));
  return () => exposed.sdkServer.close();
});

const nextChunk = () =>
  new Promise<string>(resolve => void output.once("data", it => resolve(it as string)));

async function request(method: string, params: unknown): Promise<string> {
  const reply = nextChunk();
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
  return await reply;
}

test("a message without an end does not fill the memory", async () => {
  const reply = nextChunk();
  for (let megabytes = 0; megabytes < 17; megabytes++) input.write("x".repeat(2 ** 20));
  expect(await reply).toContain("is longer than");
  expect(isClosed).toBe(true);
});

const hostileNames = ["__proto__", "constructor", "toString", "../banking", ""];

test.each(hostileNames)("the name %j reaches no prototype and no other session", async name => {
  const call = { name, arguments: {} };
  expect(await request("tools/call", call)).toMatch(/"isError":true|"error":/);
  const text = `{"${name}": {"isAdmin": true}, "counter_id": "cnt_1", "by": 1}`;
  const add = { name: "counting_add", arguments: JSON.parse(text) as unknown };
  expect(await request("tools/call", add)).toMatch(/"isError":true|"error":/);
  expect(await request("resources/read", { uri: `state://${name}` })).toContain('"error":');
  expect(await request("resources/read", { uri: `state://counting/${name}` })).toContain(
    '"error":',
  );
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});
