/**
 * The chat's part of a world: the channels that are told of roles, with the canon's people in them,
 * on days before its now. Knows whom a guest is from.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator } from "../shared/generator.ts";
import { ChatBuilder } from "./chatBuilder.ts";
import { firstChannels } from "./generateTexts.ts";
import { moreChannels } from "./generateMoreTexts.ts";
import { server, type Chat } from "./server.ts";

export const generator = defineGenerator<Chat>({
  server,
  generate(context) {
    const making = new ChatBuilder(context);
    for (const it of firstChannels) making.channel(it);
    if (context.size === "full")
      for (const it of context.random.shuffle(moreChannels)) making.channel(it);
    return making.state;
  },
  findInconsistencies: (state, _world, cast) => [
    ...findStateInconsistencies(state, cast),
    ...findCastInconsistencies(state, cast),
  ],
});

function findStateInconsistencies(
  { members, channels, messages, limits, user }: Chat,
  cast: SharedCast,
): string[] {
  const wrong: string[] = [];
  const names = Object.values(channels).map(it => it.name);
  if (new Set(names).size < names.length) wrong.push("two channels have one name");
  for (const [key, it] of Object.entries(channels)) {
    if (!it.members.includes(it.owner)) wrong.push(`${key} belongs to somebody who is not in it`);
    if (it.members.some(memberId => members[memberId]!.status === "deactivated"))
      wrong.push(`${key} has a member who is deactivated`);
  }
  for (const [key, it] of Object.entries(messages)) {
    const channel = channels[it.channel_id]!;
    if (!channel.members.includes(it.by))
      wrong.push(`${key} is by somebody who is not in #${channel.name}`);
    if (it.mentions?.some(memberId => !channel.members.includes(memberId)))
      wrong.push(`${key} mentions somebody who is not in #${channel.name}`);
    if (it.at > cast.now) wrong.push(`${key} is from ${it.at}, which is to come`);
    if (it.at.slice(0, 10) < channel.created) wrong.push(`${key} is older than #${channel.name}`);
    if (channel.archived && it.at.slice(0, 10) > channel.archived)
      wrong.push(`${key} was written after #${channel.name} was archived`);
    if (it.reply_to !== undefined && messages[it.reply_to]!.at >= it.at)
      wrong.push(`${key} answers what came later`);
  }
  const open = Object.values(channels).filter(it => !it.archived);
  if (open.filter(it => it.owner === user).length > limits.owned)
    wrong.push(`the user owns more than ${limits.owned} channels`);
  for (const [key, it] of Object.entries(members))
    if (it.role === "guest" && open.filter(of => of.members.includes(key)).length > limits.guest)
      wrong.push(`the guest ${it.name} is in more than ${limits.guest} channels`);
  return wrong;
}

function findCastInconsistencies({ user, members }: Chat, cast: SharedCast): string[] {
  const emails = new Map(
    [...cast.staff, ...cast.clients.flatMap(it => it.contacts)].map(it => [it.name, it.email]),
  );
  const wrong = Object.values(members).flatMap(it =>
    it.status === "deactivated" || emails.get(it.name) === it.email
      ? []
      : [`${it.name} <${it.email}> is of neither the studio nor a client`],
  );
  return members[user]!.email === cast.user.email
    ? wrong
    : [...wrong, `the user is ${members[user]!.name}, not ${cast.user.name}`];
}
