/** Tools that post, answer, read, search and react to messages. */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  channelId,
  createDetailedRow,
  limit,
  messageId,
  messageRow,
  person,
  createMessageRow,
  text,
} from "./parameters.ts";
import {
  TeamChatState,
  emojis,
  compareTimes,
  isMember,
  isVisible,
  findJoinedChannel,
  findMemberId,
  getMemberName,
  findActiveMemberId,
  formatReactions,
  listReplies,
  findVisibleChannel,
  findVisibleMessage,
  type Channel,
} from "./state.ts";

const tool = createToolFactory(TeamChatState);

const mentions = z
  .array(person())
  .min(1)
  .max(10)
  .optional()
  .describe("Full names or e-mail addresses of members of the channel who shall be notified");

const postedFields = {
  text: label("message"),
  message_id: id("message"),
  channel: label("channel"),
  channel_id: id("channel"),
  notified: z.int().describe("People who are notified"),
};

/** The ids of the mentioned people; refuses the call unless all of them are in the channel. */
function findMentionedIds(
  state: TeamChatState,
  channel: Channel,
  names: readonly string[],
): string[] {
  const ids = [...new Set(names.map(it => findActiveMemberId(state, it)))];
  if (ids.includes(state.user))
    refuse("invalid_params", "you are the writer and need not be mentioned");
  const outside = ids.find(it => !isMember(channel, it));
  if (outside !== undefined)
    refuse(
      "precondition_failed",
      `${getMemberName(state, outside)} is not in #${channel.name} and cannot be mentioned there`,
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
    returns: postedFields,
    run(state, { channel_id, text, mentions: names = [] }, { now, newId }) {
      const channel = findJoinedChannel(state, channel_id);
      if (
        channel.announcements &&
        channel.owner !== state.user &&
        state.members[state.user]!.role !== "admin"
      )
        refuse(
          "permission_denied",
          `#${channel.name} (${channel_id}) is for announcements, which ${getMemberName(state, channel.owner)} and the admins write`,
          "answer an announcement with team_chat_reply_in_thread, or choose another channel",
        );
      const ids = findMentionedIds(state, channel, names);
      const message_id = newId("msg");
      state.messages[message_id] = {
        channel_id,
        by: state.user,
        at: now,
        text,
        ...(ids.length ? { mentions: ids } : {}),
      };
      return {
        text: createMessageRow(state, message_id, state.messages[message_id], 50).text,
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
    returns: { ...postedFields, replies: z.int().describe("Answers in the thread now") },
    run(state, { message_id: threadId, text, mentions: names = [] }, { now, newId }) {
      const { reply_to, channel_id, by } = findVisibleMessage(state, threadId);
      if (reply_to !== undefined)
        refuse(
          "precondition_failed",
          `what ${getMemberName(state, by)} wrote there (${threadId}) is an answer itself, to ${getMemberName(state, state.messages[reply_to]!.by)} (${reply_to})`,
          `answer ${reply_to} instead`,
        );
      const channel = findJoinedChannel(state, channel_id);
      const ids = findMentionedIds(state, channel, names);
      const replies = listReplies(state, threadId).length + 1;
      const message_id = newId("msg");
      state.messages[message_id] = {
        channel_id,
        by: state.user,
        at: now,
        text,
        reply_to: threadId,
        ...(ids.length ? { mentions: ids } : {}),
      };
      const notified = new Set([...ids, by]).size - Number(by === state.user && !ids.includes(by));
      return {
        text: createMessageRow(state, message_id, state.messages[message_id], 50).text,
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
    run(state, { message_id: requestedId }) {
      const message_id = findVisibleMessage(state, requestedId).reply_to ?? requestedId;
      const message = state.messages[message_id]!;
      const { channel_id, mentions: ids } = message;
      return {
        ...createDetailedRow(state, message_id, message),
        channel: state.channels[channel_id]!.name,
        channel_id,
        replies: listReplies(state, message_id).map(([key, it]) =>
          createDetailedRow(state, key, it),
        ),
        ...(ids ? { mentions: ids.map(it => getMemberName(state, it)) } : {}),
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
    run(state, { words: text, from, channel_id, mentions_me, since, until, limit = 5 }) {
      if (since && until && since > until)
        refuse("invalid_params", `since ${since} is after until ${until}`);
      if (channel_id !== undefined) findVisibleChannel(state, channel_id);
      const authorId = from === undefined ? undefined : findMemberId(state, from);
      const visibleChannelIds = new Set(
        Object.entries(state.channels).flatMap(([key, it]) =>
          isVisible(it, state.user) ? [key] : [],
        ),
      );
      const matches = Object.entries(state.messages).filter(
        ([, it]) =>
          visibleChannelIds.has(it.channel_id) &&
          (!channel_id || it.channel_id === channel_id) &&
          (!text || containsText(it.text, text)) &&
          (!authorId || it.by === authorId) &&
          (!mentions_me || it.mentions?.includes(state.user)) &&
          (!since || it.at.slice(0, 10) >= since) &&
          (!until || it.at.slice(0, 10) <= until),
      );
      return {
        messages: matches
          .sort(compareTimes)
          .toReversed()
          .slice(0, limit)
          .map(([key, it]) => ({
            ...createMessageRow(state, key, it, 50),
            where: `#${state.channels[it.channel_id]!.name}`,
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
    run(state, { message_id, emoji }) {
      const message = findVisibleMessage(state, message_id);
      const channel = findJoinedChannel(state, message.channel_id);
      const userIds = message.reactions?.[emoji] ?? [];
      if (userIds.includes(state.user))
        refuse(
          "conflict",
          `you have put ${emoji} under message ${message_id} in #${channel.name} already`,
          "choose another emoji",
        );
      message.reactions = { ...message.reactions, [emoji]: [...userIds, state.user] };
      return {
        text: createMessageRow(state, message_id, message, 50).text,
        message_id,
        by: getMemberName(state, message.by),
        reactions: formatReactions(message)!,
      };
    },
  }),
};
