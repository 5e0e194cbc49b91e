/** Tools that search and read threads and messages, and label, archive and mark threads. */
import { z } from "zod";
import {
  day,
  id,
  label,
  minute,
  phrase,
  rowLimit,
  rowTotal,
} from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { ascending, getSchemas } from "../kit/table.ts";
import {
  person,
  threadLabel,
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
  listThreadMessages,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { getOriginal } from "../../environment/draft.ts";

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
      total: rowTotal("threads"),
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
        total: matches.length,
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

export const maxLabels = 4;

const listLabelNames = (state: EmailState, { labels }: Thread) =>
  labels.map(it => state.labels[it]!.name);

const labelledRow = threads.fields({
  ...threadLabel,
  labels: [
    z.array(z.string()).describe("Names of all labels it has now"),
    (it, { world }) => listLabelNames(world, it),
  ],
});

/** The name of one of the user's own labels, or a refusal. */
function getOwnLabelName(state: EmailState, id: string): string {
  const { name, kind } = labels.find(state, id);
  if (kind === "system")
    refuse(
      "permission_denied",
      `${name} (${id}) is a folder of the system and cannot be put on or taken off`,
      "choose a label of the user's own; email_archive_thread moves a thread to the archive",
    );
  return name;
}

export const labelTools = {
  list_labels: tool({
    effect: "read",
    summary:
      "List the user's own labels with how many threads each has, all of them or only those whose name contains some words; and the system's folders.",
    input: {
      name: label("label").optional().describe("Only labels and folders whose name contains this"),
    },
    returns: {
      total: rowTotal("labels"),
      labels: z.array(z.object({ name: label("label"), label_id: id("label"), threads: z.int() })),
      folders: z
        .array(z.object({ name: label("folder"), folder_id: id("folder"), threads: z.int() }))
        .optional()
        .describe(
          "Places where threads are; a label_id of a search may name one, and no label can be put on with it",
        ),
    },
    run(state, { name }) {
      const all = Object.values(state.threads);
      const labels: { name: string; label_id: string; threads: number }[] = [];
      const folders: { name: string; folder_id: string; threads: number }[] = [];
      for (const [key, it] of Object.entries(state.labels)) {
        if (name !== undefined && !containsText(it.name, name)) continue;
        const count = (passes: (thread: Thread) => boolean) => all.filter(passes).length;
        if (it.kind === "own")
          labels.push({
            name: it.name,
            label_id: key,
            threads: count(thread => thread.labels.includes(key)),
          });
        else
          folders.push({
            name: it.name,
            folder_id: key,
            threads: count(thread => thread.folder === it.name),
          });
      }
      return { total: labels.length, labels, ...(folders.length > 0 ? { folders } : {}) };
    },
  }),
  add_label: tool({
    effect: "write",
    summary: "Put one of the user's own labels on a thread.",
    input: { thread_id: threads.id, label_id: labels.id },
    returns: getSchemas(labelledRow),
    run(state, { thread_id, label_id }, { now }) {
      const thread = threads.find(state, thread_id);
      const name = getOwnLabelName(state, label_id);
      if (thread.labels.includes(label_id))
        refuse("conflict", `"${thread.subject}" (${thread_id}) has the label ${name} already`);
      if (thread.folder === "Spam")
        refuse(
          "precondition_failed",
          `"${thread.subject}" (${thread_id}) is in Spam and takes no labels`,
          "email_archive_thread takes it out of Spam",
        );
      if (thread.labels.length >= maxLabels)
        refuse(
          "limit_exceeded",
          `"${thread.subject}" (${thread_id}) has ${maxLabels} labels, the most there may be: ${listLabelNames(state, thread).join(", ")}`,
          "email_remove_label takes one off",
        );
      thread.labels.push(label_id);
      return threads.show(labelledRow, state, thread_id, now);
    },
  }),
  remove_label: tool({
    effect: "write",
    summary: "Take one of the user's own labels off a thread.",
    input: { thread_id: threads.id, label_id: labels.id },
    returns: getSchemas(labelledRow),
    run(state, { thread_id, label_id }, { now }) {
      const thread = threads.find(state, thread_id);
      const name = getOwnLabelName(state, label_id);
      const has = listLabelNames(state, thread);
      if (!thread.labels.includes(label_id))
        refuse(
          "conflict",
          `"${thread.subject}" (${thread_id}) does not have the label ${name}`,
          has.length ? `it has ${has.join(", ")}` : "it has none",
        );
      thread.labels = thread.labels.filter(it => it !== label_id);
      return threads.show(labelledRow, state, thread_id, now);
    },
  }),
  archive_thread: tool({
    effect: "write",
    summary:
      "Move a thread to the archive, out of the inbox, Sent or Spam. Its messages count as read.",
    input: { thread_id: threads.id },
    returns: { ...getSchemas(threadLabel), folder: z.string(), was_in: z.string() },
    run(state, { thread_id }) {
      const thread = threads.find(state, thread_id);
      const was_in = thread.folder;
      if (was_in === "Archive")
        refuse("conflict", `"${thread.subject}" (${thread_id}) is in the archive already`);
      thread.folder = "Archive";
      for (const [key, it] of listThreadMessages(state, thread_id))
        if (it.unread) delete state.messages[key]!.unread;
      return { subject: thread.subject, thread_id, folder: thread.folder, was_in };
    },
  }),
  mark_read: tool({
    effect: "write",
    summary: "Mark a thread as read, or its latest message from somebody else as unread.",
    input: {
      thread_id: threads.id,
      read: z.boolean().optional().describe("False to mark it as unread, true if not given"),
    },
    returns: {
      ...getSchemas(threadLabel),
      unread: z.int().describe("Unread messages in it now"),
      inbox_unread: z.int().describe("Threads in the inbox with unread messages now"),
    },
    run(state, { thread_id, read = true }) {
      const { subject, folder } = threads.find(state, thread_id);
      const messages = listThreadMessages(state, thread_id);
      const unread = messages.filter(([, it]) => it.unread);
      if (read === (unread.length === 0))
        refuse("conflict", `"${subject}" (${thread_id}) is ${read ? "read" : "unread"} already`);
      const last = messages.findLast(([, it]) => it.from !== state.user);
      if (!last)
        refuse(
          "precondition_failed",
          `all messages of "${subject}" (${thread_id}) are the user's own`,
        );
      if (read) for (const [key] of unread) delete state.messages[key]!.unread;
      else state.messages[last[0]]!.unread = true;
      return {
        subject,
        thread_id,
        unread: read ? 0 : 1,
        inbox_unread:
          countOtherUnreadThreads(state, thread_id) + (folder === "Inbox" && !read ? 1 : 0),
      };
    },
  }),
};

/** The number of threads in the inbox with unread messages, without this thread. */
function countOtherUnreadThreads(state: EmailState, threadId: string): number {
  const { messages, threads } = getOriginal(state);
  return new Set(
    Object.values(messages).flatMap(it =>
      it.unread && it.thread_id !== threadId && threads[it.thread_id]!.folder === "Inbox"
        ? [it.thread_id]
        : [],
    ),
  ).size;
}
