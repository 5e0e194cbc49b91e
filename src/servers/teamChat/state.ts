/**
 * The chat's world: members, channels with who is in them, messages with answers and reactions; who
 * may read, write and change what. Messages are only ever added.
 */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse } from "../../environment/server.ts";

export const emojis = [
  "thumbs_up",
  "heart",
  "laugh",
  "party",
  "eyes",
  "check",
  "thanks",
  "fire",
] as const;

const Member = z.strictObject({
  name: z.string().min(1),
  email: z.email(),
  title: z.string().optional(),
  /** Guests are from outside and in a few channels only; admins may write where others may not. */
  role: z.enum(["admin", "member", "guest"]),
  status: z.enum(["active", "away", "deactivated"]),
});

const Channel = z.strictObject({
  /** Without the `#`. */
  name: z.string().regex(/^[\p{Ll}\d][\p{Ll}\d-]{1,38}$/u),
  topic: z.string().optional(),
  kind: z.enum(["public", "private"]),
  owner: z.string(),
  members: z.array(z.string()).min(1),
  created: day(),
  /** Only its owner and admins write there. */
  announcements: z.literal(true).optional(),
  /** Since that day: nothing is written there any more. */
  archived: day().optional(),
});

const Message = z.strictObject({
  channel_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
  /** The message it answers, which is no answer itself. */
  reply_to: z.string().optional(),
  mentions: z.array(z.string()).optional(),
  /** Who has reacted, by emoji. */
  reactions: z.partialRecord(z.enum(emojis), z.array(z.string())).optional(),
});

export const Chat = z
  .strictObject({
    /** For whom the agent works. */
    user: z.string(),
    /** Channels that one member may own, and channels that a guest may be in. */
    limits: z.strictObject({ owned: z.int().min(1).max(100), guest: z.int().min(1).max(100) }),
    members: z.record(z.string(), Member),
    channels: z.record(z.string(), Channel),
    messages: z.record(z.string(), Message),
  })
  .superRefine((chat, context) => {
    for (const [path, message] of danglingReferences(chat))
      context.addIssue({ code: "custom", path, message });
  });
export type Chat = z.infer<typeof Chat>;
export type Channel = z.infer<typeof Channel>;
export type Message = z.infer<typeof Message>;

/** Where a member, channel or message is named that does not exist, and answers to answers. */
function* danglingReferences({
  user,
  members,
  channels,
  messages,
}: Pick<Chat, "user" | "members" | "channels" | "messages">): Generator<[string[], string]> {
  const stranger = (ids: readonly string[]) => ids.find(it => !Object.hasOwn(members, it));
  if (stranger([user])) yield [["user"], `there is no member ${user}`];
  for (const [key, it] of Object.entries(channels)) {
    const unknown = stranger([it.owner, ...it.members]);
    if (unknown !== undefined) yield [["channels", key], `there is no member ${unknown}`];
  }
  for (const [key, it] of Object.entries(messages)) {
    const unknown = stranger([
      it.by,
      ...(it.mentions ?? []),
      ...Object.values(it.reactions ?? {}).flat(),
    ]);
    if (unknown !== undefined) yield [["messages", key], `there is no member ${unknown}`];
    if (!Object.hasOwn(channels, it.channel_id))
      yield [["messages", key, "channel_id"], `there is no channel ${it.channel_id}`];
    if (it.reply_to !== undefined && messages[it.reply_to]?.channel_id !== it.channel_id)
      yield [["messages", key, "reply_to"], `there is no message ${it.reply_to} in the channel`];
    if (it.reply_to !== undefined && messages[it.reply_to]?.reply_to !== undefined)
      yield [["messages", key, "reply_to"], `${it.reply_to} is an answer itself`];
  }
}

export const nameOf = (chat: Chat, memberId: string): string => chat.members[memberId]!.name;

/** The member of that full name or e-mail address, by id. */
export function memberNamed(chat: Chat, who: string): string {
  const wanted = who.trim().toLowerCase();
  const found = Object.entries(getOriginal(chat).members).find(
    ([, it]) => it.name.toLowerCase() === wanted || it.email.toLowerCase() === wanted,
  );
  return found
    ? found[0]
    : refuse(
        "not_found",
        `nobody called ${who} is in the chat`,
        "give the full name or the e-mail address, as team_chat_list_members gives them",
      );
}

/** As `memberNamed`, for somebody who is to be told or invited. */
export function presentMember(chat: Chat, who: string): string {
  const memberId = memberNamed(chat, who);
  if (chat.members[memberId]!.status === "deactivated")
    refuse(
      "precondition_failed",
      `${nameOf(chat, memberId)} is deactivated and no longer uses the chat`,
      "choose somebody else",
    );
  return memberId;
}

export const isIn = ({ members }: Channel, memberId: string): boolean => members.includes(memberId);

/** The channel, if the user may see it: a private one shows itself to its members alone. */
export function visibleChannel(chat: Chat, channelId: string): Channel {
  const channel = findEntity(
    chat.channels,
    channelId,
    "channel",
    "team_chat_list_channels gives the ids",
  );
  if (channel.kind === "private" && !isIn(channel, chat.user))
    refuse(
      "permission_denied",
      `channel ${channelId} is private, and you are not in it`,
      "ask one of its members for an invitation",
    );
  return channel;
}

/** The channel, if it is still in use. */
export function liveChannel(chat: Chat, channelId: string): Channel {
  const channel = visibleChannel(chat, channelId);
  if (channel.archived)
    refuse(
      "precondition_failed",
      `#${channel.name} (${channelId}) is archived since ${channel.archived}: it can be read, and no more`,
      "choose another channel, or team_chat_create_channel for a new one",
    );
  return channel;
}

/** The channel, if the user may take part in it. */
export function joinedChannel(chat: Chat, channelId: string): Channel {
  const channel = liveChannel(chat, channelId);
  if (!isIn(channel, chat.user))
    refuse(
      "permission_denied",
      `you are not a member of #${channel.name} (${channelId})`,
      `team_chat_invite_member with ${nameOf(chat, chat.user)} joins a public channel`,
    );
  return channel;
}

/** The message, if the user may see its channel. */
export function visibleMessage(chat: Chat, messageId: string): Message {
  const message = findEntity(
    chat.messages,
    messageId,
    "message",
    "team_chat_get_channel and team_chat_search_messages give the ids",
  );
  visibleChannel(chat, message.channel_id);
  return message;
}

export const inTime = ([a, x]: [string, Message], [b, y]: [string, Message]): number =>
  x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? -1 : 1;

/** The answers to a message, the oldest first. */
export const repliesTo = (chat: Chat, messageId: string): [string, Message][] =>
  Object.entries(getOriginal(chat).messages)
    .filter(([, it]) => it.reply_to === messageId)
    .sort(inTime);

/** How often each emoji stands under a message, in words. */
export function reactionsOf({ reactions = {} }: Message): string | undefined {
  const counts = emojis.flatMap(it =>
    reactions[it]?.length ? [`${it} ${reactions[it].length}`] : [],
  );
  return counts.length > 0 ? counts.join(", ") : undefined;
}
