/**
 * Random requests to every route of the service, most of each as it should be. Each is answered
 * with a result or a refusal that says why, none with an error of the service, and the next request
 * of another client is answered.
 */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Json } from "../../../src/environment/json.ts";
import { exposeServer } from "../../../src/mcp/exposedServer.ts";
import { createConnectionSessions, StdioTransport } from "../../../src/mcp/stdioTransport.ts";
import { servePolicy } from "../../../src/policy/servedPolicy.ts";
import { startHttpServer, type RunningHttpServer } from "../../../src/service/httpServer.ts";
import { createSessionId } from "../../../src/service/sessions/sessionTable.ts";
import { openTaskStore } from "../../../src/service/taskStore.ts";
import { formatTaskLine, type Task } from "../../../src/trajectory/task.ts";
import { formatTrajectoryLine } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { sendRequest } from "../../service/countingService.ts";
import { moveFifty, moveTwice } from "../../trajectory/sampleTasks.ts";
import { countRuns, spoiled, spoiledText } from "./mutations.ts";

let serving: RunningHttpServer;
let task: Task;
const bugs: unknown[] = [];
beforeAll(async () => {
  task = await moveTwice();
  const lines = [task, await moveFifty()].map(it => `${formatTaskLine(it)}\n`);
  const file = join(mkdtempSync(join(tmpdir(), "prove-rl-")), "some.tasks.jsonl");
  writeFileSync(file, lines.join(""));
  const policy = {
    name: "fuzzed",
    next: async () => ({ text: "Done.", calls: [] }),
    readToken: (id: number) => Buffer.from(`t${id}`),
  };
  serving = await startHttpServer({
    catalog,
    tasks: await openTaskStore([file]),
    policy: servePolicy(policy, { model: "m", catalog, now: "2026-03-02T09:00" }),
    onBug: it => void bugs.push(it),
  });
});
afterAll(() => serving.close());

/** Sends a request, and checks its answer and that another client is answered after it. */
async function checkAnswer(method: string, path: string, body: Json): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  // Node sends no length of the body of other requests, so that it would be another request
  const hasBody = method.startsWith("P");
  const answer = await sendRequest(serving.url + path, method, hasBody ? { body: text } : {});
  const said = () => `${method} ${path} ${text.slice(0, 2_000)}: ${answer.status} ${answer.text}`;
  if (bugs.length > 0) expect.fail(`${said()}\n${String((bugs.pop() as Error).stack)}`);
  expect(answer.status, said()).toBeLessThan(500);
  if (answer.status >= 400) {
    const { error } = answer.json as { error?: { message?: unknown } | string };
    const message = typeof error === "string" ? error : error?.message;
    expect(message, said()).toBeTypeOf("string");
  }
  expect((await sendRequest(`${serving.url}/health`, "GET")).status).toBe(200);
}

const messageOf = (content: string, name?: string, args = "{}"): Json => ({
  role: "assistant",
  content,
  tool_calls:
    name === undefined ? [] : [{ id: "c1", type: "function", function: { name, arguments: args } }],
});

/** The requests of an attempt at a task, each as its route wants it. */
const requests: Readonly<Record<string, readonly Json[]>> = {
  call: [
    { seq: 1, name: "banking_list_accounts", arguments: { name: "Savings" } },
    { seq: 1, name: "banking_get_balance", arguments: { account_id: "acc_101" }, parallel: true },
  ],
  message: [
    {
      seq: 1,
      message: messageOf("", "banking_list_accounts", '{"name":"Savings"}'),
    },
    { seq: 1, message: messageOf("Would you like me to move it?"), cut: false },
    {
      seq: 2,
      message: messageOf(
        '<tool_call>\n{"name": "banking_get_balance", "arguments": {"account_id": "acc_101"}}\n</tool_call>',
      ),
    },
  ],
  user: [{ seq: 1, assistant_text: "Shall I transfer 50 euros?", cut: false }],
  score: [
    { profile: "prove-plus", evidence: true, prefixes: true, group: true },
    { prefix: 1, messages: [messageOf("Hi", "banking_list_accounts")], cut: false },
  ],
  fork: [{ session_id: "fuzzed-fork-0000000001", owner: "somebody", ttl_s: 60 }],
  reset: [{}],
  tools: [{ add: ["banking_deposit"] }],
  restore: [{ state: {} }],
};

