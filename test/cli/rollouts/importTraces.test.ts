/** `import`: rollouts of NeMo Gym, traces of verifiers, and OpenTelemetry traces of agents. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportTasks } from "../../../src/cli/export.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { moveTwice } from "../../trajectory/sampleTasks.ts";
import { emptyFolder } from "../program.ts";
import { runCommand } from "../terminal.ts";
import { importRows } from "./importFile.ts";

const cwd = emptyFolder();

const found = [
  "user: Who is Ann?",
  ["find", { name: "Ann" }, { id: 7 }],
  "assistant: Person 7.",
] as const;
const args = '{"name": "Ann"}';
const result = '{"id": 7}';

describe("NeMo Gym", () => {
  const row = {
    _ng_task_index: 4,
    _ng_rollout_index: 1,
    responses_create_params: {
      input: [
        { role: "system", content: "Today is Monday.", type: "message" },
        { role: "user", content: "Who is Ann?", type: "message" },
      ],
      tools: [{ type: "function", name: "find", parameters: {} }],
    },
    response: {
      model: "some-model",
      output: [
        { type: "reasoning", summary: [] },
        { type: "function_call", call_id: "c1", name: "find", arguments: args },
        { type: "function_call_output", call_id: "c1", output: result },
        { type: "web_search_call" },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "Person 7." }],
        },
      ],
    },
    reward: 1,
  };

  test("items become messages with calls and their results", async () => {
    const { conversations, report, notes } = await importRows(cwd, "nemo-gym", row);
    expect(conversations).toEqual([found]);
    expect(report.attempts).toMatchObject([
      { id: "4/rollout-1", policy: "some-model", reported: 1 },
    ]);
    expect(notes).toEqual(["not shown: 1 thought, 1 item of an unknown type"]);
  });

  test("a text as input, and an answer that was cut off", async () => {
    const { conversations, ends } = await importRows(cwd, "nemo-gym", {
      responses_create_params: { input: "Hi" },
      response: { output: [], incomplete_details: { reason: "max_output_tokens" } },
      reward: "NaN",
    });
    expect([conversations, ends]).toEqual([[["user: Hi"]], ["limit"]]);
    const wrong = importRows(cwd, "nemo-gym", { response: {} });
    await expect(wrong).rejects.toThrow(
      "1 is not a rollout of NeMo Gym: at /responses_create_params",
    );
  });
});

describe("verifiers", () => {
  const node = (parent: unknown, message: unknown, sampled = false) => ({
    parent,
    message,
    sampled,
  });
  const call = { id: "c1", name: "find", arguments: args };
  const trace = {
    id: "t1",
    task: { type: "T", data: { idx: 0 } },
    tools: [{ name: "find", description: "", parameters: {} }],
    nodes: [
      node(null, { role: "system", content: "Help." }),
      node(0, { role: "user", content: "Who is Ann?" }),
      node(1, { role: "assistant", content: "Guess." }, true),
      node(1, { role: "assistant", content: null, tool_calls: [call] }, true),
      node(3, { role: "tool", tool_call_id: "c1", content: result }),
      node(4, { role: "assistant", content: "Person 7." }, true),
    ],
    calls: [{ node: 5, model: "some-model" }],
    rewards: { exact: { score: 1, weight: 0.5 }, short: { score: 0 } },
    ok: true,
  };

  test("an episode has several traces, whose last branches are shown", async () => {
    const cut = { ...trace, id: "t2", stop_condition: "max_turns", errors: [] };
    const failed = { ...trace, id: "t3", errors: [{ type: "ProviderError", message: "down" }] };
    const episode = { id: "e1", env: {}, traces: [trace, cut, failed] };
    const { conversations, report, notes, ends } = await importRows(cwd, "verifiers", episode);
    expect(conversations).toEqual([found, found, found]);
    expect(report.attempts).toMatchObject([
      { id: "t1", policy: "some-model", reported: 0.5 },
      { id: "t2" },
      { id: "t3" },
    ]);
    expect(ends).toEqual(["policy", "limit", "fault"]);
    expect(notes).toEqual(["not shown: 3 branches of conversations"]);
  });

  test("nodes may have ids, and parents that are missing or go in a circle", async () => {
    const said = { role: "assistant", content: "Hello." };
    const { conversations } = await importRows(
      cwd,
      "verifiers",
      {
        nodes: [
          { id: "a", parent: null, message: { role: "user", content: "Hi" } },
          { id: "b", parent: "a", message: said },
        ],
      },
      { nodes: [{ id: "b", parent: "gone", message: said }] },
      {
        nodes: [
          { id: "a", parent: "b", message: said },
          { id: "b", parent: "a", message: said },
        ],
      },
      { nodes: [] },
    );
    expect(conversations).toEqual([
      ["user: Hi", "assistant: Hello."],
      ["assistant: Hello."],
      ["assistant: Hello.", "assistant: Hello."],
      [],
    ]);
  });
});

const attributesOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
const span = (
  spanId: string,
  parentSpanId: string | undefined,
  values: Readonly<Record<string, unknown>>,
  more = {},
) => ({
  traceId: "t1",
  spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  name: spanId,
  startTimeUnixNano: `17000000000000000${spanId.padStart(2, "0")}`,
  attributes: attributesOf(values),
  ...more,
});
const documentOf = (...spans: readonly unknown[]) => ({
  resourceSpans: [{ scopeSpans: [{ spans }] }],
});

const part = (text: string) => ({ type: "text", content: text });
const asked = { role: "user", parts: [part("Who is Ann?")] };
const called = {
  role: "assistant",
  parts: [
    { type: "reasoning", content: "Look." },
    { type: "tool_call", id: "c1", name: "find", arguments: { name: "Ann" } },
  ],
};
const returned = {
  role: "tool",
  parts: [{ type: "tool_call_response", id: "c1", response: result }],
};
const answered = { role: "assistant", parts: [part("Person 7.")], finish_reason: "stop" };
const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "some" };
const chat = (input: unknown, output: unknown) => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "some-model",
  ...(input === undefined ? {} : { "gen_ai.input.messages": JSON.stringify(input) }),
  "gen_ai.output.messages": JSON.stringify([output]),
});
const tool = {
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": "find",
  "gen_ai.tool.call.id": "c1",
  "gen_ai.tool.call.result": result,
};

describe("OpenTelemetry", () => {
  const first = span("2", "1", chat([asked], called));
  const last = span("4", "1", chat([asked, called, returned], answered));

  test("the last request of an agent has the conversation, and the answer follows", async () => {
    const root = span("1", undefined, agent, {
      events: [{ attributes: attributesOf({ "gen_ai.evaluation.score.value": 1 }) }],
    });
    const { conversations, report } = await importRows(
      cwd,
      "otlp",
      documentOf(last, span("3", "1", tool)),
      documentOf(root, first),
    );
    expect(conversations).toEqual([found]);
    expect(report.attempts).toMatchObject([{ id: "t1", policy: "some-model", reported: 1 }]);
  });

  test("requests whose history was cut off are joined with the results of the tools", async () => {
    const long = {
      ...chat(undefined, answered),
      "gen_ai.input.messages": '[{"role":"us...[truncated',
    };
    const spans = [first, span("3", "1", tool), span("4", "1", long)];
    const { conversations } = await importRows(cwd, "otlp", documentOf(...spans));
    expect(conversations).toEqual([found]);
  });

  test("an agent that only says what it was asked and answered", async () => {
    const values = { ...chat([asked], answered), ...agent };
    const { conversations, ends } = await importRows(
      cwd,
      "otlp",
      documentOf(span("1", undefined, values, { status: { code: 2, message: "down" } })),
    );
    expect([conversations, ends]).toEqual([
      [["user: Who is Ann?", "assistant: Person 7."]],
      ["fault"],
    ]);
  });

  test("agents inside agents are attempts of their own, with missing parents and in circles", async () => {
    const inner = span("5", "3", agent);
    const ask = (id: string, parent: string | undefined) =>
      span(id, parent, chat([{ role: "user", parts: [part(id)] }], answered));
    const { report, conversations } = await importRows(
      cwd,
      "otlp",
      documentOf(
        span("1", undefined, agent),
        ask("2", "1"),
        span("3", "1", tool),
        inner,
        ask("6", "5"),
        ask("7", "gone"),
        span("8", "9", tool),
        ask("9", "8"),
      ),
    );
    expect(report.attempts.map(it => it.id)).toEqual(["t1/1", "t1/5", "t1/gone", "t1"]);
    expect(conversations.map(it => it[0])).toEqual(["user: 2", "user: 6", "user: 7", "user: 9"]);
  });

  test("a chain of many spans without a root is read in one pass", async () => {
    const values = chat([asked], answered);
    const chain = Array.from({ length: 50_000 }, (_, i) =>
      span(String(i), String(i + 1), i === 0 ? values : {}),
    );
    const { conversations } = await importRows(cwd, "otlp", documentOf(...chain));
    expect(conversations).toEqual([["user: Who is Ann?", "assistant: Person 7."]]);
  });

  test("an integer beyond 2^53 keeps its digits", async () => {
    const { conversations } = await importRows(
      cwd,
      "otlp",
      documentOf(
        span("1", undefined, {
          "gen_ai.completion.0.tool_calls.0.name": "find",
          "gen_ai.completion.0.tool_calls.0.arguments": args,
        }),
        {
          ...span("2", undefined, tool),
          attributes: [
            ...attributesOf({ ...tool, "gen_ai.tool.call.result": "" }).slice(0, -1),
            {
              key: "gen_ai.tool.call.result",
              value: {
                kvlistValue: { values: [{ key: "id", value: { intValue: "9007199254740993" } }] },
              },
            },
          ],
        },
      ),
    );
    expect(JSON.stringify(conversations)).toContain("9007199254740993");
  });

  test("OpenInference, as Phoenix lists it", async () => {
    const message = (side: string, n: number, values: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        Object.entries(values).map(([key, it]) => [`llm.${side}_messages.${n}.message.${key}`, it]),
      );
    const row = {
      context: { trace_id: "t9", span_id: "1" },
      parent_id: null,
      start_time: "2026-05-04T10:00:00Z",
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.model_name": "some-model",
        "llm.tools.0.tool.json_schema": '{"function": {"name": "find"}}',
        ...message("input", 0, {
          role: "user",
          "contents.0.message_content.type": "text",
          "contents.0.message_content.text": "Who is Ann?",
        }),
        ...message("input", 1, {
          role: "assistant",
          "tool_calls.0.tool_call.id": "c1",
          "tool_calls.0.tool_call.function.name": "find",
          "tool_calls.0.tool_call.function.arguments": args,
        }),
        ...message("input", 2, { role: "tool", content: result, tool_call_id: "c1" }),
        ...message("output", 0, { role: "assistant", content: "Person 7." }),
      },
    };
    expect((await importRows(cwd, "otlp", row)).conversations).toEqual([found]);
    expect((await importRows(cwd, "otlp", { data: [row] })).conversations).toEqual([found]);
  });

  test("OpenLLMetry's numbered attributes", async () => {
    const values = {
      "gen_ai.prompt.0.content": "Who is Ann?",
      "gen_ai.completion.0.tool_calls.0.name": "find",
      "gen_ai.completion.0.tool_calls.0.arguments": args,
    };
    const { conversations } = await importRows(
      cwd,
      "otlp",
      documentOf({ attributes: attributesOf(values) }),
    );
    expect(conversations).toEqual([
      ["user: Who is Ann?", ["find", { name: "Ann" }, "the file has no result"]],
    ]);
  });

  test("a trace without content is named; so is a file of something else", async () => {
    const request = span("1", undefined, { "gen_ai.operation.name": "chat" });
    const { code, notes } = await importRows(cwd, "otlp", documentOf(request));
    expect(code).toBe(1);
    expect(notes.join()).toContain("has no messages of t1, because content was not recorded");
    await expect(importRows(cwd, "otlp", { spans: 1 })).rejects.toThrow(
      "is not an OpenTelemetry trace",
    );
  });

  test("what export wrote succeeds again on our servers", async () => {
    const task = await moveTwice();
    writeFileSync(join(cwd, "my.tasks.jsonl"), `${formatTaskLine(task)}\n`);
    const exported = ["--tasks", "my.tasks.jsonl", "--to", "otlp", "--out", "otlp"];
    await runCommand(exportTasks, exported, { cwd });
    const again = ["--tasks", "my.tasks.jsonl", "--to", "otlp", "--out", "again"];
    await runCommand(exportTasks, again, { cwd });
    const [name] = readdirSync(join(cwd, "otlp")).filter(it => it.endsWith(".jsonl"));
    const read = (folder: string) => readFileSync(join(cwd, folder, name!), "utf8");
    expect(read("again")).toBe(read("otlp"));
    const { report } = await importRows(cwd, "otlp", "otlp", "--tasks", "my.tasks.jsonl");
    expect(report.attempts).toMatchObject([{ task: "t-twice", success: true, notes: [] }]);
  });
});
