/** The revision 2026-07-28 of MCP, without a handshake: every request states its version. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { connectServer } from "../../src/mcp/connectedSession.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { root } from "../contracts/transports.ts";
import { countingCatalog, sendRequest } from "../service/countingService.ts";

const version = "2026-07-28";
const key = (name: string) => `io.modelcontextprotocol/${name}`;
const meta = {
  [key("protocolVersion")]: version,
  [key("clientInfo")]: { name: "test", version: "1" },
  [key("clientCapabilities")]: {},
};

const request = (id: number, method: string, params: object = {}, _meta: object = meta) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta },
});
const add = (id: number, by: number) =>
  request(id, "tools/call", {
    name: "counting_add",
    arguments: { counter_id: "cnt_1", by },
  });

/** The headers of a request; an empty change leaves one out. */
function headersOf(
  { method, params }: ReturnType<typeof request>,
  changes: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { name, uri } = params as { readonly name?: string; readonly uri?: string };
  const headers = {
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": name ?? uri ?? "",
    ...changes,
  };
  return Object.fromEntries(Object.entries(headers).filter(([, it]) => it !== ""));
}

describe("over HTTP", () => {
  let serving: RunningHttpServer;
  let url: string;
  beforeEach(async () => {
    serving = await startHttpServer({ catalog: countingCatalog() });
    const { id } = serving.sessions.open({
      owner: "test",
      servers: [{ name: "counting", fixture: "full" }],
      seed: 1,
    });
    url = `${serving.url}${serving.mcpPath(id, "counting")}`;
  });
  afterEach(() => serving.close());

  const post = (body: ReturnType<typeof request>, changes: Readonly<Record<string, string>> = {}) =>
    sendRequest(url, "POST", { body, headers: headersOf(body, changes) });

  test("a server says what it is and can do, and for how long that is true", async () => {
    expect((await post(request(1, "server/discover"))).json).toMatchObject({
      id: 1,
      result: {
        resultType: "complete",
        supportedVersions: expect.arrayContaining([version, "2025-11-25"]) as string[],
        capabilities: { tools: {}, resources: {} },
        ttlMs: 3_600_000,
        cacheScope: "private",
        _meta: { [key("serverInfo")]: { name: "prove-counting" } },
      },
    });
  });

  test("calls change the session, as with a handshake", async () => {
    expect((await post(add(1, 2))).json).toMatchObject({
      result: { resultType: "complete", structuredContent: { value: 2 } },
    });
    const { json } = await sendRequest(url, "POST", {
      body: {
        ...add(2, 3),
        params: { name: "counting_add", arguments: { counter_id: "cnt_1", by: 3 } },
      },
    });
    expect(json).toMatchObject({ id: 2, result: { structuredContent: { value: 5 } } });
    expect(json["result"]).not.toHaveProperty("resultType");
  });

  test("a name that headers cannot have is sent in Base64", async () => {
    const body = request(1, "resources/read", { uri: "state://zählt" });
    const encoded = `=?base64?${Buffer.from("state://zählt").toString("base64")}?=`;
    expect((await post(body, { "mcp-name": encoded })).json).toMatchObject({
      error: { code: -32602, data: { uri: "state://zählt" } },
    });
  });

  const body = add(7, 1);
  test.each<[string, ReturnType<typeof request>, Record<string, string>, number, number, RegExp]>([
    ["without its method", body, { "mcp-method": "" }, 400, -32_020, /Mcp-Method is missing/],
    ["with another method", body, { "mcp-method": "tools/list" }, 400, -32_020, /Mcp-Method is/],
    ["without its name", body, { "mcp-name": "" }, 400, -32_020, /Mcp-Name is missing/],
    ["with another name", body, { "mcp-name": "other" }, 400, -32_020, /Mcp-Name is "other"/],
    [
      "of another version",
      request(7, "tools/list", {}, { ...meta, [key("protocolVersion")]: "2031-01-01" }),
      { "mcp-protocol-version": "2031-01-01" },
      400,
      -32_022,
      /2031-01-01 is not supported/,
    ],
    [
      "without what the client can do",
      request(7, "tools/list", {}, { [key("protocolVersion")]: version }),
      {},
      400,
      -32_602,
      /clientCapabilities/,
    ],
    ["of an unknown method", request(7, "tools/close"), {}, 404, -32_601, /no method tools\/close/],
    ["of the handshake", request(7, "initialize"), {}, 404, -32_601, /no method initialize/],
  ])("a request %s is refused", async (_, it, changes, status, code, message) => {
    const response = await post(it, changes);
    expect(response.status).toBe(status);
    expect(response.json).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      error: { code, message: expect.stringMatching(message) as string },
    });
    expect((await post(add(8, 1))).json).toMatchObject({
      result: { structuredContent: { value: 1 } },
    });
  });

  test("a subscription ends once it is acknowledged, because nothing is announced", async () => {
    const { headers, text } = await post(request(1, "subscriptions/listen", { notifications: {} }));
    expect(headers["content-type"]).toBe("text/event-stream");
    const messages = [...text.matchAll(/^data: (.*)$/gm)].map(it => JSON.parse(it[1]!) as object);
    expect(messages).toMatchObject([
      { method: "notifications/subscriptions/acknowledged" },
      { id: 1, result: { resultType: "complete" } },
    ]);
  });
});

