/**
 * The chat format of Hugging Face models: a conversation has the tokens of the whole rendered chat,
 * but what the model sampled stays as it was sampled, and nothing that users or tools say can
 * become a control token.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/environment/json.ts";
import { createHuggingFaceFormat } from "../../../src/model/huggingface/chatFormat.ts";
import {
  readChatTemplate,
  type ChatTemplate,
} from "../../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { describeTool } from "../../../src/environment/toolDescription.ts";
import { formatInstructions } from "../../../src/policy/chatMessages.ts";
import type { Conversation } from "../../../src/policy/policy.ts";
import { emptyFolder } from "../../cli/program.ts";
import { getFamilyFolder } from "./families.ts";

const limits = { prompt: 4000, sampled: 100, result: 60, turn: 4000, context: 8000 };
const now = "2026-03-02T09:00";

function open(name: string, template?: ChatTemplate) {
  const folder = getFamilyFolder(name);
  const tokenizer = readHuggingFaceTokenizer(folder);
  const used = template ?? readChatTemplate(folder, name === "smollm" ? "default" : "own");
  const options = { folder, tokenizer, template: used, endIds: [], limits };
  return { tokenizer, template: used, format: createHuggingFaceFormat(options) };
}

type Event = Conversation["events"][number];
type Tool = Conversation["tools"][number];

const tools = ["bank_list", "bank_send"].map(
  name =>
    ({
      name,
      summary: `Do "${name}" <b>.`,
      inputSchema: { type: "object", properties: { to: { type: "string", "x-entity": "user" } } },
    }) as unknown as Tool,
);

const createConversation = (events: readonly Event[], more: object = {}): Conversation => ({
  header: { kind: "header", id: "t", task: "t", menu: [], seed: 0 } as never,
  tools,
  now,
  events,
  ...more,
});

const user = (text: string, adds?: string[]): Event => ({
  kind: "user",
  text,
  ...(adds ? { adds } : {}),
});
const says = (message: number, text: string, tokens?: number[]): Event => ({
  kind: "assistant",
  message,
  text,
  ...(tokens ? { tokens, logprobs: tokens.map(() => -0.5), mask: tokens.map(() => 1) } : {}),
});
const result = (message: number, name: string, args: JsonObject, value: unknown): Event => ({
  kind: "call",
  message,
  name,
  arguments: args,
  outcome: { kind: "ok", value } as never,
  digest: "",
});

const events = [
  user("Send it to Zoë, now!"),
  says(0, ""),
  result(0, "bank_list", {}, { users: ["u_1", "ü"] }),
  says(1, ""),
  result(1, "bank_send", { to: "u_1" }, { ok: true, n: 1.5 }),
  says(2, "It is sent."),
  user("Thanks"),
];

describe.each(["qwen", "granite", "llama", "smollm"])("%s", name => {
  const { tokenizer, template, format } = open(name);

  test("the tokens are those of the whole rendered chat", () => {
    const call = (tool: string, args: object) => ({
      role: "assistant",
      content: "",
      tool_calls: [{ type: "function", function: { name: tool, arguments: args } }],
    });
    const rendered = template.render({
      messages: [
        { role: "system", content: formatInstructions(now) },
        { role: "user", content: "Send it to Zoë, now!" },
        call("bank_list", {}),
        { role: "tool", content: '{"users":["u_1","ü"]}' },
        call("bank_send", { to: "u_1" }),
        { role: "tool", content: '{"ok":true,"n":1.5}' },
        { role: "assistant", content: "It is sent." },
        { role: "user", content: "Thanks" },
      ] as never,
      tools: tools.map(it => ({ type: "function", function: describeTool(it) })) as never,
      addGenerationPrompt: true,
      now,
    });
    const chat = format.encode(createConversation(events));
    // Qwen's template drops the empty thought of earlier messages, which the model did read
    const thought = "<think>\n\n</think>\n\n";
    const asSampled = tokenizer.decode(chat.ids);
    if (name === "qwen")
      expect(asSampled.replaceAll(thought, "")).toBe(rendered.replaceAll(thought, ""));
    else expect(chat.ids).toEqual(tokenizer.encode(rendered));
    expect(asSampled).toContain('Do \\"bank_list\\" <b>.');
    expect(asSampled).not.toContain("x-entity");
    expect(tokenizer.decode(chat.ids.filter((_, i) => chat.mask[i] === 1))).toMatch(
      /^.*bank_list.*\n?.*bank_send.*It is sent\.<\|(im_end|end_of_text|eot_id)\|>$/s,
    );
  });

  test("what was sampled stays as it was sampled, and a longer conversation begins with it", () => {
    const short = format.encode(createConversation(events.slice(0, 1)));
    expect(short.opening).toBe(short.ids.length);
    // not how the tokenizer encodes text
    const end = tokenizer
      .encode(format.decode(format.encode(createConversation(events.slice(0, 2))).ids))
      .at(-1)!;
    const sampled = [
      ...tokenizer.encode("D"),
      ...tokenizer.encode("o"),
      ...tokenizer.encode("n"),
      ...tokenizer.encode("e"),
      end,
    ];
    expect(tokenizer.encode("Done").length).toBeLessThan(4);
    const long = format.encode(
      createConversation([...events.slice(0, 1), says(0, "Done", sampled), user("More")]),
    );
    expect(long.ids.slice(0, short.ids.length + sampled.length)).toEqual([
      ...short.ids,
      ...sampled,
    ]);
    const isSampled = (_: unknown, i: number) => long.mask[i] === 1;
    expect(long.ids.filter(isSampled)).toEqual(sampled);
    expect(long.logprobs.filter(isSampled)).toEqual(sampled.map(() => -0.5));
    expect(long.message.filter(isSampled)).toEqual(sampled.map(() => 0));
    expect(tokenizer.decode(long.ids.slice(short.ids.length + sampled.length))).toMatch(/More/);
    expect(format.isMessageEnd(end)).toBe(true);
    expect(short.parse(sampled)).toEqual({ text: "Done", calls: [] });
  });

  test("a message that it encodes is parsed back, and its tokens belong to their call", () => {
    const before = format.encode(createConversation(events.slice(0, 1)));
    const { ids } = format.encode(createConversation(events.slice(0, 3)));
    const all = format.encode(createConversation(events.slice(0, 3)));
    const own = ids.filter((_, i) => all.mask[i] === 1);
    expect(before.parse(own)).toEqual({ text: "", calls: [{ name: "bank_list", arguments: {} }] });
    expect(new Set(format.indexCalls(own))).toEqual(new Set([0]));
  });

  test("several calls of one message are parsed back, even if the template takes only one", () => {
    const calls = [
      { name: "bank_list", arguments: {} },
      { name: "bank_send", arguments: { to: 'u_1; {"a"' } },
    ];
    const before = format.encode(createConversation(events.slice(0, 1)));
    const { ids, mask } = format.encode(
      createConversation([
        events[0]!,
        says(0, ""),
        ...calls.map(it => result(0, it.name, it.arguments, { ok: true })),
      ]),
    );
    const own = ids.filter((_, i) => mask[i] === 1);
    expect(before.parse(own)).toEqual({ text: "", calls });
    expect(new Set(format.indexCalls(own))).toEqual(new Set([0, 1]));
  });

  test("texts of users, tools and rules cannot write control tokens", () => {
    const attack = tokenizer.controlTokens.map(it => it.text).join(" ") + "\n";
    const controlIds = new Set(tokenizer.controlTokens.map(it => it.id));
    const count = (text: string) => {
      const changed = [
        user(text),
        says(0, text),
        user(text),
        says(1, ""),
        result(1, text, { [`x${text}`]: text }, { [text]: text }),
      ];
      const tool = { ...tools[0]!, summary: text } as Tool;
      const all = createConversation(changed, { tools: [tool], rules: [text] });
      return format.encode(all).ids.filter(it => controlIds.has(it));
    };
    expect(count(attack)).toEqual(count("text"));
  });

  test("long results are shortened to valid JSON within the limit", () => {
    const value = { rows: Array.from({ length: 200 }, (_, i) => `row number ${i}`) };
    const long = [...events.slice(0, 2), result(0, "bank_list", {}, value)];
    const start = format.encode(createConversation(events.slice(0, 2))).ids.length;
    const { ids } = format.encode(createConversation(long));
    expect(ids.length - start).toBeLessThan(limits.result + 40);
    expect(tokenizer.decode(ids.slice(start))).toContain("left out");
  });

  test("tools that a later turn adds are described in the turn", () => {
    const late = [...events.slice(0, 1), says(0, "Done."), user("Go on", ["bank_send"])];
    const chat = format.encode(createConversation(late));
    expect(tokenizer.decode(chat.ids.slice(0, chat.opening))).not.toContain("bank_send");
    expect(tokenizer.decode(chat.ids.slice(chat.opening))).toMatch(/Go on.*"bank_send"/s);
  });

  test("the turns of a teacher are given", () => {
    const all = createConversation(events, {});
    const one = format.encode({ ...all, header: { ...all.header, turn: 1 } });
    expect(one.ids).toEqual(format.encode(all).ids);
    expect(one.mask.every(it => it === 0)).toBe(true);
    expect(one.given).toBe(one.ids.length);
    expect(one.opening).toBeLessThan(one.given);
  });
});

test("calls of one message are told apart", () => {
  const { tokenizer, format } = open("qwen");
  const ids = tokenizer.encode(
    'Look.\n<tool_call>\n{"name": "a"}\n</tool_call>\n<tool_call>\n{"name": "b"}\n</tool_call>',
  );
  const calls = format.indexCalls(ids);
  const second = ids.lastIndexOf(tokenizer.encode("<tool_call>")[0]!);
  expect(calls.slice(0, second).every(it => it === 0)).toBe(true);
  expect(calls.slice(second).every(it => it === 1)).toBe(true);
});

test("calls in XML have the types of the tool's schema", () => {
  const folder = emptyFolder();
  writeFileSync(
    join(folder, "chat_template.jinja"),
    `{{ tools|tojson }}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>
<function={{ c.function.name }}>
{% for key, value in c.function.arguments|items %}<parameter={{ key }}>
{{ value|tojson if value is mapping or (value is iterable and value is not string) else value|string }}
</parameter>
{% endfor %}</function>
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{{ '' }}{% endif %}`,
  );
  const { format, tokenizer } = open("qwen", readChatTemplate(folder, "own"));
  expect(format.callSyntax).toBe("xml");
  const chat = format.encode(createConversation([user("Hi")]));
  const text =
    "<tool_call>\n<function=bank_send>\n<parameter=to>\n5\n</parameter>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call>";
  const end = tokenizer.controlTokens.find(it => it.text === "<|im_end|>")!.id;
  expect(chat.parse([...tokenizer.encode(text), end]).calls).toEqual([
    { name: "bank_send", arguments: { to: "5", n: 5 } },
  ]);
});

test("a message that ends with the mark of another role is a call without a name", () => {
  const { tokenizer, format } = open("qwen");
  const [start] = tokenizer.encode("<|im_start|>");
  const chat = format.encode(createConversation(events.slice(0, 1)));
  expect(format.isMessageEnd(start!)).toBe(true);
  expect(chat.parse([...tokenizer.encode("Hi"), start!]).calls).toEqual([
    { name: "", arguments: { unparsed: "Hi", reason: "the message has no end" } },
  ]);
});

describe("a template that cannot be used", () => {
  const check = (source: (input: Parameters<ChatTemplate["render"]>[0]) => string, what: RegExp) =>
    expect(() => open("qwen", { source: "", render: source })).toThrow(what);
  const turns = (messages: readonly JsonObject[], end: string) =>
    messages
      .map(
        it =>
          `<|im_start|>${it["role"] as string}\n${it["content"] as string}${JSON.stringify(it["tool_calls"] ?? "")}${end}\n`,
      )
      .join("");
  const start = (input: { addGenerationPrompt: boolean }) =>
    input.addGenerationPrompt ? "<|im_start|>assistant\n" : "";

  test("shows no tools", () =>
    check(it => turns(it.messages, "<|im_end|>") + start(it), /does not show tools/));
  test("does not end messages", () =>
    check(it => JSON.stringify(it.tools) + turns(it.messages, ""), /would never stop/));
  test("writes calls in an unknown way", () =>
    check(
      it => JSON.stringify(it.tools) + turns(it.messages, "<|im_end|>") + start(it),
      /syntax that is not supported/,
    ));
  test("writes calls in an unknown way that has no null", () => {
    const folder = emptyFolder();
    writeFileSync(
      join(folder, "chat_template.jinja"),
      `{{ tools|tojson }}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<function={{ c.function.name }}>{% for key, value in c.function.arguments|items %}<parameter={{ key }}>{{ value|string }}</parameter>{% endfor %}</function>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{{ '' }}{% endif %}`,
    );
    expect(() => open("qwen", readChatTemplate(folder, "own"))).toThrow(
      /syntax that is not supported/,
    );
  });
  test("begins answers in another way than it shows them", () =>
    check(
      it =>
        `${JSON.stringify(it.tools)}${turns(it.messages, "<|im_end|>")}${start(it)}${it.addGenerationPrompt ? "!" : ""}`,
      /in another way/,
    ));
});
