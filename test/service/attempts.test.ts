/** Attempts at tasks over HTTP: what a trainer's rollout loop and its reward function use. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  idlePolicy,
  listMessages,
} from "../../src/policy/scripted.ts";
import { partNames } from "../../src/reward/breakdown.ts";
import { listPrefixTotals } from "../../src/reward/prefixReward.ts";
import { profiles } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createMetrics } from "../../src/service/metrics.ts";
import * as schemas from "../../src/service/schemas.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { type GoalCall, type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { type Trajectory, formatTrajectoryLine } from "../../src/trajectory/trajectory.ts";
import { catalog } from "../contracts/transports.ts";
import { readSharedTasks } from "../synthesis/synthesizeTasks.ts";
import {
  balance,
  call,
  calling,
  lookUp,
  moveFifty,
  moveTwice,
  saying,
  transfer,
} from "../trajectory/sampleTasks.ts";
import { forgeArguments } from "../trajectory/forgedAttempt.ts";
import { sendRequest } from "./countingService.ts";

const tasks: Task[] = [];
let serving: RunningHttpServer;
beforeAll(async () => {
  // tasks of every kind, with questions that the user answers and tools that come later
  const { tasks: made } = await readSharedTasks("paper");
  const some = [...made.slice(0, 40), ...made.slice(40).filter(isReader).slice(0, 2)];
  tasks.push(await moveFifty(), await moveTwice(), ...some);
  const file = join(mkdtempSync(join(tmpdir(), "prove-rl-")), "some.tasks.jsonl");
  writeFileSync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  serving = await startHttpServer({ catalog, tasks: await openTaskStore([file]) });
});
afterAll(() => serving.close());

const hasText = (call: GoalCall) =>
  Object.values(call.arguments).some(it => typeof it === "string");

/** Whether all goals of a task are look-ups with a text. */
const isReader = ({ goals }: Task) =>
  goals.length > 0 && goals.every(goal => goal.calls.every(call => call.for && hasText(call)));

async function send<T>(
  method: string,
  path: string,
  body: unknown,
  schema: z.ZodType<T>,
): Promise<T> {
  const response = await sendRequest(
    serving.url + path,
    method,
    body === undefined ? {} : { body },
  );
  if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
  return schema.parse(response.json);
}

const refusal = async (method: string, path: string, body?: unknown) => {
  const { status, json } = await sendRequest(
    serving.url + path,
    method,
    body === undefined ? {} : { body },
  );
  return { status, ...schemas.errorResponse.parse(json).error };
};

async function open(task: string, options: object = {}) {
  const id = createSessionId();
  const opened = await send(
    "PUT",
    `/v1/sessions/${id}`,
    { task_id: task, ...options },
    schemas.openResponse,
  );
  return { at: `/v1/sessions/${id}`, id, ...opened, attempt: opened.attempt! };
}

const score = (at: string, body: object = {}) =>
  send("POST", `${at}/score`, body, schemas.scoreResponse);

const toChatMessage = ({ text, calls }: AssistantMessage) => ({
  role: "assistant",
  content: text,
  ...(calls.length > 0
    ? {
        tool_calls: calls.map((it, i) => ({
          id: `c${i}`,
          type: "function",
          function: { name: it.name, arguments: JSON.stringify(it.arguments) },
        })),
      }
    : {}),
});

/** The score in this process. */
const createAttempt = createAttemptFactory(catalog);
function scoreHere(task: Task, trajectory: Trajectory, profile: string) {
  const attempt = createAttempt(task, trajectory as never);
  const breakdown = scoreAttempt(
    attempt,
    profiles.find(it => it.name === profile)!,
  );
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  return {
    reward: breakdown.total,
    components: {
      ...Object.fromEntries(partNames.map(it => [it, breakdown.parts[it].score])),
      answer: breakdown.extras["answer"]?.score ?? null,
    },
    success: getSuccess(attempt).achieved,
    reasons: getSuccess(attempt).reasons,
    breakdown: JSON.parse(JSON.stringify(breakdown)) as object,
  };
}

/** Ways to hand a policy's messages to the service and to get their score. */
const ways: Record<
  string,
  (task: Task, messages: readonly AssistantMessage[], profile: string) => Promise<object>
