/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { day, label, phrase, spokenId } from "../../environment/fieldSchemas.ts";
import { channels, formatReactions, getMemberName, messages, type Message } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
