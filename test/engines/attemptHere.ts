/**
 * `node attemptHere.ts TASKS URL`: plays scripted attempts that are not perfect at some tasks, in
 * this process and over MCP in sessions of the service at the URL. Prints a JSON line for each: the
 * messages, and the score of both. The tests of other engines play the same messages.
 */
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import {
  guesser,
  lazy,
  oneWrongValue,
  ruleBreaker,
  skipper,
} from "../../src/evaluation/solvers/wrongSolvers.ts";
import { parallel } from "../../src/evaluation/solvers/rightSolvers.ts";
import type { AssistantMessage, Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  idlePolicy,
  listMessages,
} from "../../src/policy/scripted.ts";
import { partNames } from "../../src/reward/breakdown.ts";
import { defaultProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog, clientAt } from "../contracts/transports.ts";

const [file, url] = process.argv.slice(2) as [string, string];
/** Some that verl's rows for training have, with one turn and with several. */
const ids = ["banking-11-1", "payments-11-1", "calendar-11-1", "crm-11-0", "maps-11-1"];

for await (const task of readTasks(file)) {
  if (!ids.includes(task.id)) continue;
  for (const policy of createPolicies(task)) {
    const { trajectory, finalState } = await rollout(task, policy, catalog);
    const attempt = createAttemptFactory(catalog)(task, trajectory, finalState);
    const breakdown = scoreAttempt(attempt, defaultProfile);
    if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
    const messages = listMessages(trajectory.events);
    const line = {
      task_id: task.id,
      policy: policy.name,
      turns: task.turns.length,
      messages: messages.map(formatMessage),
      here: {
        reward: breakdown.total,
        success: getSuccess(attempt).achieved,
        ...Object.fromEntries(partNames.map(it => [it, breakdown.parts[it].score])),
        answer: breakdown.extras["answer"]?.score ?? null,
      },
      mcp: await scoreOverMcp(task, messages),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

function createPolicies(task: Task): Policy[] {
  const [first, ...others] = listMessages(task.trajectory.events);
  const [known] = first!.calls;
  // two calls that cannot be executed, in the message of one that can
  const careless: AssistantMessage = {
    text: "",
    calls: [
      ...(known ? [{ ...known, arguments: { ...(known.arguments as object), guessed: "x" } }] : []),
      ...first!.calls,
      { name: "banking_rob", arguments: { all: true } },
    ],
  };
  const say = (name: string, change: (it: AssistantMessage) => AssistantMessage) =>
    createScriptedPolicy(`scripted:${name}`, [first!, ...others].map(change));
  return [
    createTeacherPolicy(task),
    idlePolicy,
    // answers that are wrong or missing, and one that comes with calls
    say("falsifying", it => ({ ...it, text: it.text.replaceAll(/\d/g, digit => `${9 - +digit}`) })),
    say("silent", it => ({ ...it, text: it.calls.length > 0 ? it.text : "OK." })),
    say("talking", it => ({
      ...it,
      text: it.calls.length > 0 ? "It is 987,654.32 euros." : it.text,
    })),
    createScriptedPolicy("scripted:careless", first!.calls.length > 0 ? [careless, ...others] : []),
    ...[skipper, oneWrongValue, ruleBreaker, lazy, guesser, parallel].map(it =>
      createSolverPolicy(it, task),
    ),
  ];
}

function formatMessage({ text, calls }: AssistantMessage): object {
  const toolCalls = calls.map(it => ({ function: it }));
  return { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: toolCalls }) };
}

/** The score of messages whose calls an MCP client makes. What the user hears goes over `/v1`. */
async function scoreOverMcp(task: Task, messages: readonly AssistantMessage[]): Promise<object> {
  const path = `/v1/sessions/${createSessionId()}`;
  // each call is a message of its own
  const body = { task_id: task.id, max_messages: 100 };
  const { mcp } = (await send("PUT", path, body)) as { mcp: Record<string, string> };
  const names = Object.keys(mcp);
  const clients = new Map(
    await Promise.all(names.map(async it => [it, await clientAt(`${url}${mcp[it]}`)] as const)),
  );
  let seq = 0;
  let said: string[] = [];
  for (const { text, calls } of messages) {
    said.push(text);
    for (const { name, arguments: args } of calls)
      await clients
        .get(catalog.tools.get(name)?.server ?? names[0]!)!
        .callTool({ name, arguments: args as Record<string, unknown> });
    if (calls.length > 0) continue;
    const spoken = said.filter(it => it !== "").join("\n");
    await send("POST", `${path}/user`, { seq: ++seq, assistant_text: spoken });
    said = [];
  }
  const score = await send("POST", `${path}/score`, {});
  for (const it of clients.values()) await it.close();
  await send("DELETE", path);
  return score;
}

async function send(method: string, path: string, body?: object): Promise<object> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body
      ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
      : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text) as object;
}
