/**
 * Tools that read and refund payments, settle invoices, and manage webhooks with their event log.
 */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { contains, descending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  amount,
  getLastRefundDay,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  paymentMethods,
  payments,
  requireCredit,
  sumRefunds,
  type Payment,
  invoices,
  listInvoicePayments,
  sumReceived,
  getInvoiceStatus,
  invoiceRow,
  status,
  eventKinds,
  events,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { getOriginal } from "../../environment/draft.ts";
import { containsText } from "../../environment/textSearch.ts";

const paymentRow = payments.fields({
  reference: label("payment"),
  payment_id: payments.idField,
});

const getPayer = ({ invoice_id }: Payment, { customers, invoices }: PaymentsState) =>
  customers[invoices[invoice_id]!.customer_id]!.name;

const tool = createToolFactory(PaymentsState);

export const paymentTools = {
  get_payment: payments.get({
    summary:
      "Get one payment in full: its invoice, how and when it was paid, what was given back and until when it can be.",
    row: {
      ...paymentRow,
      invoice: [label("invoice"), (it, { world }) => String(world.invoices[it.invoice_id]!.number)],
      invoice_id: id("invoice"),
      customer: [z.string(), (it, { world }) => getPayer(it, world)],
      amount: cents(),
      method: z.string(),
      at: minute(),
      refunds: [
        z.array(z.object({ amount: cents(), at: minute(), reason: z.string() })).optional(),
        it => (it.refunds.length > 0 ? it.refunds : undefined),
      ],
      refundable: [
        cents().describe("What can still be given back today"),
        (it, { world, now }) =>
          now.slice(0, 10) > getLastRefundDay(world, it)
            ? 0
            : roundToCents(it.amount - sumRefunds(it)),
      ],
      refundable_until: [day(), (it, { world }) => getLastRefundDay(world, it)],
    },
  }),
  list_payments: payments.list({
    summary: "List payments that came in, newest first, by reference, customer, method or day.",
    filters: {
      reference: contains(
        label("payment"),
        "Only payments whose reference contains this, such as invoice 41 or part 2",
        it => it.reference,
      ),
      customer: contains(
        z.string().min(1).max(80),
        "Only payments by customers whose name contains this",
        getPayer,
      ),
      method: equals(z.enum(paymentMethods), "Only payments made in this way", it => it.method),
      from_date: meets(day(), "First day", (it, date) => it.at.slice(0, 10) >= date),
      to_date: meets(day(), "Last day", (it, date) => it.at.slice(0, 10) <= date),
    },
    check({ from_date, to_date }) {
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
    },
    order: descending(it => it.at, { latestId: true }),
    limit: 10,
    row: {
      ...paymentRow,
      customer: [z.string(), (it, { world }) => getPayer(it, world)],
      amount: cents(),
      refunded: [cents().optional(), it => sumRefunds(it) || undefined],
      method: z.string(),
      date: [day(), it => it.at.slice(0, 10)],
    },
  }),
  refund_payment: tool({
    effect: "write",
    summary:
      "Give a customer's payment back, in full or in part, while its refund window is open. An invoice that was settled stays so.",
    destructive: true,
    input: {
      payment_id: payments.id,
      amount: amount.describe(
        "Amount in euros, all of the payment that was not given back yet if not given",
      ),
      reason: z.string().min(1).max(120).optional().describe("Why, for the customer to read").meta({
        examples: vocabulary.reasons,
      }),
    },
    returns: {
      ...getSchemas(paymentRow),
      refunded: cents(),
      refunded_in_all: cents(),
      invoice_left: cents().describe("What the invoice has left to pay now"),
    },
    run(
      state,
      { payment_id, amount: requestedAmount, reason = "requested by the customer" },
      context,
    ) {
      const payment = payments.find(state, payment_id);
      const description = `the payment for ${payment.reference} (${payment_id})`;
      const left = roundToCents(payment.amount - sumRefunds(payment));
      if (left === 0) refuse("conflict", `${description} was already given back in full`);
      const lastRefundDay = getLastRefundDay(state, payment);
      if (context.now.slice(0, 10) > lastRefundDay)
        refuse(
          "precondition_failed",
          `${description} could be given back until ${lastRefundDay}, ${state.refund_days[payment.method]} days after it was made by ${payment.method.replace("_", " ")}`,
          "no refund is possible here any more",
        );
      const refunded = requestedAmount ?? left;
      if (refunded > left)
        refuse(
          "precondition_failed",
          `${description} has ${left} that can be given back, ${refunded} is more`,
          `give at most ${left}`,
        );
      const { number, customer_id, status } = state.invoices[payment.invoice_id]!;
      if (status === "open" && state.customers[customer_id]!.status === "active")
        requireCredit(getOriginal(state), {
          customer_id,
          more: refunded,
          now: context.now,
          hint: `invoice ${number} (${payment.invoice_id}) is open, so that what is given back is owed again: give back less, record a payment first, or void a draft`,
        });
      payment.refunds.push({ amount: refunded, at: context.now, reason });
      const invoice = state.invoices[payment.invoice_id]!;
      logEvent(state, context, "payment.refunded", payment.reference);
      return {
        reference: payment.reference,
        payment_id,
        refunded,
        refunded_in_all: sumRefunds(payment),
        invoice_left: computeOpenAmount(state, payment.invoice_id, invoice),
      };
    },
  }),
};

export const settlementTools = {
  pay_invoice: tool({
    effect: "write",
    summary: "Record that a customer paid an invoice, in full or in part.",
    input: {
      invoice_id: invoices.id,
      method: z.enum(paymentMethods).describe("How it was paid"),
      amount: amount.describe("Amount in euros, all that is left to pay if not given"),
    },
    returns: {
      reference: label("payment"),
      payment_id: id("payment"),
      invoice: z.string(),
      paid: cents(),
      left: cents(),
      status,
    },
    run(state, { invoice_id, method, amount: requestedAmount }, context) {
      const invoice = invoices.find(state, invoice_id);
      const { number } = invoice;
      const description = `invoice ${number} (${invoice_id})`;
      const currentStatus = getInvoiceStatus(invoice, context.now);
      if (currentStatus === "paid")
        refuse(
          "conflict",
          `${description} is already paid`,
          "payments_get_invoice shows its payments",
        );
      if (currentStatus === "void")
        refuse(
          "precondition_failed",
          `${description} is void and cannot be paid`,
          "payments_create_invoice makes a new one",
        );
      if (currentStatus === "draft")
        refuse(
          "precondition_failed",
          `${description} is a draft that goes out on ${invoice.issued}`,
          "it can be paid from that day on",
        );
      const customer = state.customers[invoice.customer_id]!;
      if (method === "direct_debit" && !customer.mandate)
        refuse(
          "permission_denied",
          `${customer.name} has not agreed to direct debit`,
          "choose bank_transfer, card or cash",
        );
      const left = computeOpenAmount(getOriginal(state), invoice_id, invoice);
      const paid = requestedAmount ?? left;
      if (paid > left)
        refuse(
          "precondition_failed",
          `${description} has ${left} left to pay, ${paid} is more`,
          `give at most ${left}`,
        );
      const invoicePayments = listInvoicePayments(getOriginal(state), invoice_id);
      const paidInCash = sumAmounts(
        invoicePayments.filter(it => it.method === "cash").map(it => it.amount),
      );
      if (method === "cash" && roundToCents(paidInCash + paid) > state.cash_limit)
        refuse(
          "limit_exceeded",
          `at most ${state.cash_limit} of an invoice may be paid in cash, and ${paidInCash} of ${description} was`,
          "record a smaller amount, or another method",
        );
      const isWhole = invoicePayments.length === 0 && paid === left;
      const payment_id = context.newId("pmt");
      state.payments[payment_id] = {
        invoice_id,
        reference: `invoice ${number}${isWhole ? "" : ` part ${invoicePayments.length + 1}`}`,
        amount: paid,
        method,
        at: context.now,
        refunds: [],
      };
      if (paid === left) invoice.status = "paid";
      logEvent(state, context, "payment.received", `invoice ${number}`);
      if (paid === left) logEvent(state, context, "invoice.paid", `invoice ${number}`);
      return {
        reference: state.payments[payment_id].reference,
        payment_id,
        invoice: String(number),
        paid,
        left: roundToCents(left - paid),
        status: getInvoiceStatus(invoice, context.now),
      };
    },
  }),
  void_invoice: tool({
    effect: "write",
    summary:
      "Cancel an invoice or draft for good, so that nobody has to pay it. Money that came in for it has to be refunded first.",
    destructive: true,
    input: { invoice_id: invoices.id },
    returns: {
      ...getSchemas(invoiceRow),
      status,
      cancelled: cents().describe("What is no longer owed"),
    },
    run(state, { invoice_id }, context) {
      const invoice = invoices.find(state, invoice_id);
      const description = `invoice ${invoice.number} (${invoice_id})`;
      if (invoice.status === "void") refuse("conflict", `${description} is already void`);
      const received = sumReceived(getOriginal(state), invoice_id);
      if (received > 0)
        refuse(
          "precondition_failed",
          `${description} has had ${received} paid`,
          "payments_refund_payment gives that back; payments_get_invoice lists its payments",
        );
      const cancelled = computeOpenAmount(getOriginal(state), invoice_id, invoice);
      invoice.status = "void";
      logEvent(state, context, "invoice.voided", `invoice ${invoice.number}`);
      return { number: String(invoice.number), invoice_id, status: "void" as const, cancelled };
    },
  }),
};

export const maxWebhooks = 6;

export const webhookTools = {
  register_webhook: tool({
    effect: "write",
    summary: "Have events of some kinds sent to a web address from now on.",
    input: {
      url: z.string().min(8).max(200).describe("Address that takes the events, https only").meta({
        examples: vocabulary.urls,
      }),
      events: z
        .array(z.enum(eventKinds))
        .min(1)
        .max(eventKinds.length)
        .describe("Kinds of events to send there")
        .meta({
          examples: vocabulary.eventLists,
        }),
    },
    returns: {
      url: label("webhook"),
      webhook_id: id("webhook"),
      events: z.array(z.string()),
      webhooks: z.int().describe("How many there are now"),
    },
    run(state, { url, events: wanted }, context) {
      if (!/^https:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/\S*)?$/i.test(url))
        refuse(
          "invalid_params",
          `${url} is not an https address`,
          "give an address that begins with https://",
        );
      const webhooks = Object.entries(state.webhooks);
      const same = webhooks.find(([, it]) => it.url.toLowerCase() === url.toLowerCase());
      if (same)
        refuse(
          "conflict",
          `${url} is already registered (${same[0]}) for ${same[1].events.join(", ")}`,
          "use another address",
        );
      if (webhooks.length >= maxWebhooks)
        refuse(
          "limit_exceeded",
          `there are ${maxWebhooks} webhooks already, and no more are allowed`,
        );
      const webhook_id = context.newId("whk");
      const kinds = eventKinds.filter(it => wanted.includes(it));
      state.webhooks[webhook_id] = { url, events: kinds, status: "active" };
      logEvent(state, context, "webhook.registered", url);
      return { url, webhook_id, events: kinds, webhooks: webhooks.length + 1 };
    },
  }),
  list_webhook_events: events.list({
    summary:
      "List what happened to invoices and payments, newest first: each event and which webhooks took it.",
    filters: {
      event: equals(z.enum(eventKinds), "Only events of this kind", it => it.kind),
      about: meets(
        z.string().min(1).max(80).optional().meta({ examples: vocabulary.subjects }),
        "Only events whose subject contains this, such as invoice 46",
        (it, about) => containsText(`${it.about} `, `${about} `),
      ),
      webhook: meets(
        label("webhook"),
        "Only events that went to webhooks whose address contains this",
        (it, address, { world }) =>
          Object.keys(it.deliveries).some(hook => containsText(world.webhooks[hook]!.url, address)),
      ),
      failed: meets(
        z.boolean(),
        "True for only those that some webhook did not take",
        (it, hasFailed) => !hasFailed || Object.values(it.deliveries).includes("failed"),
      ),
      from_date: meets(day(), "First day", (it, date) => it.at.slice(0, 10) >= date),
    },
    check({ from_date }, _, now) {
      if (from_date && from_date > now.slice(0, 10))
        refuse("precondition_failed", `${from_date} is to come: today is ${now.slice(0, 10)}`);
    },
    order: descending(it => it.at, { latestId: true }),
    limit: 10,
    row: {
      event: [z.string(), it => it.kind],
      event_id: events.idField,
      about: z.string(),
      at: minute(),
      deliveries: [
        z.array(z.object({ url: label("webhook"), webhook_id: id("webhook"), result: z.string() })),
        (it, { world }) =>
          Object.entries(it.deliveries).map(([webhook_id, result]) => {
            return { url: world.webhooks[webhook_id]!.url, webhook_id, result };
          }),
      ],
    },
  }),
};
