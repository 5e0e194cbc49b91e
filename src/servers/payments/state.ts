/**
 * The state of the studio's accounting: customers, invoices, payments, webhooks and their events.
 * What is overdue follows from the session's day.
 */
import { z } from "zod";
import { day, minute, money, label } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse, type ToolContext } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";

export const paymentMethods = ["bank_transfer", "card", "direct_debit", "cash"] as const;
export const eventKinds = [
  "invoice.created",
  "invoice.paid",
  "invoice.voided",
  "payment.received",
  "payment.refunded",
  "webhook.registered",
] as const;

const Customer = z.strictObject({
  name: z.string().min(1),
  contact: z.string().min(1),
  email: z.email(),
  /** Archived customers get no new invoices. */
  status: z.enum(["active", "archived"]),
  /** The most they may owe at one time, with what drafts will bill. */
  credit: z.number().min(0).max(1_000_000),
  /** Whether the studio may collect by direct debit. */
  mandate: z.boolean(),
});

const Line = z.strictObject({
  text: z.string().min(1).max(120),
  quantity: z.int().min(1).max(999),
  unit_price: money(),
});
type Line = z.infer<typeof Line>;

const Invoice = z.strictObject({
  number: z.int().min(1),
  customer_id: z.string(),
  /**
   * `open` includes drafts, which are sent on a later day, and overdue invoices. An invoice stays
   * `paid` after a refund.
   */
  status: z.enum(["open", "paid", "void"]),
  /** The day on which it is sent. */
  issued: day(),
  due: day(),
  lines: z.array(Line).min(1),
});
export type Invoice = z.infer<typeof Invoice>;

const Payment = z.strictObject({
  invoice_id: z.string(),
  /** The text of the payment: the invoice, and which part of it was paid. */
  reference: z.string(),
  amount: money(),
  method: z.enum(paymentMethods),
  at: minute(),
  refunds: z.array(z.strictObject({ amount: money(), at: minute(), reason: z.string() })),
});
export type Payment = z.infer<typeof Payment>;

const Webhook = z.strictObject({
  url: z.string(),
  events: z.array(z.enum(eventKinds)).min(1),
  status: z.enum(["active", "failing"]),
});
const Event = z.strictObject({
  kind: z.enum(eventKinds),
  at: minute(),
  about: z.string(),
  /** The webhooks it was sent to, and whether they accepted it. */
  deliveries: z.record(z.string(), z.enum(["delivered", "failed"])),
});

export const references = {
  "invoices.*.customer_id": "customers",
  "payments.*.invoice_id": "invoices",
  "events.*.deliveries.@": "webhooks",
} satisfies References;

export const PaymentsState = z.strictObject({
  /** For how many days after a payment it can be refunded. */
  refund_days: z.record(z.enum(paymentMethods), z.int().min(0)),
  /** The legal limit of cash payments for one invoice. */
  cash_limit: money(),
  customers: z.record(z.string(), Customer),
  invoices: z.record(z.string(), Invoice),
  payments: z.record(z.string(), Payment),
  webhooks: z.record(z.string(), Webhook),
  events: z.record(z.string(), Event),
});
export type PaymentsState = z.infer<typeof PaymentsState>;

export const computeLineAmount = (it: Line) => roundToCents(it.quantity * it.unit_price);

export const computeTotal = (invoice: Pick<Invoice, "lines">): number =>
  sumAmounts(invoice.lines.map(computeLineAmount));
export const sumRefunds = (payment: Payment) => sumAmounts(payment.refunds.map(it => it.amount));
export const listInvoicePayments = ({ payments }: PaymentsState, invoiceId: string) =>
  Object.values(payments).filter(it => it.invoice_id === invoiceId);

/** The amount received for an invoice, without refunds. */
export const sumReceived = (state: PaymentsState, invoiceId: string) =>
  sumAmounts(listInvoicePayments(state, invoiceId).map(it => it.amount - sumRefunds(it)));

