/**
 * The same output of a model gives the same calls, the same evidence and the same reward, whether
 * the model is in process, behind `/v1/chat/completions`, behind an endpoint or in a trainer.
 */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/environment/json.ts";
import { WebSocket } from "ws";
import { createHuggingFaceFormat } from "../../src/model/huggingface/chatFormat.ts";
import { readChatTemplate } from "../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../src/model/huggingface/tokenizer.ts";
import { createAssistantMessage } from "../../src/policy/chatMessages.ts";
import { parseAnswer } from "../../src/policy/endpointFormat.ts";
import type { AssistantMessage, Conversation } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy, listMessages } from "../../src/policy/scripted.ts";
import { servePolicy } from "../../src/policy/servedPolicy.ts";
import { defaultProfile } from "../../src/reward/profiles.ts";
import { partNames } from "../../src/reward/breakdown.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { readTrajectories } from "../../src/trajectory/file.ts";
import { formatTaskLine, type Task } from "../../src/trajectory/task.ts";
import { importFile } from "../cli/rollouts/importFile.ts";
import { catalog } from "../contracts/transports.ts";
import { getFamilyFolder } from "../model/huggingface/families.ts";
import { readCallCases } from "../policy/callCases.ts";
import { moveTwice } from "../trajectory/sampleTasks.ts";
import { sendRequest } from "./countingService.ts";

// a tag says the syntax: without one, only the model's template does
const cases = readCallCases().cases.filter(
  it => it.syntax === undefined && !it.message.includes("<|tool_call|>"),
);
const folder = mkdtempSync(join(tmpdir(), "prove-rl-"));
const tools = [...catalog.getServer("banking").tools.values()];
const createAttempt = createAttemptFactory(catalog);
const now = "2026-03-02T09:00";
let task: Task;
let serving: RunningHttpServer;
/** What the model in process says to the next request. */
let said: AssistantMessage;

beforeAll(async () => {
  task = await moveTwice();
  const file = join(folder, "my.tasks.jsonl");
  writeFileSync(file, `${formatTaskLine(task)}\n`);
  const policy = { name: "test", next: async () => said };
  serving = await startHttpServer({
    catalog,
    tasks: await openTaskStore([file]),
    policy: servePolicy(policy, { model: "m", catalog, now }),
  });
});
afterAll(() => serving.close());

const endId = 0;
const families = new Map(
  ["qwen", "llama"].map(name => {
    const family = getFamilyFolder(name);
    const tokenizer = readHuggingFaceTokenizer(family);
    const template = readChatTemplate(family, "own");
    const limits = { prompt: 4000, sampled: 1000, result: 60, turn: 4000, context: 8000 };
    const options = { folder: family, tokenizer, template, endIds: [endId], limits };
    return [name, { tokenizer, format: createHuggingFaceFormat(options) }];
  }),
);

/** Reads the tokens that a model in process sampled. */
function readInProcess(message: string): AssistantMessage {
  const name = message.includes("<|python_tag|>") ? "llama" : "qwen";
  const { tokenizer, format } = families.get(name)!;
  const conversation = {
    header: { kind: "header", id: "t", task: "t", menu: [], seed: 0 },
    tools,
    now,
    events: [{ kind: "user", text: "Hello" }],
  } as unknown as Conversation;
  const ids = tokenizer.encode(message, { isContinuation: true });
  return format.encode(conversation).parse([...ids, endId]);
}

const send = async <T>(method: string, path: string, body: object): Promise<T> => {
  const { status, json, text } = await sendRequest(serving.url + path, method, { body });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as T;
};

interface Scored {
  readonly reward: number;
  readonly parts: unknown;
  readonly success: boolean | null;
  readonly reasons: unknown;
}

interface Score {
  readonly reward: number;
  readonly components: object;
  readonly success: boolean | null;
  readonly reasons: unknown;
}

const pick = ({ reward, components, success, reasons }: Score): Scored => ({
  reward,
  parts: components,
  success,
  reasons,
});

