/**
 * The places that read text of models, users, servers and files, each as a function of such a text,
 * and the shapes of text that code which reads a part of it twice takes long for.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Json } from "../../src/environment/json.ts";
import { parseServerEntries } from "../../src/mcp/mcpConfig.ts";
import { readChatTemplate } from "../../src/model/huggingface/chatTemplate.ts";
import { encodeMessage } from "../../src/model/student/compactChat.ts";
import { IdAliases } from "../../src/model/student/idAliases.ts";
import { createMessageGrammar } from "../../src/model/student/messageGrammar.ts";
import { parseTokenizer } from "../../src/model/student/tokenizer.ts";
import { parseArguments, readMessageText } from "../../src/policy/callText/callText.ts";
import { parseAnswer } from "../../src/policy/endpointFormat.ts";
import { completeStructured } from "../../src/policy/structuredOutput.ts";
import { createAttemptHeader, TaskConversation } from "../../src/policy/taskConversation.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import { scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { findFormat } from "../../src/rollouts/formats.ts";
import { showRollout } from "../../src/rollouts/rollout.ts";
import { parseChatRequest } from "../../src/service/chat/chatRequest.ts";
import { checkJson } from "../../src/storage/parseJson.ts";
import { findGroundingFlaw } from "../../src/synthesis/teachers/chatModel/grounding.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { escapeInvisible } from "../../src/trajectory/invisibleText.ts";
import type { AnswerKind, Task } from "../../src/trajectory/task.ts";
import { asksToRefrain, isAgreement } from "../../src/trajectory/taskRules.ts";
import { asFinished, type Event } from "../../src/trajectory/trajectory.ts";
import { formatTranscript } from "../../src/trajectory/transcript.ts";
import { getFamilyFolder } from "../model/huggingface/families.ts";
import { readCallCases } from "../policy/callCases.ts";
import {
  balance,
  calling,
  catalog,
  goal,
  lookUp,
  moveTwice,
  saying,
  taskOf,
} from "../trajectory/sampleTasks.ts";

/** A text of about a length. */
interface Shape {
  readonly name: string;
  readonly create: (length: number) => string;
}

export interface EntryPoint {
  readonly name: string;
  /** Reads a text once. A refusal is an answer. */
  readonly read: (text: string) => unknown;
  /** Where the text is not any text. */
  readonly shapes?: readonly Shape[];
}

const { tools } = readCallCases();
const createAttempt = createAttemptFactory(catalog);
const student = parseTokenizer(
  readFileSync(new URL("../../resources/models/careless/tokenizer.json", import.meta.url), "utf8"),
);
const template = readChatTemplate(getFamilyFolder("qwen"), "own");

/** A task whose answer is judged in every way. */
const [look, find] = goal([balance, lookUp]).calls;
const fact = (kind: AnswerKind, field: string, value: string | number) => ({
  entity: "acc_101",
  field,
  value,
  tell: { kind },
});
const asking = await taskOf({
  id: "t-all",
  users: ["What is on my account? I need 3000 in 12 days."],
  goals: [
    {
      calls: [
        {
          ...look!,
          for: "answers",
          facts: [
            fact("money", "balance", 3148.95),
            fact("yes", "status", "active"),
            fact("none", "balance", 0),
          ],
        },
        { ...find!, for: "answers", facts: [fact("name", "name", "Everyday Account")] },
      ],
      after: [],
      turn: 0,
    },
  ],
  teacher: [calling(balance, lookUp), saying("It is.")],
});
const twice = await moveTwice();

/** Scores the teacher's attempt with other texts. */
function judge(task: Task, change: (event: Event) => Event): unknown {
  const { header, events } = task.trajectory;
  const trajectory = asFinished({ header, events: events.map(change) })!;
  const attempt = createAttempt(task, trajectory);
  return [scoreAttempt(attempt, provePlusProfile), getSuccess(attempt)];
}

/** What the simulated user and the end of an attempt make of a message. */
function say(text: string): unknown {
  const { tools: offered } = catalog.getServer("banking");
  const session = { tools: offered, state: {}, call: () => {}, addTools: () => {} };
  const header = createAttemptHeader(twice, catalog, "p");
  const conversation = new TaskConversation(twice, header, session as never);
  conversation.addMessage(saying(text));
  return conversation.end;
}

