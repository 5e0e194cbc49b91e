/**
 * The tools for money that came in and may go back, and for the webhooks that are told of all that
 * happens. Knows nothing of how invoices are made.
 */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/entity.ts";
import { refuse, toolOf } from "../../environment/server.ts";
import { has } from "../../environment/words.ts";
import { round } from "../../environment/money.ts";
import { amount, limit } from "./invoices.ts";
import {
  kinds,
  lastRefundDay,
  leftOf,
  Ledger,
  log,
  methods,
  newestFirst,
  paymentOf,
  refundedOf,
} from "./state.ts";
import type { Payment } from "./state.ts";

const mostWebhooks = 6;
const paymentId = id("payment").describe("Payment id, as payments_list_payments gives it");
const noPast = (from: string | undefined, to: string | undefined) => {
  if (from && to && from > to) refuse("invalid_params", `from_date ${from} is after to_date ${to}`);
};

const tool = toolOf(Ledger);

export const paymentTools = {
  get_payment: tool({
    effect: "read",
    summary:
      "Get one payment in full: its invoice, how and when it was paid, what was given back and until when it can be.",
    input: { payment_id: paymentId },
    returns: {
      reference: label("payment"),
      payment_id: id("payment"),
      invoice: label("invoice"),
      invoice_id: id("invoice"),
      customer: z.string(),
      amount: cents(),
      method: z.string(),
      at: minute(),
      refunds: z.array(z.object({ amount: cents(), at: minute(), reason: z.string() })).optional(),
      refundable: cents().describe("What can still be given back today"),
      refundable_until: day(),
    },
    run(ledger, { payment_id }, { now }) {
      const payment = paymentOf(ledger, payment_id);
      const { reference, invoice_id, amount: paid, method, at, refunds } = payment;
      const invoice = ledger.invoices[invoice_id]!;
      const refundable_until = lastRefundDay(ledger, payment);
      return {
        reference,
        payment_id,
        invoice: String(invoice.number),
        invoice_id,
        customer: ledger.customers[invoice.customer_id]!.name,
        amount: paid,
        method,
        at,
        ...(refunds.length ? { refunds } : {}),
        refundable: now.slice(0, 10) > refundable_until ? 0 : round(paid - refundedOf(payment)),
        refundable_until,
      };
    },
  }),
  list_payments: tool({
    effect: "read",
    summary: "List payments that came in, newest first, by reference, customer, method or day.",
    input: {
      reference: label("payment")
        .optional()
        .describe("Only payments whose reference contains this, such as invoice 41 or part 2"),
      customer: z
        .string()
        .min(1)
        .max(80)
        .optional()
        .describe("Only payments by customers whose name contains this"),
      method: z.enum(methods).optional().describe("Only payments made in this way"),
      from_date: day().optional().describe("First day"),
      to_date: day().optional().describe("Last day"),
      limit,
    },
    returns: {
      payments: z.array(
        z.object({
          reference: label("payment"),
          payment_id: id("payment"),
          customer: z.string(),
          amount: cents(),
          refunded: cents().optional(),
          method: z.string(),
          date: day(),
        }),
      ),
    },
    run(ledger, { reference, customer, method, from_date, to_date, limit: most = 10 }) {
      noPast(from_date, to_date);
      const payer = (it: Payment) =>
        ledger.customers[ledger.invoices[it.invoice_id]!.customer_id]!.name;
      const found = Object.entries(ledger.payments).filter(
        ([, it]) =>
          (!reference || has(it.reference, reference)) &&
          (!customer || has(payer(it), customer)) &&
          (!method || it.method === method) &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!to_date || it.at.slice(0, 10) <= to_date),
      );
      return {
        payments: newestFirst(found, it => it.at)
          .slice(0, most)
          .map(([payment_id, it]) => {
            const refunded = refundedOf(it);
            return {
              reference: it.reference,
              payment_id,
              customer: payer(it),
              amount: it.amount,
              ...(refunded ? { refunded } : {}),
              method: it.method,
              date: it.at.slice(0, 10),
            };
          }),
      };
    },
  }),
  refund_payment: tool({
    effect: "write",
    summary:
      "Give a customer's payment back, in full or in part, while its refund window is open. An invoice that was settled stays so.",
    destructive: true,
    input: {
      payment_id: paymentId,
      amount: amount.describe(
        "Amount in euros, all of the payment that was not given back yet if not given",
      ),
      reason: z
        .string()
        .min(1)
        .max(120)
        .optional()
        .describe("Why, for the customer to read")
        .meta({
          examples: [
            "paid twice",
            "work not delivered",
            "goodwill",
            "wrong amount",
            "order cancelled",
            "late delivery",
            "damaged print",
            "agreed discount",
          ],
        }),
    },
    returns: {
      reference: label("payment"),
      payment_id: id("payment"),
      refunded: cents(),
      refunded_in_all: cents(),
      invoice_left: cents().describe("What the invoice has left to pay now"),
    },
    run(ledger, { payment_id, amount: given, reason = "requested by the customer" }, context) {
      const payment = paymentOf(ledger, payment_id);
      const called = `the payment for ${payment.reference} (${payment_id})`;
      const left = round(payment.amount - refundedOf(payment));
      if (left === 0) refuse("conflict", `${called} was already given back in full`);
      const last = lastRefundDay(ledger, payment);
      if (context.now.slice(0, 10) > last)
        refuse(
          "precondition_failed",
          `${called} could be given back until ${last}, ${ledger.refund_days[payment.method]} days after it was made by ${payment.method.replace("_", " ")}`,
          "no refund is possible here any more",
        );
      const refunded = given ?? left;
      if (refunded > left)
        refuse(
          "precondition_failed",
          `${called} has ${left} that can be given back, ${refunded} is more`,
          `give at most ${left}`,
        );
      payment.refunds.push({ amount: refunded, at: context.now, reason });
      const invoice = ledger.invoices[payment.invoice_id]!;
      log(ledger, context, "payment.refunded", payment.reference);
      return {
        reference: payment.reference,
        payment_id,
        refunded,
        refunded_in_all: refundedOf(payment),
        invoice_left: leftOf(ledger, payment.invoice_id, invoice),
      };
    },
  }),
};