test("/v1: requests to a session of a task or on fixtures", async () => {
  const openings: readonly Json[] = [
    { task_id: task.id, turn: 0, seed: task.seed, trajectory_id: "t1", policy: "p", ttl_s: 60 },
    { task_id: task.id, max_messages: 8, owner: "somebody" },
    { servers: ["banking", { name: "calendar", fixture: "small" }], seed: 7 },
    { servers: ["banking"], menu: ["banking_get_balance"], ttl_s: 60 },
  ];
  const steps = fc.oneof(
    ...Object.entries(requests).map(([name, bodies]) =>
      fc.record({ name: fc.constant(name), body: spoiled(bodies) }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(spoiled(openings), fc.constantFrom(...openings)),
      fc.array(steps, { minLength: 1, maxLength: 4 }),
      async (opening, list) => {
        const at = `/v1/sessions/${createSessionId()}`;
        await checkAnswer("PUT", at, opening);
        for (const { name, body } of list) await checkAnswer("POST", `${at}/${name}`, body);
        for (const path of [`${at}/state?server=banking`, `${at}/trajectory`]) {
          const { status } = await sendRequest(serving.url + path, "GET");
          expect(status).toBeLessThan(500);
        }
        await checkAnswer("DELETE", at, {});
      },
    ),
    { numRuns: countRuns(40) },
  );
});

test("/v1: batches, recorded attempts, and texts that are no JSON", async () => {
  const session_id = "fuzzed-batch-000000001";
  const batch = {
    requests: [
      { do: "open", session_id, body: { task_id: task.id } },
      ...["message", "call", "user", "score"].map(it => ({
        do: it,
        session_id,
        body: requests[it]![0]!,
      })),
      { do: "delete", session_id },
    ],
  };
  const trajectory = formatTrajectoryLine(task.trajectory) as unknown as Json;
  const scores = { profile: "paper", evidence: true, prefixes: true, trajectories: [trajectory] };
  const bodies = fc.oneof(
    spoiled([batch]).map(body => ["sessions:batch", body] as const),
    spoiled([scores]).map(body => ["scores", body] as const),
    spoiledText([JSON.stringify(batch)]).map(body => ["sessions:batch", body] as const),
    spoiledText([JSON.stringify(scores)]).map(body => ["scores", body] as const),
  );
  await fc.assert(
    fc.asyncProperty(bodies, ([name, body]) => checkAnswer("POST", `/v1/${name}`, body)),
    { numRuns: countRuns(60) },
  );
});

test("addresses and queries", async () => {
  const paths = [
    `/v1/tasks?offset=0&limit=10&split=train`,
    `/v1/tasks/${task.id}`,
    "/v1/sessions/fuzzed-address-0000001/state?server=banking",
    "/v1/models/m",
    "/openapi.json",
    "/s/fuzzed-address-0000001/banking/mcp",
  ];
  await fc.assert(
    fc.asyncProperty(
      spoiledText(paths),
      fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH"),
      async (path, method) => {
        // a client could not write other characters into the first line of a request
        const written = `/${path.slice(1).replaceAll(/[^!-~]|[\ud800-\udfff]/gu, "%00")}`;
        await checkAnswer(method, written.slice(0, 4_000), method === "GET" ? "" : {});
      },
    ),
    { numRuns: countRuns(60) },
  );
});

test("chat completions", async () => {
  const chat = {
    model: "m",
    messages: [
      { role: "system", content: "Today is 2026-05-04 10:30." },
      { role: "user", content: [{ type: "text", text: "Add one" }] },
      messageOf("", "counting_add", '{"by":1}'),
      { role: "tool", tool_call_id: "c1", content: '{"value":1}' },
      { role: "user", content: "Thanks" },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "counting_add",
          description: "Add.",
          parameters: {
            type: "object",
            properties: { by: { type: "integer", enum: [1, 2] }, notes: { type: "array" } },
            required: ["by"],
          },
        },
      },
    ],
    tool_choice: "auto",
    temperature: 1,
    max_tokens: 20,
    n: 1,
    stop: ["\n"],
    seed: 3,
    stream: false,
  };
  const bodies = fc.oneof(
    { weight: 3, arbitrary: spoiled([chat, { ...chat, stream: true }]) },
    { weight: 1, arbitrary: spoiledText([JSON.stringify(chat)]) },
  );
  await fc.assert(
    fc.asyncProperty(bodies, body => checkAnswer("POST", "/v1/chat/completions", body)),
    { numRuns: countRuns(80) },
  );
});

