/** MCP over Streamable HTTP, with requests that the SDK's own client would not send. */
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { catalog, clientAt } from "../contracts/transports.ts";
import { sendRequest, countingCatalog, type RequestOptions } from "../service/countingService.ts";
import { serveFixture } from "./fixtureServer.ts";

let serving: RunningHttpServer;
let id: string;
beforeEach(async () => {
  serving = await startHttpServer({ catalog: countingCatalog() });
  id = serving.sessions.open({
    owner: "test",
    servers: [{ name: "counting", fixture: "full" }],
    seed: 1,
  }).id;
});
afterEach(() => serving.close());

const address = (session = id) => `${serving.url}${serving.mcpPath(session, "counting")}`;
const post = (body: unknown, asked: RequestOptions = {}, session = id) =>
  sendRequest(address(session), "POST", { ...asked, body });
const request = (number: number | string, method: string, params?: object) => ({
  jsonrpc: "2.0",
  id: number,
  method,
  ...(params ? { params } : {}),
});
const add = (number: number | string, by: number, more: object = {}) =>
  request(number, "tools/call", {
    name: "counting_add",
    arguments: { counter_id: "cnt_1", by },
    ...more,
  });
const initialize = (protocolVersion: string) =>
  request(0, "initialize", {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });

describe("the handshake", () => {
  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2031-01-01", "2025-11-25"],
  ])(
    "asked for %s answers %s, as plain JSON and without a session of headers",
    async (wanted, given) => {
      const response = await post(initialize(wanted));
      expect(response.status).toBe(200);
      expect(response.headers["content-type"]).toBe("application/json");
      expect(response.headers["mcp-session-id"]).toBeUndefined();
      expect(response.json).toMatchObject({
        jsonrpc: "2.0",
        id: 0,
        result: {
          protocolVersion: given,
          serverInfo: { name: "prove-counting" },
          capabilities: { tools: {}, resources: {} },
        },
      });
    },
  );

  test("is not needed, because the URL names the session", async () => {
    expect((await post(add("first", 3))).json).toMatchObject({
      id: "first",
      result: { structuredContent: { counter_id: "cnt_1", value: 3 } },
    });
  });

  test("is followed by a notification, which gets no reply", async () => {
    expect(await post({ jsonrpc: "2.0", method: "notifications/initialized" })).toMatchObject({
      status: 202,
      text: "",
    });
    expect(
      await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }),
    ).toMatchObject({ status: 202, text: "" });
  });

  test("GET and DELETE are refused", async () => {
    for (const method of ["GET", "DELETE", "OPTIONS", "PATCH"]) {
      const response = await sendRequest(address(), method, {
        headers: { accept: "text/event-stream", "mcp-session-id": id },
      });
      expect(response.status).toBe(405);
      expect(response.headers["allow"]).toBe("POST");
    }
  });
});