> = {
  "a request for each message": async (task, messages, profile) => {
    const { at } = await open(task.id);
    for (const [i, it] of messages.entries())
      await send(
        "POST",
        `${at}/message`,
        { seq: i + 1, message: toChatMessage(it) },
        schemas.messageResponse,
      );
    return score(at, { profile, evidence: true });
  },
  "a request for each call and text": async (task, messages, profile) => {
    const { at } = await open(task.id);
    let seq = 0;
    for (const { text, calls } of messages) {
      for (const [i, it] of calls.entries())
        await send(
          "POST",
          `${at}/call`,
          { seq: ++seq, ...it, ...(i > 0 ? { parallel: true } : {}) },
          schemas.callResponse,
        );
      if (calls.length === 0)
        await send(
          "POST",
          `${at}/user`,
          { seq: ++seq, assistant_text: text },
          schemas.userResponse,
        );
    }
    return score(at, { profile, evidence: true });
  },
  "all messages with the request for the score": async (task, messages, profile) => {
    const { at } = await open(task.id);
    return score(at, { profile, evidence: true, messages: messages.map(toChatMessage) });
  },
  "one batch": async (task, messages, profile) => {
    const session_id = createSessionId();
    const { results } = await send(
      "POST",
      "/v1/sessions:batch",
      {
        requests: [
          { do: "open", session_id, body: { task_id: task.id } },
          ...messages.map((it, i) => ({
            do: "message",
            session_id,
            body: { seq: i + 1, message: toChatMessage(it) },
          })),
          { do: "score", session_id, body: { profile, evidence: true } },
          { do: "delete", session_id },
        ],
      },
      schemas.batchResponse,
    );
    expect(results.map(it => it.status)).toEqual(results.map(() => 200));
    return schemas.scoreResponse.parse(results.at(-2)!.body);
  },
};

test.each([3_000, 100_000])(
  "arguments nested %i levels deep are a failed call, which is recorded and scored",
  async levels => {
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const name = "banking_transfer";
    for (const args of [JSON.stringify(deep), deep]) {
      const { at } = await open("t-move");
      const body = `{"seq":1,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c0","function":{"name":"${name}","arguments":${args}}}]}}`;
      const { status, text } = await sendRequest(`${serving.url}${at}/message`, "POST", { body });
      expect(status).toBe(200);
      expect(text).toContain("the arguments are nested more than 64 levels deep");
      const { events } = await send(
        "GET",
        `${at}/trajectory`,
        undefined,
        schemas.trajectoryResponse,
      );
      expect(events.find(it => it.kind === "call")).toMatchObject({
        name,
        arguments: "(nested too deeply)",
        outcome: "bad-arguments",
      });
      expect(await score(at)).toMatchObject({ reward: expect.any(Number), success: false });
    }
  },
);

