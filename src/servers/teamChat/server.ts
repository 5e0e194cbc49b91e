/** A team's chat as one of its members sees it: 11 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { channels, members } from "./channels.ts";
import { messages } from "./messages.ts";
import { Chat } from "./state.ts";

export const server = defineServer({
  name: "team_chat",
  category: "Social/Comm.",
  summary: "channels and who is in them, messages with answers, mentions and reactions",
  schema: Chat,
  tools: { ...channels, ...members, ...messages },
});

export type { Chat } from "./state.ts";
