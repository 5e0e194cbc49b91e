/**
 * The books of a studio: customers, invoices, payments, webhooks and their events; what each
 * invoice and customer still owes. Knows no tools.
 */
import { z } from "zod";
import { day, minute, money } from "../../environment/entity.ts";
import { findEntity, type ToolContext } from "../../environment/server.ts";
import { dayAfter } from "../../environment/time.ts";
import { round, sum } from "../../environment/money.ts";

export const methods = ["bank_transfer", "card", "direct_debit", "cash"] as const;
export const kinds = [
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
  /** What they may owe at one time. */
  credit: z.number().min(0).max(1_000_000),
  /** They let the studio collect by direct debit. */
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
   * `open` covers drafts, which go out on a later day, and what is overdue; `paid` stays, whatever
   * is given back later.
   */
  status: z.enum(["open", "paid", "void"]),
  /** The day on which it goes out. */
  issued: day(),
  due: day(),
  lines: z.array(Line).min(1),
});
export type Invoice = z.infer<typeof Invoice>;

const Payment = z.strictObject({
  invoice_id: z.string(),
  /** What the payer wrote: the invoice, and which part of it. */
  reference: z.string(),
  amount: money(),
  method: z.enum(methods),
  at: minute(),
  refunds: z.array(z.strictObject({ amount: money(), at: minute(), reason: z.string() })),
});
export type Payment = z.infer<typeof Payment>;

const Webhook = z.strictObject({
  url: z.string(),
  events: z.array(z.enum(kinds)).min(1),
  status: z.enum(["active", "failing"]),
});
const Event = z.strictObject({
  kind: z.enum(kinds),
  at: minute(),
  about: z.string(),
  /** The webhooks it went to, and whether they took it. */
  deliveries: z.record(z.string(), z.enum(["delivered", "failed"])),
});

export const Ledger = z.strictObject({
  /** For how many days after a payment it can be given back. */
  refund_days: z.record(z.enum(methods), z.int().min(0)),
  /** The most that the law lets a firm take in cash for one invoice. */
  cash_limit: money(),
  customers: z.record(z.string(), Customer),
  invoices: z.record(z.string(), Invoice),
  payments: z.record(z.string(), Payment),
  webhooks: z.record(z.string(), Webhook),
  events: z.record(z.string(), Event),
});
export type Ledger = z.infer<typeof Ledger>;

export const amountOf = (it: Line) => round(it.quantity * it.unit_price);

export const totalOf = (invoice: Pick<Invoice, "lines">): number =>
  sum(invoice.lines.map(amountOf));
export const refundedOf = (payment: Payment) => sum(payment.refunds.map(it => it.amount));
export const paymentsOf = ({ payments }: Pick<Ledger, "payments">, invoiceId: string) =>
  Object.entries(payments).filter(([, it]) => it.invoice_id === invoiceId);

/** What came in for an invoice and was not given back. */
export const receivedFor = (ledger: Ledger, invoiceId: string) =>
  sum(paymentsOf(ledger, invoiceId).map(([, it]) => it.amount - refundedOf(it)));

/** What is still to pay, for a draft once it is out. */
export const leftOf = (ledger: Ledger, invoiceId: string, invoice: Invoice) =>
  invoice.status === "open" ? round(totalOf(invoice) - receivedFor(ledger, invoiceId)) : 0;

export function statusOf(
  { status, issued, due }: Pick<Invoice, "status" | "issued" | "due">,
  now: string,
): "draft" | "open" | "overdue" | "paid" | "void" {
  const today = now.slice(0, 10);
  if (status !== "open") return status;
  return issued > today ? "draft" : due < today ? "overdue" : "open";
}

export const invoiceOf = (ledger: Ledger, invoiceId: string) =>
  findEntity(ledger.invoices, invoiceId, "invoice", "payments_list_invoices gives the ids");
export const paymentOf = (ledger: Ledger, paymentId: string) =>
  findEntity(ledger.payments, paymentId, "payment", "payments_list_payments gives the ids");

/** What a customer has been billed and not paid. */
export const owedBy = (ledger: Ledger, customerId: string, now: string) =>
  sum(
    Object.entries(ledger.invoices)
      .filter(([, it]) => it.customer_id === customerId && it.issued <= now.slice(0, 10))
      .map(([invoiceId, it]) => leftOf(ledger, invoiceId, it)),
  );

export function log(
  ledger: Ledger,
  { now, newId }: Pick<ToolContext, "now" | "newId">,
  kind: (typeof kinds)[number],
  about: string,
): void {
  const wanted = Object.entries(ledger.webhooks).filter(([, it]) => it.events.includes(kind));
  ledger.events[newId("evt")] = {
    kind,
    at: now,
    about,
    deliveries: Object.fromEntries(
      wanted.map(([hook, it]) => [hook, it.status === "active" ? "delivered" : "failed"]),
    ),
  };
}

/** Newest first, by the day or minute of each row, then by id. */
export const newestFirst = <T>(rows: [string, T][], at: (it: T) => string) =>
  rows.sort(([a, x], [b, y]) => (at(x) === at(y) ? (a < b ? 1 : -1) : at(x) < at(y) ? 1 : -1));

/** The last day on which a payment can be given back. */
export const lastRefundDay = ({ refund_days }: Ledger, { at, method }: Payment) =>
  dayAfter(at.slice(0, 10), refund_days[method]);