/** The score of an attempt whose only message this is, in this process. */
async function scoreHere(message: AssistantMessage): Promise<Scored> {
  const policy = createScriptedPolicy("test", [message]);
  const { trajectory } = await rollout(task, policy, catalog, { maxMessages: 1 });
  const attempt = createAttempt(task, trajectory);
  const breakdown = scoreAttempt(attempt, defaultProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  const { achieved, reasons } = getSuccess(attempt);
  return {
    reward: breakdown.total,
    parts: {
      ...Object.fromEntries(partNames.map(it => [it, breakdown.parts[it].score])),
      answer: breakdown.extras["answer"]?.score ?? null,
    },
    success: achieved,
    reasons: JSON.parse(JSON.stringify(reasons)),
  };
}

async function scoreOverHttp(add: (at: string) => Promise<object>): Promise<Scored> {
  const at = `/v1/sessions/${createSessionId()}`;
  await send("PUT", at, { task_id: task.id, max_messages: 1 });
  const options = await add(at);
  return pick(await send<Score>("POST", `${at}/score`, options));
}

const raw = (content: string) => ({ role: "assistant", content });

/** Ways of a message into an attempt: its text, read by the service. */
const ways: Record<string, (message: string) => Promise<Scored>> = {
  "a request with the text": text =>
    scoreOverHttp(async at => {
      await send("POST", `${at}/message`, { seq: 1, message: raw(text) });
      return {};
    }),
  "the text with the request for the score": text =>
    scoreOverHttp(async () => ({ messages: [raw(text)] })),
  "the answer of /v1/chat/completions": text =>
    scoreOverHttp(async at => {
      said = readInProcess(text);
      const messages = [{ role: "user", content: "Hello" }];
      const { choices } = await send<{ choices: readonly { message: object }[] }>(
        "POST",
        "/v1/chat/completions",
        { model: "m", messages },
      );
      await send("POST", `${at}/message`, { seq: 1, message: choices[0]!.message });
      return {};
    }),
  "an endpoint that leaves calls in the text": text => {
    const completion = { choices: [{ message: raw(text), finish_reason: "stop" }] };
    const offered = tools.map(({ name, summary, inputSchema }) => ({
      name,
      description: summary,
      parameters: inputSchema,
    }));
    return scoreHere(createAssistantMessage(parseAnswer(completion, offered)));
  },
  OpenEnv: async text => {
    const socket = new WebSocket(`${serving.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const ask = async (type: string, data: object) => {
      const answer = once(socket, "message");
      socket.send(JSON.stringify({ type, data }));
      return JSON.parse(String((await answer)[0])) as {
        readonly data: { readonly observation: { readonly reward_breakdown: Score } };
      };
    };
    await ask("reset", { task_id: task.id, max_messages: 1 });
    const { data } = await ask("step", { type: "message", message: raw(text) });
    socket.close();
    return pick(data.observation.reward_breakdown);
  },
};

test.each(cases)("$name", async ({ message, text, calls }) => {
  const read = readInProcess(message);
  expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify({ text, calls })));
  const expected = await scoreHere(read);
  for (const [way, score] of Object.entries(ways))
    expect(await score(message), way).toEqual(expected);
});

describe.each([
  ["verl", (output: string) => ({ input: "user\nHello\nassistant\n", output, score: 1, step: 1 })],
  ["trl", (completion: string) => ({ prompt: "Hello", completion, step: 1 })],
] as const)("imported from %s", (format, createRow) => {
  // a file has no schemas, which tell texts from numbers in XML, and an empty message is no message
  const own = cases.filter(it => !it.needsTools && it.text + it.calls.length !== "0");

  test("all messages have the same calls", async () => {
    const from = `${format}.jsonl`;
    const rows = own.map(it => `${JSON.stringify(createRow(it.message) as Json)}\n`);
    writeFileSync(join(folder, from), rows.join(""));
    const { file } = await importFile(folder, format, from);
    const read: object[] = [];
    for await (const it of readTrajectories(file)) read.push(...listMessages(it.events));
    expect(JSON.parse(JSON.stringify(read))).toEqual(
      JSON.parse(JSON.stringify(own.map(({ text, calls }) => ({ text, calls })))),
    );
  });
});
