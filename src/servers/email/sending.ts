/** The mailbox's tools that send: new messages, answers and forwards. What is sent stays. */
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { attachments, messageId, people, sent, subject, text } from "./words.ts";
import {
  addressesOf,
  deliverable,
  Mailbox,
  messageOf,
  nameOf,
  namesOf,
  post,
  postNew,
  threadOf,
  type Letter,
  type Message,
} from "./state.ts";

const tool = createToolFactory(Mailbox);

const cc = people.optional().describe("Full names or e-mail addresses of those who get a copy");

/** Answers in the thread of a message. */
function answer(mailbox: Mailbox, message: Message, letter: Letter, context: ToolContext) {
  const { thread_id } = message;
  const thread = threadOf(mailbox, thread_id);
  if (thread.folder === "Spam")
    refuse(
      "precondition_failed",
      `"${thread.subject}" (${thread_id}) is in Spam and is not answered`,
      "email_archive_thread takes it out of Spam",
    );
  const left_today = deliverable(mailbox, letter.to, letter.cc ?? [], context.now);
  const message_id = post(mailbox, thread_id, letter, context);
  return {
    subject: thread.subject,
    thread_id,
    message_id,
    to: namesOf(mailbox, [...letter.to, ...(letter.cc ?? [])]),
    left_today,
  };
}

export const sending = {
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
      attachments: attachments.optional(),
    },
    returns: sent,
    run(
      mailbox,
      { to: names, subject: about, text: words, cc: copies = [], attachments: files },
      context,
    ) {
      const to = addressesOf(mailbox, names);
      const others = addressesOf(mailbox, copies).filter(it => !to.includes(it));
      const left_today = deliverable(mailbox, to, others, context.now);
      const { thread_id, message_id } = postNew(
        mailbox,
        about,
        { to, cc: others, text: words, attachments: files },
        context,
      );
      return {
        subject: about,
        thread_id,
        message_id,
        to: namesOf(mailbox, [...to, ...others]),
        left_today,
      };
    },
  }),
  reply: tool({
    effect: "write",
    summary: "Answer the sender of a message, and nobody else.",
    input: {
      message_id: messageId.describe("Message to answer, as email_get_thread gives the id"),
      text: text.describe("The answer"),
      attachments: attachments.optional(),
    },
    returns: sent,
    run(mailbox, { message_id, text: words, attachments: files }, context) {
      const message = messageOf(mailbox, message_id);
      // whoever answers their own message writes on to the same people
      const to =
        message.from === mailbox.user
          ? message.to.filter(it => it !== mailbox.user)
          : [message.from];
      return answer(mailbox, message, { to: [...to], text: words, attachments: files }, context);
    },
  }),
  reply_all: tool({
    effect: "write",
    summary: "Answer the sender of a message and everybody else who got it.",
    input: {
      message_id: messageId.describe("Message to answer, as email_get_thread gives the id"),
      text: text.describe("The answer"),
      attachments: attachments.optional(),
    },
    returns: sent,
    run(mailbox, { message_id, text: words, attachments: files }, context) {
      const message = messageOf(mailbox, message_id);
      const others = (ids: readonly string[]) =>
        ids.filter(it => it !== mailbox.user && it !== message.from);
      const to =
        message.from === mailbox.user ? others(message.to) : [message.from, ...others(message.to)];
      const copies = others(message.cc ?? []);
      if (to.length + copies.length < 2)
        refuse(
          "precondition_failed",
          `nobody but ${namesOf(mailbox, to).join("")} and the user has this message: there are no others to answer`,
          "email_reply answers one person",
        );
      return answer(mailbox, message, { to, cc: copies, text: words, attachments: files }, context);
    },
  }),
  forward: tool({
    effect: "write",
    summary:
      "Send a message on to people who did not get it, with its attachments, as a thread of its own.",
    input: {
      message_id: messageId.describe("Message to send on, as email_get_thread gives the id"),
      to: people.describe("Full names or e-mail addresses of those who shall get it"),
      text: text.optional().describe("What to say about it"),
    },
    returns: sent,
    run(mailbox, { message_id, to: names, text: words }, context) {
      const message = messageOf(mailbox, message_id);
      const to = addressesOf(mailbox, names);
      const known = to.find(it =>
        [message.from, ...message.to, ...(message.cc ?? [])].includes(it),
      );
      if (known !== undefined)
        refuse(
          "conflict",
          `${nameOf(mailbox, known)} has this message already`,
          "forward it to somebody else, or use email_reply",
        );
      const left_today = deliverable(mailbox, to, [], context.now);
      const about = `Fwd: ${threadOf(mailbox, message.thread_id).subject.replace(/^Fwd: /, "")}`;
      const quoted = `${words === undefined ? "" : `${words}\n\n`}${nameOf(mailbox, message.from)} wrote on ${message.at.slice(0, 10)}:\n${message.text}`;
      const { thread_id, message_id: forwarded } = postNew(
        mailbox,
        about,
        { to, text: quoted, attachments: message.attachments },
        context,
      );
      return {
        subject: about,
        thread_id,
        message_id: forwarded,
        to: namesOf(mailbox, to),
        left_today,
      };
    },
  }),
};
