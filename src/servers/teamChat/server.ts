/**
 * The team chat server: the chat of a studio, as one member sees it. Also its rules, which hold
 * whichever tools are used.
 */
import { isSameJson } from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { isMember, type Channel, type Message, TeamChatState, references } from "./state.ts";
import { channelTools, memberTools } from "./channelTools.ts";
import { messageTools } from "./messageTools.ts";

/** Whether the user may bring about these members of a channel. */
function canHaveMembers(after: Channel, before: Channel, user: string): boolean {
  const added = after.members.slice(before.members.length);
  if (!isSameJson(after.members.slice(0, before.members.length), before.members)) return false;
  if (added.length === 0) return true;
  if (before.kind === "private") return before.owner === user;
  return isMember(before, user) || isSameJson(added, [user]);
}

const invariants: readonly Invariant<TeamChatState>[] = [
  {
    rule: "A message is never changed or deleted, and only the user's own reaction is added to it.",
    findViolation({ messages, user }, before) {
      const getContent = (it: Message) => ({ ...it, reactions: undefined });
      for (const [id, it] of Object.entries(before?.messages ?? {})) {
        const after = messages[id];
        if (after === it) continue;
        if (!after || !isSameJson(getContent(after), getContent(it))) return `${id} was changed`;
        for (const [emoji, ids] of Object.entries(after.reactions ?? {})) {
          const idsBefore = it.reactions?.[emoji as keyof typeof it.reactions] ?? [];
          if (!isSameJson(ids, idsBefore) && !isSameJson(ids, [...idsBefore, user]))
            return `${emoji} under ${id} is of ${ids.join(", ")}`;
        }
      }
      return undefined;
    },
  },
  {
    rule: "A member puts the same emoji under a message once.",
    findViolation: ({ messages }) =>
      Object.entries(messages).find(([, { reactions = {} }]) =>
        Object.values(reactions).some(ids => new Set(ids).size < ids.length),
      )?.[0],
  },
  {
    rule: "New messages are the user's, in a channel they are in; announcements are of owner and admins.",
    findViolation({ messages, channels, members, user }, before) {
      const forbidden = Object.entries(messages).find(([id, it]) => {
        if (!before || Object.hasOwn(before.messages, id)) return false;
        const channel = channels[it.channel_id]!;
        const canAnnounce = channel.owner === user || members[user]!.role === "admin";
        return (
          it.by !== user ||
          !isMember(channel, user) ||
          (channel.announcements && it.reply_to === undefined && !canAnnounce)
        );
      });
      return forbidden && `${forbidden[0]} is of ${forbidden[1].by} in ${forbidden[1].channel_id}`;
    },
  },
  {
    rule: "A mentioned person is in the channel and is not the writer.",
    findViolation: ({ messages, channels }) =>
      Object.entries(messages).find(([, { mentions = [], by, channel_id }]) =>
        mentions.some(it => it === by || !isMember(channels[channel_id]!, it)),
      )?.[0],
  },
  {
    rule: "An archived channel stays as it is, without new messages, reactions or members.",
    findViolation({ channels, messages }, before) {
      const changed = Object.entries(before?.channels ?? {}).find(
        ([id, it]) => it.archived !== undefined && !isSameJson(channels[id], it),
      );
      if (changed) return `${changed[0]} was changed`;
      const written = Object.entries(messages).find(
        ([id, it]) =>
          before?.channels[it.channel_id]?.archived !== undefined &&
          !isSameJson(it, before.messages[id]),
      );
      return written && `${written[0]} was written or changed`;
    },
  },
  {
    rule: "Only its owner archives a channel, and nobody one for announcements.",
    findViolation: ({ channels, user }, before) =>
      Object.entries(before?.channels ?? {}).find(
        ([id, it]) =>
          channels[id]!.archived !== it.archived &&
          (it.owner !== user || it.announcements === true),
      )?.[0],
  },
  {
    rule: "Nobody leaves a channel; owners invite into private ones, members into public ones.",
    findViolation: ({ channels, user }, before) =>
      Object.entries(before?.channels ?? {}).find(
        ([id, it]) =>
          channels[id]?.kind !== it.kind ||
          channels[id].owner !== it.owner ||
          channels[id].name !== it.name ||
          !canHaveMembers(channels[id], it, user),
      )?.[0],
  },
  {
    rule: "A member is in a channel once, and nobody who is deactivated is put into one.",
    findViolation({ channels, members }, before) {
      const wrong = Object.entries(channels).find(
        ([id, it]) =>
          new Set(it.members).size < it.members.length ||
          (before &&
            it.members.some(
              member =>
                members[member]!.status === "deactivated" &&
                !before.channels[id]?.members.includes(member),
            )),
      );
      return wrong?.[0];
    },
  },
  {
    rule: "The user owns no more open channels than allowed, and no guest is in more than allowed.",
    findViolation({ channels, members, limits, user }) {
      const open = Object.values(channels).filter(it => !it.archived);
      const ownedCount = open.filter(it => it.owner === user).length;
      if (ownedCount > limits.owned) return `the user owns ${ownedCount} channels`;
      const guest = Object.keys(members).find(
        id =>
          members[id]!.role === "guest" &&
          open.filter(it => isMember(it, id)).length > limits.guest,
      );
      return guest && `${guest} is in more than ${limits.guest} channels`;
    },
  },
  {
    rule: "No two channels have the same name, and the owner of a channel is in it.",
    findViolation({ channels }) {
      const names = Object.values(channels).map(it => it.name);
      return (
        names.find((it, i) => names.indexOf(it) !== i) ??
        Object.entries(channels).find(([, it]) => !isMember(it, it.owner))?.[0]
      );
    },
  },
];

export const server = defineServer({
  name: "team_chat",
  category: "Social/Comm.",
  summary: "channels and who is in them, messages with answers, mentions and reactions",
  schema: TeamChatState,
  references,
  invariants,
  tools: { ...channelTools, ...memberTools, ...messageTools },
});
