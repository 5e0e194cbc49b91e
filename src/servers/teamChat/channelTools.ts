/** Tools that list, show, create and archive channels, and list and invite their members. */
import { z } from "zod";
import { day, label, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { ascending, descending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  TeamChatState,
  channels,
  countReplies,
  isMember,
  isVisible,
  getMemberName,
  findActiveMemberId,
  messages,
  channelRow,
  memberCount,
  messageRow,
  person,
  findOpenChannel,
  members,
  type Channel,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TeamChatState);

const joined = channels.fields({
  joined: [z.boolean(), (it, { world }) => isMember(it, world.user)],
});
const newRow = channels.fields({ ...channelRow, kind: z.string(), ...memberCount });
const archivedRow = channels.fields({
  ...channelRow,
  archived: day(),
  told: [z.int().describe("Members who are told"), it => it.members.length - 1],
});

export const channelTools = {
  list_channels: channels.list({
    summary:
      "List the channels that the user can see, by name: public ones and those they are in. Archived ones only if asked for.",
    filters: {
      name: meets(
        label("channel"),
        "Only channels whose name contains this, archived ones as well",
        (it, name) => containsText(it.name, name.replace(/^#/, "")),
      ),
      kind: equals(z.enum(["public", "private"]), "Only channels of this kind", it => it.kind),
      joined: equals(
        z.boolean(),
        "True for channels that the user is in, false for those they are not in",
        (it, { user }) => isMember(it, user),
      ),
      archived: equals(
        z.boolean(),
        "True for archived channels only",
        it => it.archived !== undefined,
      ),
    },
    where: (it, { name, archived }, { world }) =>
      isVisible(it, world.user) && (name !== undefined || archived !== undefined || !it.archived),
    order: ascending(it => it.name),
    limit: 7,
    row: {
      ...newRow,
      ...joined,
      archived: [z.literal(true).optional(), it => (it.archived ? true : undefined)],
    },
  }),
  get_channel: channels.get({
    summary:
      "Get one channel: topic, owner, who may write there, and its latest messages without their answers.",
    row: {
      ...channelRow,
      topic: z.string().optional(),
      kind: z.string(),
      owner: [person(), (it, { world }) => getMemberName(world, it.owner)],
      ...memberCount,
      ...joined,
      announcements: z.literal(true).optional(),
      archived: day().optional(),
      messages: messages.related({
        description: "The latest five, the latest first",
        row: {
          ...messageRow,
          replies: [z.int().optional(), (_, { id, world }) => countReplies(world, id) || undefined],
        },
        where: (it, { id }) => it.channel_id === id && it.reply_to === undefined,
        order: descending(it => it.at, { latestId: true }),
        limit: 5,
        isRequired: true,
      }),
    },
  }),
  create_channel: tool({
    effect: "write",
    summary: "Open a channel that the user owns, and put people into it.",
    input: {
      name: z
        .string()
        .min(2)
        .max(39)
        .regex(/^[\p{Ll}\d][\p{Ll}\d-]{1,38}$/u)
        .meta({ examples: vocabulary.channelNames })
        .describe("Name in small letters, digits and hyphens, without #"),
      topic: phrase(2, 120)
        .optional()
        .describe("What it is for")
        .meta({ examples: vocabulary.topics }),
      kind: z
        .enum(["public", "private"])
        .optional()
        .describe("Whether everybody or only members see it, public if not given"),
      people: z
        .array(person())
        .min(1)
        .max(20)
        .optional()
        .describe("Full names or e-mail addresses of those who are in it from the beginning"),
    },
    returns: getSchemas(newRow),
    run(state, { name, topic, kind = "public", people = [] }, { now, newId }) {
      const all = Object.entries(getOriginal(state).channels);
      const existing = all.find(([, it]) => it.name === name);
      if (existing)
        refuse(
          "conflict",
          isVisible(existing[1], state.user)
            ? `there is already a channel #${name} (${existing[0]})${existing[1].archived ? ", which is archived" : ""}`
            : `the name ${name} is taken`,
          "choose another name",
        );
      const ownedCount = all.filter(([, it]) => it.owner === state.user && !it.archived).length;
      if (ownedCount >= state.limits.owned)
        refuse(
          "limit_exceeded",
          `you own ${ownedCount} channels, and ${state.limits.owned} is the most`,
          "team_chat_archive_channel puts one away",
        );
      const members = [
        ...new Set([state.user, ...people.map(it => findActiveMemberId(state, it))]),
      ];
      for (const it of members) requireGuestLimit(state, it);
      const channel_id = newId("chn");
      state.channels[channel_id] = {
        name,
        topic,
        kind,
        owner: state.user,
        members,
        created: now.slice(0, 10),
      };
      return channels.show(newRow, state, channel_id, now);
    },
  }),
  archive_channel: tool({
    effect: "write",
    summary:
      "Put away a channel that the user owns: it can still be read, and nothing is written there any more. There is no way back.",
    destructive: true,
    input: { channel_id: channels.id },
    returns: getSchemas(archivedRow),
    run(state, { channel_id }, { now }) {
      const channel = channels.find(state, channel_id);
      if (channel.archived)
        refuse(
          "conflict",
          `#${channel.name} (${channel_id}) is archived since ${channel.archived}`,
        );
      if (channel.owner !== state.user)
        refuse(
          "permission_denied",
          `#${channel.name} (${channel_id}) belongs to ${getMemberName(state, channel.owner)}, and only its owner can archive it`,
          `ask ${getMemberName(state, channel.owner)}`,
        );
      if (channel.announcements)
        refuse(
          "precondition_failed",
          `#${channel.name} (${channel_id}) is for announcements to everybody and stays`,
        );
      channel.archived = now.slice(0, 10);
      return channels.show(archivedRow, state, channel_id, now);
    },
  }),
};

export const memberTools = {
  list_members: members.list({
    summary:
      "List people in the chat by name with their jobs and whether they are there, all of them or those of one channel.",
    filters: {
      channel_id: meets(
        channels.id,
        "Only people in this channel",
        (_, channel: Channel, { id }) => isMember(channel, id),
        channels.find,
      ),
      status: equals(
        z.enum(["active", "away", "deactivated"]),
        "Only people who are there, away, or no longer with us",
        it => it.status,
      ),
      role: equals(
        z.enum(["admin", "member", "guest"]),
        "Only people with this role",
        it => it.role,
      ),
    },
    order: ascending(it => it.name),
    limit: 10,
    row: {
      person: [person(), it => it.name],
      title: z.string().optional(),
      role: [
        z.string().optional().describe("Absent for ordinary members"),
        it => (it.role === "member" ? undefined : it.role),
      ],
      status: z.string(),
    },
  }),
  invite_member: tool({
    effect: "write",
    summary:
      "Put a person into a channel, or join a public one with the user's own name. Into a private channel only its owner invites.",
    input: {
      channel_id: channels.id,
      person: person().describe(
        "Full name or e-mail address of the person, as team_chat_list_members gives it",
      ),
    },
    returns: {
      ...getSchemas(channelRow),
      person: person(),
      members: z.int().describe("People in the channel now"),
    },
    run(state, { channel_id, person: nameOrEmail }) {
      const channel = findOpenChannel(state, channel_id);
      const memberId = findActiveMemberId(state, nameOrEmail);
      const name = getMemberName(state, memberId);
      if (isMember(channel, memberId))
        refuse("conflict", `${name} is in #${channel.name} (${channel_id}) already`);
      if (channel.kind === "private" && channel.owner !== state.user)
        refuse(
          "permission_denied",
          `#${channel.name} (${channel_id}) is private, and only its owner ${getMemberName(state, channel.owner)} invites`,
          `ask ${getMemberName(state, channel.owner)}`,
        );
      if (memberId !== state.user && !isMember(channel, state.user))
        refuse(
          "permission_denied",
          `you are not a member of #${channel.name} (${channel_id}) and cannot invite others`,
          `join it first, with ${getMemberName(state, state.user)} as the person`,
        );
      requireGuestLimit(state, memberId);
      channel.members.push(memberId);
      return { name: channel.name, channel_id, person: name, members: channel.members.length };
    },
  }),
};

/** Refuses the call if the member is a guest who is in the most channels allowed for guests. */
function requireGuestLimit(state: TeamChatState, memberId: string): void {
  const { members, channels, limits, user } = getOriginal(state);
  if (members[memberId]!.role !== "guest") return;
  const guestChannels = Object.values(channels).filter(
    it => !it.archived && isMember(it, memberId),
  );
  // the names of private channels are for their members only
  const names = guestChannels.map(it => (isVisible(it, user) ? `#${it.name}` : "a private one"));
  if (guestChannels.length >= limits.guest)
    refuse(
      "limit_exceeded",
      `${members[memberId]!.name} is a guest, and guests are in no more than ${limits.guest} ${limits.guest === 1 ? "channel" : "channels"}: ${names.join(", ")}`,
      "archive one of those, or ask somebody of the studio",
    );
}
