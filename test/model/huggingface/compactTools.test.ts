/**
 * Tools as signatures: what a model reads of them in place of schemas, in which the rest of the
 * conversation and the calls that are read stay as they are.
 */
import { describe, expect, test } from "vitest";
import { describeTool } from "../../../src/environment/toolDescription.ts";
import { formatToolSignature } from "../../../src/environment/toolSignature.ts";
import { createHuggingFaceFormat } from "../../../src/model/huggingface/chatFormat.ts";
import { readChatTemplate } from "../../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import type { Conversation } from "../../../src/policy/policy.ts";
import { catalog } from "../../contracts/transports.ts";
import { getFamilyFolder } from "./families.ts";

const getTool = (name: string) => catalog.tools.get(name)!;
const format = (name: string) => formatToolSignature(describeTool(getTool(name)));

test("name arguments, what may be left out, choices and how a text is written", () => {
  expect(format("filesystem_chmod")).toMatch(/^filesystem_chmod\(path, mode\) {2}# \w/);
  expect(format("banking_list_transactions")).toBe(
    "banking_list_transactions(account_id, from_date?: date, to_date?: date, text?, min_amount?: num, limit?: int)  # List an account's transactions",
  );
  expect(format("calendar_create_recurring_event")).toContain(
    "start: YYYY-MM-DDTHH:MM, every: daily|weekdays|weekly|every_two_weeks|monthly,",
  );
  expect(format("payments_create_invoice")).toContain(
    "lines: [{text, quantity: int, unit_price: num}]",
  );
});

test("of other servers are read, too", () => {
  const parameters = {
    properties: {
      "a b": { anyOf: [{ type: "null" }, { type: "integer" }] },
      kind: { enum: ["x y", 1, null] },
      any: true,
      map: { type: "object" },
    },
  } as never;
  expect(formatToolSignature({ name: "find", description: "Find it.", parameters })).toBe(
    'find(a b?: int, kind?: "x y"|1|null, any?, map?: {})  # Find it',
  );
});

const tools = ["filesystem_chmod", "banking_list_transactions"].map(getTool);
const limits = { prompt: 4000, sampled: 100, result: 60, turn: 4000, context: 8000 };
const events = [
  { kind: "user", text: "Make it mine." },
  { kind: "assistant", message: 0, text: "" },
  {
    kind: "call",
    message: 0,
    name: "filesystem_chmod",
    arguments: { path: "/a", mode: "600" },
    outcome: { kind: "ok", value: { done: true } },
    digest: "",
  },
  { kind: "assistant", message: 1, text: "Done." },
] as unknown as Conversation["events"];
const conversation: Conversation = {
  header: { kind: "header", id: "t", task: "t", menu: [], seed: 0 } as never,
  tools,
  now: "2026-03-02T09:00",
  events,
};

describe.each(["qwen", "granite", "llama", "smollm"])("%s", name => {
  const folder = getFamilyFolder(name);
  const tokenizer = readHuggingFaceTokenizer(folder);
  const template = readChatTemplate(folder, name === "smollm" ? "default" : "own");
  const options = { folder, tokenizer, template, endIds: [], limits };
  const whole = createHuggingFaceFormat(options).encode(conversation);
  const chat = createHuggingFaceFormat({ ...options, tools: "compact" });
  const compact = chat.encode(conversation);

  test("the prompt has signatures, how calls are written, and no schemas", () => {
    const prompt = tokenizer.decode(compact.ids.slice(0, compact.opening));
    expect(prompt).toContain("filesystem_chmod(path, mode)");
    expect(prompt).not.toContain('"properties"');
    expect(prompt).toMatch(/"name": "tool", "(arguments|parameters)": \{"key": "value"\}/);
    expect(compact.opening).toBeLessThan(whole.opening);
  });

  test("what follows, and the calls that are read, are those of the schemas", () => {
    const sampled = compact.ids.slice(compact.opening);
    expect(sampled).toEqual(whole.ids.slice(whole.opening));
    const message = sampled.slice(0, compact.message.lastIndexOf(0) + 1 - compact.opening);
    expect(compact.parse(message)).toEqual({
      text: "",
      calls: [{ name: "filesystem_chmod", arguments: { path: "/a", mode: "600" } }],
    });
    expect(chat.countTools(tools)).toBeLessThan(
      0.4 * createHuggingFaceFormat(options).countTools(tools),
    );
  });
});