/** Messages of an MCP client, in their order. */
const mcpMessages: readonly Json[] = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} },
  {
    jsonrpc: "2.0",
    id: 3,
    method: "tools/call",
    params: { name: "banking_get_balance", arguments: { account_id: "acc_101" } },
  },
  { jsonrpc: "2.0", id: 4, method: "resources/read", params: { uri: "state://banking" } },
];

test("MCP over HTTP, of a session and of OpenEnv", async () => {
  const id = createSessionId();
  await checkAnswer("PUT", `/v1/sessions/${id}`, { servers: ["banking"] });
  const bodies = fc.oneof(
    { weight: 3, arbitrary: spoiled([...mcpMessages, [...mcpMessages]]) },
    { weight: 1, arbitrary: spoiledText(mcpMessages.map(it => JSON.stringify(it))) },
  );
  await fc.assert(
    fc.asyncProperty(
      bodies,
      fc.constantFrom(serving.mcpPath(id, "banking"), "/mcp"),
      (body, path) => checkAnswer("POST", path, body),
    ),
    { numRuns: countRuns(80) },
  );
});

test("MCP over stdio", async () => {
  const lines = fc.oneof(
    spoiled(mcpMessages).map(it => JSON.stringify(it)),
    spoiledText(mcpMessages.map(it => JSON.stringify(it))).map(it => it.replaceAll("\n", " ")),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(lines, { minLength: 1, maxLength: 4 }), async list => {
      const server = catalog.getServer("banking");
      const { getSession, methods } = createConnectionSessions(server, {
        catalog,
        fixture: "small",
        seed: 1,
      });
      const exposed = exposeServer(server, getSession, methods);
      const input = new PassThrough();
      const output = new PassThrough({ encoding: "utf8" });
      await exposed.sdkServer.connect(new StdioTransport(exposed, input, output));
      for (const it of list) input.write(`${it}\n`);
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: "last", method: "ping" })}\n`);
      let said = "";
      for await (const chunk of output) {
        said += String(chunk);
        if (said.includes('"id":"last"')) break;
      }
      expect(said).toContain('"id":"last"');
      await exposed.sdkServer.close();
    }),
    { numRuns: countRuns(40) },
  );
});

const openEnvMessages: readonly Json[] = [
  { type: "reset", data: { task_id: "t-twice", turn: -1, seed: 1, profile: "prove-plus" } },
  { type: "step", data: { type: "list_tools" } },
  {
    type: "step",
    data: {
      type: "call_tool",
      tool_name: "banking_get_balance",
      arguments: { account_id: "acc_101" },
    },
  },
  {
    type: "step",
    data: { type: "message", message: messageOf("", "banking_list_accounts"), cut: false },
  },
  { type: "step", data: { type: "finish", text: "Done.", messages: [messageOf("Done.")] } },
  { type: "state" },
];

test("OpenEnv over its WebSocket", async () => {
  const messages = fc.oneof(
    { weight: 3, arbitrary: spoiled(openEnvMessages).map(it => JSON.stringify(it)) },
    { weight: 1, arbitrary: spoiledText(openEnvMessages.map(it => JSON.stringify(it))) },
    { weight: 2, arbitrary: fc.constantFrom(...openEnvMessages.map(it => JSON.stringify(it))) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(messages, { minLength: 1, maxLength: 5 }), async list => {
      const socket = new WebSocket(`${serving.url.replace("http", "ws")}/ws`);
      await once(socket, "open");
      const closed = once(socket, "close").then(() => undefined);
      for (const it of list) {
        const answered = once(socket, "message") as Promise<[Buffer]>;
        socket.send(it);
        const answer = await Promise.race([answered, closed]);
        if (bugs.length > 0) expect.fail(`${it}\n${String((bugs.pop() as Error).stack)}`);
        // a connection that is closed has said why
        if (!answer) break;
        expect(JSON.parse(String(answer[0])), it).toMatchObject({ type: expect.any(String) });
      }
      socket.terminate();
      await closed;
      expect((await sendRequest(`${serving.url}/health`, "GET")).status).toBe(200);
    }),
    { numRuns: countRuns(40) },
  );
});

test("OpenEnv over HTTP", async () => {
  const bodies = fc.oneof(
    ...["/reset", "/step"].map(path =>
      spoiled(
        openEnvMessages
          .filter(it => `/${(it as { type: string }).type}` === path)
          .map(it => (it as { data: Json }).data),
      ).map(body => [path, body] as const),
    ),
  );
  await fc.assert(
    fc.asyncProperty(bodies, ([path, body]) => checkAnswer("POST", path, body)),
    { numRuns: countRuns(40) },
  );
});
