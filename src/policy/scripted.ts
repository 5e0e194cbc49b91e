/** Policies that repeat given messages: a task's teacher, a recorded attempt, or none at all. */
import type { Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import type { AssistantMessage, Policy } from "./policy.ts";

const emptyMessage: AssistantMessage = { text: "", calls: [] };

/**
 * Creates a policy that gives the messages in order, then empty ones. It has no state, so that one
 * policy can be used for any number of attempts.
 */
export const createScriptedPolicy = (
  name: string,
  messages: readonly AssistantMessage[],
): Policy => ({
  name,
  next: async conversation =>
    messages[conversation.events.filter(it => it.kind === "assistant").length] ?? emptyMessage,
});

/** Repeats the messages of a task's teacher. */
export const createTeacherPolicy = (task: Task): Policy =>
  createScriptedPolicy("scripted:teacher", listMessages(task.trajectory.events));

/** Answers every turn with an empty message. */
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
