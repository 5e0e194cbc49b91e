/**
 * What a studio bills and what its customers pay: invoices with lines, payments in whole or in
 * part, refunds, and a log of events that goes out to webhooks. What is overdue follows from the
 * session's day. Knows no bank account and no sessions.
 */
import { defineServer } from "../../environment/server.ts";
import { hooks, paymentTools } from "./incoming.ts";
import { invoiceTools, settling } from "./invoices.ts";
import { Ledger } from "./state.ts";

export { statusOf, totalOf, type Ledger as PaymentsWorld } from "./state.ts";

export const server = defineServer({
  name: "payments",
  category: "Finance",
  summary: "invoices with lines and totals, payments and refunds, webhooks and their event log",
  schema: Ledger,
  tools: { ...invoiceTools, ...settling, ...paymentTools, ...hooks },
});
