/**
 * The email server: a mailbox as its owner sees it. Also its rules, which hold whichever tools
 * are used.
 */
import {
  defineConstantRule,
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { maxLabels, labelTools, threadQueries } from "./threadTools.ts";
import { EmailState, type Message, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { draftTools, messageCommands } from "./messageTools.ts";

const listRecipients = ({ to, cc = [] }: Pick<Message, "to" | "cc">) => [...to, ...cc];

const invariants = [
  defineWriteRule<EmailState>(
    "A message is never removed or changed, except that it is read or unread.",
    function* (state, before) {
      for (const it of listChanges(before.messages, state.messages)) {
        if (!it.before) continue;
        const fields = it.after ? listChangedFields(it.before, it.after) : ["all"];
        if (fields.some(key => key !== "unread")) yield `${fields.join()} of ${it.id} changed`;
      }
    },
  ),
  defineWriteRule<EmailState>("Every new message is from the user.", function* (state, before) {
    for (const [id, { from }] of listAddedRows(before.messages, state.messages))
      if (from !== state.user) yield `${id} is from ${from}`;
  }),
  defineWriteRule<EmailState>(
    "A message goes to others who can receive it, to each once, and to no more than the limit.",
    function* (state, before) {
      for (const [id, it] of listAddedRows(before.messages, state.messages)) {
        const recipients = listRecipients(it);
        if (new Set(recipients).size !== recipients.length) yield `${id} goes to somebody twice`;
        if (recipients.length > state.limits.recipients) yield `${id} goes to ${recipients.length}`;
        for (const key of recipients) {
          const { bounces, no_reply } = state.addresses[key]!;
          if (key === state.user || bounces !== undefined || no_reply) yield `${id} goes to ${key}`;
        }
      }
    },
  ),
  defineWriteRule<EmailState>(
    "The user sends no more messages a day than the limit.",
    function* (state, before) {
      for (const [id, { at }] of listAddedRows(before.messages, state.messages)) {
        const count = Object.values(state.messages).filter(
          it => it.from === state.user && it.at.slice(0, 10) === at.slice(0, 10),
        ).length;
        if (count > state.limits.daily) yield `${id} is message ${count} of ${at.slice(0, 10)}`;
      }
    },
  ),
  defineWriteRule<EmailState>(
    "A thread in Spam gets no messages and no labels.",
    function* (state, before) {
      for (const [id, { thread_id }] of listAddedRows(before.messages, state.messages))
        if (state.threads[thread_id]!.folder === "Spam") yield `${id} is in Spam`;
      for (const it of listChanges(before.threads, state.threads))
        if (
          it.before &&
          it.after?.folder === "Spam" &&
          it.after.labels.some(key => !it.before!.labels.includes(key))
        )
          yield `${it.id} in Spam has a new label`;
    },
  ),
  defineWriteRule<EmailState>(
    `A thread keeps its subject, moves to the archive only, begins in Sent, and gets at most ${maxLabels} labels, each once.`,
    function* (state, before) {
      for (const { id, before: old, after } of listChanges(before.threads, state.threads)) {
        if (!after) {
          yield `${id} is gone`;
          continue;
        }
        if (old && old.subject !== after.subject) yield `${id} has another subject`;
        if (
          old ? old.folder !== after.folder && after.folder !== "Archive" : after.folder !== "Sent"
        )
          yield `${id} is in ${after.folder}`;
        const { labels } = after;
        if (labels.length > Math.max(maxLabels, old?.labels.length ?? 0))
          yield `${id} has ${labels.length} labels`;
        if (new Set(labels).size !== labels.length) yield `${id} has a label twice`;
      }
    },
  ),
  defineWriteRule<EmailState>(
    "No draft is begun beyond the limit, and none has the subject of another one.",
    function* ({ drafts, limits }, before) {
      for (const it of listChanges(before.drafts, drafts)) {
        if (!it.after) continue;
        if (!it.before && Object.keys(drafts).length > limits.drafts)
          yield `${it.id} is draft ${Object.keys(drafts).length}`;
        const subject = it.after.subject.trim().toLowerCase();
        if (it.before?.subject.trim().toLowerCase() === subject) continue;
        const twin = Object.entries(drafts).find(
          ([key, other]) => key !== it.id && other.subject.trim().toLowerCase() === subject,
        );
        if (twin) yield `${it.id} and ${twin[0]} are both called ${subject}`;
      }
    },
  ),
  defineWriteRule<EmailState>(
    "A draft that is sent goes to its recipients with its text and attachments.",
    function* (state, before) {
      const [draft] = listChanges(before.drafts, state.drafts).flatMap(it =>
        it.before && !it.after ? [it.before] : [],
      );
      for (const [id, it] of draft ? listAddedRows(before.messages, state.messages) : [])
        for (const key of ["to", "cc", "text", "attachments"] as const)
          if (!isSameJson(it[key], draft![key])) yield `${key} of ${id} is not as in the draft`;
    },
  ),
  defineStateRule<EmailState>(
    "Only messages from somebody else are unread.",
    function* ({ messages, user }) {
      for (const [id, { from, unread }] of Object.entries(messages))
        if (unread && from === user) yield `${id} is the user's own`;
    },
  ),
  defineConstantRule<EmailState>("The address book, the labels and the limits never change.", [
    "user",
    "addresses",
    "labels",
    "limits",
  ]),
];

export const server = defineServer({
  name: "email",
  category: "Productivity",
  summary:
    "threads of messages in folders and under labels, drafts, addresses, limits on what is sent",
  schema: EmailState,
  references,
  tools: {
    ...threadQueries,
    ...messageCommands,
    ...draftTools,
    ...labelTools,
  },
  invariants,
});
