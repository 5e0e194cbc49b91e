/**
 * The chat's tools for messages: written, answered, found and reacted to. What is written stays.
 */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  channelId,
  fullRowOf,
  limit,
  messageId,
  messageRow,
  person,
  rowOf,
  text,
} from "./parameters.ts";
import {
  Chat,
  emojis,
  inTime,
  isIn,
  joinedChannel,
  memberNamed,
  nameOf,
  presentMember,
  reactionsOf,
  repliesTo,
  visibleChannel,
  visibleMessage,
  type Channel,
} from "./state.ts";

const tool = createToolFactory(Chat);

const mentions = z
  .array(person())
  .min(1)
  .max(10)
  .optional()
  .describe("Full names or e-mail addresses of members of the channel who shall be notified");

const posted = {
  text: label("message"),
  message_id: id("message"),
  channel: label("channel"),
  channel_id: id("channel"),
  notified: z.int().describe("People who are notified"),
};

/** Whom a message names, all of them in the channel. */
function mentioned(chat: Chat, channel: Channel, names: readonly string[]): string[] {
  const ids = [...new Set(names.map(it => presentMember(chat, it)))];
  if (ids.includes(chat.user))
    refuse("invalid_params", "you are the writer and need not be mentioned");
  const outside = ids.find(it => !isIn(channel, it));
  if (outside !== undefined)
    refuse(
      "precondition_failed",
      `${nameOf(chat, outside)} is not in #${channel.name} and cannot be mentioned there`,
      "team_chat_invite_member puts them in",
    );
  return ids;
}

