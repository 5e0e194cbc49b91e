/** MCP over stdio: valid and invalid lines, however they are split into chunks. */
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createConnectionSessions, StdioTransport } from "../../src/mcp/stdioTransport.ts";
import { exposeServer } from "../../src/mcp/exposedServer.ts";
import { counting, countingCatalog } from "../service/countingService.ts";

interface Reply {
  readonly id: number | string | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

let input: PassThrough;
let replies: Reply[];
let arrived: () => void;
let isClosed: boolean;
beforeEach(async () => {
  const { getSession, methods } = createConnectionSessions(counting, {
    catalog: countingCatalog(),
    fixture: "full",
    seed: 1,
  });
  const exposed = exposeServer(counting, getSession, methods);
  input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  replies = [];
  arrived = () => {};
  isClosed = false;
  let rest = "";
  output.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    replies.push(...lines.map(it => JSON.parse(it) as Reply));
    arrived();
  });
  exposed.sdkServer.onclose = () => {
    isClosed = true;
    arrived();
  };
  await exposed.sdkServer.connect(new StdioTransport(exposed, input, output));
});
afterEach(() => void input.end());

const line = (id: number | string, method: string, params?: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, ...(params ? { params } : {}) })}\n`;
const add = (id: number | string, by: number, session?: string) =>
  line(id, "tools/call", {
    name: "counting_add",
    arguments: { counter_id: "cnt_1", by },
    ...(session ? { _meta: { "prove/sessionId": session } } : {}),
  });
const control = (id: number, method: string, session: string, params: object = {}) =>
  line(id, method, { ...params, _meta: { "prove/sessionId": session } });
const answered = (n: number) =>
  new Promise<Reply[]>(resolve => {
    arrived = () => {
      if (replies.length >= n || isClosed) resolve(replies);
    };
    arrived();
  });
const valueOf = (it: Reply) =>
  (it.result?.["structuredContent"] as { value: number } | undefined)?.value;

test("requests that arrive together are answered in order", async () => {
  input.write(Array.from({ length: 50 }, (_, i) => add(i, 1)).join(""));
  const all = await answered(50);
  expect(all.map(it => it.id)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  expect(all.map(valueOf)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
});

test("a message may arrive in chunks, even within a character", async () => {
  const bytes = Buffer.from(
    line("naïve ✓", "tools/call", {
      name: "counting_add",
      arguments: { counter_id: "cnt_1", by: 2 },
    }),
  );
  for (const byte of bytes) input.write(Buffer.from([byte]));
  expect(await answered(1)).toMatchObject([
    { id: "naïve ✓", result: { structuredContent: { value: 2 } } },
  ]);
});

test("a chunk may contain the end of one message and the beginning of the next", async () => {
  const whole = Array.from({ length: 12 }, (_, i) => add(i, 1)).join("");
  for (let at = 0; at < whole.length; at += 97) input.write(whole.slice(at, at + 97));
  expect((await answered(12)).map(valueOf)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test("Windows line breaks are accepted and empty lines ignored", async () => {
  input.write(`\n\r\n${add(1, 1).trimEnd()}\r\n\n`);
  expect((await answered(1)).map(valueOf)).toEqual([1]);
});

test("an invalid message gets an error, and the next one is answered", async () => {
  input.write(`{"jsonrpc":\n[1]\n{"jsonrpc":"2.0","id":null,"method":"ping"}\n${add(1, 1)}`);
  expect((await answered(4)).map(it => [it.id, it.error?.code ?? valueOf(it)])).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [1, 1],
  ]);
});

test("requests that the SDK answers may be mixed with others", async () => {
  input.write(
    line(1, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    }) +
      add(2, 1) +
      line(3, "ping") +
      line(4, "nothing/here"),
  );
  const all = await answered(4);
  expect(
    new Map(
      all.map(it => [
        it.id,
        it.error?.code ?? valueOf(it) ?? it.result?.["protocolVersion"] ?? "pong",
      ]),
    ),
  ).toEqual(
    new Map<unknown, unknown>([
      [1, "2025-11-25"],
      [2, 1],
      [3, "pong"],
      [4, -32601],
    ]),
  );
});

test("the state is available as resources", async () => {
  input.write(
    add(1, 3) +
      line(2, "resources/list") +
      line(3, "resources/templates/list") +
      line(4, "resources/read", { uri: "state://counting/counters" }),
  );
  const [, list, templates, read] = await answered(4);
  expect((list!.result!["resources"] as { uri: string }[]).map(it => it.uri)).toEqual([
    "state://counting",
    "state://counting/counters",
  ]);
  expect(templates!.result!["resourceTemplates"]).toMatchObject([
    { uriTemplate: "state://counting/{table}" },
  ]);
  expect(read!.result).toEqual({
    contents: [
      {
        uri: "state://counting/counters",
        mimeType: "application/json",
        text: `{"cnt_1":{"value":3},"cnt_2":{"value":5}}`,
      },
    ],
  });
});

test("the end of the input ends the connection", async () => {
  input.write(add(1, 1));
  input.end();
  await answered(2);
  expect([isClosed, replies.map(valueOf)]).toEqual([true, [1]]);
});

test("a message that is too long closes the connection", async () => {
  const piece = "x".repeat(2 ** 20);
  for (let i = 0; i < 17; i++) input.write(piece);
  await answered(2);
  expect(isClosed).toBe(true);
  expect(replies).toMatchObject([{ id: null, error: { code: -32600 } }]);
});

describe("session requests", () => {
  test("sessions of one connection are independent, and are opened, read, restored and closed in order", async () => {
    input.write(
      control(1, "prove/open", "a") +
        control(2, "prove/open", "b", { seed: 2 }) +
        add(3, 10, "a") +
        add(4, 1, "b") +
        add(5, 1) +
        control(6, "prove/state", "a"),
    );
    const state = (await answered(6))[5]!.result!["state"] as object;
    input.write(
      add(7, 10, "a") +
        control(8, "prove/restore", "a", { state }) +
        add(9, 1, "a") +
        control(10, "prove/restore", "a") +
        add(11, 1, "a") +
        control(12, "prove/close", "a") +
        add(13, 1, "a"),
    );
    const all = await answered(13);
    expect([3, 4, 5, 7, 9, 11].map(it => valueOf(all[it - 1]!))).toEqual([10, 1, 1, 20, 11, 1]);
    expect(all[12]!.error).toEqual({
      code: -32001,
      message: "there is no session a; open it with prove/open",
    });
  });

  test("a restore without a state restores the initial state", async () => {
    input.write(
      control(1, "prove/open", "a") +
        control(2, "prove/state", "a") +
        add(3, 1, "a") +
        control(4, "prove/restore", "a"),
    );
    const all = await answered(4);
    expect(all[3]!.result).toEqual(all[1]!.result);
  });

  test.each([
    ["a fixture that is a path", "prove/open", { fixture: "../x" }, /fixture/],
    ["a fixture that is not there", "prove/open", { fixture: "huge" }, /no fixture huge/],
    ["a seed that is no number", "prove/open", { seed: -1 }, /seed/],
    [
      "a state that does not fit",
      "prove/restore",
      { state: { counting: {} } },
      /is not a state of these servers: at \/counting/,
    ],
  ])("%s is refused", async (_, method, params, message) => {
    input.write(control(1, "prove/open", "a") + control(2, method, "a", params) + add(3, 1, "a"));
    const all = await answered(3);
    expect(all[1]!.error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    expect(valueOf(all[2]!)).toBe(1);
  });

  test("a session id must be a non-empty text", async () => {
    input.write(
      line(1, "tools/list", { _meta: { "prove/sessionId": 7 } }) +
        control(2, "prove/open", "x".repeat(201)),
    );
    expect((await answered(2)).map(it => it.error?.code)).toEqual([-32602, -32602]);
  });
});
