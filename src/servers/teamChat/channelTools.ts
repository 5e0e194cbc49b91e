/** Tools that list, show, create and archive channels. */
import { z } from "zod";
import { day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { requireGuestLimit } from "./memberTools.ts";
import {
  TeamChatState,
  compareTimes,
  isMember,
  isVisible,
  getMemberName,
  findActiveMemberId,
  findVisibleChannel,
  type Channel,
} from "./state.ts";
import {
  channelId,
  channelRow,
  createMessageRow,
  limit,
  messageRow,
  person,
} from "./parameters.ts";

const tool = createToolFactory(TeamChatState);

const maxLatestMessages = 5;

const channelName = z
  .string()
  .min(2)
  .max(39)
  .regex(/^[\p{Ll}\d][\p{Ll}\d-]{1,38}$/u)
  .meta({
    examples: [
      "website-ideas",
      "spring-party",
      "book-club",
      "type-talk",
      "client-feedback",
      "photo-days",
      "new-office",
      "quick-wins",
      "running",
      "podcast",
      "summer-school",
      "prototype",
    ],
  });

const compareNames = ([a, x]: [string, Channel], [b, y]: [string, Channel]) =>
  x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1;

export const channelTools = {
  list_channels: tool({
    effect: "read",
    summary:
      "List the channels that the user can see, by name: public ones and those they are in. Archived ones only if asked for.",
    input: {
      name: label("channel")
        .optional()
        .describe("Only channels whose name contains this, archived ones as well"),
      kind: z.enum(["public", "private"]).optional().describe("Only channels of this kind"),
      joined: z
        .boolean()
        .optional()
        .describe("True for channels that the user is in, false for those they are not in"),
      archived: z.boolean().optional().describe("True for archived channels only"),
      limit,
    },
    returns: {
      channels: z.array(
        z.object({
          ...channelRow,
          kind: z.string(),
          members: z.int(),
          joined: z.boolean(),
          archived: z.literal(true).optional(),
        }),
      ),
    },
    run(state, { name, kind, joined, archived, limit = 7 }) {
      const isWanted = (it: Channel) =>
        archived === undefined
          ? name !== undefined || !it.archived
          : archived === (it.archived !== undefined);
      const matches = Object.entries(state.channels).filter(
        ([, it]) =>
          isVisible(it, state.user) &&
          isWanted(it) &&
          (!name || containsText(it.name, name.replace(/^#/, ""))) &&
          (!kind || it.kind === kind) &&
          (joined === undefined || joined === isMember(it, state.user)),
      );
      return {
        channels: matches
          .sort(compareNames)
          .slice(0, limit)
          .map(([channel_id, it]) => ({
            name: it.name,
            channel_id,
            kind: it.kind,
            members: it.members.length,
            joined: isMember(it, state.user),
            ...(it.archived ? { archived: true as const } : {}),
          })),
      };
    },
  }),
  get_channel: tool({
    effect: "read",
    summary:
      "Get one channel: topic, owner, who may write there, and its latest messages without their answers.",
    input: { channel_id: channelId },
    returns: {
      ...channelRow,
      topic: z.string().optional(),
      kind: z.string(),
      owner: person(),
      members: z.int(),
      joined: z.boolean(),
      announcements: z.literal(true).optional(),
      archived: day().optional(),
      messages: z
        .array(z.object({ ...messageRow, replies: z.int().optional() }))
        .describe("The latest five, the latest first"),
    },
    run(state, { channel_id }) {
      const { name, topic, kind, owner, members, announcements, archived } = findVisibleChannel(
        state,
        channel_id,
      );
      const messages = Object.entries(state.messages).filter(
        ([, it]) => it.channel_id === channel_id,
      );
      const roots = messages
        .filter(([, it]) => it.reply_to === undefined)
        .sort(compareTimes)
        .toReversed()
        .slice(0, maxLatestMessages);
      return {
        name,
        channel_id,
        ...(topic === undefined ? {} : { topic }),
        kind,
        owner: getMemberName(state, owner),
        members: members.length,
        joined: members.includes(state.user),
        ...(announcements ? { announcements } : {}),
        ...(archived ? { archived } : {}),
        messages: roots.map(([message_id, it]) => {
          const replies = messages.filter(([, other]) => other.reply_to === message_id).length;
          return {
            ...createMessageRow(state, message_id, it, 50),
            ...(replies ? { replies } : {}),
          };
        }),
      };
    },
  }),
  create_channel: tool({
    effect: "write",
    summary: "Open a channel that the user owns, and put people into it.",
    input: {
      name: channelName.describe("Name in small letters, digits and hyphens, without #"),
      topic: z
        .string()
        .min(2)
        .max(120)
        .regex(/\S/)
        .optional()
        .describe("What it is for")
        .meta({
          examples: [
            "What we could do better",
            "Everything about the launch",
            "Questions and answers",
            "Plans for the summer",
            "Links worth reading",
            "Who is where",
            "Ideas without a client",
            "Feedback from outside",
          ],
        }),
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
    returns: { ...channelRow, kind: z.string(), members: z.int() },
    run(state, { name, topic, kind = "public", people = [] }, { now, newId }) {
      const channels = Object.entries(getOriginal(state).channels);
      const existing = channels.find(([, it]) => it.name === name);
      if (existing)
        refuse(
          "conflict",
          isVisible(existing[1], state.user)
            ? `there is already a channel #${name} (${existing[0]})${existing[1].archived ? ", which is archived" : ""}`
            : `the name ${name} is taken`,
          "choose another name",
        );
      const ownedCount = channels.filter(
        ([, it]) => it.owner === state.user && !it.archived,
      ).length;
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
        ...(topic === undefined ? {} : { topic }),
        kind,
        owner: state.user,
        members,
        created: now.slice(0, 10),
      };
      return { name, channel_id, kind, members: members.length };
    },
  }),
  archive_channel: tool({
    effect: "write",
    summary:
      "Put away a channel that the user owns: it can still be read, and nothing is written there any more. There is no way back.",
    destructive: true,
    input: { channel_id: channelId },
    returns: { ...channelRow, archived: day(), told: z.int().describe("Members who are told") },
    run(state, { channel_id }, { now }) {
      const channel = findVisibleChannel(state, channel_id);
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
      return {
        name: channel.name,
        channel_id,
        archived: channel.archived,
        told: channel.members.length - 1,
      };
    },
  }),
};
