/**
 * The mailbox's world: whom the user writes with, threads of messages in folders and under labels,
 * drafts, and what may be sent to whom. Messages are only ever added.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, type ToolContext } from "../../environment/server.ts";

export const folders = ["Inbox", "Sent", "Archive", "Spam"] as const;
export type Folder = (typeof folders)[number];

const Address = z.strictObject({
  name: z.string().min(1),
  email: z.email(),
  /** Mail to it comes back since that minute. */
  bounces: minute().optional(),
  /** It sends and reads nothing. */
  no_reply: z.literal(true).optional(),
});

const Label = z.strictObject({
  name: z.string().min(1),
  /** `system`: a folder. A thread is in one folder and has any of the user's own labels. */
  kind: z.enum(["system", "own"]),
});

const Thread = z.strictObject({
  subject: z.string().min(1),
  folder: z.enum(folders),
  labels: z.array(z.string()),
});

const fileName = z.string().regex(/^[\p{L}\d][\p{L}\d _.-]{0,58}\.[a-z0-9]{2,5}$/u);

const Message = z.strictObject({
  thread_id: z.string(),
  from: z.string(),
  to: z.array(z.string()).min(1),
  cc: z.array(z.string()).optional(),
  at: minute(),
  text: z.string().min(1),
  attachments: z.array(fileName).optional(),
  unread: z.literal(true).optional(),
});

const Draft = z.strictObject({
  to: z.array(z.string()),
  cc: z.array(z.string()).optional(),
  subject: z.string().min(1),
  text: z.string().min(1),
  attachments: z.array(fileName).optional(),
  saved: minute(),
});

const limit = z.int().min(1).max(200);

export const Mailbox = z
  .strictObject({
    /** The address that is the user's own. */
    user: z.string(),
    /** Messages a day, recipients a message, and drafts kept. */
    limits: z.strictObject({ daily: limit, recipients: limit, drafts: limit }),
    addresses: z.record(z.string(), Address),
    labels: z.record(z.string(), Label),
    threads: z.record(z.string(), Thread),
    messages: z.record(z.string(), Message),
    drafts: z.record(z.string(), Draft),
  })
  .superRefine((mailbox, context) => {
    for (const [path, message] of danglingReferences(mailbox))
      context.addIssue({ code: "custom", path, message });
  });
export type Mailbox = z.infer<typeof Mailbox>;
export type Message = z.infer<typeof Message>;
export type Draft = z.infer<typeof Draft>;
export type Thread = z.infer<typeof Thread>;

/** Where a row names another that does not exist, and folders without a label of their name. */
function* danglingReferences(
  mailbox: Pick<Mailbox, "user" | "addresses" | "labels" | "threads" | "messages" | "drafts">,
): Generator<[string[], string]> {
  const { user, addresses, labels, threads, messages, drafts } = mailbox;
  const stranger = (ids: readonly string[]) => ids.find(it => !Object.hasOwn(addresses, it));
  if (stranger([user])) yield [["user"], `there is no address ${user}`];
  const systemNames = Object.values(labels).flatMap(it => (it.kind === "system" ? [it.name] : []));
  for (const it of folders)
    if (!systemNames.includes(it)) yield [["labels"], `there is no system label ${it}`];
  for (const [key, it] of Object.entries(threads))
    for (const labelId of it.labels)
      if (labels[labelId]?.kind !== "own")
        yield [["threads", key, "labels"], `${labelId} is no label of the user's own`];
  for (const [key, it] of Object.entries(messages)) {
    const unknown = stranger([it.from, ...it.to, ...(it.cc ?? [])]);
    if (unknown !== undefined) yield [["messages", key], `there is no address ${unknown}`];
    if (!Object.hasOwn(threads, it.thread_id))
      yield [["messages", key, "thread_id"], `there is no thread ${it.thread_id}`];
  }
  for (const [key, it] of Object.entries(drafts)) {
    const unknown = stranger([...it.to, ...(it.cc ?? [])]);
    if (unknown !== undefined) yield [["drafts", key], `there is no address ${unknown}`];
  }
}

export const threadOf = (mailbox: Mailbox, threadId: string): Thread =>
  findEntity(mailbox.threads, threadId, "thread", "email_search_mail gives the ids of threads");
