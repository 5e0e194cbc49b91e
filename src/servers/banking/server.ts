/**
 * The banking server: a bank as its customer sees it. The state is described in state.ts, the tools
 * are in one file per topic.
 */
import { defineServer } from "../../environment/server.ts";
import { accountTools } from "./accountTools.ts";
import { cardTools } from "./cardTools.ts";
import { cashTools } from "./cashTools.ts";
import { invariants } from "./invariants.ts";
import { payeeTools } from "./payeeTools.ts";
import { BankingState, references } from "./state.ts";
import { transferTools } from "./transferTools.ts";

export const server = defineServer({
  name: "banking",
  category: "Finance",
  summary: "accounts, cards, ledger, planned transfers, payees and their bills",
  schema: BankingState,
  references,
  tools: { ...accountTools, ...transferTools, ...cashTools, ...payeeTools, ...cardTools },
  invariants,
});
