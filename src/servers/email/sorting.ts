/**
 * The mailbox's tools that keep order: labels, the archive, and what counts as read. No message
 * changes by it but in that.
 */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { labelId, threadId } from "./words.ts";
import { labelOf, Mailbox, messagesIn, threadOf, type Thread } from "./state.ts";

const tool = createToolFactory(Mailbox);

const mostLabels = 4;

const labelled = {
  subject: label("thread"),
  thread_id: id("thread"),
  labels: z.array(z.string()).describe("Names of all labels it has now"),
};

const labelNames = (mailbox: Mailbox, { labels }: Thread) =>
  labels.map(it => mailbox.labels[it]!.name);

/** The name of a label of the user's own. */
function ownLabel(mailbox: Mailbox, id: string): string {
  const { name, kind } = labelOf(mailbox, id);
  if (kind === "system")
    refuse(
      "permission_denied",
      `${name} (${id}) is a folder of the system and cannot be put on or taken off`,
      "choose a label of the user's own; email_archive_thread moves a thread to the archive",
    );
  return name;
}

export const sorting = {
  add_label: tool({
    effect: "write",
    summary: "Put one of the user's own labels on a thread.",
    input: { thread_id: threadId, label_id: labelId },
    returns: labelled,
    run(mailbox, { thread_id, label_id }) {
      const thread = threadOf(mailbox, thread_id);
      const name = ownLabel(mailbox, label_id);
      if (thread.labels.includes(label_id))
        refuse("conflict", `"${thread.subject}" (${thread_id}) has the label ${name} already`);
      if (thread.folder === "Spam")
        refuse(
          "precondition_failed",
          `"${thread.subject}" (${thread_id}) is in Spam and takes no labels`,
          "email_archive_thread takes it out of Spam",
        );
      if (thread.labels.length >= mostLabels)
        refuse(
          "limit_exceeded",
          `"${thread.subject}" (${thread_id}) has ${mostLabels} labels, the most there may be: ${labelNames(mailbox, thread).join(", ")}`,
          "email_remove_label takes one off",
        );
      thread.labels.push(label_id);
      return { subject: thread.subject, thread_id, labels: labelNames(mailbox, thread) };
    },
  }),
  remove_label: tool({
    effect: "write",
    summary: "Take one of the user's own labels off a thread.",
    input: { thread_id: threadId, label_id: labelId },
    returns: labelled,
    run(mailbox, { thread_id, label_id }) {
      const thread = threadOf(mailbox, thread_id);
      const name = ownLabel(mailbox, label_id);
      const has = labelNames(mailbox, thread);
      if (!thread.labels.includes(label_id))
        refuse(
          "conflict",
          `"${thread.subject}" (${thread_id}) does not have the label ${name}`,
          has.length ? `it has ${has.join(", ")}` : "it has none",
        );
      thread.labels = thread.labels.filter(it => it !== label_id);
      return { subject: thread.subject, thread_id, labels: labelNames(mailbox, thread) };
    },
  }),
  archive_thread: tool({
    effect: "write",
    summary:
      "Move a thread to the archive, out of the inbox, Sent or Spam. Its messages count as read.",
    input: { thread_id: threadId },
    returns: {
      subject: label("thread"),
      thread_id: id("thread"),
      folder: z.string(),
      was_in: z.string(),
    },
    run(mailbox, { thread_id }) {
      const thread = threadOf(mailbox, thread_id);
      const was_in = thread.folder;
      if (was_in === "Archive")
        refuse("conflict", `"${thread.subject}" (${thread_id}) is in the archive already`);
      thread.folder = "Archive";
      for (const [key, it] of messagesIn(mailbox, thread_id))
        if (it.unread) delete mailbox.messages[key]!.unread;
      return { subject: thread.subject, thread_id, folder: thread.folder, was_in };
    },
  }),
  mark_read: tool({
    effect: "write",
    summary: "Mark a thread as read, or its latest message from somebody else as unread.",
    input: {
      thread_id: threadId,
      read: z.boolean().optional().describe("False to mark it as unread, true if not given"),
    },
    returns: {
      subject: label("thread"),
      thread_id: id("thread"),
      unread: z.int().describe("Unread messages in it now"),
      inbox_unread: z.int().describe("Threads in the inbox with unread messages now"),
    },
    run(mailbox, { thread_id, read = true }) {
      const { subject, folder } = threadOf(mailbox, thread_id);
      const messages = messagesIn(mailbox, thread_id);
      const unread = messages.filter(([, it]) => it.unread);
      if (read === (unread.length === 0))
        refuse("conflict", `"${subject}" (${thread_id}) is ${read ? "read" : "unread"} already`);
      const last = messages.findLast(([, it]) => it.from !== mailbox.user);
      if (!last)
        refuse(
          "precondition_failed",
          `all messages of "${subject}" (${thread_id}) are the user's own`,
        );
      if (read) for (const [key] of unread) delete mailbox.messages[key]!.unread;
      else mailbox.messages[last[0]]!.unread = true;
      return {
        subject,
        thread_id,
        unread: read ? 0 : 1,
        inbox_unread: unreadBeside(mailbox, thread_id) + (folder === "Inbox" && !read ? 1 : 0),
      };
    },
  }),
};

/** Threads in the inbox with unread messages, but for this one. */
function unreadBeside(mailbox: Mailbox, threadId: string): number {
  const { messages, threads } = getOriginal(mailbox);
  return new Set(
    Object.values(messages).flatMap(it =>
      it.unread && it.thread_id !== threadId && threads[it.thread_id]!.folder === "Inbox"
        ? [it.thread_id]
        : [],
    ),
  ).size;
}
