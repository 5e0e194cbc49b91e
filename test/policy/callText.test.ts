/**
 * Calls in the text of a message are read in the syntax of each model family. The Python package
 * reads the same cases.
 */
import { expect, test } from "vitest";
import { readMessageText } from "../../src/policy/callText/callText.ts";
import { readCallCases } from "./callCases.ts";

const { tools, cases } = readCallCases();

test.each(cases)("$name", ({ syntax, message, text, calls }) => {
  const read = readMessageText(message, { syntax, tools });
  expect(JSON.parse(JSON.stringify({ text: read.text, calls: read.calls }))).toEqual(
    JSON.parse(JSON.stringify({ text, calls })),
  );
});

test.each([
  " ",
  "<tool_call>",
  '<tool_call>{"',
  '<tool_call>{"\n',
  "<tool_call><function=f><parameter=a>",
  "<think></think>",
  "<|tool_call|>[",
  "<|python_tag|>{",
])("a long text of %j is read once", part => {
  // a text that is read again for each part would take minutes
  const { calls, text } = readMessageText(part.repeat(Math.ceil(300_000 / part.length)));
  expect(calls.length + text.length).toBeLessThan(300_000);
});

test("without a list of tools, an object with a name and more is an answer in JSON", () => {
  const read = (message: string) => readMessageText(message, { syntax: "llama" });
  expect(read('{"name": "Bingo", "age": 30}')).toMatchObject({
    text: '{"name": "Bingo", "age": 30}',
    calls: [],
  });
  expect(read('{"name": "refresh"}').calls).toEqual([{ name: "refresh", arguments: {} }]);
});

test("calls begin where they are written, whatever their arguments are named", () => {
  const checkStarts = (
    syntax: "hermes" | "granite" | "llama",
    before: string,
    calls: string[],
    between: string,
    after = "",
  ) => {
    const starts = calls.map((_, i) => before.length + calls.slice(0, i).join("").length);
    expect(readMessageText(before + calls.join(between) + after, { syntax }).starts).toEqual(
      starts.map((it, i) => it + i * between.length),
    );
  };
  const calls = [
    '{"name": "create_folder", "parameters": {"name": "Taxes {", "type": {"name": "x"}}}',
    '{"type": "function", "function": {"name": "move", "parameters": {"type": "all"}}}',
  ];
  checkStarts("llama", "<|python_tag|>", calls, "; ");
  checkStarts("llama", "<think>{}</think>", [...calls, '{"name": "a"'], " ");
  checkStarts("granite", "Let me {look}. <|tool_call|>[", calls, ", ", "]");
  checkStarts("hermes", "", ['<tool_call>{"name": "a"}</tool_call>', "<tool_call>{}"], "\n");
  expect(readMessageText("Done {}.", { syntax: "granite" }).starts).toEqual([]);
});

test.each([
  ["hermes", '<tool_call>{"name": "move", "arguments": {"id": 1915883588174806058}}</tool_call>'],
  ["hermes", '<tool_call>{"name": "move", "parameters": {"id":1e400}}</tool_call>'],
  [
    "hermes",
    '<tool_call>{"name": "move", "arguments": "{\\"id\\": -9007199254740993}"}</tool_call>',
  ],
  ["xml", "<function=move>\n<parameter=id>\n1915883588174806058\n</parameter>\n</function>"],
  ["granite", '<|tool_call|>[{"name": "move", "arguments": {"id": 1915883588174806058}}]'],
  ["llama", '{"name": "move", "parameters": {"id": 1915883588174806058}}'],
  ["llama", "<|python_tag|>move.call(id=1915883588174806058)"],
] as const)("arguments with a long number stay their JSON text: %s %s", (syntax, message) => {
  const [digits] = /-?\d{5,}|1e400/.exec(message)!;
  const { calls } = readMessageText(message, { syntax });
  expect(calls).toEqual([{ name: "move", arguments: expect.any(String) }]);
  expect((calls[0]!.arguments as string).replaceAll(" ", "")).toBe(`{"id":${digits}}`);
});
