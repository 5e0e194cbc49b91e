/** Tools that search and read threads and messages. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { labelId, messageId, person, threadId, limit } from "./parameters.ts";
import {
  findAddressId,
  folders,
  compareByTime,
  findLabel,
  EmailState,
  findMessage,
  listThreadMessages,
  getName,
  listNames,
  findThread,
  type Message,
} from "./state.ts";
import { containsText } from "../../environment/textSearch.ts";

const tool = createToolFactory(EmailState);

const snippetLength = 60;

function createSnippet(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= snippetLength
    ? line
    : `${line.slice(0, snippetLength).replace(/ \S*$/, "")} …`;
}

/** Groups the messages by thread, the oldest first. */
function groupByThread(state: EmailState): Map<string, Message[]> {
  const threads = new Map<string, Message[]>();
  for (const [, it] of Object.entries(state.messages).sort(compareByTime))
    threads.set(it.thread_id, [...(threads.get(it.thread_id) ?? []), it]);
  return threads;
}

export const threadQueries = {
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
      state,
      { subject, from, words, folder, label_id, unread, since, until, limit: maxRows = 7 },
    ) {
      if (since && until && since > until)
        refuse("invalid_params", `since ${since} is after until ${until}`);
      const writer = from === undefined ? undefined : findAddressId(state, from);
      const system = label_id === undefined ? undefined : findLabel(state, label_id);
      const isOpen = [subject, from, words, folder, label_id, unread, since, until].every(
        it => it === undefined,
      );
      const folderName = folder ?? (isOpen ? "Inbox" : undefined);
      const matches = [...groupByThread(state)].flatMap(([thread_id, messages]) => {
        const thread = state.threads[thread_id]!;
        const isInFolder = folderName
          ? thread.folder === folderName
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
        const unreadCount = messages.filter(it => it.unread).length;
        const isSeen = unread === undefined || unread === unreadCount > 0;
        return isInFolder &&
          isLabelled &&
          isWritten &&
          isSeen &&
          (!subject || containsText(thread.subject, subject)) &&
          messages.some(passes)
          ? [{ thread_id, thread, messages, unseen: unreadCount }]
          : [];
      });
      matches.sort((a, b) =>
        a.messages.at(-1)!.at < b.messages.at(-1)!.at ||
        (a.messages.at(-1)!.at === b.messages.at(-1)!.at && a.thread_id > b.thread_id)
          ? 1
          : -1,
      );
      return {
        threads: matches.slice(0, maxRows).map(({ thread_id, thread, messages, unseen }) => ({
          subject: thread.subject,
          thread_id,
          from: getName(
            state,
            (messages.findLast(it => it.from !== state.user) ?? messages.at(-1)!).from,
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
    run(state, { thread_id }) {
      const { subject, folder, labels } = findThread(state, thread_id);
      return {
        subject,
        thread_id,
        folder,
        messages: listThreadMessages(state, thread_id).map(([message_id, it]) => ({
          snippet: createSnippet(it.text),
          message_id,
          from: getName(state, it.from),
          date: it.at.slice(0, 10),
          ...(it.unread ? { unread: it.unread } : {}),
          ...(it.attachments ? { attachments: it.attachments.length } : {}),
        })),
        ...(labels.length
          ? { labels: labels.map(label_id => ({ name: state.labels[label_id]!.name, label_id })) }
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
    run(state, { message_id }) {
      const { thread_id, from, to, cc, at, text, attachments } = findMessage(state, message_id);
      return {
        message_id,
        subject: state.threads[thread_id]!.subject,
        thread_id,
        from: getName(state, from),
        to: listNames(state, to),
        ...(cc ? { cc: listNames(state, cc) } : {}),
        at,
        text,
        ...(attachments ? { attachments } : {}),
      };
    },
  }),
};
