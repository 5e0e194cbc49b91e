/** The OpenEnv routes, through real sockets: episodes, refused messages, and what stays open. */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import * as openEnv from "../../src/service/openEnv/openEnvSchemas.ts";
import { scoreResponse } from "../../src/service/schemas.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { openTaskStore, type TaskStore } from "../../src/service/taskStore.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { catalog } from "../contracts/transports.ts";
import { lookUp, moveFifty, moveTwice, transfer } from "../trajectory/sampleTasks.ts";
import { sendRequest } from "./countingService.ts";

const token = "planted-token-0123456789";
let tasks: TaskStore;
let serving: RunningHttpServer;
beforeAll(async () => {
  const file = join(mkdtempSync(join(tmpdir(), "prove-rl-")), "some.tasks.jsonl");
  const lines = [await moveFifty(), await moveTwice()].map(it => `${formatTaskLine(it)}\n`);
  writeFileSync(file, lines.join(""));
  tasks = await openTaskStore([file]);
  serving = await startHttpServer({ catalog, tasks });
});
afterAll(() => serving.close());

const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const it of sockets.splice(0)) it.terminate();
  vi.useRealTimers();
  await expect.poll(() => serving.sessions.size).toBe(0);
});

interface Answer {
  readonly type: string;
  readonly data: Record<string, unknown> & { readonly code?: string; readonly message?: string };
}

