/**
 * A policy behind `/v1/chat/completions`, asked with OpenAI's own client: what the policy reads,
 * what the client gets, and which requests are refused.
 */
import OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import {
  PolicyFault,
  type AssistantMessage,
  type Conversation,
  type Decoding,
  type Policy,
} from "../../src/policy/policy.ts";
import { servePolicy } from "../../src/policy/servedPolicy.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { countingCatalog, sendRequest } from "./countingService.ts";

const catalog = countingCatalog();
const bugs: unknown[] = [];
let serving: RunningHttpServer | undefined;
afterEach(async () => {
  await serving?.close();
  expect(bugs.splice(0)).toEqual([]);
});

interface Asked {
  readonly conversation: Conversation;
  readonly decoding: Decoding | undefined;
}

type Answer = Partial<AssistantMessage>;

/** Serves a policy that gives these answers in order, and opens a client of it. */
async function open(
  answers: readonly Answer[],
  next?: (n: number, signal: AbortSignal, decoding: Decoding) => Promise<Answer>,
) {
  const asked: Asked[] = [];
  const released: string[] = [];
  const policy: Policy = {
    name: "test",
    async next(conversation, signal, decoding) {
      const n = asked.push({ conversation, decoding }) - 1;
      const answer = next ? await next(n, signal!, decoding!) : answers[n];
      return { text: "", calls: [], ...answer };
    },
    readToken: id => Buffer.from(id === 0 ? "é" : `t${id}`),
    release: it => void released.push(it.header.id),
  };
  const now = "2026-03-02T09:00";
  serving = await startHttpServer({
    catalog,
    policy: servePolicy(policy, { model: "m", catalog, now }),
    onBug: it => void bugs.push(it),
  });
  const client = new OpenAI({ baseURL: `${serving.url}/v1`, apiKey: "none", maxRetries: 0 });
  return { client, asked, released, url: serving.url };
}

const addTool = {
  type: "function" as const,
  function: {
    name: "counting_add",
    description: "Add.",
    parameters: { type: "object", properties: { by: { type: "integer" } }, required: ["by"] },
  },
};
const hello = [{ role: "user" as const, content: "Hello" }];
const addTwo = { name: "counting_add", arguments: { by: 2 } };

describe("the conversation that a policy reads", () => {
  test("has the turns, the calls with their results in order, and the tools of the client", async () => {
    const { client, asked, released } = await open([{ text: "Done." }]);
    const call = (id: string, by: number) => ({
      id,
      type: "function" as const,
      function: { name: "counting_add", arguments: JSON.stringify({ by }) },
    });
    const answer = await client.chat.completions.create({
      model: "m",
      messages: [
        { role: "system", content: "Today is 2026-05-04 10:30. Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Add one, " },
            { type: "text", text: "then nine" },
          ],
        },
        { role: "assistant", content: null, tool_calls: [call("a", 1), call("b", 9)] },
        {
          role: "tool",
          tool_call_id: "b",
          content: JSON.stringify({ error_type: "limit_exceeded", message: "too many" }),
        },
        { role: "tool", tool_call_id: "a", content: '{"counter_id":"c","value":1}' },
        { role: "assistant", content: "Nine is too many." },
        { role: "user", content: "Thanks" },
      ],
      tools: [addTool],
    });
    expect(answer.choices[0]!.message.content).toBe("Done.");
    const { events, tools, now, rules } = asked[0]!.conversation;
    expect(events).toEqual([
      { kind: "user", text: "Add one, then nine" },
      { kind: "assistant", message: 0, text: "" },
      expect.objectContaining({
        kind: "call",
        message: 0,
        arguments: { by: 1 },
        outcome: { kind: "ok", value: { counter_id: "c", value: 1 } },
      }),
      expect.objectContaining({
        arguments: { by: 9 },
        outcome: { kind: "refused", type: "limit_exceeded", message: "too many" },
      }),
      { kind: "assistant", message: 1, text: "Nine is too many." },
      { kind: "user", text: "Thanks" },
    ]);
    expect({ now, rules }).toEqual({
      now: "2026-05-04T10:30",
      rules: ["Today is 2026-05-04 10:30. Be brief."],
    });
    // the description of the result comes from the server, all else from the client
    expect(tools).toMatchObject([
      { name: "counting_add", summary: "Add.", inputSchema: addTool.function.parameters },
    ]);
    expect(tools[0]!.outputSchema).toHaveProperty("properties.value");
    expect(released).toEqual([asked[0]!.conversation.header.id]);
  });

  test("has its own id in every request, and the sampling of the request", async () => {
    const { client, asked } = await open([{}, {}, {}, {}]);
    const request = { model: "m", messages: hello, n: 2, temperature: 0.5, seed: 7, max_tokens: 9 };
    await client.chat.completions.create(request);
    await client.chat.completions.create(request);
    expect(new Set(asked.map(it => it.conversation.header.id)).size).toBe(4);
    const seeds = asked.map(it => it.decoding!.seed);
    expect(seeds.slice(2)).toEqual(seeds.slice(0, 2));
    expect(seeds[0]).not.toBe(seeds[1]);
    expect(asked[3]!.decoding).toMatchObject({ temperature: 0.5, maxTokens: 9, tool: undefined });
  });
});

