/** Tasks as chats: what a policy sees at the start of an attempt, and a teacher's conversation. */
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { JsonObject } from "../environment/json.ts";
import { formatChatMessage } from "../policy/endpointFormat.ts";
import { createChatMessages } from "../policy/chatMessages.ts";
import { createRules } from "../policy/policy.ts";
import { TaskConversation } from "../policy/taskConversation.ts";
import { createServedHeader, describeAttempt } from "../service/servedAttempt.ts";
import type { Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";

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
