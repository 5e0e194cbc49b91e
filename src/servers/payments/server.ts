/** The payments server: invoices, payments and webhooks of a design studio. */
import { defineServer } from "../../environment/server.ts";
import { webhookTools } from "./webhookTools.ts";
import { paymentTools } from "./paymentTools.ts";
import { invariants } from "./invariants.ts";
import { invoiceTools } from "./invoiceTools.ts";
import { settlementTools } from "./settlementTools.ts";
import { PaymentsState, references } from "./state.ts";

export const server = defineServer({
  name: "payments",
  category: "Finance",
  summary: "invoices with lines and totals, payments and refunds, webhooks and their event log",
  schema: PaymentsState,
  references,
  invariants,
  tools: { ...invoiceTools, ...settlementTools, ...paymentTools, ...webhookTools },
});