const serve = (...args: readonly string[]) => {
  const child = spawn(process.execPath, [join(root, "dist/cli.js"), ...args], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    stdin: child.stdin,
    readLine: async () => JSON.parse((await lines.next()).value!) as never,
  };
};

test("processes that share a service answer in the same way", async () => {
  const { url } = (await serve("serve", "--port", "0", "--workers", "2").readLine()) as {
    url: string;
  };
  const id = createSessionId();
  await sendRequest(`${url}/v1/sessions/${id}`, "PUT", { body: { servers: ["banking"] } });
  const post = (body: ReturnType<typeof request>, changes?: Record<string, string>) =>
    sendRequest(`${url}/s/${id}/banking/mcp`, "POST", { body, headers: headersOf(body, changes) });
  expect((await post(request(1, "server/discover"))).json).toMatchObject({
    result: { supportedVersions: expect.arrayContaining([version]) as string[] },
  });
  const call = request(2, "tools/call", { name: "banking_list_accounts", arguments: {} });
  expect((await post(call)).json).toMatchObject({ result: { resultType: "complete" } });
  expect(await post(call, { "mcp-name": "other" })).toMatchObject({
    status: 400,
    json: { error: { code: -32_020 } },
  });
});

test("over stdio, requests of both kinds may be mixed", async () => {
  const { stdin, readLine } = serve("stdio", "banking");
  const send = (message: object) => void stdin.write(`${JSON.stringify(message)}\n`);
  send(request(1, "server/discover"));
  expect(await readLine()).toMatchObject({ id: 1, result: { resultType: "complete" } });
  const list = { name: "banking_list_accounts", arguments: {} };
  send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: list });
  const old = (await readLine()) as { result: object };
  expect(old.result).not.toHaveProperty("resultType");
  send(request(3, "tools/call", list));
  expect(await readLine()).toMatchObject({
    id: 3,
    result: { ...old.result, resultType: "complete" },
  });
});

describe("a third-party server that knows no handshake", () => {
  const connectOwn = async (manner = "") => {
    const entry = {
      name: "modern",
      command: process.execPath,
      args: [join(root, "test/mcp/statelessServer.ts"), manner],
      env: {},
      cwd: root,
      isDisposable: true,
      errorKeys: [],
      ignoredKeys: [],
    };
    const session = await connectServer(entry, new AbortController().signal);
    onTestFinished(() => session.close());
    return session;
  };

  test("is spoken to without one", async () => {
    const session = await connectOwn();
    expect(session.serverInfo).toEqual({ name: "modern", version: "3.1.4" });
    expect([...session.tools.keys()]).toEqual(["echo", "ask"]);
    expect(await session.call("echo", { text: "12345678901234567890" })).toEqual({
      kind: "ok",
      value: "12345678901234567890",
    });
    expect(await session.listOffers()).toEqual([
      { kind: "resource", name: "file:///a.txt", summary: "A text" },
      { kind: "resource template", name: "file:///{name}", summary: "Any file" },
      { kind: "prompt", name: "greet", summary: "Greets a person" },
    ]);
  });

  test("cannot ask for an input in the midst of a call", async () => {
    const session = await connectOwn();
    expect(await session.call("ask", {})).toMatchObject({
      kind: "refused",
      type: "precondition_failed",
      message: "it asks for an input of the client, which has none to give",
    });
  });

  test("is refused if it knows other versions only", async () => {
    await expect(connectOwn("2031-01-01")).rejects.toThrow(/initialize is not known/);
  });
});