describe("an answer", () => {
  test("has calls, finish reason, usage of all choices and the log-probability of each token", async () => {
    const { client } = await open([
      {
        calls: [addTwo, { name: "", arguments: { unparsed: "<call> ?" } }],
        tokens: [0, 5],
        logprobs: [-0.5, -1],
        usage: { read: 10, written: 2 },
      },
      { text: "No", cut: true, usage: { read: 10, written: 3 } },
    ]);
    const { choices, usage, model } = await client.chat.completions.create({
      model: "m",
      messages: hello,
      tools: [addTool],
      logprobs: true,
      n: 2,
    });
    expect(model).toBe("m");
    expect(choices).toMatchObject([
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          content: "<tool_call><call> ?</tool_call>",
          tool_calls: [
            { type: "function", function: { name: "counting_add", arguments: '{"by":2}' } },
          ],
        },
      },
      { index: 1, finish_reason: "length", message: { content: "No" }, logprobs: null },
    ]);
    expect(choices[0]!.logprobs!.content).toEqual([
      { token: "é", logprob: -0.5, bytes: [0xc3, 0xa9], top_logprobs: [] },
      { token: "t5", logprob: -1, bytes: [0x74, 0x35], top_logprobs: [] },
    ]);
    expect(usage).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
  });

  test("ends before a stop text, and has one call if calls must not be parallel", async () => {
    const { client } = await open([{ text: "One. Two." }, { calls: [addTwo, addTwo] }]);
    const stopped = await client.chat.completions.create({
      model: "m",
      messages: hello,
      stop: " T",
    });
    expect(stopped.choices[0]!.message.content).toBe("One.");
    const single = await client.chat.completions.create({
      model: "m",
      messages: hello,
      tools: [addTool],
      parallel_tool_calls: false,
    });
    expect(single.choices[0]!.message.tool_calls).toHaveLength(1);
  });

  test("streams text as it is written, then calls, end and usage", async () => {
    const { client } = await open([], async (_n, _signal, { onText }) => {
      onText!("I add");
      return { text: "I add two.", calls: [addTwo, addTwo], usage: { read: 4, written: 6 } };
    });
    const parts: string[] = [];
    const stream = client.chat.completions.stream({
      model: "m",
      messages: hello,
      tools: [addTool],
      stream_options: { include_usage: true },
    });
    stream.on("content", it => void parts.push(it));
    const { choices, usage } = await stream.finalChatCompletion();
    expect(parts).toEqual(["I add", " two."]);
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: "I add two.", tool_calls: [{ function: { arguments: '{"by":2}' } }, {}] },
    });
    expect(usage).toEqual({ prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 });
  });

  test("streams several choices, each under its index", async () => {
    const { client } = await open([{ text: "a" }, { text: "b" }]);
    const texts = ["", ""];
    const stream = await client.chat.completions.create({
      model: "m",
      messages: hello,
      n: 2,
      stream: true,
    });
    for await (const { choices } of stream)
      for (const { index, delta } of choices) texts[index]! += delta.content ?? "";
    expect(texts).toEqual(["a", "b"]);
  });
});

test("tools with more schemas than are followed are refused, but not those with long enums", async () => {
  const { client } = await open([{}]);
  const ask = (properties: object) =>
    client.chat.completions.create({
      model: "m",
      messages: hello,
      tools: [
        {
          type: "function",
          function: { name: "pick", parameters: { type: "object", properties } },
        },
      ],
    });
  const names = Array.from({ length: 30_000 }, (_, i) => `v${i}`);
  expect((await ask({ it: { enum: names } })).choices).toHaveLength(1);
  await expect(ask(Object.fromEntries(names.map(it => [it, {}])))).rejects.toMatchObject({
    status: 400,
    param: "tools",
    message: expect.stringContaining("the tools have 30002 schemas, and 20000 are the most"),
  });
});

test.each([false, true])("a client that disconnects ends the answer (stream: %j)", async stream => {
  const { client, asked, released } = await open([], (_n, signal, { onText }) => {
    onText?.("One");
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error)),
    );
  });
  const controller = new AbortController();
  const answer = client.chat.completions
    .create({ model: "m", messages: hello, stream }, { signal: controller.signal })
    .then(async it => {
      for await (const _ of it as AsyncIterable<unknown>) controller.abort();
    });
  await expect.poll(() => asked.length).toBe(1);
  if (!stream) controller.abort();
  await Promise.allSettled([answer]);
  await expect.poll(() => released.length).toBe(1);
});

