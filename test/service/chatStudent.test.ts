/** The shipped student behind `/v1/chat/completions` does what it does without HTTP. */
import { join } from "node:path";
import OpenAI from "openai";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import { loadModel, readModelFolder } from "../../src/model/modelFolder.ts";
import { openStudent, type Student } from "../../src/model/student.ts";
import type { Model } from "../../src/model/transformer/transformer.ts";
import { openEndpoint } from "../../src/policy/endpoint.ts";
import { createEndpointPolicy } from "../../src/policy/chatMessages.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { servePolicy } from "../../src/policy/servedPolicy.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createFitCheck } from "../../src/train/taskFit.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { programs } from "../compute/numbers.ts";
import { root } from "../contracts/transports.ts";

const catalog = openCatalog(await loadServers(), [join(root, "resources/servers")]);
const stored = readModelFolder(join(root, "resources/models/small"));
const tasks: Task[] = [];
let model: Model;
let student: Student;
let serving: RunningHttpServer;
let client: OpenAI;

beforeAll(async () => {
  const doesFit = createFitCheck(stored, catalog);
  for await (const it of readTasks(join(root, "resources/example/prove/tasks/example.tasks.jsonl")))
    if (doesFit(it) === "fits" && it.turns.every(turn => !turn.adds)) tasks.push(it);
  await startBackend("wasm", { programs });
  model = await loadModel(stored);
  student = openStudent(model, stored.chat, { name: "small", temperature: 0, seed: 0 });
  serving = await startHttpServer({
    catalog,
    policy: servePolicy(student, { model: "small", catalog, now: "2026-03-02T09:00" }),
  });
  client = new OpenAI({ baseURL: `${serving.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(async () => {
  await serving.close();
  student.dispose();
  model.dispose();
});

test("attempts through the endpoint are those in process", async () => {
  const attempt = async (policy: Policy) =>
    (await Promise.all(tasks.map(it => rollout(it, policy, catalog)))).map(it =>
      it.trajectory.events.map(event => {
        const {
          tokens: _t,
          logprobs: _l,
          mask: _m,
          ...rest
        } = event as { tokens?: unknown; logprobs?: unknown; mask?: unknown };
        return rest;
      }),
    );
  const endpoint = openEndpoint({
    url: `${serving.url}/v1`,
    model: "small",
    key: undefined,
    concurrency: 16,
  });
  const [inProcess, behindEndpoint] = [
    await attempt(student),
    await attempt(createEndpointPolicy(endpoint)),
  ];
  expect(tasks.length).toBeGreaterThan(5);
  expect(behindEndpoint).toEqual(inProcess);
});

const tools = ["banking_list_accounts", "banking_get_balance"].map(name => ({
  type: "function" as const,
  function: { name, parameters: catalog.tools.get(name)!.inputSchema },
}));
const ask = (fields: object) =>
  client.chat.completions.create({
    model: "small",
    messages: [{ role: "user" as const, content: "What is the balance of my savings account?" }],
    tools,
    ...fields,
  });

test("a choice of tools limits the tokens of a student", async () => {
  const [none, required, named] = await Promise.all([
    ask({ tool_choice: "none" }),
    ask({ tool_choice: "required" }),
    ask({ tool_choice: { type: "function", function: { name: "banking_get_balance" } } }),
  ]);
  expect(none.choices[0]!.message.tool_calls).toBeUndefined();
  for (const { choices } of [required, named]) {
    const { finish_reason: reason, message } = choices[0]!;
    // the likeliest token depends on the processor, and a value may be too long for the limit
    expect(reason).toMatch(/^(tool_calls|length)$/);
    if (reason === "tool_calls") expect(message.tool_calls).not.toHaveLength(0);
    else expect(message.tool_calls).toBeUndefined();
  }
  for (const it of named.choices[0]!.message.tool_calls ?? [])
    expect(it).toMatchObject({ function: { name: "banking_get_balance" } });
});

test("a schema that is none allows every value, and a type of another language, too", async () => {
  for (const data of [true, false, null, { type: "float" }, { anyOf: [true, { type: "null" }] }]) {
    const parameters = {
      type: "object",
      properties: { data, list: { type: "array", items: data } },
      required: ["data"],
    };
    const tool = { type: "function" as const, function: { name: "send_event", parameters } };
    const { choices } = await ask({ tools: [tool], tool_choice: "required", max_tokens: 400 });
    expect(choices).toHaveLength(1);
  }
});

test("an argument whose schema is a reference has a value of the schema that it leads to", async () => {
  const parameters = {
    type: "object",
    allOf: [{ $ref: "#/$defs/Sending" }],
    $defs: {
      Mood: { enum: ["happy", "sad"] },
      Sending: { properties: { mood: { $ref: "#/$defs/Mood" } }, required: ["mood"] },
    },
  };
  const tool = { type: "function" as const, function: { name: "send_event", parameters } };
  const { choices } = await ask({ tools: [tool], tool_choice: "required", max_tokens: 400 });
  for (const it of choices[0]!.message.tool_calls ?? [])
    expect(it).toMatchObject({
      function: { arguments: expect.stringMatching(/^\{"mood":"(?:happy|sad)"\}$/) },
    });
  expect(choices[0]!.message.tool_calls).not.toHaveLength(0);
});

test("a call that was cut off is answered with what was written of it", async () => {
  const named = { type: "function" as const, function: { name: "banking_get_balance" } };
  for (const tool_choice of ["required", named] as const) {
    const { choices, usage } = await ask({ tool_choice, max_tokens: 2, n: 2 });
    for (const it of choices) {
      expect(it.finish_reason).toBe("length");
      expect(it.message.tool_calls).toBeUndefined();
      expect(it.message.content).toMatch(/./);
    }
    expect(usage!.completion_tokens).toBe(4);
    const events = await ask({ tool_choice, max_tokens: 2, stream: true });
    const parts = [];
    for await (const { choices: deltas } of events as unknown as AsyncIterable<ChatCompletionChunk>)
      parts.push(...deltas);
    expect(parts.map(it => it.delta.content ?? "").join("")).toBe(choices[0]!.message.content);
    expect(parts.at(-1)!.finish_reason).toBe("length");
  }
});

test("a seed decides alone what is sampled, and max_tokens cuts", async () => {
  const read = async (fields: object) => {
    const { choices } = await ask({ temperature: 2, logprobs: true, n: 4, ...fields });
    return choices.map(it => it.logprobs!.content!.map(token => token.token).join(""));
  };
  const [first, again, other] = [
    await read({ seed: 1 }),
    await read({ seed: 1 }),
    await read({ seed: 2 }),
  ];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  expect(new Set(first).size).toBeGreaterThan(1);
  const cut = await ask({ max_tokens: 2, tool_choice: "none" });
  expect(cut.choices[0]!.finish_reason).toBe("length");
  expect(cut.usage!.completion_tokens).toBe(2);
});

test("a stream has the words of the answer without it", async () => {
  const whole = await ask({ temperature: 0, tool_choice: "none" });
  const stream = client.chat.completions.stream({
    model: "small",
    messages: [{ role: "user", content: "What is the balance of my savings account?" }],
    tools,
    tool_choice: "none",
    temperature: 0,
  });
  const parts: string[] = [];
  stream.on("content", it => void parts.push(it));
  await stream.done();
  expect(parts.join("")).toBe(whole.choices[0]!.message.content);
  expect(parts.length).toBeGreaterThan(2);
});

test("a conversation beyond the limits of a student is refused", async () => {
  const messages = [{ role: "user" as const, content: "word ".repeat(2_000) }];
  await expect(ask({ messages })).rejects.toMatchObject({
    code: "context_length_exceeded",
    message: expect.stringMatching(
      /the conversation is too long for small: the prompt has \d+ tokens, and the limit is \d+/,
    ) as unknown,
  });
});
