/** A team's chat as one of its members sees it: 11 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { channelTools } from "./channelTools.ts";
import { memberTools } from "./memberTools.ts";
import { messageTools } from "./messageTools.ts";
import { Chat } from "./state.ts";

export const server = defineServer({
  name: "team_chat",
  category: "Social/Comm.",
  summary: "channels and who is in them, messages with answers, mentions and reactions",
  schema: Chat,
  tools: { ...channelTools, ...memberTools, ...messageTools },
});

export type { Chat } from "./state.ts";