export const hooks = {
  register_webhook: tool({
    effect: "write",
    summary: "Have events of some kinds sent to a web address from now on.",
    input: {
      url: z
        .string()
        .min(8)
        .max(200)
        .describe("Address that takes the events, https only")
        .meta({
          examples: [
            "https://books.example/hooks/invoices",
            "https://crm.example/in/payments",
            "https://chat.example/hooks/money",
            "https://ledger.example/v1/events",
            "https://reports.example/push",
            "https://alerts.example/refunds",
            "https://archive.example/invoices",
            "https://bank.example/match/incoming",
          ],
        }),
      events: z
        .array(z.enum(kinds))
        .min(1)
        .max(kinds.length)
        .describe("Kinds of events to send there")
        .meta({
          examples: [
            ["invoice.paid"],
            ["payment.received"],
            ["payment.refunded"],
            ["invoice.created"],
            ["invoice.voided"],
            ["invoice.paid", "invoice.voided"],
            ["payment.received", "payment.refunded"],
            ["invoice.created", "invoice.paid"],
          ],
        }),
    },
    returns: {
      url: label("webhook"),
      webhook_id: id("webhook"),
      events: z.array(z.string()),
      webhooks: z.int().describe("How many there are now"),
    },
    run(ledger, { url, events: wanted }, context) {
      if (!/^https:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/\S*)?$/i.test(url))
        refuse(
          "invalid_params",
          `${url} is not an https address`,
          "give an address that begins with https://",
        );
      const known = Object.entries(ledger.webhooks);
      const same = known.find(([, it]) => it.url.toLowerCase() === url.toLowerCase());
      if (same)
        refuse(
          "conflict",
          `${url} is already registered (${same[0]}) for ${same[1].events.join(", ")}`,
          "use another address",
        );
      if (known.length >= mostWebhooks)
        refuse(
          "limit_exceeded",
          `there are ${mostWebhooks} webhooks already, and no more are allowed`,
        );
      const webhook_id = context.newId("whk");
      const events = kinds.filter(it => wanted.includes(it));
      ledger.webhooks[webhook_id] = { url, events, status: "active" };
      log(ledger, context, "webhook.registered", url);
      return { url, webhook_id, events, webhooks: known.length + 1 };
    },
  }),
  list_webhook_events: tool({
    effect: "read",
    summary:
      "List what happened to invoices and payments, newest first: each event and which webhooks took it.",
    input: {
      event: z.enum(kinds).optional().describe("Only events of this kind"),
      about: z
        .string()
        .min(1)
        .max(80)
        .optional()
        .describe("Only events whose subject contains this, such as invoice 46")
        .meta({
          examples: [
            "invoice 38",
            "invoice 39",
            "invoice 40",
            "invoice 41",
            "invoice 42",
            "invoice 45",
            "invoice 46",
            "invoice 37",
          ],
        }),
      webhook: label("webhook")
        .optional()
        .describe("Only events that went to webhooks whose address contains this"),
      failed: z.boolean().optional().describe("True for only those that some webhook did not take"),
      from_date: day().optional().describe("First day"),
      limit,
    },
    returns: {
      events: z.array(
        z.object({
          event: z.string(),
          event_id: id("event"),
          about: z.string(),
          at: minute(),
          deliveries: z.array(
            z.object({ url: label("webhook"), webhook_id: id("webhook"), result: z.string() }),
          ),
        }),
      ),
    },
    run(
      { events, webhooks },
      { event, about, webhook, failed, from_date, limit: most = 10 },
      { now },
    ) {
      if (from_date && from_date > now.slice(0, 10))
        refuse("precondition_failed", `${from_date} is to come: today is ${now.slice(0, 10)}`);
      const found = Object.entries(events).filter(
        ([, it]) =>
          (!event || it.kind === event) &&
          (!about || has(`${it.about} `, `${about} `)) &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!webhook ||
            Object.keys(it.deliveries).some(hook => has(webhooks[hook]!.url, webhook))) &&
          (!failed || Object.values(it.deliveries).includes("failed")),
      );
      return {
        events: newestFirst(found, it => it.at)
          .slice(0, most)
          .map(([event_id, it]) => ({
            event: it.kind,
            event_id,
            about: it.about,
            at: it.at,
            deliveries: Object.entries(it.deliveries).map(([webhook_id, result]) => ({
              url: webhooks[webhook_id]!.url,
              webhook_id,
              result,
            })),
          })),
      };
    },
  }),
};