/** Reads a row of a file of other software, as an import and the editor do. */
function importRow(format: string, json: Json): unknown {
  const found = findFormat(format);
  const parsed = found.parseRow(json, {
    check: (schema, it) => checkJson(schema, it, { file: "f", line: 1, noun: "n", remedy: "r" }),
    omit: () => {},
    skip: () => undefined,
  });
  return parsed && showRollout({ ...parsed, id: "a" }, found);
}

const answerOf = (text: string): Json => ({
  choices: [
    {
      message: {
        role: "assistant",
        content: text,
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: text } }],
      },
    },
  ],
});

const chatOf = (text: string): Json => [
  { role: "user", content: text },
  {
    role: "assistant",
    content: text,
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: text } }],
  },
  { role: "tool", tool_call_id: "a", content: text },
];

/** A plan of which a text of a model may say nothing. */
const plan = {
  plain: "Move 50 to Savings.",
  turn: { text: "Move 50 to Savings.", intents: [] },
  kind: "open",
  persona: { name: "plain", weight: 1, ask: ["{clause}"], dates: "plain" },
  now: "2026-03-09T09:00",
  isMinimal: false,
  sample: { instances: new Map(), find: () => undefined },
  tools: [],
  events: [],
} as unknown as Parameters<typeof findGroundingFlaw>[1];

const repeated = (part: string, tail = ""): Shape => ({
  name: `${JSON.stringify(part)} again and again${tail === "" ? "" : `, then ${tail}`}`,
  create: length => part.repeat(Math.ceil(length / part.length)) + tail,
});

/** One part for half of the text, then another one. */
const halves = (first: string, second: string): Shape => ({
  name: `${JSON.stringify(first)} again and again, then ${JSON.stringify(second)}`,
  create: length => repeated(first).create(length / 2) + repeated(second).create(length / 2),
});

/** Words that differ. */
const numbered: Shape = {
  name: "words that differ",
  create: length => Array.from({ length: length / 6 }, (_, i) => `v${i}x`).join(" "),
};

const call = '<tool_call>{"name":"f","arguments":{}}</tool_call>';

export const entryPoints: readonly EntryPoint[] = [
  { name: "calls in a message", read: text => readMessageText(text, { tools }) },
  { name: "calls in XML", read: text => readMessageText(text, { tools, syntax: "xml" }) },
  { name: "calls of Granite", read: text => readMessageText(text, { syntax: "granite" }) },
  { name: "calls of Llama", read: text => readMessageText(text, { tools, syntax: "llama" }) },
  { name: "arguments of a call", read: parseArguments },
  { name: "an answer of an endpoint", read: text => parseAnswer(answerOf(text)) },
  {
    name: "JSON from an endpoint",
    read: text =>
      completeStructured(
        { complete: () => Promise.resolve({ text, tokens: { read: 0, written: 0 } }) } as never,
        "answer",
        z.strictObject({ a: z.string() }),
        { messages: [] },
      ),
  },
  {
    name: "a request for a chat completion",
    read: text =>
      parseChatRequest({ model: "m", messages: [{ role: "user", content: text }], stop: text }),
  },
  {
    name: "an enum that decoding follows",
    read(text) {
      const values = text.split(" ");
      const properties = { a: { enum: values } };
      const inputSchema = { type: "object", properties, required: ["a"] };
      const offered = [{ name: "f", inputSchema, outputSchema: {} } as never];
      const calls = [{ name: "f", arguments: { a: values.at(-1)! } }];
      const grammar = createMessageGrammar(student, { tools: offered, aliases: new IdAliases() });
      for (const id of encodeMessage(student, offered, { text: "", calls })) {
        grammar.computeMask();
        grammar.append(id);
      }
    },
    shapes: [numbered],
  },
  { name: "a message that the user answers", read: say },
  {
    name: "a question for permission",
    read: text => [asksToRefrain(text, "Move 50 to Savings."), isAgreement(text)],
  },
  {
    name: "an answer that is judged",
    read: text =>
      judge(asking, it => (it.kind === "assistant" && it.text !== "" ? { ...it, text } : it)),
  },
  {
    name: "a request in a task",
    read: text => judge(asking, it => (it.kind === "user" ? { ...it, text } : it)),
  },
  { name: "a text of a teacher", read: text => findGroundingFlaw(text, plan) },
  {
    name: "a chat template",
    read: text =>
      template.render({
        messages: chatOf(text) as never,
        tools: [],
        addGenerationPrompt: true,
        now: "2026-03-02T09:00",
      }),
  },
  { name: "a student's tokenizer", read: text => student.encode(text) },
  {
    name: "an output of verl",
    read: text => importRow("verl", { input: "user\nHi\nassistant\n", output: text, score: 1 }),
  },
  {
    name: "a prompt of verl",
    read: text => importRow("verl", { input: text, output: "x", score: 1 }),
  },
  {
    name: "results in an output of verl",
    read: text => importRow("verl", { input: "user\nHi\nassistant\n", output: text, score: 1 }),
    shapes: [halves(call, "\ntool\n<tool_response>a</tool_response>")],
  },
  {
    name: "results in a conversation of OpenAI",
    read(text) {
      const ids = text.split(" ");
      const calls = ids.map(id => ({
        id,
        type: "function",
        function: { name: id, arguments: "" },
      }));
      const results = ids.map(id => ({ role: "tool", tool_call_id: id, content: "1" }));
      const asked = { role: "user", content: "Hi" };
      const called = { role: "assistant", content: null, tool_calls: calls };
      return importRow("openai", { messages: [asked, called, ...results] });
    },
    shapes: [numbered],
  },
  {
    name: "a number as a text",
    read: text => importRow("verl", { input: "user\nHi\nassistant\n", output: "x", score: text }),
  },
  {
    name: "a completion of TRL",
    read: text => importRow("trl", { prompt: text, completion: text }),
  },
  {
    name: "a conversation of OpenAI",
    read: text => importRow("openai", { messages: chatOf(text) }),
  },
  {
    name: "calls in Python",
    read: text => importRow("bfcl", { id: "a", result: [[`[f(a=${text}`]] }),
  },
  {
    name: "mcp.json",
    read: text =>
      parseServerEntries(JSON.stringify({ servers: { a: { command: text } } }), "f", "/w"),
  },
  { name: "a broken mcp.json", read: text => parseServerEntries(text, "f", "/w") },
  { name: "a line in the terminal", read: escapeInvisible },
  {
    name: "a transcript",
    read: text => {
      const { header, events } = asking.trajectory;
      const changed = events.map(it => ("text" in it ? { ...it, text } : it));
      return formatTranscript({ header, events: changed });
    },
  },
];

