/** `import`: the many ways to write calls and results, and what is said about the rest. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emptyFolder } from "../program.ts";
import { importRows } from "./importFile.ts";

const cwd = emptyFolder();
const read = (format: string, ...rows: readonly unknown[]) => importRows(cwd, format, ...rows);

const noResult = "the file has no result";
const user = { role: "user", content: "Who is Ann?" };
const answer = { role: "assistant", content: "Person 7." };
const chat = (...messages: readonly unknown[]) => ({ messages: [user, ...messages, answer] });
const found = [
  "user: Who is Ann?",
  ["find", { name: "Ann" }, { id: 7 }],
  "assistant: Person 7.",
] as const;
const text = JSON.stringify({ id: 7 });
const hermes = '<tool_call>\n{"name": "find", "arguments": {"name": "Ann"}}\n</tool_call>';
const call = {
  id: "c1",
  type: "function",
  function: { name: "find", arguments: '{"name": "Ann"}' },
};

describe("calls and results", () => {
  test.each([
    [
      "function_call and the role function",
      chat(
        { role: "assistant", content: null, function_call: call.function },
        { role: "function", name: "find", content: text },
      ),
    ],
    [
      "the role ipython, without ids",
      chat(
        { role: "assistant", tool_calls: [{ function: call.function }] },
        { role: "ipython", content: { id: 7 } },
      ),
    ],
    [
      "text in tags, with a message of the tool",
      chat(
        { role: "assistant", content: hermes },
        { role: "tool", content: `<tool_response>\n${text}\n</tool_response>` },
      ),
    ],
    [
      "text in tags, with the result said by the user",
      chat(
        { role: "assistant", content: hermes },
        { role: "user", content: `<tool_response>\n${text}\n</tool_response>` },
      ),
    ],
    [
      "calls without the level of the function",
      chat(
        { role: "assistant", tool_calls: [{ id: "c1", ...call.function }] },
        { role: "tool", tool_call_id: "c1", content: [{ type: "text", text }] },
      ),
    ],
    [
      "parts of messages",
      chat(
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c1", name: "find", input: { name: "Ann" } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: text }] },
      ),
    ],
    [
      "a JSON text with the messages",
      {
        messages: JSON.stringify([
          user,
          { role: "assistant", tool_calls: [call] },
          { role: "tool", tool_call_id: "c1", content: text },
          answer,
        ]),
      },
    ],
    [
      "ShareGPT",
      {
        conversations: [
          { from: "human", value: user.content },
          {
            from: "function_call",
            value: JSON.stringify({ name: "find", arguments: { name: "Ann" } }),
          },
          { from: "observation", value: text },
          { from: "gpt", value: answer.content },
        ],
      },
    ],
    [
      "ShareGPT with text in tags",
      {
        conversations: [
          { from: "human", value: user.content },
          { from: "gpt", value: hermes },
          { from: "tool", value: `<tool_response>${text}</tool_response>` },
          { from: "gpt", value: answer.content },
        ],
      },
    ],
    [
      "a prompt and a completion",
      {
        prompt: [user],
        completion: [
          { role: "assistant", tool_calls: [call] },
          { role: "tool", tool_call_id: "c1", content: text },
          answer,
        ],
      },
    ],
  ])("openai: %s", async (_, row) => {
    const { code, notes, conversations } = await read("openai", row);
    expect([code, conversations, notes]).toEqual([0, [found], []]);
  });

  test("trl: prompt and completion as JSON text", async () => {
    const row = {
      prompt: JSON.stringify([user]),
      completion: JSON.stringify([
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", name: "find", content: text },
        answer,
      ]),
    };
    expect((await read("trl", row)).conversations).toEqual([found]);
    const plain = { prompt: "[1, 2]", completion: "[3]" };
    expect((await read("trl", plain)).conversations).toEqual([["user: [1, 2]", "assistant: [3]"]]);
  });

  test("results of one id belong to its calls in their order, and names tell results apart", async () => {
    const twice = { role: "assistant", tool_calls: [call, call] };
    const result = (content: string, id = "c1") => ({ role: "tool", tool_call_id: id, content });
    const { conversations, notes } = await read(
      "openai",
      chat(twice, result("1"), result("2"), result("3"), result("4", "c9")),
      chat(
        {
          role: "assistant",
          tool_calls: [{ function: { name: "a" } }, { function: { name: "b" } }],
        },
        { role: "tool", name: "b", content: "of b" },
        { role: "tool", name: "a", content: "of a" },
      ),
    );
    expect(conversations.map(it => it.slice(1, -1))).toEqual([
      [
        ["find", { name: "Ann" }, 1],
        ["find", { name: "Ann" }, 2],
      ],
      [
        ["a", {}, "of a"],
        ["b", {}, "of b"],
      ],
    ]);
    expect(notes).toEqual(["not shown: 2 results that belong to no call"]);
  });

  test("atif: two calls with one id, and arguments that are null", async () => {
    const step = (id: string, n: unknown) => ({
      tool_call_id: id,
      function_name: "f",
      arguments: n,
    });
    const { conversations, notes } = await read("atif", {
      schema_version: "ATIF-v1.4",
      agent: { name: "a", version: "1" },
      steps: [
        { source: "user", message: "Go." },
        {
          source: "agent",
          message: "",
          reasoning_content: "Twice.",
          tool_calls: [step("x", { n: 1 }), step("x", null)],
          observation: {
            results: [
              { source_call_id: "x", content: "one" },
              { source_call_id: "x", content: "two" },
              { source_call_id: "y", content: "three" },
            ],
          },
        },
      ],
    });
    expect(conversations).toEqual([["user: Go.", ["f", { n: 1 }, "one"], ["f", {}, "two"]]]);
    expect(notes).toEqual(["not shown: 1 thought, 1 result that belongs to no call"]);
  });

  test("inspect and tau2: arguments that are null", async () => {
    const sample = {
      id: 1,
      epoch: 1,
      messages: [
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c", function: "f", arguments: null }],
        },
        { role: "tool", content: "r", tool_call_id: "c" },
      ],
    };
    expect((await read("inspect", sample)).conversations).toEqual([[["f", {}, "r"]]]);
    const simulation = {
      task_id: "1",
      termination_reason: "user_stop",
      messages: [
        { role: "assistant", tool_calls: [{ id: "c", name: "f", arguments: null }] },
        { role: "user", tool_calls: [{ id: "u", name: "reboot", arguments: {} }] },
      ],
    };
    const { conversations, notes } = await read("tau2", simulation);
    expect(conversations).toEqual([[["f", {}, noResult]]]);
    expect(notes).toEqual(["not shown: 1 call of a simulated user"]);
  });

  test("tau2: a folder with a file for each simulation; one by voice is named", async () => {
    mkdirSync(join(cwd, "voice", "simulations"), { recursive: true });
    const put = (name: string, value: unknown) =>
      writeFileSync(join(cwd, "voice", name), JSON.stringify(value, null, 2));
    const simulation = { task_id: "1", termination_reason: "user_stop" };
    put("results.json", { info: {}, tasks: [] });
    put("simulations/a.json", { ...simulation, messages: [answer] });
    put("simulations/b.json", { ...simulation, mode: "full_duplex", ticks: [{ tick_id: 0 }] });
    for (const from of ["voice", "voice/results.json"]) {
      const { code, conversations, notes } = await read("tau2", from);
      expect([code, conversations]).toEqual([1, [["assistant: Person 7."]]]);
      expect(notes.join()).toMatch(/b\.json:1 is a simulation by voice, .* and was skipped$/);
    }
  });

  test("bfcl: calls in Python's syntax, with their results", async () => {
    const step = `[ls(a=True), fs.mv(source='a\\'s "x"', n=[1, -2.5e1, None], o={"k": ("v",)})]`;
    const entry = {
      id: "multi_turn_base_0",
      result: [[step, "[a list]"]],
      inference_log: [
        {
          begin_of_turn_query: [{ role: "user", content: "List." }],
          step_0: [
            { role: "assistant", content: step },
            { role: "tool", content: '{"files": []}' },
            { role: "tool", content: "Error during execution: no such file" },
          ],
        },
      ],
    };
    const single = { idx: 3, result: "f(x=1)" };
    expect((await read("bfcl", entry, single)).conversations).toEqual([
      [
        "user: List.",
        ["ls", { a: true }, { files: [] }],
        [
          "fs.mv",
          { source: `a's "x"`, n: [1, -25, null], o: { k: ["v"] } },
          "Error during execution: no such file",
        ],
        "assistant: [a list]",
      ],
      [["f", { x: 1 }, noResult]],
    ]);
  });
});

test("images have a placeholder, and are counted with thoughts", async () => {
  const { code, conversations, notes } = await read("openai", {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this? " },
          { type: "image_url", image_url: { url: "data:" } },
          { type: "input_audio", input_audio: {} },
        ],
      },
      { ...answer, reasoning_content: "A person." },
    ],
    reward: "0.5",
  });
  expect([code, conversations]).toEqual([
    0,
    [["user: What is this? [image][audio]", "assistant: Person 7."]],
  ]);
  expect(notes).toEqual(["not shown: 2 images or other media, 1 thought"]);
});

test("verl: results beyond the calls are counted", async () => {
  const responses = "<tool_response>1</tool_response><tool_response>2</tool_response>";
  const { conversations, notes } = await read("verl", {
    input: "user\nGo.\nassistant\n",
    output: `<tool_call>{"name":"f","arguments":{}}</tool_call>user\n${responses}\nassistant\nDone.`,
    score: null,
  });
  expect(conversations).toEqual([["user: Go.", ["f", {}, 1], "assistant: Done."]]);
  expect(notes).toEqual(["not shown: 1 result that belongs to no call"]);
});
