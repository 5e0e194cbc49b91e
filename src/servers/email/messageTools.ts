/** Tools that send messages, replies and forwards. */
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { sendMessage, sentResult, type NewMessage } from "./delivery.ts";
import { attachments, people, subject, text } from "./parameters.ts";
import {
  findAddressIds,
  EmailState,
  findMessage,
  getName,
  listNames,
  messages,
  threads,
  type Message,
} from "./state.ts";

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