export const messageTools = {
  post_message: tool({
    effect: "write",
    summary:
      "Write a new message in a channel that the user is in. To answer a message use team_chat_reply_in_thread.",
    input: { channel_id: channelId, text: text.describe("The message"), mentions },
    returns: posted,
    run(chat, { channel_id, text: words, mentions: names = [] }, { now, newId }) {
      const channel = joinedChannel(chat, channel_id);
      if (
        channel.announcements &&
        channel.owner !== chat.user &&
        chat.members[chat.user]!.role !== "admin"
      )
        refuse(
          "permission_denied",
          `#${channel.name} (${channel_id}) is for announcements, which ${nameOf(chat, channel.owner)} and the admins write`,
          "answer an announcement with team_chat_reply_in_thread, or choose another channel",
        );
      const ids = mentioned(chat, channel, names);
      const message_id = newId("msg");
      chat.messages[message_id] = {
        channel_id,
        by: chat.user,
        at: now,
        text: words,
        ...(ids.length ? { mentions: ids } : {}),
      };
      return {
        text: rowOf(chat, message_id, chat.messages[message_id], 50).text,
        message_id,
        channel: channel.name,
        channel_id,
        notified: ids.length,
      };
    },
  }),
  reply_in_thread: tool({
    effect: "write",
    summary:
      "Answer a message under it, in a channel that the user is in. Answers themselves are not answered: choose the message that began the thread.",
    input: {
      message_id: messageId.describe(
        "Message that began the thread, as team_chat_get_channel gives the id",
      ),
      text: text.describe("The answer"),
      mentions,
    },
    returns: { ...posted, replies: z.int().describe("Answers in the thread now") },
    run(chat, { message_id: root, text: words, mentions: names = [] }, { now, newId }) {
      const { reply_to, channel_id, by } = visibleMessage(chat, root);
      if (reply_to !== undefined)
        refuse(
          "precondition_failed",
          `what ${nameOf(chat, by)} wrote there (${root}) is an answer itself, to ${nameOf(chat, chat.messages[reply_to]!.by)} (${reply_to})`,
          `answer ${reply_to} instead`,
        );
      const channel = joinedChannel(chat, channel_id);
      const ids = mentioned(chat, channel, names);
      const replies = repliesTo(chat, root).length + 1;
      const message_id = newId("msg");
      chat.messages[message_id] = {
        channel_id,
        by: chat.user,
        at: now,
        text: words,
        reply_to: root,
        ...(ids.length ? { mentions: ids } : {}),
      };
      const notified = new Set([...ids, by]).size - Number(by === chat.user && !ids.includes(by));
      return {
        text: rowOf(chat, message_id, chat.messages[message_id], 50).text,
        message_id,
        channel: channel.name,
        channel_id,
        notified,
        replies,
      };
    },
  }),
  get_thread: tool({
    effect: "read",
    summary:
      "Get a message with its answers and reactions. The id of an answer gives the thread it is in.",
    input: { message_id: messageId },
    returns: {
      ...messageRow,
      channel: label("channel"),
      channel_id: id("channel"),
      reactions: z.string().optional(),
      replies: z.array(z.object({ ...messageRow, reactions: z.string().optional() })),
      mentions: z.array(person()).optional(),
    },
    run(chat, { message_id: asked }) {
      const message_id = visibleMessage(chat, asked).reply_to ?? asked;
      const message = chat.messages[message_id]!;
      const { channel_id, mentions: ids } = message;
      return {
        ...fullRowOf(chat, message_id, message),
        channel: chat.channels[channel_id]!.name,
        channel_id,
        replies: repliesTo(chat, message_id).map(([key, it]) => fullRowOf(chat, key, it)),
        ...(ids ? { mentions: ids.map(it => nameOf(chat, it)) } : {}),
      };
    },
  }),
  search_messages: tool({
    effect: "read",
    summary:
      "Find messages and answers by words, writer, channel, day or that they mention the user, the latest first.",
    input: {
      words: z
        .string()
        .min(2)
        .max(60)
        .regex(/\S/)
        .optional()
        .describe("Only messages that contain this")
        .meta({
          examples: [
            "printer",
            "lunch",
            "client",
            "photos",
            "invoice",
            "deadline",
            "server",
            "coffee",
            "draft",
            "meeting",
          ],
        }),
      from: person()
        .optional()
        .describe("Only messages of this person, by full name or e-mail address"),
      channel_id: channelId.optional().describe("Only messages in this channel"),
      mentions_me: z.boolean().optional().describe("True for messages that mention the user"),
      since: day().optional().describe("Only messages of this day or later"),
      until: day().optional().describe("Only messages of this day or earlier"),
      limit: limit.describe("At most this many, 5 if not given"),
    },
    returns: {
      messages: z.array(
        z.object({ ...messageRow, where: z.string().describe("Name of the channel") }),
      ),
    },
    run(chat, { words, from, channel_id, mentions_me, since, until, limit: most = 5 }) {
      if (since && until && since > until)
        refuse("invalid_params", `since ${since} is after until ${until}`);
      if (channel_id !== undefined) visibleChannel(chat, channel_id);
      const writer = from === undefined ? undefined : memberNamed(chat, from);
      const visible = new Set(
        Object.entries(chat.channels).flatMap(([key, it]) =>
          it.kind === "public" || isIn(it, chat.user) ? [key] : [],
        ),
      );
      const found = Object.entries(chat.messages).filter(
        ([, it]) =>
          visible.has(it.channel_id) &&
          (!channel_id || it.channel_id === channel_id) &&
          (!words || containsText(it.text, words)) &&
          (!writer || it.by === writer) &&
          (!mentions_me || it.mentions?.includes(chat.user)) &&
          (!since || it.at.slice(0, 10) >= since) &&
          (!until || it.at.slice(0, 10) <= until),
      );
      return {
        messages: found
          .sort(inTime)
          .toReversed()
          .slice(0, most)
          .map(([key, it]) => ({
            ...rowOf(chat, key, it, 50),
            where: `#${chat.channels[it.channel_id]!.name}`,
          })),
      };
    },
  }),
  react: tool({
    effect: "write",
    summary: "Put an emoji under a message or an answer, in a channel that the user is in.",
    input: { message_id: messageId, emoji: z.enum(emojis).describe("The emoji") },
    returns: {
      text: label("message"),
      message_id: id("message"),
      by: z.string(),
      reactions: z.string().describe("All emojis under it now, with how often"),
    },
    run(chat, { message_id, emoji }) {
      const message = visibleMessage(chat, message_id);
      const channel = joinedChannel(chat, message.channel_id);
      const there = message.reactions?.[emoji] ?? [];
      if (there.includes(chat.user))
        refuse(
          "conflict",
          `you have put ${emoji} under message ${message_id} in #${channel.name} already`,
          "choose another emoji",
        );
      message.reactions = { ...message.reactions, [emoji]: [...there, chat.user] };
      return {
        text: rowOf(chat, message_id, message, 50).text,
        message_id,
        by: nameOf(chat, message.by),
        reactions: reactionsOf(message)!,
      };
    },
  }),
};
