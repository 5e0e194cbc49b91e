/** Sends messages: checks recipients and limits, and adds messages to threads. */
import { refuse, type ToolContext } from "../../environment/server.ts";
import type { EmailState } from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";

/**
 * Refuses a message that cannot be delivered or that exceeds a limit. Returns how many messages may
 * still be sent today after this one.
 */
export function checkDelivery(
  state: EmailState,
  to: readonly string[],
  cc: readonly string[],
  now: string,
): number {
  const { addresses, messages, limits, user } = getOriginal(state);
  const everyone = [...to, ...cc];
  if (everyone.includes(user))
    refuse(
      "invalid_params",
      `${addresses[user]!.email} is the user's own address`,
      "write to somebody else, or keep it with email_create_draft",
    );
  if (everyone.length > limits.recipients)
    refuse(
      "limit_exceeded",
      `${everyone.length} recipients are more than the ${limits.recipients} that a message may have`,
      "send it to fewer people",
    );
  for (const it of everyone.map(key => addresses[key]!)) {
    if (it.bounces)
      refuse(
        "precondition_failed",
        `mail to ${it.name} <${it.email}> comes back since ${it.bounces.slice(0, 10)}: the mailbox does not exist`,
        "leave them out, or write to somebody else there",
      );
    if (it.no_reply) refuse("precondition_failed", `${it.name} <${it.email}> takes no mail`);
  }
  const today = Object.values(messages).filter(
    it => it.from === user && it.at.slice(0, 10) === now.slice(0, 10),
  ).length;
  if (today >= limits.daily)
    refuse(
      "limit_exceeded",
      `${today} messages have been sent today, and ${limits.daily} is the most a day`,
      "save it with email_create_draft and send it tomorrow",
    );
  return limits.daily - today - 1;
}

export interface NewMessage {
  readonly to: readonly string[];
  readonly cc?: readonly string[] | undefined;
  readonly text: string;
  readonly attachments?: readonly string[] | undefined;
}

/** Adds a message from the user to a thread and returns its id. */
export function addMessage(
  state: EmailState,
  threadId: string,
  { to, cc = [], text, attachments = [] }: NewMessage,
  { now, newId }: ToolContext,
): string {
  const messageId = newId("msg");
  state.messages[messageId] = {
    thread_id: threadId,
    from: state.user,
    to: [...to],
    ...(cc.length ? { cc: [...cc] } : {}),
    at: now,
    text,
    ...(attachments.length ? { attachments: [...attachments] } : {}),
  };
  return messageId;
}

/** Starts a thread with a message from the user. */
export function startThread(
  state: EmailState,
  subject: string,
  message: NewMessage,
  context: ToolContext,
): { thread_id: string; message_id: string } {
  const thread_id = context.newId("thr");
  state.threads[thread_id] = { subject, folder: "Sent", labels: [] };
  return { thread_id, message_id: addMessage(state, thread_id, message, context) };
}
