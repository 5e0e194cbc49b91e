/** Tools that list and set labels, archive threads and mark them as read. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getSchemas } from "../kit/table.ts";
import { threadLabel } from "./parameters.ts";
import { EmailState, labels, listThreadMessages, threads, type Thread } from "./state.ts";

const tool = createToolFactory(EmailState);

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
      return { labels, ...(folders.length > 0 ? { folders } : {}) };
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
