/** The email server: a mailbox as its owner sees it. */
import { defineServer } from "../../environment/server.ts";
import { draftTools } from "./draftTools.ts";
import { invariants } from "./invariants.ts";
import { labelTools } from "./labelTools.ts";
import { threadQueries } from "./threadTools.ts";
import { messageCommands } from "./messageTools.ts";
import { EmailState, references } from "./state.ts";

export const server = defineServer({
  name: "email",
  category: "Productivity",
  summary:
    "threads of messages in folders and under labels, drafts, addresses, limits on what is sent",
  schema: EmailState,
  references,
  tools: {
    ...threadQueries,
    ...messageCommands,
    ...draftTools,
    ...labelTools,
  },
  invariants,
});
