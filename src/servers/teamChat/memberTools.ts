/** Tools that list and invite the members of a channel. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { channelRow } from "./parameters.ts";
import { Chat, isIn, liveChannel, nameOf, presentMember, visibleChannel } from "./state.ts";
import { channelId, limit, person } from "./parameters.ts";

const tool = createToolFactory(Chat);

export const memberTools = {
  list_members: tool({
    effect: "read",
    summary:
      "List people in the chat by name with their jobs and whether they are there, all of them or those of one channel.",
    input: {
      channel_id: channelId.optional().describe("Only people in this channel"),
      status: z
        .enum(["active", "away", "deactivated"])
        .optional()
        .describe("Only people who are there, away, or no longer with us"),
      role: z.enum(["admin", "member", "guest"]).optional().describe("Only people with this role"),
      limit: limit.describe("At most this many, 10 if not given"),
    },
    returns: {
      members: z.array(
        z.object({
          person: person(),
          title: z.string().optional(),
          role: z.string().optional().describe("Absent for ordinary members"),
          status: z.string(),
        }),
      ),
    },
    run(chat, { channel_id, status, role, limit: most = 10 }) {
      const channel = channel_id === undefined ? undefined : visibleChannel(chat, channel_id);
      const found = Object.entries(chat.members).filter(
        ([key, it]) =>
          (!channel || isIn(channel, key)) &&
          (!status || it.status === status) &&
          (!role || it.role === role),
      );
      found.sort(([, x], [, y]) => (x.name < y.name ? -1 : 1));
      return {
        members: found.slice(0, most).map(([, it]) => ({
          person: it.name,
          ...(it.title === undefined ? {} : { title: it.title }),
          ...(it.role === "member" ? {} : { role: it.role }),
          status: it.status,
        })),
      };
    },
  }),
  invite_member: tool({
    effect: "write",
    summary:
      "Put a person into a channel, or join a public one with the user's own name. Into a private channel only its owner invites.",
    input: {
      channel_id: channelId,
      person: person().describe(
        "Full name or e-mail address of the person, as team_chat_list_members gives it",
      ),
    },
    returns: {
      ...channelRow,
      person: person(),
      members: z.int().describe("People in the channel now"),
    },
    run(chat, { channel_id, person: who }) {
      const channel = liveChannel(chat, channel_id);
      const memberId = presentMember(chat, who);
      const name = nameOf(chat, memberId);
      if (isIn(channel, memberId))
        refuse("conflict", `${name} is in #${channel.name} (${channel_id}) already`);
      if (channel.kind === "private" && channel.owner !== chat.user)
        refuse(
          "permission_denied",
          `#${channel.name} (${channel_id}) is private, and only its owner ${nameOf(chat, channel.owner)} invites`,
          `ask ${nameOf(chat, channel.owner)}`,
        );
      if (memberId !== chat.user && !isIn(channel, chat.user))
        refuse(
          "permission_denied",
          `you are not a member of #${channel.name} (${channel_id}) and cannot invite others`,
          `join it first, with ${nameOf(chat, chat.user)} as the person`,
        );
      requireGuestLimit(chat, memberId);
      channel.members.push(memberId);
      return { name: channel.name, channel_id, person: name, members: channel.members.length };
    },
  }),
};

/** Turns down a guest who is in as many channels as guests may be. */
export function requireGuestLimit(chat: Chat, memberId: string): void {
  const { members: all, channels: rooms, limits } = getOriginal(chat);
  if (all[memberId]!.role !== "guest") return;
  const there = Object.values(rooms).filter(it => !it.archived && isIn(it, memberId));
  if (there.length >= limits.guest)
    refuse(
      "limit_exceeded",
      `${all[memberId]!.name} is a guest, and guests are in no more than ${limits.guest} ${limits.guest === 1 ? "channel" : "channels"}: ${there.map(it => `#${it.name}`).join(", ")}`,
      "archive one of those, or ask somebody of the studio",
    );
}
