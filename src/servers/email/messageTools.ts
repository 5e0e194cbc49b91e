/** Tools that send messages, replies and forwards, and tools for drafts. */
import { z } from "zod";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import {
  sendMessage,
  sentResult,
  type NewMessage,
  attachments,
  people,
  subject,
  text,
  findAddressIds,
  EmailState,
  findMessage,
  getName,
  listNames,
  messages,
  threads,
  type Message,
  drafts,
} from "./state.ts";
import { omitUndefined } from "../../environment/json.ts";
import { day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { listChangedNames } from "../kit/changes.ts";
import { contains, descending, getSchemas } from "../kit/table.ts";

const tool = createToolFactory(EmailState);

const answeredId = messages.id.describe("Message to answer, as email_get_thread gives the id");
const cc = people.optional().describe("Full names or e-mail addresses of those who get a copy");

/** Sends a reply in the thread of a message. */
function sendReply(state: EmailState, message: Message, reply: NewMessage, context: ToolContext) {
  const { thread_id } = message;
  const thread = threads.find(state, thread_id);
  if (thread.folder === "Spam")
    refuse(
      "precondition_failed",
      `"${thread.subject}" (${thread_id}) is in Spam and is not answered`,
      "email_archive_thread takes it out of Spam",
    );
  if (reply.to.length === 0)
    refuse(
      "precondition_failed",
      `the message in "${thread.subject}" (${thread_id}) is from the user to nobody but the user`,
      "email_forward sends it to others",
    );
  return sendMessage(state, { subject: thread.subject, thread_id }, reply, context);
}

export const messageCommands = {
  send_message: tool({
    effect: "write",
    summary:
      "Write to people about something new. To answer a message use email_reply; to keep it for later, email_create_draft.",
    input: {
      to: people.describe(
        "Full names or e-mail addresses of the recipients, as the address book has them",
      ),
      subject: subject.describe("Subject"),
      text: text.describe("The message"),
      cc,
      attachments,
    },
    returns: sentResult,
    run(state, { to: names, subject, text: body, cc: ccNames = [], attachments: files }, context) {
      const to = findAddressIds(state, names);
      const cc = findAddressIds(state, ccNames).filter(it => !to.includes(it));
      return sendMessage(state, { subject }, { to, cc, text: body, attachments: files }, context);
    },
  }),
  reply: tool({
    effect: "write",
    summary: "Answer the sender of a message, and nobody else.",
    input: {
      message_id: answeredId,
      text: text.describe("The answer"),
      attachments,
    },
    returns: sentResult,
    run(state, { message_id, text: body, attachments: files }, context) {
      const message = findMessage(state, message_id);
      // a reply to the user's own message goes to the same people again
      const to =
        message.from === state.user ? message.to.filter(it => it !== state.user) : [message.from];
      return sendReply(state, message, { to: [...to], text: body, attachments: files }, context);
    },
  }),
  reply_all: tool({
    effect: "write",
    summary: "Answer the sender of a message and everybody else who got it.",
    input: {
      message_id: answeredId,
      text: text.describe("The answer"),
      attachments,
    },
    returns: sentResult,
    run(state, { message_id, text: body, attachments: files }, context) {
      const message = findMessage(state, message_id);
      const excludeParticipants = (ids: readonly string[]) =>
        ids.filter(it => it !== state.user && it !== message.from);
      const to =
        message.from === state.user
          ? excludeParticipants(message.to)
          : [message.from, ...excludeParticipants(message.to)];
      const ccIds = excludeParticipants(message.cc ?? []);
      if (to.length + ccIds.length < 2)
        refuse(
          "precondition_failed",
          `nobody but ${listNames(state, to).join("")} and the user has this message: there are no others to answer`,
          "email_reply answers one person",
        );
      return sendReply(state, message, { to, cc: ccIds, text: body, attachments: files }, context);
    },
  }),
  forward: tool({
    effect: "write",
    summary:
      "Send a message on to people who did not get it, with its attachments, as a thread of its own.",
    input: {
      message_id: messages.id.describe("Message to send on, as email_get_thread gives the id"),
      to: people.describe("Full names or e-mail addresses of those who shall get it"),
      text: text.optional().describe("What to say about it"),
    },
    returns: sentResult,
    run(state, { message_id, to: names, text: body }, context) {
      const message = findMessage(state, message_id);
      const to = findAddressIds(state, names);
      const duplicate = to.find(it =>
        [message.from, ...message.to, ...(message.cc ?? [])].includes(it),
      );
      if (duplicate !== undefined)
        refuse(
          "conflict",
          `${getName(state, duplicate)} has this message already`,
          "forward it to somebody else, or use email_reply",
        );
      const subject = `Fwd: ${threads.find(state, message.thread_id).subject.replace(/^Fwd: /, "")}`;
      const quotedText = `${body === undefined ? "" : `${body}\n\n`}${getName(state, message.from)} wrote on ${message.at.slice(0, 10)}:\n${message.text}`;
      return sendMessage(
        state,
        { subject },
        { to, text: quotedText, attachments: message.attachments },
        context,
      );
    },
  }),
};

const to = people.optional().describe("Full names or e-mail addresses of the recipients");
const draftRow = drafts.fields({
  subject: label("draft"),
  draft_id: drafts.idField,
  to: [z.array(z.string()), (it, { world }) => listNames(world, it.to)],
});

/** Refuses a subject that another draft has: drafts are identified by their subjects. */
function refuseTakenSubject(state: EmailState, subject: string, exceptId?: string): void {
  const searchedSubject = subject.trim().toLowerCase();
  const duplicate = Object.entries(getOriginal(state).drafts).find(
    ([key, it]) => key !== exceptId && it.subject.trim().toLowerCase() === searchedSubject,
  );
  if (duplicate)
    refuse(
      "conflict",
      `there is already a draft "${duplicate[1].subject}" (${duplicate[0]})`,
      "email_update_draft changes it, and another subject makes another draft",
    );
}

export const draftTools = {
  list_drafts: drafts.list({
    summary:
      "List drafts that have not been sent, the latest first, all of them or only those whose subject contains some words.",
    filters: {
      subject: contains(
        label("draft"),
        "Only drafts whose subject contains this",
        it => it.subject,
      ),
    },
    order: descending(it => it.saved),
    limit: 7,
    row: { ...draftRow, saved: [day(), it => it.saved.slice(0, 10)] },
  }),
  create_draft: tool({
    effect: "write",
    summary:
      "Begin a message without sending it. Recipients may come later, with email_update_draft.",
    input: {
      subject: subject.describe("Subject"),
      text: text.describe("The message so far"),
      to,
      attachments,
    },
    returns: { ...getSchemas(draftRow), drafts: z.int().describe("Drafts there are now") },
    run(state, { subject, text: body, to: names = [], attachments: files }, { now, newId }) {
      const draftIds = Object.keys(getOriginal(state).drafts);
      refuseTakenSubject(state, subject);
      if (draftIds.length >= state.limits.drafts)
        refuse(
          "limit_exceeded",
          `${draftIds.length} drafts are kept, and ${state.limits.drafts} is the most`,
          "send one with email_send_draft or delete one with email_delete_draft",
        );
      const recipients = findAddressIds(state, names);
      const draft_id = newId("drf");
      state.drafts[draft_id] = {
        to: recipients,
        subject,
        text: body,
        attachments: files,
        saved: now,
      };
      return {
        ...drafts.show(draftRow, state, draft_id, now),
        drafts: draftIds.length + 1,
      };
    },
  }),
  update_draft: tool({
    effect: "write",
    summary: "Change a draft: what is given takes the place of what was there.",
    input: {
      draft_id: drafts.id,
      to: to.describe("Full names or e-mail addresses of the recipients, instead of those it has"),
      subject: subject.optional().describe("New subject"),
      text: text.optional().describe("New text, instead of the old one"),
      attachments,
    },
    returns: { ...getSchemas(draftRow), changed: z.array(z.string()) },
    run(state, { draft_id, to: names, ...values }, { now }) {
      const draft = drafts.find(state, draft_id);
      const changes = omitUndefined({ ...values, to: names && findAddressIds(state, names) });
      const changed = listChangedNames(draft, changes, {
        subject: `the draft "${draft.subject}" (${draft_id})`,
        hint: "give to, subject, text or attachments",
      });
      if (values.subject !== undefined) refuseTakenSubject(state, values.subject, draft_id);
      Object.assign(draft, changes, { saved: now });
      return { ...drafts.show(draftRow, state, draft_id, now), changed };
    },
  }),
  send_draft: tool({
    effect: "write",
    summary: "Send a draft as it is. It needs recipients, and is a draft no longer.",
    destructive: true,
    input: { draft_id: drafts.id },
    returns: sentResult,
    run(state, { draft_id }, context) {
      const { subject, ...message } = drafts.find(state, draft_id);
      if (message.to.length === 0)
        refuse(
          "precondition_failed",
          `the draft "${subject}" (${draft_id}) has no recipients`,
          "email_update_draft gives it some",
        );
      const sent = sendMessage(state, { subject }, message, context);
      delete state.drafts[draft_id];
      return sent;
    },
  }),
  delete_draft: tool({
    effect: "write",
    summary: "Throw a draft away. It cannot be brought back.",
    destructive: true,
    input: { draft_id: drafts.id },
    returns: {
      deleted: z.string().describe("Subject of the draft that is gone"),
      drafts: z.int().describe("Drafts there are now"),
    },
    run(state, { draft_id }) {
      const { subject: deleted } = drafts.find(state, draft_id);
      delete state.drafts[draft_id];
      return { deleted, drafts: Object.keys(state.drafts).length };
    },
  }),
};
