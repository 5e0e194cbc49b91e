/**
 * Random files of other people, most of each as it should be: tasks, rollouts of other programs,
 * `mcp.json`, chat templates, tokenizers and texts of models. Each is read, or refused with an
 * error for the user.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../src/environment/json.ts";
import { parseServerEntries } from "../../../src/mcp/mcpConfig.ts";
import { readChatTemplate } from "../../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { readMessageText } from "../../../src/policy/callText/callText.ts";
import { defaultProfile } from "../../../src/reward/profiles.ts";
import { createScorer, scoreRecorded } from "../../../src/reward/scorer.ts";
import { rolloutFormats } from "../../../src/rollouts/formats.ts";
import { readRollouts, RowRemarks } from "../../../src/rollouts/readRollouts.ts";
import { recognizeRollouts } from "../../../src/rollouts/recognizeRollouts.ts";
import { readTasks } from "../../../src/trajectory/file.ts";
import { createTaskLine } from "../../../src/trajectory/task.ts";
import { UserError } from "../../../src/userError.ts";
import { catalog } from "../../contracts/transports.ts";
import { getFamilyFolder, familyNames } from "../../model/huggingface/families.ts";
import { moveFifty, moveTwice } from "../../trajectory/sampleTasks.ts";
import { countRuns, spoiled, spoiledText } from "./mutations.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-rl-"));

/** What reading gave, or undefined if it was refused as the user's. */
async function attempt<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.message).not.toBe("");
    return undefined;
  }
}

const fill = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const it of rows) list.push(it);
  return list;
}

/** Documents as text: spoiled as values or as text, and as they are, which shows that they fit. */
const texts = (documents: readonly Json[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: spoiled(documents).map(it => JSON.stringify(it)) },
    { weight: 1, arbitrary: spoiledText(documents.map(it => JSON.stringify(it))) },
  );

const score = createScorer(catalog);

test("tasks, and the scoring of what they have", async () => {
  const documents = [await moveFifty(), await moveTwice()].map(
    it => JSON.parse(JSON.stringify(createTaskLine(it))) as Json,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts(documents), { minLength: 1, maxLength: 2 }), async lines => {
      const file = fill("some.tasks.jsonl", `${lines.join("\n")}\n`);
      for (const task of (await attempt(() => collect(readTasks(file)))) ?? []) {
        const recorded = { task, trajectory: task.trajectory };
        const scored = scoreRecorded(score, recorded, defaultProfile);
        if ("bug" in scored) throw scored.bug;
      }
    }),
    { numRuns: countRuns(60) },
  );
});

const user = { role: "user", content: "Who is Ann?" };
const call = {
  id: "c1",
  type: "function",
  function: { name: "find", arguments: '{"name":"Ann"}' },
};
const messages = [
  user,
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", tool_call_id: "c1", content: '{"id": 7}' },
  { role: "assistant", content: "Person 7." },
];
const hermes =
  "<|im_start|>user\nWho is Ann?<|im_end|>\n<|im_start|>assistant\n<tool_call>\n" +
  '{"name": "find", "arguments": {"name": "Ann"}}\n</tool_call><|im_end|>\n' +
  "<|im_start|>user\n<tool_response>\n7\n</tool_response><|im_end|>\n";