describe("calls", () => {
  test("return the value as text and as structured content", async () => {
    const response = await post(add(1, 2));
    expect(response.json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        content: [{ type: "text", text: `{"counter_id":"cnt_1","value":2}` }],
        structuredContent: { counter_id: "cnt_1", value: 2 },
      },
    });
  });

  test.each([
    [
      "a refusal",
      add(1, 1, { arguments: { counter_id: "x", by: 1 } }),
      {
        error_type: "not_found",
        message: "there is no counter x",
        hint: "counting_list shows them",
      },
    ],
    [
      "a call without arguments",
      request(1, "tools/call", { name: "counting_add" }),
      { error_type: "invalid_params", message: "missing required argument counter_id" },
    ],
    [
      "null for arguments",
      request(1, "tools/call", { name: "counting_add", arguments: null }),
      { error_type: "invalid_params", message: "missing required argument counter_id" },
    ],
    [
      "an unknown tool",
      request(1, "tools/call", { name: "banking_transfer", arguments: {} }),
      {
        error_type: "unknown_tool",
        message: "there is no tool banking_transfer",
        hint: "call one of the tools on offer",
      },
    ],
    [
      "what broke, without saying where",
      request(1, "tools/call", { name: "counting_crash" }),
      { error_type: "internal", message: "counting_crash broke: TypeError: planted" },
    ],
  ])("report %s in text that a model can act on", async (_, message, fault) => {
    expect((await post(message)).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { isError: true, content: [{ type: "text", text: JSON.stringify(fault) }] },
    });
    expect((await post(add(2, 1))).json.result["structuredContent"]).toEqual({
      counter_id: "cnt_1",
      value: 1,
    });
  });

  test("with arguments nested 100,000 levels deep are refused", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"counting_add","arguments":{"counter_id":${"[".repeat(100_000)}${"]".repeat(100_000)},"by":1}}}`;
    expect((await post(body)).json.result).toEqual({
      isError: true,
      content: [
        {
          type: "text",
          text: `{"error_type":"invalid_params","message":"the arguments are nested more than 64 levels deep"}`,
        },
      ],
    });
  });

  test("in a list run in order, each with a reply", async () => {
    const response = await post([
      add(1, 1),
      request(2, "ping"),
      add("c", 2),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      request(4, "tools/call", { name: "counting_list" }),
    ]);
    expect(response.status).toBe(200);
    const answers = response.json as unknown as {
      id: number | string;
      result: { structuredContent?: object };
    }[];
    expect(new Map(answers.map(it => [it.id, it.result.structuredContent]))).toEqual(
      new Map<number | string, object | undefined>([
        [1, { counter_id: "cnt_1", value: 1 }],
        [2, undefined],
        ["c", { counter_id: "cnt_1", value: 3 }],
        [
          4,
          {
            counters: [
              { counter_id: "cnt_1", value: 3 },
              { counter_id: "cnt_2", value: 5 },
            ],
          },
        ],
      ]),
    );
  });

  test("of clients that use the same ids do not mix", async () => {
    const other = serving.sessions.open({
      owner: "other",
      servers: [{ name: "counting", fixture: "full" }],
      seed: 1,
    }).id;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 2 ? post(add(1, 1), {}, other) : post(request(1, "ping")),
      ),
    );
    expect(
      answers
        .filter((_, i) => i % 2)
        .map(it => (it.json.result["structuredContent"] as { value: number }).value)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(answers.filter((_, i) => i % 2 === 0).map(it => it.json.result)).toEqual(
      Array.from({ length: 20 }, () => ({})),
    );
  });
});

describe("the session", () => {
  test("is that of the URL, even if a request names another", async () => {
    const other = serving.sessions.open({
      owner: "other",
      servers: [{ name: "counting", fixture: "full" }],
      seed: 1,
    });
    const before = other.digest;
    await post(add(1, 9, { _meta: { "prove/sessionId": other.id, progressToken: 7 } }), {
      headers: { "mcp-session-id": other.id },
    });
    expect(other.digest).toBe(before);
    expect(serving.sessions.get(id)!.callCount).toBe(1);
  });

  test("is shared with `/v1`, whose numbering does not count these calls", async () => {
    await post(add(1, 4));
    const response = await sendRequest(`${serving.url}/v1/sessions/${id}/call`, "POST", {
      body: { seq: 1, name: "counting_add", arguments: { counter_id: "cnt_1", by: 1 } },
    });
    expect(response.json.structured.value).toBe(5);
  });

  test("that does not exist, or lacks the server, is not found", async () => {
    const gone = createSessionId();
    expect(await post(add(1, 1), {}, gone)).toMatchObject({
      status: 404,
      json: { error: { code: "UNKNOWN_SESSION" } },
    });
    expect(
      await sendRequest(address().replace("/counting/", "/banking/"), "POST", { body: add(1, 1) }),
    ).toMatchObject({
      status: 404,
      json: {
        error: {
          code: "UNKNOWN_SERVER",
          message: `session ${id} has no server banking: choose one of counting`,
        },
      },
    });
    await sendRequest(`${serving.url}/v1/sessions/${id}`, "DELETE");
    expect((await post(add(1, 1))).status).toBe(404);
  });

  test("cannot be reset by an agent", async () => {
    for (const method of ["prove/restore", "prove/open", "prove/close", "prove/state"])
      expect((await post(request(1, method, {}))).json.error).toMatchObject({ code: -32601 });
  });

  test("offers only its menu", async () => {
    const narrow = serving.sessions.open({
      owner: "test",
      servers: [{ name: "counting", fixture: "full" }],
      seed: 1,
      menu: ["counting_list"],
    }).id;
    expect((await post(request(1, "tools/list"), {}, narrow)).json.result["tools"]).toMatchObject([
      { name: "counting_list", annotations: { readOnlyHint: true, openWorldHint: false } },
    ]);
    expect((await post(add(1, 1), {}, narrow)).json.result).toMatchObject({ isError: true });
  });

  test("on several servers has an address for each", async () => {
    const all = await startHttpServer({ catalog });
    try {
      const both = all.sessions.open({
        owner: "test",
        servers: [
          { name: "banking", fixture: "small" },
          { name: "calendar", fixture: "small" },
        ],
        seed: 1,
      });
      const [banking, calendar] = await Promise.all(
        ["banking", "calendar"].map(it => clientAt(`${all.url}${all.mcpPath(both.id, it)}`)),
      );
      expect((await banking!.listTools()).tools.every(it => it.name.startsWith("banking_"))).toBe(
        true,
      );
      const wrong = await calendar!.callTool({ name: "banking_list_accounts", arguments: {} });
      expect(wrong).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("unknown_tool") as string }],
      });
      expect(both.callCount).toBe(0);
      await Promise.all([banking!.close(), calendar!.close()]);
    } finally {
      await all.close();
    }
  });
});

describe("an invalid request", () => {
  test.each([
    ["no JSON-RPC", { hello: 1 }, 400, -32600],
    ["JSON-RPC of another version", { jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32600],
    ["a number", 7, 400, -32600],
    ["an empty list", [], 400, -32600],
    ["a list too long", Array.from({ length: 101 }, (_, i) => request(i, "ping")), 400, -32600],
    ["a list with one wrong message", [request(1, "ping"), null], 400, -32600],
    [
      "an id that is an object",
      { jsonrpc: "2.0", id: {}, method: "tools/call", params: {} },
      400,
      -32600,
    ],
  ])("is refused: %s", async (_, body, status, code) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(response.json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  test.each([
    [
      "arguments that are a list",
      request(1, "tools/call", { name: "counting_add", arguments: [] }),
      -32602,
      "the arguments of a call are an object",
    ],
    [
      "a call of nothing",
      request(1, "tools/call", {}),
      -32602,
      "tools/call needs the name of a tool",
    ],
    ["a method that is not there", request(1, "tools/fly"), -32601, "there is no method tools/fly"],
    [
      "a method of every object",
      request(1, "constructor"),
      -32601,
      "there is no method constructor",
    ],
  ])("is answered: %s", async (_, body, code, message) => {
    expect((await post(body)).json).toEqual({ jsonrpc: "2.0", id: 1, error: { code, message } });
  });

  test("is refused for its headers", async () => {
    expect((await post(add(1, 1), { headers: { accept: "text/html" } })).status).toBe(406);
    expect(
      (await post(add(1, 1), { headers: { "mcp-protocol-version": "1999-01-01" } })).status,
    ).toBe(400);
    for (const accept of ["application/json", "application/json, text/event-stream", "*/*"])
      expect(
        (
          await post(request(1, "ping"), {
            headers: { accept, "mcp-protocol-version": "2025-06-18" },
          })
        ).status,
      ).toBe(200);
  });
});

test("a client that disconnects does not affect the replies of others", async () => {
  const { hostname, port, pathname } = new URL(address());
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify(request(1, "ping"));
    const whole = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await new Promise<void>(resolve => socket.write(whole, () => resolve()));
    socket.destroy();
    expect((await post(request(1, "ping"))).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  }
});

describe("a slow server", () => {
  let fixture: Awaited<ReturnType<typeof serveFixture>>;
  beforeEach(async () => {
    fixture = await serveFixture();
  });
  afterEach(() => fixture.close());
  const asked = (name: string, more: object = {}) =>
    sendRequest(fixture.url, "POST", {
      body: request(1, "tools/call", { name, arguments: {}, ...more }),
    });

  test("sends messages before its reply as a stream that ends with the reply", async () => {
    const response = await asked("test_tool_with_progress", { _meta: { progressToken: "mine" } });
    expect(response.status).toBe(200);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const events = response.text
      .trimEnd()
      .split("\n\n")
      .map(
        it =>
          JSON.parse(it.replace("event: message\ndata: ", "")) as {
            id?: number;
            params?: { progress: number; progressToken: string };
          },
      );
    expect(events.map(it => it.params ?? it.id)).toEqual(
      [0, 50, 100]
        .map(progress => ({ progressToken: "mine", progress, total: 100 }))
        .concat(1 as never),
    );
  });

  test("answers concurrent clients that use the same ids", async () => {
    const [slow, quick, other] = await Promise.all([
      asked("test_tool_with_progress"),
      asked("test_simple_text"),
      asked("test_tool_with_progress", { _meta: { progressToken: 8 } }),
    ]);
    expect([slow, quick].map(it => [it.json.id, it.json.result["content"]])).toEqual([
      [1, [{ type: "text", text: "done" }]],
      [1, [{ type: "text", text: "This is a simple text response for testing." }]],
    ]);
    expect(other.text.match(/"progressToken":8/g)).toHaveLength(3);
  });

  test("answers a list when its last request is answered", async () => {
    const response = await sendRequest(fixture.url, "POST", {
      body: [request("a", "tools/call", { name: "test_tool_with_progress" }), request("b", "ping")],
    });
    expect((response.json as unknown as { id: string }[]).map(it => it.id)).toEqual(["b", "a"]);
  });

  test("drops the reply of a client that has disconnected", async () => {
    const { hostname, port } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify(
      request(1, "tools/call", { name: "test_tool_with_logging", arguments: {} }),
    );
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise(resolve => socket.once("data", resolve));
    socket.destroy();
    expect((await asked("test_tool_with_progress")).json.result["content"]).toEqual([
      { type: "text", text: "done" },
    ]);
  });
});

describe("the state as resources", () => {
  test("is listed as a whole and by table, and read as it is now", async () => {
    const client = await clientAt(address());
    expect((await client.listResources()).resources.map(it => [it.uri, it.mimeType])).toEqual([
      ["state://counting", "application/json"],
      ["state://counting/counters", "application/json"],
    ]);
    expect(
      (await client.listResourceTemplates()).resourceTemplates.map(it => it.uriTemplate),
    ).toEqual(["state://counting/{table}"]);
    await client.callTool({ name: "counting_add", arguments: { counter_id: "cnt_1", by: 6 } });
    const read = async (uri: string) =>
      JSON.parse(
        ((await client.readResource({ uri })).contents[0] as { text: string }).text,
      ) as unknown;
    expect(await read("state://counting/counters")).toEqual({
      cnt_1: { value: 6 },
      cnt_2: { value: 5 },
    });
    expect(await read("state://counting")).toEqual({
      world: { counters: { cnt_1: { value: 6 }, cnt_2: { value: 5 } }, limit: 100 },
      clock: "2026-03-09T09:01",
      draws: 0,
    });
    await client.close();
  });

  test.each([
    "state://counting/nothing",
    "state://counting/limit",
    "state://banking",
    "state://counting/",
    "state://counting/__proto__",
    "file:///etc/passwd",
  ])("has no %s", async uri => {
    expect((await post(request(1, "resources/read", { uri }))).json.error).toEqual({
      code: -32002,
      message: `there is no resource ${uri}; resources/list has them`,
      data: { uri },
    });
  });
});
