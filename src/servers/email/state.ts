/**
 * The state of the mailbox: the address book, threads of messages in folders and under labels, and
 * drafts.
 */
import { z } from "zod";
import { minute, label, phrase, spokenId, id } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, type ToolContext } from "../../environment/server.ts";
import { findIdByName } from "../kit/people.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const folders = ["Inbox", "Sent", "Archive", "Spam"] as const;

const Address = z.strictObject({
  name: z.string().min(1),
  email: z.email(),
  /** Since when mail to the address bounces. */
  bounces: minute().optional(),
  /** Nobody reads mail to the address. */
  no_reply: z.literal(true).optional(),
});

const Label = z.strictObject({
  name: z.string().min(1),
  /**
   * `system`: a folder. A thread is in one folder and can have several of the user's own labels.
   */
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

export const references = {
  user: "addresses",
  "threads.*.labels.*": "labels",
  "messages.*.thread_id": "threads",
  "messages.*.from": "addresses",
  "messages.*.to.*": "addresses",
  "messages.*.cc.*": "addresses",
  "drafts.*.to.*": "addresses",
  "drafts.*.cc.*": "addresses",
} satisfies References;

export const EmailState = z
  .strictObject({
    /** The id of the user's own address. */
    user: z.string(),
    /** Messages per day, recipients per message, and drafts. */
    limits: z.strictObject({ daily: limit, recipients: limit, drafts: limit }),
    addresses: z.record(z.string(), Address),
    labels: z.record(z.string(), Label),
    threads: z.record(z.string(), Thread),
    messages: z.record(z.string(), Message),
    drafts: z.record(z.string(), Draft),
  })
  .superRefine(({ labels, threads }, context) => {
    const systemNames = Object.values(labels).flatMap(it =>
      it.kind === "system" ? [it.name] : [],
    );
    const report = (path: (string | number)[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    for (const it of folders)
      if (!systemNames.includes(it)) report(["labels"], `there is no system label ${it}`);
    for (const [key, it] of Object.entries(threads))
      for (const [i, labelId] of it.labels.entries())
        if (labels[labelId]?.kind === "system")
          report(["threads", key, "labels", i], `${labelId} is no label of the user's own`);
  });
export type EmailState = z.infer<typeof EmailState>;
export type Message = z.infer<typeof Message>;
export type Thread = z.infer<typeof Thread>;

const table = createTableFactory(EmailState);
export const threads = table("threads", {
  entity: "thread",
  idsFrom: "email_search_mail",
  hint: "email_search_mail gives the ids of threads",
});
export const drafts = table("drafts", { entity: "draft", idsFrom: "email_list_drafts" });
export const labels = table("labels", { entity: "label", idsFrom: "email_list_labels" });
export const messages = table("messages", {
  entity: "message",
  idsFrom: "email_get_thread",
  hint: "email_get_thread gives the ids of a thread's messages",
});

/** The message; refuses the call also if the id is that of a draft. */
export function findMessage(state: EmailState, messageId: string): Message {
  if (Object.hasOwn(state.drafts, messageId))
    refuse(
      "precondition_failed",
      `${messageId} (${state.drafts[messageId]!.subject}) is a draft, and nobody has received it yet`,
      "email_send_draft sends it, email_update_draft changes it",
    );
  return messages.find(state, messageId);
}

export const getName = (state: EmailState, addressId: string): string =>
  state.addresses[addressId]!.name;
export const listNames = (state: EmailState, ids: readonly string[]): string[] =>
  ids.map(it => getName(state, it));

/** A thread's messages, the oldest first. */
export const listThreadMessages = (state: EmailState, threadId: string): [string, Message][] =>
  Object.entries(getOriginal(state).messages)
    .filter(([, it]) => it.thread_id === threadId)
    .sort(compareByTime);

export const compareByTime = ([a, x]: [string, Message], [b, y]: [string, Message]): number =>
  x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? -1 : 1;

/** The id of the address with that full name or e-mail address. */
export function findAddressId(state: EmailState, nameOrEmail: string): string {
  const addressId = findIdByName(state.addresses, nameOrEmail);
  if (addressId !== undefined) return addressId;
  const words = nameOrEmail
    .trim()
    .toLowerCase()
    .split(/[\s@.]+/)
    .filter(it => it.length > 2);
  const similar = Object.values(getOriginal(state).addresses).filter(it => {
    const names = it.name.toLowerCase().split(" ");
    return words.some(word => names.includes(word));
  });
  return refuse(
    "not_found",
    `the address book has nobody called ${nameOrEmail}`,
    similar.length > 0
      ? `perhaps ${similar
          .slice(0, 3)
          .map(it => `${it.name} (${it.email})`)
          .join(" or ")}`
      : "give the full name, or the e-mail address, of somebody the user has written with",
  );
}

/** The ids of the addresses with these names, without duplicates. */
export const findAddressIds = (state: EmailState, names: readonly string[]): string[] => [
  ...new Set(names.map(it => findAddressId(state, it))),
];

/** People are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const people = z.array(person()).min(1).max(20);

export const subject = phrase(2, 100).meta({ examples: vocabulary.subjects });
export const text = phrase(2, 2000).meta({ examples: vocabulary.texts });
const newFileName = z
  .string()
  .max(64)
  .regex(/^[\p{L}\d][\p{L}\d _.-]{0,58}\.(pdf|png|jpg|csv|txt|docx|xlsx|zip|svg|pptx)$/u);
export const attachments = z
  .array(newFileName)
  .min(1)
  .max(5)
  .describe("Names of the files that go with it, at most five")
  .meta({ examples: vocabulary.attachments })
  .optional();

export const threadLabel = threads.fields({
  subject: label("thread"),
  thread_id: threads.idField,
});

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
