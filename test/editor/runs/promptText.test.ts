/** What a model saw of an attempt, as text. */
import { expect, test } from "vitest";
import { formatChat, formatReading } from "../../../src/editor/runs/promptText.ts";
import { createRules } from "../../../src/policy/policy.ts";
import type { ModelReading } from "../../../src/protocol/work.ts";
import { listMenuTools } from "../../../src/environment/menu.ts";
import { listOfferedItems } from "../../../src/trajectory/task.ts";
import { catalog } from "../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "../attempts/sampleAttempts.ts";

const { task, trajectory } = await loadSampleAttempt();
const head = { trajectory, notes: ["read by careless"] };

const reading: ModelReading = {
  name: "careless",
  kind: "student",
  context: 768,
  parts: [
    { kind: "given", text: "<menu> a<user> hi\u202e<asst>", tokens: 12 },
    {
      kind: "message",
      message: 0,
      isRecorded: true,
      logprobs: "recorded",
      tokens: [
        { id: 4, text: "<call>", logprob: -0.0001 },
        { id: 519, text: " x\n", logprob: -0.5 },
      ],
    },
    { kind: "given", text: "<res> 1<asst>", tokens: 3 },
    {
      kind: "message",
      message: 1,
      isRecorded: false,
      tokens: [{ id: 9, text: "<0xE2>" }],
    },
  ],
  note: "log-probabilities are not computed, because the model is large",
};

test("a reading has its prompt, its tokens and what is appended", () => {
  expect(formatReading(head, reading)).toBe(
    [
      `what the model saw in ${trajectory.header.id} · by student`,
      "read by careless",
      "as careless reads it, a small student with 768 tokens of context",
      "18 tokens in all, of which 3 are the policy's",
      "note: log-probabilities are not computed, because the model is large",
      "",
      "PROMPT · 12 tokens, masked: not trained on",
      "│ <menu> a",
      "│ <user> hi⟨U+202E⟩",
      "│ <asst>",
      "",
      "MESSAGE 1 · 2 tokens, sampled",
      "  log-probabilities as recorded when the tokens were sampled, in sum -0.500",
      "    log-prob       p        id  token",
      '       0.000  100.0%         4  "<call>"',
      '      -0.500   60.7%       519  " x\\n"',
      "",
      "APPENDED · 3 tokens, masked: not trained on",
      "│ <res> 1",
      "│ <asst>",
      "",
      "MESSAGE 2 · 1 token, not sampled by this model: encoded from the text",
      "  log-probabilities are neither recorded nor computed",
      "    log-prob       p        id  token",
      '           –       –         9  "<0xE2>"',
      "",
    ].join("\n"),
  );
});

test("tokens of a training are marked where they had no gradient", () => {
  const clipped = formatReading(head, reading, { advantage: -0.5, clipped: [1] });
  expect(clipped).toContain("advantage -0.5");
  expect(clipped).toMatch(/"<call>"$/m);
  expect(clipped).toMatch(/" x\\n" {3}clipped$/m);
  const flat = formatReading(head, reading, { advantage: 0, clipped: [] });
  expect(flat).toContain("no token of this attempt had a gradient");
  expect(flat).toMatch(/"<call>" {3}no gradient$/m);
});

test("chat messages are those that an endpoint gets, with the tools", () => {
  const conversation = {
    ...trajectory,
    tools: listMenuTools(catalog.tools, listOfferedItems(task), task.tools),
    now: task.now,
    ...createRules(task),
  };
  const text = formatChat(head, conversation, "as chat messages");
  expect(text).toContain("\nSYSTEM MESSAGE\n│ You are an assistant that acts for the user");
  expect(text).toMatch(
    /\nTOOLS · \d+, as JSON\n│ \{"type":"function","function":\{"name":"banking_/,
  );
  expect(text).toMatch(/\nASSISTANT, MESSAGE 2\n│ \{"id":"call\d+","type":"function"/);
  expect(text).toMatch(/\nRESULT OF A CALL\n│ \{"error_type":/);
  expect(text).toMatch(/\nASSISTANT, MESSAGE 3\n│ Moved\.\n$/);
  expect(text).not.toContain("recorded tokens");
});

test("without a tokenizer, recorded tokens are counted", () => {
  const events = trajectory.events.map(it =>
    it.kind === "assistant" && it.message === 0
      ? { ...it, tokens: [1, 2, 3], logprobs: [-1, -0.5, 0], mask: [1, 1, 1] }
      : it,
  );
  const own = { header: trajectory.header, events };
  const text = formatChat(
    { trajectory: own, notes: [] },
    { ...own, tools: [], now: task.now },
    "as chat messages, because the tokenizer is gone",
  );
  expect(text).toContain("because the tokenizer is gone");
  expect(text).toContain("  message 1: 3 tokens, log-probabilities in sum -1.500");
});