export const draftOf = (mailbox: Mailbox, draftId: string): Draft =>
  findEntity(mailbox.drafts, draftId, "draft", "email_list_drafts gives the ids");
export const labelOf = (mailbox: Mailbox, labelId: string) =>
  findEntity(mailbox.labels, labelId, "label", "email_list_labels gives the ids");

/** The message of that id; a draft is none. */
export function messageOf(mailbox: Mailbox, messageId: string): Message {
  if (Object.hasOwn(mailbox.drafts, messageId))
    refuse(
      "precondition_failed",
      `${messageId} (${mailbox.drafts[messageId]!.subject}) is a draft, and nobody has received it yet`,
      "email_send_draft sends it, email_update_draft changes it",
    );
  return findEntity(
    mailbox.messages,
    messageId,
    "message",
    "email_get_thread gives the ids of a thread's messages",
  );
}

export const nameOf = (mailbox: Mailbox, addressId: string): string =>
  mailbox.addresses[addressId]!.name;
export const namesOf = (mailbox: Mailbox, ids: readonly string[]): string[] =>
  ids.map(it => nameOf(mailbox, it));

/** A thread's messages, the oldest first. */
export const messagesIn = (mailbox: Mailbox, threadId: string): [string, Message][] =>
  Object.entries(getOriginal(mailbox).messages)
    .filter(([, it]) => it.thread_id === threadId)
    .sort(inTime);

export const inTime = ([a, x]: [string, Message], [b, y]: [string, Message]): number =>
  x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? -1 : 1;

/** The address of somebody by full name or e-mail address. */
export function addressOf(mailbox: Mailbox, who: string): string {
  const wanted = who.trim().toLowerCase();
  const book = getOriginal(mailbox).addresses;
  const found = Object.entries(book).find(
    ([, it]) => it.name.toLowerCase() === wanted || it.email.toLowerCase() === wanted,
  );
  if (found) return found[0];
  const near = Object.values(book).filter(it =>
    wanted
      .split(/[\s@.]+/)
      .some(word => word.length > 2 && it.name.toLowerCase().split(" ").includes(word)),
  );
  return refuse(
    "not_found",
    `the address book has nobody called ${who}`,
    near.length > 0
      ? `perhaps ${near
          .slice(0, 3)
          .map(it => `${it.name} (${it.email})`)
          .join(" or ")}`
      : "give the full name, or the e-mail address, of somebody the user has written with",
  );
}

/** Addresses by name, each once. */
export const addressesOf = (mailbox: Mailbox, names: readonly string[]): string[] => [
  ...new Set(names.map(it => addressOf(mailbox, it))),
];

/**
 * How many messages may still be sent today after this one. Turns down what cannot be delivered, or
 * would be too much for a message or a day.
 */
export function deliverable(
  mailbox: Mailbox,
  to: readonly string[],
  cc: readonly string[],
  now: string,
): number {
  const { addresses, messages, limits, user } = getOriginal(mailbox);
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

export interface Letter {
  readonly to: readonly string[];
  readonly cc?: readonly string[] | undefined;
  readonly text: string;
  readonly attachments?: readonly string[] | undefined;
}

/** Adds a message of the user's own to a thread. */
export function post(
  mailbox: Mailbox,
  threadId: string,
  { to, cc = [], text, attachments = [] }: Letter,
  { now, newId }: ToolContext,
): string {
  const messageId = newId("msg");
  mailbox.messages[messageId] = {
    thread_id: threadId,
    from: mailbox.user,
    to: [...to],
    ...(cc.length ? { cc: [...cc] } : {}),
    at: now,
    text,
    ...(attachments.length ? { attachments: [...attachments] } : {}),
  };
  return messageId;
}

/** A new thread with its first message, the user's own. */
export function postNew(
  mailbox: Mailbox,
  subject: string,
  letter: Letter,
  context: ToolContext,
): { thread_id: string; message_id: string } {
  const thread_id = context.newId("thr");
  mailbox.threads[thread_id] = { subject, folder: "Sent", labels: [] };
  return { thread_id, message_id: post(mailbox, thread_id, letter, context) };
}
