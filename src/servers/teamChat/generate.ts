/**
 * Generates the team chat of a fixture set: channel texts with roles filled in from the shared
 * cast, on days before the start time.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator } from "../shared/generator.ts";
import { TeamChatBuilder } from "./chatBuilder.ts";
import { firstChannels } from "./generateTexts.ts";
import { moreChannels } from "./generateMoreTexts.ts";
import { server } from "./server.ts";
import type { TeamChatState } from "./state.ts";

export const generator = defineGenerator<TeamChatState>({
  server,
  generate(context) {
    const builder = new TeamChatBuilder(context);
    for (const it of firstChannels) builder.addChannel(it);
    if (context.size === "full")
      for (const it of context.random.shuffle(moreChannels)) builder.addChannel(it);
    return builder.state;
  },
  findInconsistencies: (state, _states, cast) => [
    ...findStateInconsistencies(state, cast),
    ...findCastInconsistencies(state, cast),
  ],
});

function findStateInconsistencies(
  { members, channels, messages, limits, user }: TeamChatState,
  cast: SharedCast,
): string[] {
  const problems: string[] = [];
  const names = Object.values(channels).map(it => it.name);
  if (new Set(names).size < names.length) problems.push("two channels have one name");
  for (const [key, it] of Object.entries(channels)) {
    if (!it.members.includes(it.owner))
      problems.push(`${key} belongs to somebody who is not in it`);
    if (it.members.some(memberId => members[memberId]!.status === "deactivated"))
      problems.push(`${key} has a member who is deactivated`);
  }
  for (const [key, it] of Object.entries(messages)) {
    const channel = channels[it.channel_id]!;
    if (!channel.members.includes(it.by))
      problems.push(`${key} is by somebody who is not in #${channel.name}`);
    if (it.mentions?.some(memberId => !channel.members.includes(memberId)))
      problems.push(`${key} mentions somebody who is not in #${channel.name}`);
    if (it.at > cast.now) problems.push(`${key} is from ${it.at}, which is to come`);
    if (it.at.slice(0, 10) < channel.created)
      problems.push(`${key} is older than #${channel.name}`);
    if (channel.archived && it.at.slice(0, 10) > channel.archived)
      problems.push(`${key} was written after #${channel.name} was archived`);
    if (it.reply_to !== undefined && messages[it.reply_to]!.at >= it.at)
      problems.push(`${key} answers what came later`);
  }
  const open = Object.values(channels).filter(it => !it.archived);
  if (open.filter(it => it.owner === user).length > limits.owned)
    problems.push(`the user owns more than ${limits.owned} channels`);
  for (const [key, it] of Object.entries(members))
    if (it.role === "guest" && open.filter(of => of.members.includes(key)).length > limits.guest)
      problems.push(`the guest ${it.name} is in more than ${limits.guest} channels`);
  return problems;
}

function findCastInconsistencies({ user, members }: TeamChatState, cast: SharedCast): string[] {
  const emails = new Map(
    [...cast.staff, ...cast.clients.flatMap(it => it.contacts)].map(it => [it.name, it.email]),
  );
  const problems = Object.values(members).flatMap(it =>
    it.status === "deactivated" || emails.get(it.name) === it.email
      ? []
      : [`${it.name} <${it.email}> is of neither the studio nor a client`],
  );
  return members[user]!.email === cast.user.email
    ? problems
    : [...problems, `the user is ${members[user]!.name}, not ${cast.user.name}`];
}
