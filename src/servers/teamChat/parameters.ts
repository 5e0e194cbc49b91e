/** Parameters and results that several tools share. */
import { z } from "zod";
import { day, id, label, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";
import { getMemberName, formatReactions, type TeamChatState, type Message } from "./state.ts";

export const channelId = id("channel").describe("Channel id, as team_chat_list_channels gives it");
export const messageId = id("message").describe("Message id, as team_chat_get_channel gives it");

/** People are identified by name, not by id. */
export const person = () => spokenId("person");

export const limit = rowLimit(7);

export const text = z
  .string()
  .min(1)
  .max(1000)
  .regex(/\S/)
  .meta({
    examples: [
      "Lunch at half past twelve?",
      "The draft is in the shared folder",
      "I am ten minutes late",
      "Who has the key to the archive?",
      "The client said yes!",
      "Please look at the new version before Friday",
      "Standup is moved to ten",
      "I need a second pair of eyes",
      "The printer works again",
      "Can somebody take my call at three?",
      "Thank you all for yesterday",
      "The numbers are ready",
    ],
  });

export const messageRow = {
  text: label("message"),
  message_id: id("message"),
  by: z.string(),
  date: day(),
};

/** The beginning of a message, on one line. */
export function truncateText(message: Message, length: number): string {
  const line = message.text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/ \S*$/, "")} …`;
}

export const createMessageRow = (
  state: TeamChatState,
  messageId: string,
  it: Message,
  length: number,
) => ({
  text: truncateText(it, length),
  message_id: messageId,
  by: getMemberName(state, it.by),
  date: it.at.slice(0, 10),
});

/** A longer row of a message, with its reactions. */
export function createDetailedRow(state: TeamChatState, messageId: string, it: Message) {
  const reactions = formatReactions(it);
  return {
    ...createMessageRow(state, messageId, it, 140),
    ...(reactions === undefined ? {} : { reactions }),
  };
}

export const channelRow = { name: label("channel"), channel_id: id("channel") };
