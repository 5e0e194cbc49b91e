/**
 * The state of the chat: members, channels and messages with answers and reactions, and the checks
 * of what the user may read and write. Messages are never changed or deleted.
 */
import { z } from "zod";
import { day, minute, label, phrase, spokenId } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { findIdByName } from "../kit/people.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
  /** Guests are external and in a few channels only; admins may write in announcement channels. */
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
  /** Only its owner and admins may write there. */
  announcements: z.literal(true).optional(),
  /** The day since which nobody can write there. */
  archived: day().optional(),
});

const Message = z.strictObject({
  channel_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
  /** The message that it answers, which is not an answer itself. */
  reply_to: z.string().optional(),
  mentions: z.array(z.string()).optional(),
  /** The members who reacted, by emoji. */
  reactions: z.partialRecord(z.enum(emojis), z.array(z.string())).optional(),
});

export const references = {
  user: "members",
  "channels.*.owner": "members",
  "channels.*.members.*": "members",
  "messages.*.channel_id": "channels",
  "messages.*.by": "members",
  "messages.*.reply_to": "messages",
  "messages.*.mentions.*": "members",
  "messages.*.reactions.*.*": "members",
} satisfies References;

export const TeamChatState = z
  .strictObject({
    /** The member for whom the agent works. */
    user: z.string(),
    /** The most channels that a member may own, and that a guest may be in. */
    limits: z.strictObject({ owned: z.int().min(1).max(100), guest: z.int().min(1).max(100) }),
    members: z.record(z.string(), Member),
    channels: z.record(z.string(), Channel),
    messages: z.record(z.string(), Message),
  })
  .superRefine(({ messages }, context) => {
    for (const [key, { reply_to, channel_id }] of Object.entries(messages)) {
      const answered = reply_to === undefined ? undefined : messages[reply_to];
      const report = (message: string) =>
        context.addIssue({ code: "custom", path: ["messages", key, "reply_to"], message });
      if (answered && answered.channel_id !== channel_id)
        report(`there is no message ${reply_to} in the channel`);
      if (answered?.reply_to !== undefined) report(`${reply_to} is an answer itself`);
    }
  });
export type TeamChatState = z.infer<typeof TeamChatState>;
export type Channel = z.infer<typeof Channel>;
export type Message = z.infer<typeof Message>;

export const getMemberName = (state: TeamChatState, memberId: string): string =>
  state.members[memberId]!.name;

/** The id of the member with that full name or e-mail address. */
export const findMemberId = (state: TeamChatState, nameOrEmail: string): string =>
  findIdByName(state.members, nameOrEmail) ??
  refuse(
    "not_found",
    `nobody called ${nameOrEmail} is in the chat`,
    "give the full name or the e-mail address, as team_chat_list_members gives them",
  );

/** Like `findMemberId`, but refuses deactivated members. */
export function findActiveMemberId(state: TeamChatState, nameOrEmail: string): string {
  const memberId = findMemberId(state, nameOrEmail);
  if (state.members[memberId]!.status === "deactivated")
    refuse(
      "precondition_failed",
      `${getMemberName(state, memberId)} is deactivated and no longer uses the chat`,
      "choose somebody else",
    );
  return memberId;
}

export const isMember = ({ members }: Channel, memberId: string): boolean =>
  members.includes(memberId);

/** Whether a member can see the channel: it is public, or they are in it. */
export const isVisible = (channel: Channel, memberId: string): boolean =>
  channel.kind === "public" || isMember(channel, memberId);

const table = createTableFactory(TeamChatState);
export const members = table("members", { entity: "person", idsFrom: "team_chat_list_members" });
export const channels = table("channels", {
  entity: "channel",
  idsFrom: "team_chat_list_channels",
  check(channel, channelId, { user }) {
    if (!isVisible(channel, user))
      refuse(
        "permission_denied",
        `channel ${channelId} is private, and you are not in it`,
        "ask one of its members for an invitation",
      );
  },
});
export const messages = table("messages", {
  entity: "message",
  idsFrom: "team_chat_get_channel",
  hint: "team_chat_get_channel and team_chat_search_messages give the ids",
  check: ({ channel_id }, _, state) => void channels.find(state, channel_id),
});

/** The channel; refuses archived ones. */
export function findOpenChannel(state: TeamChatState, channelId: string): Channel {
  const channel = channels.find(state, channelId);
  if (channel.archived)
    refuse(
      "precondition_failed",
      `#${channel.name} (${channelId}) is archived since ${channel.archived}: it can be read, and no more`,
      "choose another channel, or team_chat_create_channel for a new one",
    );
  return channel;
}

/** Like `findOpenChannel`, but refuses channels that the user is not in. */
export function findJoinedChannel(state: TeamChatState, channelId: string): Channel {
  const channel = findOpenChannel(state, channelId);
  if (!isMember(channel, state.user))
    refuse(
      "permission_denied",
      `you are not a member of #${channel.name} (${channelId})`,
      `team_chat_invite_member with ${getMemberName(state, state.user)} joins a public channel`,
    );
  return channel;
}

/** The number of answers to a message. */
export const countReplies = (state: TeamChatState, messageId: string): number =>
  Object.values(getOriginal(state).messages).filter(it => it.reply_to === messageId).length;

/** The reactions to a message as text: `thumbsup 2, heart 1`. */
export function formatReactions({ reactions = {} }: Message): string | undefined {
  const counts = emojis.flatMap(it =>
    reactions[it]?.length ? [`${it} ${reactions[it].length}`] : [],
  );
  return counts.length > 0 ? counts.join(", ") : undefined;
}

/** People are identified by name, not by id. */
export const person = () => spokenId("person");

export const text = phrase(1, 1000).meta({ examples: vocabulary.messages });

export const channelRow = channels.fields({
  name: label("channel"),
  channel_id: channels.idField,
});
export const memberCount = channels.fields({ members: [z.int(), it => it.members.length] });

export const messageLabel = messages.fields({
  text: [label("message"), it => truncateText(it, 50)],
  message_id: messages.idField,
});
export const messageRow = messages.fields({
  ...messageLabel,
  by: [z.string(), (it, { world }) => getMemberName(world, it.by)],
  date: [day(), it => it.at.slice(0, 10)],
});
/** A longer row of a message, with its reactions. */
export const detailedRow = messages.fields({
  ...messageRow,
  text: [label("message"), it => truncateText(it, 140)],
  reactions: [z.string().optional(), formatReactions],
});

/** The beginning of a message, on one line. */
function truncateText(message: Message, length: number): string {
  const line = message.text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/ \S*$/, "")} …`;
}