/** The amount still to pay; for a draft, the amount to pay once it is sent. */
export const computeOpenAmount = (state: PaymentsState, invoiceId: string, invoice: Invoice) =>
  invoice.status === "open"
    ? roundToCents(computeTotal(invoice) - sumReceived(state, invoiceId))
    : 0;

export function getInvoiceStatus(
  { status, issued, due }: Pick<Invoice, "status" | "issued" | "due">,
  now: string,
): "draft" | "open" | "overdue" | "paid" | "void" {
  const today = now.slice(0, 10);
  if (status !== "open") return status;
  return issued > today ? "draft" : due < today ? "overdue" : "open";
}

const table = createTableFactory(PaymentsState);
export const customers = table("customers", {
  entity: "customer",
  idsFrom: "payments_list_invoices",
  description: "Customer id, as payments_list_invoices gives it among the customers",
  hint: "payments_list_invoices gives the customers with their ids",
});
export const invoices = table("invoices", {
  entity: "invoice",
  idsFrom: "payments_list_invoices",
});
export const payments = table("payments", {
  entity: "payment",
  idsFrom: "payments_list_payments",
});
export const events = table("events", {
  entity: "event",
  idsFrom: "payments_list_webhook_events",
});

/** The amount that a customer was billed and has not paid. */
export const sumOwed = (state: PaymentsState, customerId: string, now: string) =>
  sumAmounts(
    Object.entries(state.invoices)
      .filter(([, it]) => it.customer_id === customerId && it.issued <= now.slice(0, 10))
      .map(([invoiceId, it]) => computeOpenAmount(state, invoiceId, it)),
  );

/** The amount of a customer's drafts, which are billed on a later day. */
const sumDrafts = ({ invoices }: PaymentsState, customerId: string, now: string) =>
  sumAmounts(
    Object.values(invoices)
      .filter(it => it.customer_id === customerId && getInvoiceStatus(it, now) === "draft")
      .map(computeTotal),
  );

/**
 * Refuses what would take a customer beyond their credit. Drafts count as well, because nothing is
 * checked on the day they go out.
 */
export function requireCredit(
  state: PaymentsState,
  {
    customer_id,
    more,
    now,
    hint,
  }: {
    readonly customer_id: string;
    /** What would be owed or drafted as well. */
    readonly more: number;
    readonly now: string;
    readonly hint: string;
  },
): void {
  const { name, credit } = state.customers[customer_id]!;
  const owed = sumOwed(state, customer_id, now);
  const drafted = sumDrafts(state, customer_id, now);
  if (roundToCents(owed + drafted + more) <= credit) return;
  const drafts = drafted > 0 ? `, has drafts over ${drafted}` : "";
  refuse(
    "limit_exceeded",
    `${name} owes ${owed}${drafts} and may owe ${credit}: another ${more} is too much`,
    hint,
  );
}

/** Adds an event to the log and delivers it to the webhooks that subscribe to its kind. */
export function logEvent(
  state: PaymentsState,
  { now, newId }: Pick<ToolContext, "now" | "newId">,
  kind: (typeof eventKinds)[number],
  about: string,
): void {
  const subscribers = Object.entries(state.webhooks).filter(([, it]) => it.events.includes(kind));
  state.events[newId("evt")] = {
    kind,
    at: now,
    about,
    deliveries: Object.fromEntries(
      subscribers.map(([hook, it]) => [hook, it.status === "active" ? "delivered" : "failed"]),
    ),
  };
}

/** The last day on which a payment can be refunded. */
export const getLastRefundDay = ({ refund_days }: PaymentsState, { at, method }: Payment) =>
  addDays(at.slice(0, 10), refund_days[method]);

export const statusesByUrgency = ["overdue", "open", "draft", "paid", "void"] as const;
export const status = z.enum(statusesByUrgency);

export const amount = money()
  .optional()
  .meta({ examples: [50, 80, 100, 120, 150, 200, 210, 250, 300, 400, 500, 640, 750, 900] });

export const invoiceRow = invoices.fields({
  number: [label("invoice"), it => String(it.number)],
  invoice_id: invoices.idField,
});
