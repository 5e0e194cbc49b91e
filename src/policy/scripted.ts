/**
 * Policies that say what was written down for them: the teacher of a task, a recorded attempt, one
 * that does nothing.
 */
import type { Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import type { AssistantMessage, Policy } from "./policy.ts";

const emptyMessage: AssistantMessage = { text: "", calls: [] };

/**
 * Says the messages in order, and nothing once they are used up. Holds no state: one value serves
 * any number of attempts.
 */
export const createScriptedPolicy = (
  name: string,
  messages: readonly AssistantMessage[],
): Policy => ({
  name,
  next: async conversation =>
    messages[conversation.events.filter(it => it.kind === "assistant").length] ?? emptyMessage,
});

/** A task's own teacher, doing again what it did. */
export const createTeacherPolicy = (task: Task): Policy =>
  createScriptedPolicy("scripted:teacher", listMessages(task.trajectory.events));

/** Answers every turn with no call and no words. */
export const idlePolicy: Policy = createScriptedPolicy("scripted:idle", []);

/** The messages of a recorded attempt, each with its calls. */
export function listMessages(events: readonly Event[]): readonly AssistantMessage[] {
  return events
    .filter(it => it.kind === "assistant")
    .map(({ message, text }) => ({
      text,
      calls: events.flatMap(it =>
        it.kind === "call" && it.message === message
          ? [{ name: it.name, arguments: it.arguments }]
          : [],
      ),
    }));
}
