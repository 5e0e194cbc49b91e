/** Chat templates render the text and the tokens that transformers renders. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readChatTemplate } from "../../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { getFamilyFolder, readExpected } from "./families.ts";

describe.each(["qwen", "granite", "llama"])("%s", name => {
  const folder = getFamilyFolder(name);
  const template = readChatTemplate(folder, "own");
  const tokenizer = readHuggingFaceTokenizer(folder);
  const { chats } = readExpected(name);

  test.each(chats)("$name with $tools.length tools", ({ messages, tools, text, ids, error }) => {
    const render = () =>
      template.render({
        messages,
        tools,
        addGenerationPrompt: messages.at(-1)!["role"] !== "assistant",
        now: "2026-03-02T09:00",
      });
    if (error !== undefined) return expect(render).toThrow(error);
    expect(render()).toBe(text);
    expect(tokenizer.encode(text!)).toEqual(ids);
  });
});

describe("of several templates, the one for tools is used", () => {
  const read = (files: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
    mkdirSync(join(folder, "additional_chat_templates"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return readChatTemplate(folder, "own").source;
  };
  test("in the configuration of the tokenizer", () => {
    const templates = ["default", "tool_use"].map(name => ({ name, template: `{{ "${name}" }}` }));
    expect(read({ "tokenizer_config.json": JSON.stringify({ chat_template: templates }) })).toBe(
      '{{ "tool_use" }}',
    );
  });
  test("in files, as transformers saves them", () =>
    expect(
      read({
        "chat_template.jinja": "default",
        "additional_chat_templates/rag.jinja": "rag",
        "additional_chat_templates/tool_use.jinja": "tool_use",
      }),
    ).toBe("tool_use"));
});

test("dates have the text of Python's strftime", () => {
  const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
  const render = (format: string, now: string) => {
    writeFileSync(join(folder, "chat_template.jinja"), `{{ strftime_now("${format}") }}`);
    const template = readChatTemplate(folder, "own");
    return template.render({ messages: [], tools: [], addGenerationPrompt: true, now });
  };
  expect(render("%A, %d %B %Y, %H:%M:%S", "2026-03-02T09:05")).toBe(
    "Monday, 02 March 2026, 09:05:00",
  );
  expect(render("%a %-d %b %y, %-I:%M %p 100%%", "2026-03-02T09:05")).toBe(
    "Mon 2 Mar 26, 9:05 AM 100%",
  );
  expect(render("%I %p", "2026-12-31T00:00") + render(" %I %p", "2026-12-31T12:00")).toBe(
    "12 AM 12 PM",
  );
  expect(() => render("%Z", "2026-03-02T09:05")).toThrow(/strftime_now does not know %Z/);
});

describe("range is that of Python", () => {
  const render = (expression: string) => {
    const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
    writeFileSync(join(folder, "chat_template.jinja"), `{{ ${expression} }}`);
    const messages = [{ role: "user" }, { role: "assistant" }, { role: "tool" }];
    return readChatTemplate(folder, "own").render({
      messages,
      tools: [],
      addGenerationPrompt: true,
      now: "2026-03-02T09:00",
    });
  };

  test.each([
    ["3", "0 1 2"],
    ["-1", ""],
    ["2, 5", "2 3 4"],
    ["5, 2", ""],
    ["0, 7, 3", "0 3 6"],
    ["0, 6, 3", "0 3"],
    ["messages|length - 1, -1, -1", "2 1 0"],
    ["5, 0, -2", "5 3 1"],
    ["0, 5, -1", ""],
    ["100000, 0, -50000", "100000 50000"],
  ])("range(%s)", (args, numbers) => expect(render(`range(${args})|join(' ')`)).toBe(numbers));

  test("a loop goes back through the messages", () =>
    expect(
      render("'' }}{% for i in range(2, -1, -1) %}{{ messages[i].role }} {% endfor %}{{ ''"),
    ).toBe("tool assistant user "));

  test.each([
    ["0, 5, 0", "the step of range() must not be 0"],
    ["1000000000", "range() has 1000000000 numbers, more than 100000"],
    ["0, -1000000000, -1", "range() has 1000000000 numbers, more than 100000"],
    ["0.5", "range() takes whole numbers only"],
    ["messages", "range() takes whole numbers only"],
    ["", "range() takes one to three numbers"],
  ])("range(%s) is an error", (args, message) =>
    expect(() => render(`range(${args})|length`)).toThrow(`cannot be rendered: ${message}`),
  );
});

describe("a template that computes too much is refused", () => {
  const render = (source: string) => {
    const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
    writeFileSync(join(folder, "chat_template.jinja"), source);
    const template = readChatTemplate(folder, "own");
    const now = "2026-03-02T09:00";
    return template.render({ messages: [], tools: [], addGenerationPrompt: true, now });
  };
  const loop = "{% for a in range(100000) %}";
  const replace = `|replace("a", "${"a".repeat(8)}")`;

  test.each([
    ["loops", `${loop}${loop}{% endfor %}{% endfor %}`, "it takes more than 2 seconds"],
    ["a long text", `{{ "a"${replace.repeat(8)} }}`, "the text has 16777216 characters"],
  ])("%s", (_, source, message) =>
    expect(() => render(source)).toThrow(`cannot be rendered: ${message}`),
  );
});

describe("values are printed as Python prints them", () => {
  const message = { role: "user", content: "é", n: 1e-7, none: null, t: true };
  const render = (source: string) => {
    const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
    writeFileSync(join(folder, "chat_template.jinja"), source);
    return readChatTemplate(folder, "own").render({
      messages: [message],
      tools: [],
      addGenerationPrompt: true,
      now: "2026-03-02T09:00",
    });
  };

  // the texts are those of transformers
  test.each([
    ["true", "True"],
    ["none", "None"],
    ["none | string", "None"],
    ["none | upper", "NONE"],
    ["missing", ""],
    ["missing | upper", ""],
    ["[true, none, 1.5, 'a']", "[True, None, 1.5, 'a']"],
    ["{'a': [1, 2.0], 'b': none}", "{'a': [1, 2.0], 'b': None}"],
    [`['it\\'s', 'a "b"', 'both \\' "']`, `["it's", 'a "b"', 'both \\' "']`],
    ["['a\\nb\\t\\\\', '\u00a0\u200b\u2028😀']", "['a\\nb\\t\\\\', '\\xa0\\u200b\\u2028😀']"],
    ["(1, none)", "(1, None)"],
    ["'%s' ~ none ~ true ~ 1.0", "%sNoneTrue1.0"],
    ["messages[0].n", "1e-07"],
    ["-1.5 * 1000000000000000000.0", "-1.5e+18"],
    ["123456789012345.5", "123456789012345.5"],
    ["0.0001", "0.0001"],
    ["[true, none, 2] | join(', ')", "True, None, 2"],
    ["'abc' | join('-')", "a-b-c"],
    ["{'é': [messages[0].n, none, true]} | tojson", '{"é": [1e-07, null, true]}'],
    ["{'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':'))", '{"a":2,"b":1}'],
    [
      "{'a': [1, {}], 'b': []} | tojson(indent=2)",
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}',
    ],
    ["'é' | tojson(ensure_ascii=true)", '"\\u00e9"'],
    ["messages", "[{'role': 'user', 'content': 'é', 'n': 1e-07, 'none': None, 't': True}]"],
    ["messages[0].none | tojson", "null"],
  ])("%s", (expression, text) => expect(render(`{{ ${expression} }}`)).toBe(text));

  test.each([
    ["{% for c in messages[0].content %}{{ c }}.{% endfor %}", "é."],
    [
      "{% for c in missing %}x{% endfor %}{% for m in messages if m.t %}{{ m.t }}{% endfor %}",
      "True",
    ],
    ["{% set x %}{{ none }}{% endset %}{{ x }}", "None"],
    ["{% macro f(a) %}{{ a }}{% endmacro %}{{ f(none) }}{% set y = none %}", "None"],
    ["{% if true %}{{ none }}{% else %}{{ 1 }}{% endif %}", "None"],
  ])("%s", (source, text) => expect(render(source)).toBe(text));
});

describe("a template that cannot be used", () => {
  function check(source: string | undefined, message: RegExp) {
    const folder = mkdtempSync(join(tmpdir(), "prove-template-"));
    if (source !== undefined) writeFileSync(join(folder, "chat_template.jinja"), source);
    const render = () =>
      readChatTemplate(folder, "own").render({
        messages: [],
        tools: [],
        addGenerationPrompt: true,
        now: "2026-03-02T09:00",
      });
    expect(render).toThrow(message);
  }

  test("is missing", () => check(undefined, /has no chat template/));
  test("is not Jinja", () => check("{% if %}", /cannot be rendered/));
  test("raises an exception", () => check("{{ raise_exception('no') }}", /refuses.*: no/));
});
