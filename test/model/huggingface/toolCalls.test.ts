/** Calls are parsed in the syntax of each model family, with arguments as they were written. */
import type { Call } from "../../../src/environment/outcome.ts";
import { expect, test } from "vitest";
import {
  findCallStarts,
  parseToolCalls,
  type CallSyntax,
} from "../../../src/model/huggingface/toolCalls.ts";

const call = (name: string, args: object = {}): Call => ({ name, arguments: args as never });
const unparsed = (text: string): Call => call("", { unparsed: text });
const one = call("bank_list", { n: 1, rate: 1.5, all: true, none: null, tags: ["a", 2] });
const json =
  '{"name": "bank_list", "arguments": {"n": 1, "rate": 1.5, "all": true, "none": null, "tags": ["a", 2]}}';

function check(syntax: CallSyntax, message: string, calls: readonly Call[], text = "") {
  expect(parseToolCalls(syntax, message)).toEqual({ text, calls });
}

test("Hermes", () => {
  check("hermes", "Done.", [], "Done.");
  check("hermes", `<tool_call>\n${json}\n</tool_call>`, [one]);
  check(
    "hermes",
    `Let me look.\n<tool_call>${json}</tool_call>\n<tool_call>\n${json}\n</tool_call>`,
    [one, one],
    "Let me look.",
  );
  check("hermes", `<think>\nHm <tool_call>\n</think>\n\n<tool_call>\n${json}\n</tool_call>`, [one]);
  check("hermes", '<tool_call>{"name": "a", "arguments": "{\\"b\\": 1}"}</tool_call>', [
    call("a", { b: 1 }),
  ]);
  check("hermes", '<tool_call>{"name": "a"}</tool_call>', [call("a")]);
  check("hermes", '<tool_call>{"name": "a", "arguments": [1]}</tool_call>', [
    { name: "a", arguments: [1] },
  ]);
});

test("Hermes that cannot be parsed is a call without a name", () => {
  check("hermes", "<tool_call>\n{oops\n</tool_call>", [unparsed("{oops\n</tool_call>")]);
  check("hermes", `<tool_call>\n${json}`, [unparsed(json)]);
  check("hermes", '<tool_call>{"name": ""}</tool_call>', [unparsed('{"name": ""}</tool_call>')]);
  check("hermes", "<tool_call>[]</tool_call>", [unparsed("[]</tool_call>")]);
});

test("Granite", () => {
  check("granite", "Done.", [], "Done.");
  check("granite", `<|tool_call|>[${json}, ${json}]`, [one, one]);
  check("granite", "<|tool_call|>[1", [unparsed("[1")]);
  check("granite", "<|tool_call|>[1]", [unparsed("1")]);
});

test("Llama", () => {
  const parameters = json.replace("arguments", "parameters");
  check("llama", "Done. {}", [], "Done. {}");
  check("llama", parameters, [one]);
  check("llama", `<|python_tag|>${parameters}; ${parameters}`, [one, one]);
  check("llama", '{"type": "function", "function": {"name": "a", "parameters": {"b": "}"}}}', [
    call("a", { b: "}" }),
  ]);
  check("llama", '<|python_tag|>search.call(query="rain, \\"now\\"", n=3, all=True)', [
    call("search", { query: 'rain, "now"', n: 3, all: true }),
  ]);
  check("llama", "<|python_tag|>import os", [unparsed("import os")]);
  check("llama", '{"name": "a"', [unparsed('{"name": "a"')]);
});

test("calls begin where they are written, whatever their arguments are named", () => {
  const checkStarts = (syntax: CallSyntax, before: string, calls: string[], between: string) => {
    const starts = calls.map((_, i) => before.length + calls.slice(0, i).join("").length);
    expect(findCallStarts(syntax, before + calls.join(between))).toEqual(
      starts.map((it, i) => it + i * between.length),
    );
  };
  const calls = [
    '{"name": "create_folder", "parameters": {"name": "Taxes {", "type": {"name": "x"}}}',
    '{"type": "function", "function": {"name": "move", "parameters": {"type": "all"}}}',
  ];
  checkStarts("llama", "<|python_tag|>", calls, "; ");
  checkStarts("llama", "<think>{}</think>", [...calls, '{"name": "a"'], " ");
  checkStarts("granite", "Let me {look}. <|tool_call|>[", calls, ", ");
  checkStarts("hermes", "", ['<tool_call>{"name": "a"}</tool_call>', "<tool_call>{}"], "\n");
  expect(findCallStarts("granite", "Done {}.")).toEqual([]);
});