/** One rollout of each format. */
const rollouts: Readonly<Record<string, Json>> = {
  trl: { step: 1, prompt: [user], completion: messages.slice(1), reward: 1 },
  verl: { input: hermes, output: "Person 7.<|im_end|>", score: 1, step: 1 },
  openai: { messages, tools: [{ type: "function", function: { name: "find" } }] },
  atif: {
    schema_version: "ATIF-v1.8",
    session_id: "s-1",
    agent: { name: "some-agent", version: "1", model_name: "some-model" },
    steps: [
      { step_id: 1, source: "user", message: [{ type: "text", text: "Count the files." }] },
      {
        step_id: 2,
        source: "agent",
        message: "",
        tool_calls: [{ tool_call_id: "c1", function_name: "bash", arguments: { command: "ls" } }],
        observation: { results: [{ source_call_id: "c1", content: "a\nb" }] },
      },
    ],
  },
  inspect: {
    version: 2,
    status: "success",
    eval: { model: "some-model" },
    samples: [
      {
        id: 1,
        epoch: 1,
        input: "Hi",
        target: "",
        messages: [{ role: "user", content: "attachment://abc" }],
        attachments: { abc: "Hello." },
      },
    ],
  },
  bfcl: {
    id: "multi_turn_base_0",
    result: [[`[find(name='Ann', among=[1, -2.5e1, None], o={"k": ("v",)})]`, "Person 7."]],
    inference_log: [
      {
        begin_of_turn_query: [user],
        step_0: [
          { role: "assistant", content: "[find(name='Ann')]" },
          { role: "tool", content: '{"id": 7}' },
        ],
      },
    ],
  },
  tau2: {
    info: {},
    tasks: [],
    simulations: [
      {
        id: "e5",
        task_id: "7",
        trial: 1,
        termination_reason: "user_stop",
        reward_info: { reward: 0 },
        messages: [
          user,
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", name: "find", arguments: { name: "Ann" } }],
          },
          { role: "tool", id: "c1", content: "7", error: false },
        ],
      },
    ],
  },
  "nemo-gym": {
    responses_create_params: { input: [{ ...user, type: "message" }], tools: [] },
    response: {
      model: "some-model",
      output: [
        { type: "function_call", call_id: "c1", name: "find", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "7" },
      ],
    },
    reward: 1,
  },
  verifiers: {
    id: "t1",
    task: { type: "T", data: { idx: 0 } },
    tools: [{ name: "find", description: "", parameters: {} }],
    nodes: [
      { parent: null, message: user, sampled: false },
      {
        parent: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", name: "find", arguments: '{"name": "Ann"}' }],
        },
        sampled: true,
      },
      { parent: 1, message: { role: "tool", tool_call_id: "c1", content: "7" }, sampled: false },
    ],
    calls: [{ node: 1, model: "some-model" }],
    rewards: { exact: { score: 1, weight: 0.5 } },
    ok: true,
  },
  otlp: {
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                traceId: "t1",
                spanId: "a",
                name: "chat m",
                startTimeUnixNano: "1",
                endTimeUnixNano: "2",
                attributes: [
                  { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                  {
                    key: "gen_ai.input.messages",
                    value: {
                      stringValue: JSON.stringify([
                        { role: "user", parts: [{ type: "text", content: "Hi" }] },
                      ]),
                    },
                  },
                  {
                    key: "gen_ai.output.messages",
                    value: {
                      stringValue: JSON.stringify([
                        { role: "assistant", parts: [{ type: "text", content: "Hello." }] },
                      ]),
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
};

const readAll = async (text: string, format: (typeof rolloutFormats)[number]): Promise<number> => {
  const file = fill("some.jsonl", `${text}\n`);
  const read = await attempt(() => collect(readRollouts(file, format, new RowRemarks(() => {}))));
  return read?.length ?? 0;
};

test.each(rolloutFormats)("rollouts of $name", async format => {
  const document = rollouts[format.name]!;
  expect(await readAll(JSON.stringify(document), format), "the document as it is").toBe(1);
  await fc.assert(
    fc.asyncProperty(texts([document]), async text => {
      await readAll(text, format);
      await attempt(() => recognizeRollouts(join(folder, "some.jsonl")));
    }),
    { numRuns: countRuns(25) },
  );
});

test("mcp.json", async () => {
  const document = {
    servers: {
      memory: {
        command: "npx",
        args: ["-y", "server", "${sandbox}/data"],
        cwd: "sub",
        env: { MODE: "test" },
        disposable: true,
        reset: { folder: { full: "seeds/full" } },
      },
      remote: { type: "http", url: "https://example.com/mcp", headers: { a: "b" } },
    },
  };
  await fc.assert(
    fc.asyncProperty(texts([document, { mcpServers: document.servers }]), async text => {
      const read = await attempt(() => parseServerEntries(text, "mcp.json", folder));
      for (const it of read?.errors.values() ?? []) expect(it).toBeInstanceOf(UserError);
    }),
    { numRuns: countRuns(200) },
  );
});

const chat = {
  messages,
  tools: [
    { type: "function", function: { name: "find", parameters: { type: "object" } } },
  ] as Json[],
  addGenerationPrompt: true,
  now: "2026-03-02T09:00",
};

test("chat templates, and chats in them", async () => {
  const sources = ["qwen", "granite", "llama"].map(it =>
    readFileSync(join(getFamilyFolder(it), "chat_template.jinja"), "utf8"),
  );
  const cases = fc.oneof(
    spoiledText(sources).map(source => ({ source, messages })),
    fc.record({
      source: fc.constantFrom(...sources),
      messages: spoiled([messages]).filter(it => Array.isArray(it)),
    }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ({ source, messages }) => {
      fill("chat_template.jinja", source);
      const input = { ...chat, messages: messages as typeof chat.messages };
      await attempt(() => readChatTemplate(folder, "own").render(input));
    }),
    { numRuns: countRuns(150) },
  );
});

test("tokenizers, and texts of users in them", async () => {
  const documents = familyNames.map(
    it => JSON.parse(readFileSync(join(getFamilyFolder(it), "tokenizer.json"), "utf8")) as Json,
  );
  const words = fc.string({ unit: "binary", maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(spoiled(documents), words, async (document, text) => {
      fill("tokenizer.json", JSON.stringify(document));
      await attempt(() => {
        const tokenizer = readHuggingFaceTokenizer(folder);
        tokenizer.decode(tokenizer.encode(tokenizer.protect(`${text}<|im_end|>`)));
      });
    }),
    { numRuns: countRuns(100) },
  );
});

test("texts of models", () => {
  const samples = [
    `Well.\n<tool_call>\n{"name": "find", "arguments": {"name": "Ann"}}\n</tool_call>\nDone.`,
    "<tool_call>\n<function=find>\n<parameter=name>\nAnn\n</parameter>\n</function>\n</tool_call>",
    '<|tool_call|>[{"name": "find", "arguments": {"name": "Ann"}}]',
    '{"name": "find", "parameters": {"name": "Ann"}}',
  ];
  const syntaxes = ["hermes", "xml", "granite", "llama", undefined] as const;
  fc.assert(
    fc.property(spoiledText(samples), fc.constantFrom(...syntaxes), (text, syntax) => {
      const { calls } = readMessageText(text, { ...(syntax && { syntax }) });
      for (const it of calls) expect(it.name).toBeTypeOf("string");
    }),
    { numRuns: countRuns(500) },
  );
});
