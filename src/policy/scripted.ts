/**
 * Policies that repeat given messages: a task's teacher, a recorded attempt, its beginning before
 * another policy goes on, or none at all.
 */
import type { Task } from "../trajectory/task.ts";
import type { Event, Trajectory } from "../trajectory/trajectory.ts";
import type { AssistantMessage, Policy } from "./policy.ts";
import { UserError } from "../userError.ts";

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

/**
 * The first events of an attempt, to go on from. A message whose calls all come later is left out:
 * without them, it would be an answer to the user.
 */
export function takeFirstEvents(events: readonly Event[], position: number): readonly Event[] {
  const last = events[position - 1];
  const next = events[position];
  const isCut =
    last?.kind === "assistant" && next?.kind === "call" && next.message === last.message;
  return events.slice(0, isCut ? position - 1 : position);
}

/**
 * Creates a policy that repeats the messages of an attempt's beginning, and then asks `policy`.
 * Throws a `UserError` if the repeated calls and the user's answers are not those of the attempt.
 */
export function continueAttempt({ header, events }: Trajectory, policy: Policy): Policy {
  const messages = listMessages(events);
  return {
    name: `${policy.name} after ${header.policy}`,
    ...(policy.decoding ? { decoding: policy.decoding } : {}),
    async next(conversation, signal) {
      const count = conversation.events.filter(it => it.kind === "assistant").length;
      const recorded = messages[count];
      if (recorded) return recorded;
      if (count === messages.length && !events.every((it, i) => isSame(it, conversation.events[i])))
        throw new UserError(
          `the calls of ${header.id} no longer have the same results`,
          "restore the fixture it was made on, or fork at an earlier position",
        );
      return policy.next(conversation, signal);
    },
    release: conversation => policy.release?.(conversation),
  };
}

/** Whether an event of an attempt is the same when it is repeated. */
function isSame(recorded: Event, repeated: Event | undefined): boolean {
  if (recorded.kind === "call")
    return (
      repeated?.kind === "call" &&
      recorded.digest === repeated.digest &&
      recorded.outcome.kind === repeated.outcome.kind
    );
  if (recorded.kind === "user") return repeated?.kind === "user" && recorded.text === repeated.text;
  return recorded.kind === repeated?.kind;
}
