/** Sends messages: checks recipients and limits, and adds messages to threads. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, type ToolContext } from "../../environment/server.ts";
import { listNames, type EmailState } from "./state.ts";

export const sentResult = {
  subject: label("thread"),
  thread_id: id("thread"),
  message_id: id("message"),
  to: z.array(z.string()).describe("Who receives it"),
  left_today: z.int().describe("Messages that may still be sent today"),
};

/**
 * Refuses a message that cannot be delivered or that exceeds a limit. Returns how many messages may
 * still be sent today after this one.
 */
function checkDelivery(
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

/** Sends a message from the user in a thread, or as a thread of its own if there is none. */
export function sendMessage(
  state: EmailState,
  { subject, thread_id }: { readonly subject: string; readonly thread_id?: string },
  { to, cc = [], text, attachments }: NewMessage,
  { now, newId }: ToolContext,
): z.output<z.ZodObject<typeof sentResult>> {
  const left_today = checkDelivery(state, to, cc, now);
  const threadId = thread_id ?? newId("thr");
  if (thread_id === undefined) state.threads[threadId] = { subject, folder: "Sent", labels: [] };
  const message_id = newId("msg");
  state.messages[message_id] = {
    thread_id: threadId,
    from: state.user,
    to: [...to],
    cc: cc.length ? [...cc] : undefined,
    at: now,
    text,
    attachments: attachments?.length ? [...attachments] : undefined,
  };
  const names = listNames(state, [...to, ...cc]);
  return { subject, thread_id: threadId, message_id, to: names, left_today };
}
