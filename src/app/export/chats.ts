/** Tasks as chats: what a policy sees at the start of an attempt, and a teacher's conversation. */
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { type JsonObject, isJsonObject, type Json } from "../../environment/json.ts";
import { formatChatMessage } from "../../policy/endpointFormat.ts";
import { createChatMessages } from "../../policy/chatMessages.ts";
import { createRules } from "../../policy/policy.ts";
import { TaskConversation } from "../../policy/taskConversation.ts";
import { createServedHeader, describeAttempt } from "../../service/servedAttempt.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Event } from "../../trajectory/trajectory.ts";

/** The turn of a row that is for the whole task. */
export const wholeTask = -1;

export interface Chat {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
}

/**
 * The start of an attempt as the service describes it. Throws a `UserError` if the task cannot be
 * opened, or the teacher's calls before the turn no longer return what they did.
 */
export function openAttempt(task: Task, catalog: Catalog, turn?: number): Chat {
  const header = createServedHeader(task, catalog, { turn });
  const conversation = new TaskConversation(task, header, openSessionByName(catalog, header));
  return describeAttempt({ task, conversation }) as unknown as Chat;
}

/** The teacher's conversation, as far as the tools of the start are all that are on offer. */
export function createTeacherChat(task: Task, catalog: Catalog): Chat {
  const { tools } = openAttempt(task, catalog);
  const { events } = task.trajectory;
  const added = events.findIndex(it => it.kind === "user" && it.adds !== undefined);
  const shown: readonly Event[] = added < 0 ? events : events.slice(0, added);
  const conversation = { now: task.now, events: shown, ...createRules(task) };
  return { messages: createChatMessages(conversation).map(formatChatMessage), tools };
}

export interface ToolCall extends JsonObject {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: Json };
}

/** The calls of a message of the assistant. */
export const listToolCalls = (message: JsonObject): readonly ToolCall[] =>
  (message["tool_calls"] ?? []) as unknown as readonly ToolCall[];

/** A message whose calls have their arguments as objects instead of JSON texts. */
export function parseArguments(message: JsonObject): JsonObject {
  if (message["tool_calls"] === undefined) return message;
  const calls = listToolCalls(message).map(it => ({
    ...it,
    function: { ...it.function, arguments: toObject(it.function.arguments) },
  }));
  return { ...message, tool_calls: calls };
}

function toObject(text: Json): JsonObject {
  const value = JSON.parse(text as string) as Json;
  return isJsonObject(value) ? value : { unparsed: value };
}
