/** Tools that post, answer, read, search and react to messages. */
import { z } from "zod";
import { day, id, label, phrase } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { ascending, contains, descending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  detailedRow,
  messageLabel,
  messageRow,
  person,
  text,
  TeamChatState,
  channels,
  countReplies,
  emojis,
  isMember,
  isVisible,
  findJoinedChannel,
  findMemberId,
  getMemberName,
  findActiveMemberId,
  formatReactions,
  messages,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TeamChatState);

const mentions = z
  .array(person())
  .min(1)
  .max(10)
  .optional()
  .describe("Full names or e-mail addresses of members of the channel who shall be notified");

const channelFields = messages.fields({
  channel: [label("channel"), (it, { world }) => world.channels[it.channel_id]!.name],
  channel_id: id("channel"),
});
const postedRow = messages.fields({ ...messageLabel, ...channelFields });
const reactedRow = messages.fields({
  ...messageLabel,
  by: messageRow.by,
  reactions: [z.string().describe("All emojis under it now, with how often"), formatReactions],
});
const thread = messages.fields({
  ...detailedRow,
  ...channelFields,
  replies: messages.related({
    row: detailedRow,
    where: (it, { id: threadId }) => it.reply_to === threadId,
    order: ascending(it => it.at),
    isRequired: true,
  }),
  mentions: [
    z.array(person()).optional(),
    (it, { world }) => it.mentions?.map(who => getMemberName(world, who)),
  ],
});
const notified = z.int().describe("People who are notified");

/** Adds a message of the user; refuses the call unless those it mentions are in the channel. */
function addMessage(
  state: TeamChatState,
  message: { readonly channel_id: string; readonly text: string; readonly reply_to?: string },
  names: readonly string[],
  { now, newId }: ToolContext,
) {
  const channel = state.channels[message.channel_id]!;
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
  const message_id = newId("msg");
  state.messages[message_id] = {
    ...message,
    by: state.user,
    at: now,
    mentions: ids.length ? ids : undefined,
  };
  return { ids, posted: messages.show(postedRow, state, message_id, now) };
}

export const messageTools = {
  post_message: tool({
    effect: "write",
    summary:
      "Write a new message in a channel that the user is in. To answer a message use team_chat_reply_in_thread.",
    input: { channel_id: channels.id, text: text.describe("The message"), mentions },
    returns: { ...getSchemas(postedRow), notified },
    run(state, { channel_id, text, mentions: names = [] }, context) {
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
      const { ids, posted } = addMessage(state, { channel_id, text }, names, context);
      return { ...posted, notified: ids.length };
    },
  }),
  reply_in_thread: tool({
    effect: "write",
    summary:
      "Answer a message under it, in a channel that the user is in. Answers themselves are not answered: choose the message that began the thread.",
    input: {
      message_id: messages.id.describe(
        "Message that began the thread, as team_chat_get_channel gives the id",
      ),
      text: text.describe("The answer"),
      mentions,
    },
    returns: {
      ...getSchemas(postedRow),
      notified,
      replies: z.int().describe("Answers in the thread now"),
    },
    run(state, { message_id: threadId, text, mentions: names = [] }, context) {
      const { reply_to, channel_id, by } = messages.find(state, threadId);
      if (reply_to !== undefined)
        refuse(
          "precondition_failed",
          `what ${getMemberName(state, by)} wrote there (${threadId}) is an answer itself, to ${getMemberName(state, state.messages[reply_to]!.by)} (${reply_to})`,
          `answer ${reply_to} instead`,
        );
      findJoinedChannel(state, channel_id);
      const message = { channel_id, text, reply_to: threadId };
      const { ids, posted } = addMessage(state, message, names, context);
      return {
        ...posted,
        notified: new Set([...ids, by]).size - Number(by === state.user && !ids.includes(by)),
        replies: countReplies(state, threadId) + 1,
      };
    },
  }),
  get_thread: tool({
    effect: "read",
    summary:
      "Get a message with its answers and reactions. The id of an answer gives the thread it is in.",
    input: { message_id: messages.id },
    returns: getSchemas({ ...messageRow, ...channelFields, ...thread }),
    run(state, { message_id }, { now }) {
      const threadId = messages.find(state, message_id).reply_to ?? message_id;
      return messages.show(thread, state, threadId, now);
    },
  }),
  search_messages: messages.list({
    summary:
      "Find messages and answers by words, writer, channel, day or that they mention the user, the latest first.",
    filters: {
      words: contains(
        phrase(2, 60).optional().meta({ examples: vocabulary.words }),
        "Only messages that contain this",
        it => it.text,
      ),
      from: equals(
        person(),
        "Only messages of this person, by full name or e-mail address",
        it => it.by,
        findMemberId,
      ),
      channel_id: equals(channels.id, "Only messages in this channel", it => it.channel_id),
      mentions_me: meets(
        z.boolean(),
        "True for messages that mention the user",
        (it, mentionsMe, { world }) => !mentionsMe || it.mentions?.includes(world.user) === true,
      ),
      since: meets(
        day(),
        "Only messages of this day or later",
        (it, since) => it.at.slice(0, 10) >= since,
      ),
      until: meets(
        day(),
        "Only messages of this day or earlier",
        (it, until) => it.at.slice(0, 10) <= until,
      ),
    },
    check({ since, until, channel_id }, state) {
      if (since && until && since > until)
        refuse("invalid_params", `since ${since} is after until ${until}`);
      if (channel_id !== undefined) channels.find(state, channel_id);
    },
    where: (it, _, { world }) => isVisible(world.channels[it.channel_id]!, world.user),
    order: descending(it => it.at, { latestId: true }),
    limit: 5,
    row: {
      ...messageRow,
      where: [
        z.string().describe("Name of the channel"),
        (it, { world }) => `#${world.channels[it.channel_id]!.name}`,
      ],
    },
  }),
  react: tool({
    effect: "write",
    summary: "Put an emoji under a message or an answer, in a channel that the user is in.",
    input: { message_id: messages.id, emoji: z.enum(emojis).describe("The emoji") },
    returns: getSchemas(reactedRow),
    run(state, { message_id, emoji }, { now }) {
      const message = messages.find(state, message_id);
      const channel = findJoinedChannel(state, message.channel_id);
      const userIds = message.reactions?.[emoji] ?? [];
      if (userIds.includes(state.user))
        refuse(
          "conflict",
          `you have put ${emoji} under message ${message_id} in #${channel.name} already`,
          "choose another emoji",
        );
      message.reactions = { ...message.reactions, [emoji]: [...userIds, state.user] };
      return messages.show(reactedRow, state, message_id, now);
    },
  }),
};
