/**
 * Scripted attempts at some tasks of the example, whose answers are right, wrong or missing, and
 * their score over MCP. Every way to score attempts is tested with them.
 */
import type { Catalog } from "../../src/environment/catalog.ts";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import type { AssistantMessage, Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  idlePolicy,
  listMessages,
} from "../../src/policy/scripted.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog as shipped, clientAt } from "../contracts/transports.ts";

/** Tasks of the split `train`, with one, two and three turns, that ask for something. */
export const askingTasks = [
  "banking-11-0",
  "payments-11-0",
  "shopping-11-1",
  "retail_chain-11-1",
  "travel_booking-11-0",
  "food_delivery-11-3",
];

export async function* playAttempts(
  file: string,
  ids: readonly string[] | null = askingTasks,
  catalog: Catalog = shipped,
) {
  for await (const task of readTasks(file)) {
    if (ids && !ids.includes(task.id)) continue;
    for (const policy of createPolicies(task)) {
      const played = await rollout(task, policy, catalog, { id: `${task.id}/${policy.name}` });
      const messages = listMessages(played.trajectory.events);
      yield { ...played, task, policy: policy.name, messages };
    }
  }
}

function createPolicies(task: Task): Policy[] {
  const messages = listMessages(task.trajectory.events);
  const [first, ...others] = messages;
  const [known] = messages.flatMap(it => it.calls);
  // two calls that cannot be executed, in the message of one that can
  const careless: AssistantMessage = {
    text: "",
    calls: [
      ...(known ? [{ ...known, arguments: { ...(known.arguments as object), guessed: "x" } }] : []),
      ...first!.calls,
      { name: "banking_rob", arguments: { all: true } },
    ],
  };
  const say = (name: string, change: (it: AssistantMessage) => AssistantMessage[]) =>
    createScriptedPolicy(`scripted:${name}`, messages.flatMap(change));
  const isAnswer = ({ calls }: AssistantMessage) => calls.length === 0;
  return [
    createTeacherPolicy(task),
    idlePolicy,
    createScriptedPolicy("scripted:careless", first!.calls.length > 0 ? [careless, ...others] : []),
    // answers that are wrong or missing, and some that come with calls
    say("falsifying", it => [
      { ...it, text: it.text.replaceAll(/\d/g, digit => `${9 - Number(digit)}`) },
    ]),
    say("talking", it => [isAnswer(it) ? { ...it, text: "It is 987,654.32 euros." } : it]),
    say("thinking", it => [
      isAnswer(it) ? it : { ...it, text: "I am looking into the 17 others." },
    ]),
    say("answering-beside", it =>
      isAnswer(it) && known
        ? [
            { text: it.text, calls: [known] },
            { text: "OK.", calls: [] },
          ]
        : [it],
    ),
    ...solvers
      .filter(it => !it.isIdle?.(task) && !it.record)
      .map(it => createSolverPolicy(it, task)),
  ];
}

/** The score of messages whose calls an MCP client makes. What the user hears goes over `/v1`. */
export async function scoreOverMcp(
  url: string,
  task: Task,
  messages: readonly AssistantMessage[],
  catalog: Catalog = shipped,
): Promise<{ readonly reward: number; readonly success: boolean }> {
  const send = async (method: string, path: string, body?: object): Promise<object> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body
        ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
        : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as object;
  };
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
  return score as { readonly reward: number; readonly success: boolean };
}
