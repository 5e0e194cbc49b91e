/**
 * One attempt at a task: ask the policy for a message, run its calls in their listed order, append
 * both to the trajectory, and repeat until the policy finishes or a limit is reached.
 */
import { computeDigest } from "../environment/digest.ts";
import type { CallMemo } from "../environment/callMemo.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { listMenuTools } from "../environment/menu.ts";
import type { Tool } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import type { State } from "../environment/state.ts";
import { UserError } from "../userError.ts";
import { createTurnEvent, type Task } from "../trajectory/task.ts";
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
import { getMessageLimit, runTeacherTurns } from "./teacherTurns.ts";
import { countAnswersInTurn, findUserAnswer } from "./userAnswers.ts";
import {
  createRules,
  PolicyFault,
  type AssistantMessage,
  type Policy,
  type Conversation,
} from "./policy.ts";

/** A finished attempt, with the session's states, so that scoring need not replay its calls. */
export interface Rollout {
  readonly trajectory: Finished<Trajectory>;
  readonly startState: State;
  readonly finalState: State;
}

export interface RolloutOptions {
  /** Rejects the rollout with its reason. */
  readonly signal?: AbortSignal;
  /**
   * The most messages of the policy, apart from one more for each answer of the user to a question;
   * the task's own limit if absent.
   */
  readonly maxMessages?: number;
  /** The trajectory's id; derived from task and policy if absent. */
  readonly id?: string;
  /**
   * The only turn that the policy does, from 0, after the teacher's own calls of the turns before.
   * If it is absent, the policy does the whole task.
   */
  readonly turn?: number | undefined;
  /** Called with each event as it is appended. */
  readonly onEvent?: (event: Event) => void;
  /** Calls of earlier rollouts of the same task object, which are not executed again. */
  readonly memo?: CallMemo;
}

/**
 * Runs a policy on a task in a new session. A `PolicyFault` or a broken call ends the attempt by
 * `fault`. Throws a `UserError` if the task's menu names a tool that does not exist.
 */
export async function rollout(
  task: Task,
  policy: Policy,
  catalog: Catalog,
  options: RolloutOptions = {},
): Promise<Rollout> {
  const header = createHeader(task, catalog, policy, options);
  const session = openSessionByName(catalog, { ...header, memo: options.memo });
  const startState = session.state;
  const events: Event[] = [];
  const tools = [...listTools(task, task.menu, session)];
  const conversation: Conversation = { header, tools, now: task.now, events, ...createRules(task) };
  const append = (event: Event) => {
    events.push(event);
    if (event.kind === "user" && event.adds) {
      session.addTools(event.adds);
      const added = event.adds.map(name => ({ name }));
      tools.push(...listTools(task, added, session));
    }
    options.onEvent?.(event);
  };
  if (options.turn !== undefined) runTeacherTurns(task, options.turn, session, append);
  const maxMessages = options.maxMessages ?? getMessageLimit(task, options.turn);
  try {
    append(
      await runConversation({
        policy,
        conversation,
        session,
        append,
        task,
        onlyTurn: options.turn,
        maxMessages,
        signal: options.signal,
      }),
    );
  } finally {
    policy.release?.(conversation);
  }
  const trajectory = asFinished({ header, events })!;
  return { trajectory, startState, finalState: session.state };
}

interface ConversationLoop {
  readonly policy: Policy;
  readonly conversation: Conversation;
  readonly session: Session;
  readonly append: (event: Event) => void;
  readonly task: Task;
  readonly onlyTurn: number | undefined;
  readonly maxMessages: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs the turns of the conversation and returns how it ended. Each answer to a question allows the
 * policy one message more.
 */
async function runConversation({
  policy,
  conversation,
  session,
  append,
  task,
  onlyTurn,
  maxMessages,
  signal,
}: ConversationLoop): Promise<EndedEvent> {
  let turn = onlyTurn ?? 0;
  let answersInTurn = 0;
  const first = conversation.events.filter(it => it.kind === "assistant").length;
  let limit = first + maxMessages;
  append(createTurnEvent(task, turn));
  for (let message = first; message < limit; message++) {
    signal?.throwIfAborted();
    const answer = await askPolicy(policy, conversation, signal);
    if (answer instanceof PolicyFault) return { kind: "ended", by: "fault", fault: answer.message };
    append(createAssistantEvent(message, answer));
    const broken = runCalls(answer, message, session, append);
    if (broken) return { kind: "ended", by: "fault", fault: broken };
    if (answer.cut) break;
    if (answer.calls.length > 0) continue;
    const reply =
      answersInTurn < countAnswersInTurn(task, turn)
        ? findUserAnswer(task, turn, answer.text, conversation)
        : undefined;
    if (reply !== undefined) {
      answersInTurn++;
      limit++;
      append({ kind: "user", text: reply, answers: true });
      continue;
    }
    if (++turn === task.turns.length || onlyTurn !== undefined)
      return { kind: "ended", by: "policy" };
    answersInTurn = 0;
    if (message + 1 < limit) append(createTurnEvent(task, turn));
  }
  return { kind: "ended", by: "limit" };
}

async function askPolicy(
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

/** Runs a message's calls in order. Stops at a broken call and returns its error message. */
function runCalls(
  answer: AssistantMessage,
  message: number,
  session: Session,
  append: (event: Event) => void,
): string | undefined {
  for (const call of answer.calls) {
    const result = session.call(call.name, call.arguments);
    append(createCallEvent(message, call.name, call.arguments, result));
    if (result.outcome.kind === "broken") return result.outcome.message;
  }
  return undefined;
}

const createAssistantEvent = (
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

/** Pins the fixtures and tool definitions as they are now, which may be newer than the task's. */
function createHeader(
  task: Task,
  catalog: Catalog,
  policy: Policy,
  { id = `${task.id}/${policy.name}`, turn }: RolloutOptions,
): Header {
  return {
    kind: "header",
    format: trajectoryFormat,
    id,
    task: task.id,
    servers: task.servers.map(({ name, fixture }) => ({
      name,
      fixture,
      digest: computeDigest(catalog.getFixture(name, fixture)),
    })),
    catalog: catalog.hashTools(task.servers.map(it => it.name)),
    seed: task.seed,
    menu: task.menu.map(it => it.name),
    policy: policy.name,
    ...(turn === undefined ? {} : { turn }),
  };
}

/** The tools of a part of the menu. Throws a `UserError` if there is no such tool. */
function listTools(task: Task, items: Task["menu"], session: Session): readonly Tool[] {
  const tools = listMenuTools(session.tools, items, task.tools);
  const missing = items.find(({ name }) => !tools.some(it => it.name === name));
  if (missing)
    throw new UserError(
      `task ${task.id} offers ${missing.name}, which none of its servers has`,
      "synthesize the task anew",
    );
  return tools;
}
