/** The team chat server: the chat of a studio, as one member sees it. */
import { defineServer } from "../../environment/server.ts";
import { channelTools } from "./channelTools.ts";
import { invariants } from "./invariants.ts";
import { memberTools } from "./memberTools.ts";
import { messageTools } from "./messageTools.ts";
import { TeamChatState, references } from "./state.ts";

export const server = defineServer({
  name: "team_chat",
  category: "Social/Comm.",
  summary: "channels and who is in them, messages with answers, mentions and reactions",
  schema: TeamChatState,
  references,
  invariants,
  tools: { ...channelTools, ...memberTools, ...messageTools },
});
