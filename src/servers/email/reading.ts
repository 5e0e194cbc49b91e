/**
 * The mailbox's tools that look: threads, messages, drafts and labels. They mark nothing as read.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { labelId, messageId, person, threadId } from "./words.ts";
import {
  addressOf,
  folders,
  inTime,
  labelOf,
  Mailbox,
  messageOf,
  messagesIn,
  nameOf,
  namesOf,
  threadOf,
  type Message,
  type Thread,
} from "./state.ts";

const tool = createToolFactory(Mailbox);

const limit = z.int().min(1).max(50).optional().describe("At most this many, 7 if not given");
const snippetLength = 60;

function snippetOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= snippetLength
    ? line
    : `${line.slice(0, snippetLength).replace(/ \S*$/, "")} …`;
}

/** The messages by thread, each thread's oldest first. */
function byThread(mailbox: Mailbox): Map<string, Message[]> {
  const threads = new Map<string, Message[]>();
  for (const [, it] of Object.entries(mailbox.messages).sort(inTime))
    threads.set(it.thread_id, [...(threads.get(it.thread_id) ?? []), it]);
  return threads;
}

export const reading = {
  search_mail: tool({
    effect: "read",
    summary:
      "Find threads by subject, correspondent, words, folder, label, read state or days, the latest first. Without any of these: the latest in the inbox.",
    input: {
      subject: label("thread").optional().describe("Only threads whose subject contains this"),
      from: person()
        .optional()
        .describe("Only threads in which this person has written, by full name or e-mail address"),
      words: z
        .string()
        .min(2)
        .max(60)
        .regex(/\S/)
        .optional()
        .describe("Only threads with a message that contains this")
        .meta({
          examples: [
            "invoice",
            "contract",
            "printer",
            "schedule",
            "budget",
            "Friday",
            "photos",
            "proposal",
            "lunch",
            "website",
          ],
        }),
      folder: z
        .enum(folders)
        .optional()
        .describe("Only threads in this folder; everywhere but in Spam if not given"),
      label_id: labelId
        .optional()
        .describe("Only threads with this label, as email_list_labels gives the id"),
      unread: z
        .boolean()
        .optional()
        .describe("True for threads with unread messages, false for those without"),
      since: day().optional().describe("Only threads with a message on this day or later"),
      until: day().optional().describe("Only threads with a message on this day or earlier"),
      limit,
    },
    returns: {
      threads: z.array(
        z.object({
          subject: label("thread"),
          thread_id: id("thread"),
          from: z.string(),
          date: day(),
          unread: z.int().optional(),
        }),
      ),
    },
    run(
      mailbox,
      { subject, from, words, folder, label_id, unread, since, until, limit: most = 7 },
    ) {
      if (since && until && since > until)
        refuse("invalid_params", `since ${since} is after until ${until}`);
      const writer = from === undefined ? undefined : addressOf(mailbox, from);
      const system = label_id === undefined ? undefined : labelOf(mailbox, label_id);
      const isOpen = [subject, from, words, folder, label_id, unread, since, until].every(
        it => it === undefined,
      );
      const place = folder ?? (isOpen ? "Inbox" : undefined);
      const found = [...byThread(mailbox)].flatMap(([thread_id, messages]) => {
        const thread = mailbox.threads[thread_id]!;
        const isThere = place
          ? thread.folder === place
          : thread.folder !== "Spam" || system?.name === "Spam";
        const isLabelled =
          !system ||
          (system.kind === "system"
            ? thread.folder === system.name
            : thread.labels.includes(label_id!));
        const passes = (it: Message) =>
          (!words || containsText(it.text, words)) &&
          (!since || it.at.slice(0, 10) >= since) &&
          (!until || it.at.slice(0, 10) <= until);
        const isWritten = !writer || messages.some(it => it.from === writer);
        const unseen = messages.filter(it => it.unread).length;
        const isSeen = unread === undefined || unread === unseen > 0;
        return isThere &&
          isLabelled &&
          isWritten &&
          isSeen &&
          (!subject || containsText(thread.subject, subject)) &&
          messages.some(passes)
          ? [{ thread_id, thread, messages, unseen }]
          : [];
      });
      found.sort((a, b) =>
        a.messages.at(-1)!.at < b.messages.at(-1)!.at ||
        (a.messages.at(-1)!.at === b.messages.at(-1)!.at && a.thread_id > b.thread_id)
          ? 1
          : -1,
      );
      return {
        threads: found.slice(0, most).map(({ thread_id, thread, messages, unseen }) => ({
          subject: thread.subject,
          thread_id,
          from: nameOf(
            mailbox,
            (messages.findLast(it => it.from !== mailbox.user) ?? messages.at(-1)!).from,
          ),
          date: messages.at(-1)!.at.slice(0, 10),
          ...(unseen ? { unread: unseen } : {}),
        })),
      };
    },
  }),
  get_thread: tool({
    effect: "read",
    summary:
      "Get one thread: its folder and labels, and its messages with who wrote them and how they begin, the oldest first.",
    input: { thread_id: threadId },
    returns: {
      subject: label("thread"),
      thread_id: id("thread"),
      folder: z.string(),
      messages: z.array(
        z.object({
          snippet: label("message"),
          message_id: id("message"),
          from: z.string(),
          date: day(),
          unread: z.literal(true).optional(),
          attachments: z.int().optional(),
        }),
      ),
      labels: z.array(z.object({ name: label("label"), label_id: id("label") })).optional(),
    },
    run(mailbox, { thread_id }) {
      const { subject, folder, labels } = threadOf(mailbox, thread_id);
      return {
        subject,
        thread_id,
        folder,
        messages: messagesIn(mailbox, thread_id).map(([message_id, it]) => ({
          snippet: snippetOf(it.text),
          message_id,
          from: nameOf(mailbox, it.from),
          date: it.at.slice(0, 10),
          ...(it.unread ? { unread: it.unread } : {}),
          ...(it.attachments ? { attachments: it.attachments.length } : {}),
        })),
        ...(labels.length
          ? { labels: labels.map(label_id => ({ name: mailbox.labels[label_id]!.name, label_id })) }
          : {}),
      };
    },
  }),
  get_message: tool({
    effect: "read",
    summary:
      "Get one message in full: from whom, to whom, when, its text and the names of its attachments.",
    input: { message_id: messageId },
    returns: {
      message_id: id("message"),
      subject: label("thread"),
      thread_id: id("thread"),
      from: person(),
      to: z.array(person()),
      cc: z.array(person()).optional(),
      at: minute(),
      text: z.string(),
      attachments: z.array(z.string()).optional(),
    },
    run(mailbox, { message_id }) {
      const { thread_id, from, to, cc, at, text, attachments } = messageOf(mailbox, message_id);
      return {
        message_id,
        subject: mailbox.threads[thread_id]!.subject,
        thread_id,
        from: nameOf(mailbox, from),
        to: namesOf(mailbox, to),
        ...(cc ? { cc: namesOf(mailbox, cc) } : {}),
        at,
        text,
        ...(attachments ? { attachments } : {}),
      };
    },
  }),
  list_drafts: tool({
    effect: "read",
    summary:
      "List drafts that have not been sent, the latest first, all of them or only those whose subject contains some words.",
    input: {
      subject: label("draft").optional().describe("Only drafts whose subject contains this"),
      limit,
    },
    returns: {
      drafts: z.array(
        z.object({
          subject: label("draft"),
          draft_id: id("draft"),
          to: z.array(z.string()),
          saved: day(),
        }),
      ),
    },
    run: (mailbox, { subject, limit: most = 7 }) => ({
      drafts: Object.entries(mailbox.drafts)
        .filter(([, it]) => !subject || containsText(it.subject, subject))
        .sort(([a, x], [b, y]) =>
          x.saved === y.saved ? (a < b ? -1 : 1) : x.saved < y.saved ? 1 : -1,
        )
        .slice(0, most)
        .map(([draft_id, it]) => ({
          subject: it.subject,
          draft_id,
          to: namesOf(mailbox, it.to),
          saved: it.saved.slice(0, 10),
        })),
    }),
  }),
  list_labels: tool({
    effect: "read",
    summary:
      "List the user's own labels with how many threads each has, all of them or only those whose name contains some words; and the system's folders.",
    input: {
      name: label("label").optional().describe("Only labels and folders whose name contains this"),
    },
    returns: {
      labels: z.array(z.object({ name: label("label"), label_id: id("label"), threads: z.int() })),
      folders: z
        .array(z.object({ name: label("folder"), folder_id: id("folder"), threads: z.int() }))
        .optional()
        .describe(
          "Places where threads are; a label_id of a search may name one, and no label can be put on with it",
        ),
    },
    run({ labels, threads }, { name }) {
      const found = Object.entries(labels).filter(([, it]) => !name || containsText(it.name, name));
      const count = (passes: (it: Thread) => boolean) =>
        Object.values(threads).filter(passes).length;
      const folders = found.flatMap(([folder_id, it]) =>
        it.kind === "system"
          ? [{ name: it.name, folder_id, threads: count(thread => thread.folder === it.name) }]
          : [],
      );
      return {
        labels: found.flatMap(([label_id, it]) =>
          it.kind === "own"
            ? [
                {
                  name: it.name,
                  label_id,
                  threads: count(thread => thread.labels.includes(label_id)),
                },
              ]
            : [],
        ),
        ...(folders.length > 0 ? { folders } : {}),
      };
    },
  }),
};