/** Reads a text, and takes a refusal for an answer. Anything else is a fault. */
export async function readOnce({ read }: EntryPoint, text: string): Promise<void> {
  try {
    await read(text);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
  }
}

const signs = Array.from(" \n\taA0_-.,:;\"'“”()[]{}<>/\\|*#@?!`$%€é");
const parts = [
  ...signs,
  ..."e\u0301|😀|\u00a0|\u2028|\u202e|\u001b[|```|${|{env:|{{|{%|1,|1'|1.|111 |1 111 |a.|a@|t-|“.|://".split(
    "|",
  ),
  "<tool_call>",
  "</tool_call>",
  "<tool_call>{",
  '<tool_call>{"',
  call,
  "<function=f><parameter=a>",
  "<tool_call><function=f><parameter=a>\n",
  "</parameter>",
  "\n<parameter=",
  "<tool_response>",
  "</tool_response>",
  "<think>",
  "</think>",
  "<think></think>",
  "<|im_start|>",
  "<|im_start|>user\n",
  "<|tool_call|>",
  "<|tool_call|>[",
  "<|python_tag|>{",
  "f.call(a=1,",
  "[f(a=1)",
  "user\n",
  "user",
  "system\nuser\nassistant\n",
  '{"a":',
  "null,",
  "{},",
  '\\"',
  "would you like ",
  "shall i ",
  "not ",
  "or ",
  "yes. ",
  "a? ",
  "A ",
  "I have ",
  "n't ",
  "acc_101 ",
  "Everyday Account or ",
  "12:00 ",
  "2026-03-09 ",
  "3148.95 ",
  "12 March ",
  "one and ",
  "5 h ",
  "tomorrow ",
  "- ",
  "1. ",
];

/** Parts that are repeated, alone and before something that they do not lead to. */
export const anyShapes: readonly Shape[] = [
  ...parts.map(it => repeated(it)),
  ...parts.map(it => repeated(it, "x")),
  repeated(" ", "."),
  halves("a", " 1"),
  halves("“", "”"),
  halves("(", ")"),
];
