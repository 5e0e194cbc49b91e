/**
 * One attempt at a task: ask the policy, run its calls in their listed order, append, until it has
 * nothing more to say or a limit is met. Does not know whether the attempt was good, or what kind
 * of policy it asks.
 */
import { openByName, type Catalog } from "../environment/catalog.ts";
import { fixtureDigest } from "../environment/fixture.ts";
import { menuOf } from "../environment/menu.ts";
import type { Tool } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import type { Task } from "../trajectory/task.ts";
import {
  createCallEvent,
  asFinished,
  trajectoryFormat,
  type EndedEvent,
  type Event,
  type Finished,
  type Header,
  type Trajectory,
} from "../trajectory/trajectory.ts";
import { PolicyFault, type AssistantMessage, type Policy, type Conversation } from "./policy.ts";

export interface RolloutOptions {
  /** Rejects the rollout with its reason. */
  readonly signal?: AbortSignal;
  /** Messages of the policy; the task's own limit when absent. */
  readonly maxMessages?: number;
  /** The trajectory's id; task and policy when absent. */
  readonly id?: string;
  /** Told each event as it is appended. */
  readonly onEvent?: (event: Event) => void;
}

/**
 * Lets a policy attempt a task in a fresh session. A `PolicyFault` or a broken call ends the
 * attempt by `fault`.
 */
export async function rollout(
  task: Task,
  policy: Policy,
  catalog: Catalog,
  options: RolloutOptions = {},
): Promise<Finished<Trajectory>> {
  const header = headerOf(task, catalog, policy, options.id);
  const session = openByName(catalog, header);
  const events: Event[] = [];
  const conversation: Conversation = {
    header,
    tools: offeredBy(task, session),
    now: task.now,
    events,
  };
  const append = (event: Event) => {
    events.push(event);
    options.onEvent?.(event);
  };
  const maxMessages = options.maxMessages ?? task.budget.assistantMessages;
  try {
    append(
      await converse({
        policy,
        conversation,
        session,
        append,
        users: task.turns.map(it => it.user),
        maxMessages,
        signal: options.signal,
      }),
    );
  } finally {
    policy.ended?.(conversation);
  }
  return asFinished({ header, events })!;
}

interface ConversationLoop {
  readonly policy: Policy;
  readonly conversation: Conversation;
  readonly session: Session;
  readonly append: (event: Event) => void;
  /** What the user says, one text a turn. */
  readonly users: readonly string[];
  readonly maxMessages: number;
  readonly signal: AbortSignal | undefined;
}

async function converse({
  policy,
  conversation,
  session,
  append,
  users,
  maxMessages,
  signal,
}: ConversationLoop): Promise<EndedEvent> {
  let turn = 0;
  append({ kind: "user", text: users[turn++]! });
  for (let message = 0; message < maxMessages; message++) {
    signal?.throwIfAborted();
    const answer = await ask(policy, conversation, signal);
    if (answer instanceof PolicyFault) return { kind: "ended", by: "fault", fault: answer.message };
    append(assistantEventOf(message, answer));
    const broken = runCalls(answer, message, session, append);
    if (broken) return { kind: "ended", by: "fault", fault: broken };
    if (answer.cut) break;
    if (answer.calls.length > 0) continue;
    if (turn === users.length) return { kind: "ended", by: "policy" };
    if (message + 1 < maxMessages) append({ kind: "user", text: users[turn++]! });
  }
  return { kind: "ended", by: "limit" };
}

async function ask(
  policy: Policy,
  conversation: Conversation,
  signal: AbortSignal | undefined,
): Promise<AssistantMessage | PolicyFault> {
  try {
    return await policy.next(conversation, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PolicyFault) return error;
    throw error;
  }
}

/**
 * Runs a message's calls in order. What a broken call said comes back; the calls after it do not
 * run.
 */
function runCalls(
  answer: AssistantMessage,
  message: number,
  session: Session,
  append: (event: Event) => void,
): string | undefined {
  for (const call of answer.calls) {
    const called = session.call(call.name, call.arguments);
    append(createCallEvent(message, call.name, call.arguments, called));
    if (called.outcome.kind === "broken") return called.outcome.message;
  }
  return undefined;
}

const assistantEventOf = (
  message: number,
  { text, tokens, logprobs, mask }: AssistantMessage,
): Event => ({
  kind: "assistant",
  message,
  text,
  ...(tokens ? { tokens: [...tokens] } : {}),
  ...(logprobs ? { logprobs: [...logprobs] } : {}),
  ...(mask ? { mask: [...mask] } : {}),
});

/**
 * What the attempt pins: the fixtures and tool definitions as they are now, which may be newer than
 * the task's.
 */
function headerOf(
  task: Task,
  catalog: Catalog,
  policy: Policy,
  id = `${task.id}/${policy.name}`,
): Header {
  return {
    kind: "header",
    format: trajectoryFormat,
    id,
    task: task.id,
    servers: task.servers.map(({ name, fixture }) => ({
      name,
      fixture,
      digest: fixtureDigest(catalog.fixture(name, fixture)),
    })),
    catalog: catalog.hash(task.servers.map(it => it.name)),
    seed: task.seed,
    menu: task.menu.map(it => it.name),
    policy: policy.name,
  };
}

function offeredBy(task: Task, session: Session): readonly Tool[] {
  const tools = menuOf(session.tools, task.menu, task.tools);
  const missing = task.menu.find(({ name }) => !tools.some(it => it.name === name));
  if (missing)
    throw new UserError(
      `task ${task.id} offers ${missing.name}, which none of its servers has`,
      "synthesize the task anew",
    );
  return tools;
}
