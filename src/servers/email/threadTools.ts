/** Tools that search and read threads and messages. */
import { z } from "zod";
import { day, id, label, minute, phrase, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { ascending, getSchemas } from "../kit/table.ts";
import { person, threadLabel } from "./parameters.ts";
import {
  findAddressId,
  folders,
  compareByTime,
  EmailState,
  findMessage,
  getName,
  labels,
  listNames,
  messages,
  threads,
  type Message,
  type Thread,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(EmailState);

const snippetLength = 60;

function createSnippet(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= snippetLength
    ? line
    : `${line.slice(0, snippetLength).replace(/ \S*$/, "")} …`;
}

const messageFields = messages.fields({
  message_id: messages.idField,
  subject: [label("thread"), (it, { world }) => world.threads[it.thread_id]!.subject],
  thread_id: id("thread"),
  from: [person(), (it, { world }) => getName(world, it.from)],
  to: [z.array(person()), (it, { world }) => listNames(world, it.to)],
  cc: [z.array(person()).optional(), (it, { world }) => it.cc && listNames(world, it.cc)],
  at: minute(),
  text: z.string(),
  attachments: z.array(z.string()).optional(),
});

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
      words: phrase(2, 60)
        .optional()
        .describe("Only threads with a message that contains this")
        .meta({ examples: vocabulary.words }),
      folder: z
        .enum(folders)
        .optional()
        .describe("Only threads in this folder; everywhere but in Spam if not given"),
      label_id: labels.id
        .optional()
        .describe("Only threads with this label, as email_list_labels gives the id"),
      unread: z
        .boolean()
        .optional()
        .describe("True for threads with unread messages, false for those without"),
      since: day().optional().describe("Only threads with a message on this day or later"),
      until: day().optional().describe("Only threads with a message on this day or earlier"),
      limit: rowLimit(7),
    },
    returns: {
      threads: z.array(
        z.object({
          ...getSchemas(threadLabel),
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
      const system = label_id === undefined ? undefined : labels.find(state, label_id);
      const isOpen = [subject, from, words, folder, label_id, unread, since, until].every(
        it => it === undefined,
      );
      const folderName = folder ?? (isOpen ? "Inbox" : undefined);
      const hasLabel = (it: Thread) =>
        !system ||
        (system.kind === "system" ? it.folder === system.name : it.labels.includes(label_id!));
      const isFound = (it: Message) =>
        (!words || containsText(it.text, words)) &&
        (!since || it.at.slice(0, 10) >= since) &&
        (!until || it.at.slice(0, 10) <= until);
      const matches = [...groupByThread(state)].filter(([threadId, all]) => {
        const thread = state.threads[threadId]!;
        return (
          (folderName
            ? thread.folder === folderName
            : thread.folder !== "Spam" || system?.name === "Spam") &&
          hasLabel(thread) &&
          (!writer || all.some(it => it.from === writer)) &&
          (unread === undefined || unread === all.some(it => it.unread)) &&
          (!subject || containsText(thread.subject, subject)) &&
          all.some(isFound)
        );
      });
      matches.sort(([a, x], [b, y]) =>
        x.at(-1)!.at < y.at(-1)!.at || (x.at(-1)!.at === y.at(-1)!.at && a > b) ? 1 : -1,
      );
      return {
        threads: matches.slice(0, maxRows).map(([thread_id, all]) => {
          const last = all.findLast(it => it.from !== state.user) ?? all.at(-1)!;
          const unreadCount = all.filter(it => it.unread).length;
          return {
            subject: state.threads[thread_id]!.subject,
            thread_id,
            from: getName(state, last.from),
            date: all.at(-1)!.at.slice(0, 10),
            ...(unreadCount ? { unread: unreadCount } : {}),
          };
        }),
      };
    },
  }),
  get_thread: threads.get({
    summary:
      "Get one thread: its folder and labels, and its messages with who wrote them and how they begin, the oldest first.",
    row: {
      ...threadLabel,
      folder: z.string(),
      messages: messages.related({
        row: {
          snippet: [label("message"), it => createSnippet(it.text)],
          message_id: messages.idField,
          from: [z.string(), (it, { world }) => getName(world, it.from)],
          date: [day(), it => it.at.slice(0, 10)],
          unread: z.literal(true).optional(),
          attachments: [z.int().optional(), it => it.attachments?.length],
        },
        where: (it, { id: threadId }) => it.thread_id === threadId,
        order: ascending(it => it.at),
        isRequired: true,
      }),
      labels: [
        z.array(z.object({ name: label("label"), label_id: id("label") })).optional(),
        (it, { world }) =>
          it.labels.length === 0
            ? undefined
            : it.labels.map(label_id => ({ name: world.labels[label_id]!.name, label_id })),
      ],
    },
  }),
  get_message: tool({
    effect: "read",
    summary:
      "Get one message in full: from whom, to whom, when, its text and the names of its attachments.",
    input: { message_id: messages.id },
    returns: getSchemas(messageFields),
    run(state, { message_id }, { now }) {
      findMessage(state, message_id);
      return messages.show(messageFields, state, message_id, now);
    },
  }),
};
