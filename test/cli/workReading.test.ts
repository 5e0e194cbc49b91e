/** What a model reads of an attempt, for the editor: appended text, and tokens of its messages. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { ModelReading, ReadingPart } from "../../src/protocol/work.ts";
import { readTasks, readTrajectories } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { root } from "../contracts/transports.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { requestCountedWork } from "./editor.ts";
import { emptyFolder } from "./program.ts";

const fixtures = [join(root, "resources/servers")];
const careless = join(root, "resources/models/careless");

async function readTask(): Promise<Task> {
  for await (const it of readTasks(join(root, "resources/example/prove/tasks/student.tasks.jsonl")))
    return it;
  throw new Error("the example has no task");
}
const task = await readTask();

async function read(
  trajectory: Trajectory,
  options: { model?: string; isOwn?: boolean } = {},
): Promise<ModelReading> {
  const { model = careless, isOwn = true } = options;
  const work = { task, trajectory, model, isOwn, fixtures };
  return (await requestCountedWork("readAttempt", work)).result;
}

/** The attempt of a student, with the tokens that it sampled. */
async function attempt(): Promise<Trajectory> {
  const file = join(emptyFolder(), "own.trajectory.jsonl");
  const policy = { kind: "student", model: careless } as const;
  await requestCountedWork("attempt", { task, policy, file, fixtures });
  for await (const it of readTrajectories(file)) return it;
  throw new Error("the student left no attempt");
}
const own = await attempt();

type MessagePart = Extract<ReadingPart, { kind: "message" }>;

const listMessages = ({ parts }: ModelReading): readonly MessagePart[] =>
  parts.filter(it => it.kind === "message");

const changeMessages = (
  { header, events }: Trajectory,
  change: (it: Extract<Trajectory["events"][number], { kind: "assistant" }>) => object,
): Trajectory => ({
  header,
  events: events.map(it => (it.kind === "assistant" ? { ...it, ...change(it) } : it)),
});

test("the prompt and results are appended, and messages have the recorded tokens", async () => {
  const reading = await read(own);
  expect(reading).toMatchObject({ name: "careless", kind: "student", context: 768 });
  const [prompt] = reading.parts;
  expect(prompt).toMatchObject({ kind: "given" });
  expect(prompt!.kind === "given" && prompt!.text).toMatch(/^<menu>.*<user> .*<asst>$/s);
  const recorded = own.events.filter(it => it.kind === "assistant");
  const messages = listMessages(reading);
  expect(messages.map(it => it.tokens.map(token => token.id))).toEqual(
    recorded.map(it => it.tokens),
  );
  expect(messages.map(it => it.tokens.map(token => token.logprob))).toEqual(
    recorded.map(it => it.logprobs),
  );
  for (const it of messages) expect(it).toMatchObject({ isRecorded: true, logprobs: "recorded" });
  expect(messages[0]!.tokens[0]!.text).toMatch(/^<(call|fin)>$/);
});

test("log-probabilities that were not recorded are computed by the model", async () => {
  const { parts } = await read(changeMessages(own, () => ({ logprobs: undefined })));
  const computed = listMessages({ parts } as ModelReading);
  for (const it of computed) expect(it.logprobs).toBe("computed");
  const recorded = own.events.flatMap(it => (it.kind === "assistant" ? it.logprobs! : []));
  const values = computed.flatMap(it => it.tokens.map(token => token.logprob!));
  expect(values).toHaveLength(recorded.length);
  for (const [i, it] of values.entries()) expect(it).toBeCloseTo(recorded[i]!, 3);
});

test("a model reads the messages of another one as text that it encodes", async () => {
  const messages = listMessages(await read(task.trajectory, { isOwn: false }));
  expect(messages.length).toBeGreaterThan(0);
  for (const it of messages) {
    expect(it).toMatchObject({ isRecorded: false, logprobs: "computed" });
    for (const { logprob } of it.tokens) expect(logprob).toBeLessThanOrEqual(1e-6);
  }
});

test("a Hugging Face model reads through its chat template", async () => {
  await startBackend("wasm", { programs: join(root, "dist") });
  const model = await writeTinyModel({ longest: 16_384 });
  const reading = await read(task.trajectory, { model, isOwn: false });
  expect(reading.kind).toBe("hugging-face");
  const [prompt] = reading.parts;
  expect(prompt!.kind === "given" && prompt!.text).toContain("You are an assistant that acts");
  expect(prompt!.kind === "given" && prompt!.text).toContain("<|im_start|>user");
  const [message] = listMessages(reading);
  expect(message!.logprobs).toBe("computed");
  expect(message!.tokens.at(-1)!.text).toBe("<|im_end|>");
});

test("a conversation that is too long for a model is read without log-probabilities", async () => {
  const long = changeMessages(task.trajectory, () => ({ text: "again and again ".repeat(600) }));
  const reading = await read(long, { isOwn: false });
  expect(reading.note).toMatch(/has \d+ tokens, and the model reads 768/);
  for (const it of listMessages(reading)) expect(it.logprobs).toBeUndefined();
});

test("tokens of another tokenizer are refused", async () => {
  const other = changeMessages(own, () => ({ tokens: [7, 99_999] }));
  await expect(read(other)).rejects.toMatchObject({
    what: expect.stringMatching(
      /has the token 99999, and the model in .* has \d+ tokens/,
    ) as string,
    remedy: "choose the model that made it",
  });
});

test("a folder without a tokenizer is refused with what to do", async () => {
  await expect(read(own, { model: emptyFolder() })).rejects.toMatchObject({
    what: expect.stringContaining("is not a model folder") as string,
  });
});
