/** Attempts at tasks in sessions of the service: how they begin, what clients see, and replays. */
import type { CallMemo } from "../environment/session.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { canonicalJson, type JsonObject } from "../environment/json.ts";
import type { ChatCall } from "../policy/chatModel.ts";
import { createChatMessages, formatResult } from "../policy/chatMessages.ts";
import { formatChatMessage, formatChatTool } from "../policy/endpointFormat.ts";
import type { AssistantMessage } from "../policy/policy.ts";
import { createAttemptHeader, TaskConversation } from "../policy/taskConversation.ts";
import type { Tool } from "../environment/server.ts";
import { describeTool } from "../environment/toolDescription.ts";
import type { Task } from "../trajectory/task.ts";
import type { FinishedAttempt } from "../trajectory/attempt.ts";
import { listOwnCalls } from "../trajectory/oneTurn.ts";
import type { Event } from "../trajectory/trajectory.ts";

/** An attempt that a session is for. */
export interface ServedAttempt {
  readonly task: Task;
  readonly conversation: TaskConversation;
  readonly maxMessages: number | undefined;
  /** The calls of all open attempts at the task. */
  readonly memo: CallMemo;
}

interface AttemptOptions {
  readonly turn?: number | undefined;
  readonly trajectory_id?: string | undefined;
  readonly policy?: string | undefined;
  readonly max_messages?: number | undefined;
}

/** The header of a new attempt. */
export const createServedHeader = (
  task: Task,
  catalog: Catalog,
  { turn, trajectory_id: id, policy = "client" }: AttemptOptions,
) => createAttemptHeader(task, catalog, policy, { turn, ...(id === undefined ? {} : { id }) });

/** What a client needs to begin: the conversation so far, and the tools. */
export function describeAttempt({
  task,
  conversation: attempt,
}: Pick<ServedAttempt, "task" | "conversation">): JsonObject {
  const { header, tools } = attempt.conversation;
  return {
    task_id: task.id,
    turn: header.turn ?? null,
    trajectory_id: header.id,
    messages: createChatMessages(attempt.conversation).map(formatChatMessage),
    tools: tools.map(formatTool),
    ...describeProgress(attempt),
  };
}

/** How many messages the policy may still write, and how the attempt ended. */
export const describeProgress = (attempt: TaskConversation) => ({
  messages_left: attempt.messagesLeft,
  ended: attempt.end?.by ?? null,
});

export const formatTool = (tool: Tool): JsonObject => formatChatTool(describeTool(tool));

/** The events that a message caused, as chat messages: results of calls, or the user's answer. */
export function formatAnswers(
  added: readonly Event[],
  calls: readonly Pick<ChatCall, "id">[],
): readonly JsonObject[] {
  let made = 0;
  return added.flatMap(it => {
    if (it.kind === "user") return [formatChatMessage({ role: "user", content: it.text })];
    if (it.kind !== "call") return [];
    const call = calls[made++]!.id;
    return [formatChatMessage({ role: "tool", call, content: formatResult(it) })];
  });
}

/** The tools that came onto the menu with these events. */
export function listAddedTools(
  { conversation }: TaskConversation,
  added: readonly Event[],
): readonly Tool[] {
  const names = new Set(added.flatMap(it => (it.kind === "user" ? (it.adds ?? []) : [])));
  return conversation.tools.filter(it => names.has(it.name));
}

interface ReplayedAttempt extends FinishedAttempt {
  /** Where the messages and what the session executed differ. */
  readonly notes: readonly string[];
}

/**
 * The attempt that consists of these messages, executed in a new session. Engines do not send calls
 * that they cannot parse or whose tool they do not know, and drop messages that are too long after
 * their calls were executed; the messages are what the policy is trained on.
 */
export function replayMessages(
  { task, conversation: served, maxMessages, memo }: ServedAttempt,
  messages: readonly AssistantMessage[],
  catalog: Catalog,
): ReplayedAttempt {
  const { header } = served.conversation;
  const session = openSessionByName(catalog, { ...header, memo });
  const attempt = new TaskConversation(
    task,
    header,
    session,
    maxMessages === undefined ? {} : { maxMessages },
  );
  let used = 0;
  for (const message of messages) {
    if (attempt.end) break;
    attempt.addMessage(message);
    used++;
  }
  const trajectory = attempt.createTrajectory();
  const notes: string[] = [];
  if (used < messages.length)
    notes.push(
      `the attempt ends (${attempt.end!.by}) after ${used} of ${messages.length} messages, and the others are not scored`,
    );
  const [executed, written] = [served.createTrajectory(), trajectory].map(it =>
    listOwnCalls(it).map(({ name, arguments: args }) => canonicalJson([name, args])),
  ) as [string[], string[]];
  if (executed.join("\n") !== written.join("\n"))
    notes.push(
      `the session executed ${executed.length} calls and the messages contain ${written.length}, not all the same; the messages are scored`,
    );
  return { task, trajectory, finalState: session.state, notes };
}