test("many requests are answered at the same time", async () => {
  let waiting = 0;
  let start: () => void;
  const all = new Promise<void>(resolve => (start = resolve));
  const { client } = await open([], async n => {
    if (++waiting === 100) start();
    await all;
    return { text: `${n}` };
  });
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      client.chat.completions.create({ model: "m", messages: hello }),
    ),
  );
  expect(new Set(answers.map(it => it.choices[0]!.message.content)).size).toBe(100);
});

test("the model is listed and found by name", async () => {
  const { client } = await open([]);
  expect((await client.models.list()).data).toMatchObject([{ id: "m", object: "model" }]);
  expect(await client.models.retrieve("m")).toMatchObject({ id: "m" });
  await expect(client.models.retrieve("other")).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
});

describe("errors have OpenAI's form", () => {
  const assistant = {
    role: "assistant",
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  test.each([
    ["another model", { model: "x" }, 404, "model", "model_not_found"],
    ["no messages", { messages: [] }, 400, "messages", "invalid_request"],
    [
      "an unknown role",
      { messages: [{ role: "judge", content: "" }] },
      400,
      "messages.0.role",
      "invalid_request",
    ],
    [
      "an image",
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      400,
      "messages.0.content.0.type",
      "invalid_request",
    ],
    [
      "a call without a result",
      { messages: [...hello, assistant, ...hello] },
      400,
      "messages.1.tool_calls",
      "invalid_request",
    ],
    [
      "a result without a call",
      { messages: [{ role: "tool", tool_call_id: "a", content: "" }] },
      400,
      "messages.0.tool_call_id",
      "invalid_request",
    ],
    [
      "a last message of the assistant",
      { messages: [{ role: "assistant", content: "Yes" }] },
      400,
      "messages",
      "invalid_request",
    ],
    [
      "a choice of a tool that is not offered",
      { tools: [addTool], tool_choice: { type: "function", function: { name: "x" } } },
      400,
      "tool_choice",
      "invalid_request",
    ],
    [
      "a required call without tools",
      { tool_choice: "required" },
      400,
      "tool_choice",
      "invalid_request",
    ],
    ["a negative temperature", { temperature: -1 }, 400, "temperature", "invalid_request"],
    [
      "alternatives of tokens",
      { logprobs: true, top_logprobs: 3 },
      400,
      "top_logprobs",
      "unsupported_parameter",
    ],
    [
      "an answer in JSON",
      { response_format: { type: "json_object" } },
      400,
      "response_format",
      "unsupported_parameter",
    ],
  ])("for %s", async (_, fields, status, param, code) => {
    const { client } = await open([]);
    const body = { model: "m", messages: hello, ...fields } as never;
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({
      status,
      param,
      code,
    });
  });

  test.each([
    [
      "is too long",
      {
        cut: true as const,
        excess: { part: "conversation" as const, tokens: 9, limit: 8 },
        tokens: [],
        logprobs: [],
      },
      undefined,
      "context_length_exceeded",
    ],
    ["must not be called for", { calls: [addTwo] }, "none", "tool_choice_not_followed"],
    ["must be called for", { text: "No." }, "required", "tool_choice_not_followed"],
  ])("if the policy shows that a chat %s", async (_, answer, choice, code) => {
    const { client } = await open([answer]);
    const body = { model: "m", messages: hello, tools: [addTool], tool_choice: choice };
    await expect(client.chat.completions.create(body as never)).rejects.toMatchObject({
      status: 400,
      code,
    });
  });

  test("if the policy fails, also in the middle of a stream", async () => {
    const { client } = await open([], async (_n, _signal, { onText }) => {
      onText?.("One");
      throw new PolicyFault("out of memory");
    });
    const request = { model: "m", messages: hello };
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining("out of memory"),
    });
    const stream = await client.chat.completions.create({ ...request, stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow(/out of memory/);
  });

  test("for another method, another path, a body that is not JSON and another Host", async () => {
    const { url } = await open([]);
    const at = `${url}/v1/chat/completions`;
    const answers = await Promise.all([
      sendRequest(at, "GET"),
      sendRequest(`${url}/v1/chat/x`, "GET"),
      sendRequest(at, "POST", { body: "{" }),
      sendRequest(at, "POST", { body: {}, headers: { host: "evil.example.com" } }),
    ]);
    expect(answers.map(it => it.status)).toEqual([405, 404, 400, 403]);
    for (const { json } of answers)
      expect(Object.keys(json.error)).toEqual(["message", "type", "param", "code"]);
  });
});

test("without a policy there is no chat, and OpenAPI describes it only with one", async () => {
  const { url } = await open([]);
  const { json } = await sendRequest(`${url}/openapi.json`, "GET");
  expect(json).toHaveProperty(["paths", "/v1/chat/completions", "post", "requestBody"]);
  await serving!.close();
  serving = await startHttpServer({ catalog });
  const missing = await sendRequest(`${serving.url}/v1/models`, "GET");
  expect(missing).toMatchObject({ status: 404, json: { error: { code: "UNKNOWN_ROUTE" } } });
});