test("a recorded attempt that is nested too deeply has an error in its place", async () => {
  const { trajectory } = tasks[0]!;
  const line = JSON.stringify(formatTrajectoryLine(trajectory));
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const body = `{"trajectories":[${line.replace('"arguments":{', `"arguments":{"x":${deep},`)},${line}]}`;
  const { text } = await sendRequest(`${serving.url}/v1/scores`, "POST", { body });
  expect((JSON.parse(text) as { scores: unknown }).scores).toMatchObject([
    { error: { message: expect.stringContaining("nested more than 96 levels deep") } },
    { reward: expect.any(Number) },
  ]);
});

test("an attempt of thousands of calls has no rewards after each of them", async () => {
  const { header, events } = tasks[0]!.trajectory;
  const at = events.findIndex(it => it.kind === "call");
  const many = Array.from({ length: 2_000 }, () => events[at]!);
  const trajectory = { header, events: events.toSpliced(at, 0, ...many) };
  const body = { trajectories: [formatTrajectoryLine(trajectory)], prefixes: true };
  const { text } = await sendRequest(`${serving.url}/v1/scores`, "POST", { body });
  expect((JSON.parse(text) as { scores: unknown }).scores).toMatchObject([
    { error: { code: "TOO_LARGE", message: expect.stringContaining("has 2002 calls") } },
  ]);
});

describe("an attempt has the same score as in this process, with", () => {
  test.each(Object.keys(ways))("%s", async name => {
    for (const [i, task] of tasks.entries()) {
      const profile = i % 2 === 0 ? "paper" : "prove-plus";
      const policies = [
        createTeacherPolicy(task),
        idlePolicy,
        ...[0, 1, 2].map(n => createSolverPolicy(solvers[(i * 3 + n) % solvers.length]!, task)),
      ];
      for (const policy of policies) {
        const { trajectory } = await rollout(task, policy, catalog);
        const scored = await ways[name]!(task, listMessages(trajectory.events), profile);
        expect(scored, `${task.id} ${policy.name}`).toMatchObject(
          scoreHere(task, trajectory, profile),
        );
      }
    }
    serving.sessions.closeAll();
  });
});

test("the metrics count sessions, calls by outcome and requests by route", async () => {
  const counted = await startHttpServer({
    catalog,
    metrics: createMetrics(),
    capacity: 9,
  });
  const ids = [createSessionId(), createSessionId()];
  const put = (id: string, body: object) =>
    sendRequest(`${counted.url}/v1/sessions/${id}`, "PUT", { body });
  for (const id of ids) await put(id, { servers: ["banking"], fixture: "small" });
  await put(createSessionId(), { servers: ["bank"] });
  for (const [i, it] of [balance, balance, call("fly")].entries())
    await sendRequest(`${counted.url}/v1/sessions/${ids[0]}/call`, "POST", {
      body: { seq: i + 1, ...it },
    });
  await sendRequest(`${counted.url}/v1/sessions/${ids[1]}`, "DELETE");
  const { text, headers } = await sendRequest(`${counted.url}/metrics`, "GET");
  await counted.close();
  expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = text.split("\n");
  for (const line of [
    "prove_sessions 1",
    "prove_sessions_capacity 9",
    "prove_sessions_opened_total 2",
    'prove_sessions_closed_total{why="deleted"} 1',
    'prove_calls_total{outcome="ok"} 2',
    'prove_calls_total{outcome="unknown-tool"} 1',
    'prove_request_duration_seconds_count{route="PUT /v1/sessions/{id}",status="200"} 2',
    'prove_request_duration_seconds_count{route="PUT /v1/sessions/{id}",status="400"} 1',
    'prove_request_duration_seconds_count{route="POST /v1/sessions/{id}/call",status="200"} 3',
  ])
    expect(lines).toContain(line);
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  // no id of a session, which gives access to it
  for (const id of ids) expect(text).not.toContain(id);
});

test("recorded attempts are scored anew, and one that cannot be has an error in its place", async () => {
  const [task, other] = [tasks[1]!, tasks[5]!];
  const recorded = await Promise.all(
    [task, other].map(async it => (await rollout(it, idlePolicy, catalog)).trajectory),
  );
  const { scores } = await send(
    "POST",
    "/v1/scores",
    {
      trajectories: [
        ...recorded.map(formatTrajectoryLine),
        { header: {} },
        formatTrajectoryLine({
          ...recorded[0]!,
          header: { ...recorded[0]!.header, task: "t-gone" },
        }),
      ],
    },
    schemas.scoresResponse,
  );
  const { breakdown: _, ...expected } = scoreHere(task, recorded[0]!, "prove-plus");
  expect(scores[0]).toMatchObject(expected);
  expect(scores[1]).toMatchObject({ task_id: other.id });
  expect(scores[2]).toMatchObject({ error: { code: "INVALID_REQUEST" } });
  expect(scores[3]).toMatchObject({
    error: { code: "UNKNOWN_TASK", message: expect.stringContaining("t-gone") },
  });
});

test("recorded attempts are scored on what their calls return, not on their recorded results", async () => {
  const readers = tasks.filter(isReader);
  const { scores } = await send(
    "POST",
    "/v1/scores",
    {
      trajectories: readers.flatMap(({ trajectory }) =>
        [forgeArguments(trajectory), trajectory].map(formatTrajectoryLine),
      ),
      group: true,
    },
    schemas.scoresResponse,
  );
  for (const [i, it] of scores.entries())
    if (i % 2 === 1) expect(it).toMatchObject({ success: true, notes: [] });
    else {
      expect(it).toMatchObject({
        success: false,
        notes: [expect.stringMatching(/not what the servers return; scored on the replayed/)],
      });
      const { trajectory } = (it as unknown as { group: { trajectory: object } }).group;
      expect(JSON.stringify(trajectory)).toMatch(/"outcome":"(refused|bad-arguments)"/);
    }
  expect(scores).not.toHaveLength(0);
});

describe("the conversation", () => {
  test("begins with the system message and the user's request, and goes on with results and turns", async () => {
    const { at, attempt } = await open("t-twice");
    expect(attempt.messages.map(it => it.role)).toEqual(["system", "user"]);
    expect(attempt.messages[1]).toEqual({
      role: "user",
      content: "Move 50 to Savings and 20 to the holiday fund.",
    });
    expect(attempt.tools.map(it => it.function.name)).toContain("banking_transfer");
    expect(attempt).toMatchObject({ turn: null, messages_left: 6, ended: null });
    const give = (seq: number, message: AssistantMessage) =>
      send(
        "POST",
        `${at}/message`,
        { seq, message: toChatMessage(message) },
        schemas.messageResponse,
      );
    const called = await give(1, calling(transfer("acc_108", 50), call("fly")));
    expect(called).toMatchObject({ messages_left: 5, ended: null, tools: [] });
    expect(called.messages).toEqual([
      { role: "tool", tool_call_id: "c0", content: expect.stringContaining("from_balance") },
      { role: "tool", tool_call_id: "c1", content: expect.stringContaining("unknown_tool") },
    ]);
    expect((await give(2, saying("Done."))).messages).toEqual([
      { role: "user", content: "And what is left?" },
    ]);
    expect(await give(3, saying("A lot."))).toMatchObject({ messages: [], ended: "policy" });
    expect(
      await refusal("POST", `${at}/message`, { seq: 4, message: toChatMessage(saying("More?")) }),
    ).toMatchObject({ status: 409, code: "ENDED" });
    // the refused message was not counted
    expect(await score(at)).toMatchObject({ ended: "policy", success: false });
  });

  test("is continued once if a message is repeated", async () => {
    const { at } = await open("t-twice");
    const message = { seq: 1, message: toChatMessage(calling(transfer("acc_108", 50))) };
    const first = await send("POST", `${at}/message`, message, schemas.messageResponse);
    expect(await send("POST", `${at}/message`, message, schemas.messageResponse)).toEqual(first);
    expect(
      await refusal("POST", `${at}/message`, {
        seq: 1,
        message: toChatMessage(calling(transfer("acc_108", 60))),
      }),
    ).toMatchObject({ status: 409, code: "OUT_OF_ORDER" });
  });

  test("of one turn begins after the teacher's turns", async () => {
    const { at, attempt } = await open("t-twice", { turn: 1, trajectory_id: "mine", policy: "p" });
    expect(attempt.messages.map(it => it.role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user",
    ]);
    await send(
      "POST",
      `${at}/message`,
      { seq: 1, message: toChatMessage(calling(balance)) },
      schemas.messageResponse,
    );
    const last = await send(
      "POST",
      `${at}/user`,
      { seq: 2, assistant_text: "3078.95 is left." },
      schemas.userResponse,
    );
    expect(last).toMatchObject({ message: null, ended: "policy" });
    expect(await score(at)).toMatchObject({ success: true, trajectory_id: "mine" });
    const { header } = await send("GET", `${at}/trajectory`, undefined, schemas.trajectoryResponse);
    expect(header).toMatchObject({ id: "mine", policy: "p", turn: 1, task: "t-twice" });
  });

  test("that a token limit cut off, or that takes too many messages, ends by a limit", async () => {
    const { at } = await open("t-twice", { max_messages: 2 });
    const cut = await send(
      "POST",
      `${at}/user`,
      { seq: 1, assistant_text: "I would", cut: true },
      schemas.userResponse,
    );
    expect(cut).toMatchObject({ message: null, ended: "limit", messages_left: 0 });
    const long = await open("t-twice", { max_messages: 1 });
    await send(
      "POST",
      `${long.at}/message`,
      { seq: 1, message: toChatMessage(calling(balance)) },
      schemas.messageResponse,
    );
    expect(await score(long.at)).toMatchObject({ ended: "limit", success: false });
  });

  test("also has the calls that are made over MCP", async () => {
    const { at, id } = await open("t-move");
    const post = (name: string, args: object) =>
      sendRequest(`${serving.url}/s/${id}/banking/mcp`, "POST", {
        headers: { accept: "application/json, text/event-stream" },
        body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      });
    await post(lookUp.name, lookUp.arguments as object);
    const moved = transfer("acc_108", 50);
    await post(moved.name, moved.arguments as object);
    await send("POST", `${at}/user`, { seq: 1, assistant_text: "Moved." }, schemas.userResponse);
    expect(await score(at)).toMatchObject({ success: true, reward: 2.3 });
    const late = await post(moved.name, moved.arguments as object);
    expect(late.json).toMatchObject({ error: { message: expect.stringMatching(/has ended/) } });
  });
});

test("a message of thousands of calls ends the attempt like one that was cut off", async () => {
  const message = toChatMessage(calling(...Array.from({ length: 2_000 }, () => lookUp)));
  const { at } = await open("t-move");
  const body = { seq: 1, message };
  const answer = await send("POST", `${at}/message`, body, schemas.messageResponse);
  expect(answer).toMatchObject({ ended: "limit", messages_left: 0 });
  expect(answer.messages).toHaveLength(256);
  const scored = await score(at);
  expect(scored).toMatchObject({ ended: "limit", success: false });
  expect(scored.reward).toBeTypeOf("number");
  const other = await open("t-move");
  expect(await score(other.at, { messages: [message] })).toMatchObject({
    reward: scored.reward,
    ended: "limit",
  });
});

describe("a score", () => {
  test("can be asked for at any time, and changes nothing", async () => {
    const { at, digest } = await open("t-move");
    const before = await score(at, { prefixes: true });
    expect(before).toMatchObject({ ended: "limit", reward: 0, success: false });
    await send("POST", `${at}/call`, { seq: 1, ...lookUp }, schemas.callResponse);
    const after = await score(at, { prefixes: true, profile: "prove-plus" });
    expect(after.prefix_rewards).toHaveLength(3);
    expect(await score(at, { profile: "prove-plus", prefixes: true })).toEqual(after);
    expect((await score(at, { prefix: 0 })).reward).toBe(0);
    const { state: _, ...state } = await send(
      "GET",
      `${at}/state`,
      undefined,
      schemas.stateResponse,
    );
    expect(state.digest).toBe(digest);
  });

  test("of messages counts what the engine did not send, and not what it dropped", async () => {
    const { at } = await open("t-move");
    for (const [i, it] of [lookUp, transfer("acc_108", 50), transfer("acc_108", 50)].entries())
      await send("POST", `${at}/call`, { seq: i + 1, ...it }, schemas.callResponse);
    const messages = [
      { role: "user", content: "Move 50 euros from acc_101 to my savings." },
      toChatMessage(calling(call("fly"))),
      { role: "tool", tool_call_id: "c0", content: "there is no such tool" },
      toChatMessage(calling(lookUp)),
      toChatMessage(calling(transfer("acc_108", 50))),
      toChatMessage(saying("Moved.")),
    ];
    const scored = await score(at, { messages, evidence: true });
    expect(scored).toMatchObject({
      success: true,
      ended: "policy",
      notes: [
        expect.stringMatching(/executed 3 calls and the messages contain 3, not all the same/),
      ],
    });
    expect(scored.components.validity).toBeCloseTo(2 / 3);
    expect(await score(at)).toMatchObject({ success: false });
  });

  test("of messages after the end says that they are not scored", async () => {
    const { at } = await open("t-move");
    const { notes } = await score(at, {
      messages: [saying("No."), saying("Sorry.")].map(toChatMessage),
    });
    expect(notes).toEqual([expect.stringMatching(/ends \(policy\) after 1 of 2 messages/)]);
  });

  test("has the rewards of all prefixes, as in this process", async () => {
    const task = tasks[1]!;
    const { trajectory } = await rollout(
      task,
      createScriptedPolicy("p", [calling(transfer("acc_108", 50)), saying("Done.")]),
      catalog,
    );
    const { at } = await open(task.id);
    const { prefix_rewards } = await score(at, {
      prefixes: true,
      messages: listMessages(trajectory.events).map(toChatMessage),
    });
    const paper = profiles.find(it => it.name === "paper")!;
    expect(prefix_rewards).toEqual(listPrefixTotals(createAttempt(task, trajectory), paper));
  });
});

describe("tasks", () => {
  test("are listed in pages", async () => {
    const page = await send("GET", "/v1/tasks?limit=2", undefined, schemas.tasksResponse);
    expect(page).toMatchObject({ total: tasks.length, next_offset: 2 });
    expect(page.tasks[1]).toEqual({
      task_id: "t-twice",
      split: "train",
      kind: "normal",
      servers: ["banking"],
      seed: 7,
      turns: 2,
      goals: 3,
    });
    const last = await send(
      "GET",
      `/v1/tasks?split=train&offset=${tasks.length - 1}`,
      undefined,
      schemas.tasksResponse,
    );
    expect(last).toMatchObject({ next_offset: null });
  });

  test("are described as a policy sees them, without goals", async () => {
    const described = await send("GET", "/v1/tasks/t-twice", undefined, schemas.taskResponse);
    expect(described).toMatchObject({ single_turns: [0, 1], max_messages: 6, changed: null });
    expect(described.messages.map(it => it.role)).toEqual(["system", "user"]);
    expect(JSON.stringify(described)).not.toContain("acc_108");
  });

  test.each<[string, string, string, object | undefined, object]>([
    ["an unknown task", "GET", "/v1/tasks/t-gone", undefined, { code: "UNKNOWN_TASK" }],
    [
      "a session on an unknown task",
      "PUT",
      `/v1/sessions/${createSessionId()}`,
      { task_id: "t-gone" },
      { status: 404, code: "UNKNOWN_TASK", message: expect.stringContaining("/v1/tasks lists") },
    ],
    [
      "another seed",
      "PUT",
      `/v1/sessions/${createSessionId()}`,
      { task_id: "t-move", seed: 8 },
      { code: "INVALID_REQUEST", message: expect.stringContaining("is 7, not 8") },
    ],
    [
      "a turn that the task does not have",
      "PUT",
      `/v1/sessions/${createSessionId()}`,
      { task_id: "t-move", turn: 1 },
      { code: "INVALID_REQUEST", message: expect.stringContaining("no turn 2") },
    ],
    [
      "servers beside a task",
      "PUT",
      `/v1/sessions/${createSessionId()}`,
      { task_id: "t-move", servers: ["banking"] },
      { code: "INVALID_REQUEST", message: expect.stringContaining("servers") },
    ],
    ["a limit of 0", "GET", "/v1/tasks?limit=0", undefined, { code: "INVALID_REQUEST" }],
    ["an unknown split", "GET", "/v1/tasks?split=all", undefined, { code: "INVALID_REQUEST" }],
    ["an id that is not UTF-8", "GET", "/v1/tasks/%ff", undefined, { code: "INVALID_REQUEST" }],
  ])("%s is refused", async (_, method, path, body, expected) => {
    expect(await refusal(method, path, body)).toMatchObject(expected);
  });

  test.each([
    ["restore", { state: {} }],
    ["reset", {}],
    ["tools", { add: ["banking_transfer"] }],
    ["fork", { session_id: createSessionId() }],
  ])("a session for a task refuses %s", async (action, body) => {
    const { at } = await open("t-move");
    expect(await refusal("POST", `${at}/${action}`, body)).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/only calls may change/),
    });
  });

  test("a session without a task has no user, no message and no score", async () => {
    const at = `/v1/sessions/${createSessionId()}`;
    await send("PUT", at, { servers: ["banking"] }, schemas.openResponse);
    for (const [action, body] of [
      ["user", { seq: 1, assistant_text: "Hello" }],
      ["message", { seq: 1, message: { content: "Hello" } }],
      ["score", {}],
    ] as const)
      expect(await refusal("POST", `${at}/${action}`, body)).toMatchObject({
        code: "INVALID_REQUEST",
        message: expect.stringMatching(/without a task/),
      });
  });

  test("opening again returns the attempt as it is, and refuses another task under the same id", async () => {
    const { at, attempt } = await open("t-move");
    await send("POST", `${at}/call`, { seq: 1, ...lookUp }, schemas.callResponse);
    const again = await send("PUT", at, { task_id: "t-move" }, schemas.openResponse);
    expect(again.attempt!.messages_left).toBe(attempt.messages_left - 1);
    expect(await refusal("PUT", at, { task_id: "t-twice" })).toMatchObject({
      message: expect.stringMatching(/opened otherwise/),
    });
  });
});
