/** A mailbox as its owner sees it: 17 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { drafts } from "./drafts.ts";
import { reading } from "./reading.ts";
import { sending } from "./sending.ts";
import { sorting } from "./sorting.ts";
import { Mailbox } from "./state.ts";

const { list_drafts, list_labels, ...threads } = reading;

export const server = defineServer({
  name: "email",
  category: "Productivity",
  summary:
    "threads of messages in folders and under labels, drafts, addresses, limits on what is sent",
  schema: Mailbox,
  tools: { ...threads, ...sending, list_drafts, ...drafts, list_labels, ...sorting },
});

export type { Mailbox } from "./state.ts";