async function open(service = serving, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`, { headers });
  sockets.push(socket);
  await once(socket, "open");
  const receive = async () => JSON.parse(String((await once(socket, "message"))[0])) as Answer;
  const send = (message: unknown): Promise<Answer> => {
    const answer = receive();
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
    return answer;
  };
  const result = async (message: unknown) => {
    const { type, data } = await send(message);
    expect(type, JSON.stringify(data)).toBe("observation");
    const { observation, ...others } = openEnv.stepResponse.parse(data);
    // the union has no field that all have
    return { observation: observation as Record<string, unknown>, ...others };
  };
  return {
    socket,
    send,
    receive,
    reset: (data: object) => result({ type: "reset", data }),
    step: (data: object) => result({ type: "step", data }),
    refusal: async (message: unknown) => {
      const { type, data } = await send(message);
      expect(type).toBe("error");
      return data;
    },
  };
}

const callTool = ({ name, arguments: args }: { name: string; arguments: unknown }) => ({
  type: "call_tool",
  tool_name: name,
  arguments: args,
});
const toMessage = (calls: readonly { name: string; arguments: unknown }[], content = "") => ({
  role: "assistant",
  content,
  tool_calls: calls.map((it, i) => ({
    id: `c${i}`,
    type: "function",
    function: { name: it.name, arguments: JSON.stringify(it.arguments) },
  })),
});

/** The score of the same messages over `/v1`. */
async function scoreOverV1(messages: readonly object[]) {
  const at = `${serving.url}/v1/sessions/${createSessionId()}`;
  await sendRequest(at, "PUT", { body: { task_id: "t-move" } });
  for (const [i, message] of messages.entries())
    await sendRequest(`${at}/message`, "POST", { body: { seq: i + 1, message } });
  const { json } = await sendRequest(`${at}/score`, "POST", { body: {} });
  await sendRequest(at, "DELETE");
  return scoreResponse.parse(json);
}

describe("an episode", () => {
  test("has the score of the same calls over /v1, in its last step only", async () => {
    const { reset, step, socket, send } = await open();
    const first = await reset({ task_id: "t-move", seed: 7, prompt: "ignored", turn: -1 });
    expect(first).toMatchObject({ reward: 0, done: false });
    expect(first.observation).toMatchObject({
      task_id: "t-move",
      turn: null,
      messages: [{ role: "system" }, { role: "user" }],
      ended: null,
      reward_breakdown: null,
    });
    const { observation: listed } = await step({ type: "list_tools" });
    expect(listed["tools"]).toEqual(first.observation["tools"]);
    expect(listed["tools"]).toContainEqual({
      name: "banking_transfer",
      description: expect.any(String),
      input_schema: expect.objectContaining({ type: "object" }),
    });
    const moved = transfer("acc_108", 50);
    for (const it of [lookUp, moved])
      expect(await step(callTool(it))).toMatchObject({
        reward: 0,
        done: false,
        observation: { tool_name: it.name, error: null, reward_breakdown: null },
      });
    expect(await send({ type: "state" })).toEqual({
      type: "state",
      data: {
        episode_id: serving.sessions.all[0]!.id,
        session_id: serving.sessions.all[0]!.id,
        step_count: 2,
        task_id: "t-move",
        digest: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
    const last = await step({ type: "finish", text: "Moved." });
    const expected = await scoreOverV1([
      toMessage([lookUp]),
      toMessage([moved]),
      { role: "assistant", content: "Moved." },
    ]);
    expect(expected).toMatchObject({ reward: 2.3, success: true, ended: "policy" });
    expect(last).toMatchObject({ reward: expected.reward, done: true });
    expect(last.observation["reward_breakdown"]).toEqual(expected);
    socket.send(JSON.stringify({ type: "close" }));
    await once(socket, "close");
    expect(serving.sessions.size).toBe(0);
  });

  test("is scored from messages where these are given, and under the profile of the reset", async () => {
    const { reset, step } = await open();
    await reset({ task_id: "t-move", profile: "paper" });
    await step(callTool(transfer("acc_108", 50)));
    const messages = [
      { role: "user", content: "ignored" },
      toMessage([lookUp, transfer("acc_108", 50)]),
      { role: "tool", tool_call_id: "c0", content: "ignored" },
      { role: "assistant", content: "Moved." },
    ];
    const { observation, done } = await step({ type: "finish", messages });
    expect(done).toBe(true);
    expect(observation["reward_breakdown"]).toMatchObject({
      profile: "paper",
      success: true,
      notes: [expect.stringMatching(/not all the same/)],
    });
  });

  test("goes on with what the user says, message by message", async () => {
    const { reset, step, refusal } = await open();
    await reset({ task_id: "t-twice" });
    const say = (content: string) => ({
      type: "message",
      message: { role: "assistant", content },
    });
    const called = await step({
      type: "message",
      message: toMessage([transfer("acc_108", 50), { name: "fly", arguments: {} }]),
    });
    expect(called.observation["messages"]).toEqual([
      { role: "tool", tool_call_id: "c0", content: expect.stringContaining("from_balance") },
      { role: "tool", tool_call_id: "c1", content: expect.stringContaining("unknown_tool") },
    ]);
    const answered = await step(say("Done."));
    expect(answered).toMatchObject({ reward: 0, done: false });
    expect(answered.observation["messages"]).toEqual([
      { role: "user", content: "And what is left?" },
    ]);
    expect(await step(say("A lot."))).toMatchObject({
      done: true,
      observation: { ended: "policy", reward_breakdown: { success: false } },
    });
    expect(await refusal({ type: "step", data: { type: "finish" } })).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringMatching(/the episode is done/),
    });
    expect(await reset({ task_id: "t-move" })).toMatchObject({ done: false });
    expect(serving.sessions.size).toBe(1);
  });

  test("ends with its score at the limit of messages, and is chosen by seed without a task_id", async () => {
    const { reset, step, send } = await open();
    const { observation } = await reset({ seed: 3, max_messages: 1, episode_id: "mine" });
    expect(observation["task_id"]).toBe("t-twice");
    expect((await send({ type: "state" })).data).toMatchObject({ episode_id: "mine" });
    expect(await step(callTool(lookUp))).toMatchObject({
      done: true,
      reward: expect.any(Number),
      observation: { ended: "limit", messages_left: 0, reward_breakdown: { ended: "limit" } },
    });
  });

  test.each([
    ["a tool that is not there", { name: "fly", arguments: {} }, "tool_not_found"],
    [
      "arguments of a wrong type",
      { name: "banking_get_balance", arguments: { account_id: 1 } },
      "invalid_args",
    ],
    [
      "arguments that are no object",
      { name: "banking_get_balance", arguments: [1] },
      "invalid_args",
    ],
    ["a call that the server refuses", transfer("acc_108", 1e9), "execution_error"],
  ])("goes on after %s", async (_, call, type) => {
    const { reset, step } = await open();
    await reset({ task_id: "t-move" });
    const { observation, done } = await step(callTool(call));
    expect(done).toBe(false);
    expect(observation).toMatchObject({
      result: expect.stringContaining("error_type"),
      error: { error_type: type, message: expect.stringMatching(/./) },
    });
  });
});

describe("a message that is refused leaves the connection open:", () => {
  const wrongTool = { type: "call_tool", tool_name: 7 };
  test.each([
    ["bad JSON", "{", "INVALID_JSON", /not JSON/],
    ["no object", "[]", "VALIDATION_ERROR", /not a JSON object/],
    ["a type that is unknown", { type: "fly" }, "UNKNOWN_TYPE", /send reset, step/],
    ["no type", {}, "UNKNOWN_TYPE", /send reset, step/],
    ["no task and no seed", { type: "reset" }, "VALIDATION_ERROR", /neither task_id nor seed/],
    ["a misspelt task_id", { type: "reset", data: { task: "t" } }, "VALIDATION_ERROR", /neither/],
    ["data that is no object", { type: "reset", data: 5 }, "VALIDATION_ERROR", /object/],
    ["no such task", { type: "reset", data: { task_id: "t" } }, "EXECUTION_ERROR", /no task t:/],
    [
      "another seed",
      { type: "reset", data: { task_id: "t-move", seed: 5 } },
      "VALIDATION_ERROR",
      /the seed of task t-move is/,
    ],
    [
      "a turn that is not there",
      { type: "reset", data: { task_id: "t-move", turn: 9 } },
      "FACTORY_ERROR",
      /turn/,
    ],
    [
      "a step before the reset",
      { type: "step", data: callTool(lookUp) },
      "EXECUTION_ERROR",
      /send reset/,
    ],
    ["JSON-RPC before the reset", { type: "mcp", data: {} }, "EXECUTION_ERROR", /send reset/],
    [
      "an action of an unknown type",
      { type: "step", data: { type: "jump" } },
      "VALIDATION_ERROR",
      /type/,
    ],
    ["an action without data", { type: "step" }, "VALIDATION_ERROR", /type/],
    ["a field of a wrong type", { type: "step", data: wrongTool }, "VALIDATION_ERROR", /tool_name/],
  ] as const)("%s", async (_, message, code, text) => {
    const { refusal, send } = await open();
    expect(await refusal(message)).toEqual({ code, message: expect.stringMatching(text) });
    expect(serving.sessions.size).toBe(0);
    expect(await send({ type: "state" })).toMatchObject({ data: { episode_id: null } });
  });

  test("a step in a session that somebody deleted", async () => {
    const { reset, refusal } = await open();
    await reset({ task_id: "t-move" });
    serving.sessions.closeAll();
    expect(await refusal({ type: "step", data: callTool(lookUp) })).toMatchObject({
      code: "SESSION_ERROR",
    });
  });
});

test("a full service says so, until another episode ends", async () => {
  const full = await startHttpServer({ catalog, tasks, capacity: 1 });
  const [a, b] = [await open(full), await open(full)];
  await a.reset({ task_id: "t-move" });
  // one's own session is not in the way
  await a.reset({ task_id: "t-move" });
  const message = { type: "reset", data: { task_id: "t-move" } };
  expect(await b.refusal(message)).toMatchObject({
    code: "CAPACITY_REACHED",
    message: expect.stringMatching(/all 1 sessions are in use/),
  });
  a.socket.terminate();
  await expect.poll(() => full.sessions.size).toBe(0);
  expect((await b.send(message)).type).toBe("observation");
  await full.close();
  await once(b.socket, "close");
});

describe("a connection", () => {
  /** The status of a refused request for a WebSocket. */
  async function refuse(url: string, headers: Record<string, string>) {
    const socket = new WebSocket(url, { headers });
    const [, response] = (await once(socket, "unexpected-response")) as [
      unknown,
      { statusCode: number; headers: Record<string, string> },
    ];
    socket.on("error", () => {});
    socket.terminate();
    return response.statusCode;
  }

  test.each([
    ["another Host", "/ws", { host: "evil.example.com" }, 403],
    ["another Origin", "/ws", { origin: "https://evil.example.com" }, 403],
    ["a page of another server on this machine", "/ws", { origin: "http://localhost:3000" }, 403],
    ["another address", "/v1/sessions", {}, 404],
  ])("is refused for %s", async (_, path, headers, status) => {
    expect(await refuse(`${serving.url.replace("http", "ws")}${path}`, headers)).toBe(status);
  });

  test("is accepted from a page of the same address, and from pages of named hosts", async () => {
    await open(serving, { origin: serving.url });
    const named = await startHttpServer({ catalog, tasks, allowedHosts: ["localhost"] });
    await open(named, { origin: "http://localhost:3000" });
    expect(
      await refuse(`${named.url.replace("http", "ws")}/ws`, { origin: "http://127.0.0.1:3000" }),
    ).toBe(403);
    await named.close();
  });

  test("needs the token", async () => {
    const guarded = await startHttpServer({ catalog, tasks, token });
    const url = `${guarded.url.replace("http", "ws")}/ws`;
    expect(await refuse(url, {})).toBe(401);
    expect(await refuse(url, { authorization: "Bearer wrong" })).toBe(401);
    const { reset } = await open(guarded, { authorization: `Bearer ${token}` });
    expect(await reset({ task_id: "t-move" })).toMatchObject({ done: false });
    await guarded.close();
  });

  test("that sends a message of 50 MB is closed, with its session", async () => {
    const { reset, socket } = await open();
    await reset({ task_id: "t-move" });
    socket.on("error", () => {});
    socket.send(" ".repeat(50_000_000));
    const [code] = (await once(socket, "close")) as [number];
    // the client may notice the end of the connection before the message that says why
    expect([1006, 1009]).toContain(code);
    await expect.poll(() => serving.sessions.size).toBe(0);
  });

  test("that disconnects while its episode begins leaves no session", async () => {
    const { socket } = await open();
    socket.send(JSON.stringify({ type: "reset", data: { task_id: "t-move" } }));
    socket.send("x");
    socket.terminate();
    await once(socket, "close");
    await expect.poll(() => serving.sessions.size).toBe(0);
  });

  test("whose client does not wait for answers gets them all, in their order", async () => {
    const { socket, reset } = await open();
    await reset({ task_id: "t-move" });
    const received: Answer[] = [];
    const all = new Promise<void>(resolve =>
      socket.on("message", (it: Buffer) => {
        received.push(JSON.parse(it.toString()) as Answer);
        if (received.length === 300) resolve();
      }),
    );
    for (let i = 0; i < 150; i++) {
      socket.send(JSON.stringify({ type: "step", data: { type: "list_tools" } }));
      socket.send(JSON.stringify({ type: "state" }));
    }
    await all;
    expect(received.map(it => it.type)).toEqual(
      Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? "observation" : "state")),
    );
  });

  test("without a client at its other end is closed after ten minutes, and one that waits is not", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let now = 0;
    const timed = await startHttpServer({ catalog, tasks, clock: () => now });
    const waiting = await open(timed);
    await waiting.reset({ task_id: "t-move" });
    const silent = connect(Number(new URL(timed.url).port), "127.0.0.1");
    silent.write(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await once(silent, "data");
    // a masked frame: {"type":"reset","data":{"task_id":"t-move"}}
    const text = Buffer.from('{"type":"reset","data":{"task_id":"t-move"}}');
    silent.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
    await expect.poll(() => timed.sessions.size).toBe(2);
    const closed = once(silent, "close");
    silent.resume();
    for (let minute = 1; minute <= 12; minute++) {
      const pinged = minute > 1 ? once(waiting.socket, "ping") : undefined;
      now = minute * 61_000;
      vi.advanceTimersByTime(15_000);
      await pinged;
      // its answer has arrived when the next message is answered
      if (minute > 1) await waiting.send({ type: "state" });
    }
    await closed;
    expect(timed.sessions.size).toBe(1);
    await timed.close();
  });
});

describe("over HTTP", () => {
  const send = (method: string, path: string, body?: unknown) =>
    sendRequest(serving.url + path, method, body === undefined ? {} : { body });

  test("each request has an episode of its own, and leaves no session", async () => {
    const first = await send("POST", "/reset", { task_id: "t-move" });
    expect(openEnv.stepResponse.parse(first.json)).toMatchObject({ reward: 0, done: false });
    const listed = await send("POST", "/step", { action: { type: "list_tools" } });
    const { observation } = openEnv.stepResponse.parse(listed.json);
    expect((observation as { tools: unknown[] }).tools).toHaveLength(catalog.tools.size);
    expect((await send("GET", "/state")).json).toEqual({ episode_id: null, step_count: 0 });
    expect(await send("POST", "/step", { action: callTool(lookUp) })).toMatchObject({
      status: 409,
      json: { error: { code: "ENDED", message: expect.stringMatching(/send reset/) } },
    });
    expect((await send("POST", "/reset", {})).status).toBe(400);
    expect(serving.sessions.size).toBe(0);
  });

  test("the environment describes itself", async () => {
    expect(openEnv.metadataResponse.parse((await send("GET", "/metadata")).json).name).toBe(
      "PROVE",
    );
    const { action, state } = openEnv.schemaResponse.parse((await send("GET", "/schema")).json);
    expect(action["title"]).toBe("Action");
    expect(state["title"]).toBe("State");
  });

  test("tools are listed and called by JSON-RPC, with a session and without", async () => {
    const rpc = async (method: string, params: object = {}) => {
      const { json } = await send("POST", "/mcp", { jsonrpc: "2.0", id: 1, method, params });
      return json as unknown as { result: Record<string, unknown>; error?: { code: number } };
    };
    const session_id = (await rpc("openenv/session/create")).result["session_id"];
    expect((await rpc("tools/list", { session_id })).result["tools"]).toHaveLength(
      catalog.tools.size,
    );
    const args = { name: lookUp.name, arguments: lookUp.arguments };
    for (const params of [args, { ...args, session_id }])
      expect((await rpc("tools/call", params)).result).toMatchObject({
        is_error: false,
        data: expect.stringContaining("acc_1"),
        content: [{ type: "text" }],
      });
    expect((await rpc("openenv/session/close", { session_id })).result).toEqual({
      session_id,
      closed: true,
    });
    expect((await rpc("openenv/session/close", { session_id })).error?.code).toBe(-32_602);
    expect((await rpc("tools/call")).error?.code).toBe(-32_602);
    expect((await rpc("fly")).error?.code).toBe(-32_601);
    expect((await send("POST", "/mcp", {})).json).toMatchObject({
      jsonrpc: "2.0",
      error: { code: -32_600 },
    });
  });

  test("over a WebSocket, JSON-RPC acts in the session of the episode", async () => {
    const { reset, step, send: sendMessage } = await open();
    const { observation } = await reset({ task_id: "t-move" });
    const rpc = async (method: string, params: object = {}) =>
      (await sendMessage({ type: "mcp", data: { jsonrpc: "2.0", id: 1, method, params } })).data;
    const { result } = await rpc("tools/list");
    expect((result as { tools: unknown[] }).tools).toHaveLength(
      (observation["tools"] as unknown[]).length,
    );
    const moved = transfer("acc_108", 50);
    for (const it of [lookUp, moved]) await rpc("tools/call", it);
    expect(await step({ type: "finish", text: "Moved." })).toMatchObject({ reward: 2.3 });
    expect(
      await rpc("openenv/session/close", { session_id: serving.sessions.all[0]!.id }),
    ).toMatchObject({ error: { code: -32_602 } });
  });
});
