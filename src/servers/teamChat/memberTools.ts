/** Tools that list and invite the members of a channel. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { ascending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  TeamChatState,
  channels,
  isMember,
  isVisible,
  findOpenChannel,
  getMemberName,
  findActiveMemberId,
  members,
  type Channel,
} from "./state.ts";
import { channelRow, person } from "./parameters.ts";

const tool = createToolFactory(TeamChatState);

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
export function requireGuestLimit(state: TeamChatState, memberId: string): void {
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
