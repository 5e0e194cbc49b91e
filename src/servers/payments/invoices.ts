/**
 * The tools for invoices: to make them, to find them, to record that they are paid, to void them.
 * Knows no refunds and no webhooks.
 */
import { z } from "zod";
import { cents, day, id, label, money } from "../../environment/entity.ts";
import { before, findEntity, refuse, toolOf } from "../../environment/server.ts";
import { dayAfter } from "../../environment/time.ts";
import { has } from "../../environment/words.ts";
import { round, sum } from "../../environment/money.ts";
import {
  amountOf,
  invoiceOf,
  leftOf,
  Ledger,
  log,
  methods,
  owedBy,
  paymentsOf,
  receivedFor,
  statusOf,
  totalOf,
  type Invoice,
} from "./state.ts";

const invoiceId = id("invoice").describe("Invoice id, as payments_list_invoices gives it");
const urgency = ["overdue", "open", "draft", "paid", "void"] as const;
const status = z.enum(urgency);
const priced = { text: z.string(), quantity: z.int(), unit_price: cents(), amount: cents() };
export const amount = money()
  .optional()
  .meta({ examples: [50, 80, 100, 120, 150, 200, 210, 250, 300, 400, 500, 640, 750, 900] });
export const limit = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("At most this many, 10 if not given");

const tool = toolOf(Ledger);

const examples = [
  [{ text: "Logo", quantity: 1, unit_price: 450 }],
  [{ text: "Poster", quantity: 2, unit_price: 150 }],
  [{ text: "Website texts", quantity: 6, unit_price: 80 }],
  [
    { text: "Photos", quantity: 1, unit_price: 250 },
    { text: "Print", quantity: 1, unit_price: 95 },
  ],
  [{ text: "Style guide", quantity: 1, unit_price: 640 }],
  [{ text: "Label design", quantity: 3, unit_price: 130 }],
  [
    { text: "Brochure", quantity: 1, unit_price: 380 },
    { text: "Translation", quantity: 4, unit_price: 45 },
  ],
  [{ text: "Accessibility check", quantity: 1, unit_price: 520 }],
];

export const invoiceTools = {
  create_invoice: tool({
    effect: "write",
    summary:
      "Bill a customer: make an invoice of one or more lines and send it, at once or on a later day; until then it is a draft.",
    input: {
      customer_id: id("customer").describe(
        "Customer id, as payments_list_invoices gives it among the customers",
      ),
      lines: z
        .array(
          z.object({
            text: z.string().min(1).max(120).describe("What was done"),
            quantity: z.int().min(1).max(999).describe("How many"),
            unit_price: money().describe("Euros for each"),
          }),
        )
        .min(1)
        .max(12)
        .describe("What is billed")
        .meta({ examples }),
      send_on: day().optional().describe("Day on which it goes out, today if not given"),
      due: day().optional().describe("Last day to pay, 30 days after it goes out if not given"),
    },
    returns: {
      number: label("invoice"),
      invoice_id: id("invoice"),
      status,
      total: cents(),
      due: day(),
    },
    run(ledger, { customer_id, lines, send_on, due: wanted }, context) {
      const today = context.now.slice(0, 10);
      const customer = findEntity(
        ledger.customers,
        customer_id,
        "customer",
        "payments_list_invoices gives the customers with their ids",
      );
      if (customer.status === "archived")
        refuse(
          "precondition_failed",
          `${customer.name} (${customer_id}) is archived and gets no new invoices`,
          "choose another customer",
        );
      const issued = send_on ?? today;
      if (issued < today)
        refuse(
          "precondition_failed",
          `send_on ${issued} is before today, ${today}`,
          "leave it out to send the invoice now",
        );
      const due = wanted ?? dayAfter(issued, 30);
      if (due < issued)
        refuse(
          "precondition_failed",
          `due ${due} is before the invoice goes out on ${issued}`,
          "choose a later last day to pay",
        );
      const total = totalOf({ lines });
      const owed = owedBy(before(ledger), customer_id, context.now);
      if (issued === today && round(owed + total) > customer.credit)
        refuse(
          "limit_exceeded",
          `${customer.name} owes ${owed} and may owe ${customer.credit}: another ${total} is too much`,
          "record a payment first, bill less, or send it on a later day",
        );
      const number =
        1 + Math.max(0, ...Object.values(before(ledger).invoices).map(it => it.number));
      const invoice: Invoice = { number, customer_id, status: "open", issued, due, lines };
      const invoice_id = context.newId("inv");
      ledger.invoices[invoice_id] = invoice;
      log(ledger, context, "invoice.created", `invoice ${number}`);
      return {
        number: String(number),
        invoice_id,
        status: statusOf(invoice, context.now),
        total,
        due,
      };
    },
  }),
  get_invoice: tool({
    effect: "read",
    summary:
      "Get one invoice in full: its lines, its total, what is left to pay and the payments it got.",
    input: { invoice_id: invoiceId },
    returns: {
      number: label("invoice"),
      invoice_id: id("invoice"),
      customer: label("customer"),
      customer_id: id("customer"),
      send_to: z.string(),
      status,
      issued: day(),
      due: day(),
      lines: z.array(z.object(priced)),
      total: cents(),
      left: cents().describe("Still to pay"),
      payments: z.array(
        z.object({
          reference: label("payment"),
          payment_id: id("payment"),
          amount: cents(),
          date: day(),
        }),
      ),
    },
    run(ledger, { invoice_id }, { now }) {
      const invoice = invoiceOf(ledger, invoice_id);
      const customer = ledger.customers[invoice.customer_id]!;
      return {
        number: String(invoice.number),
        invoice_id,
        customer: customer.name,
        customer_id: invoice.customer_id,
        send_to: `${customer.contact} <${customer.email}>`,
        status: statusOf(invoice, now),
        issued: invoice.issued,
        due: invoice.due,
        lines: invoice.lines.map(it => ({ ...it, amount: amountOf(it) })),
        total: totalOf(invoice),
        left: leftOf(ledger, invoice_id, invoice),
        payments: paymentsOf(ledger, invoice_id).map(([payment_id, it]) => ({
          reference: it.reference,
          payment_id,
          amount: it.amount,
          date: it.at.slice(0, 10),
        })),
      };
    },
  }),
  list_invoices: tool({
    effect: "read",
    summary:
      "List invoices by number, customer, status or due day: overdue ones first, then open ones, drafts, paid and void ones. Also gives the customers concerned and what each owes in all.",
    input: {
      number: label("invoice").optional().describe("Only the invoice of this number"),
      customer: label("customer")
        .optional()
        .describe("Only invoices to customers whose name contains this"),
      status: status
        .optional()
        .describe("Only invoices of this status; overdue ones are not listed as open"),
      due_by: day().optional().describe("Only invoices due on or before this day"),
      limit,
    },
    returns: {
      invoices: z.array(
        z.object({
          number: label("invoice"),
          invoice_id: id("invoice"),
          customer: z.string(),
          status: z.string(),
          left: cents().optional(),
          total: cents(),
          due: day(),
        }),
      ),
      customers: z.array(
        z.object({ customer: label("customer"), customer_id: id("customer"), owes: cents() }),
      ),
    },
    run(ledger, { number, customer, status: wanted, due_by, limit: most = 10 }, { now }) {
      const found = Object.entries(ledger.invoices).filter(
        ([, it]) =>
          (number === undefined || String(it.number) === number.replace(/^#?0*/, "")) &&
          (!customer || has(ledger.customers[it.customer_id]!.name, customer)) &&
          (!wanted || statusOf(it, now) === wanted) &&
          (!due_by || it.due <= due_by),
      );
      const rows = found
        .sort(
          ([, a], [, b]) =>
            urgency.indexOf(statusOf(a, now)) - urgency.indexOf(statusOf(b, now)) ||
            b.number - a.number,
        )
        .slice(0, most);
      const isPlain = number === undefined && !wanted && !due_by;
      const concerned = Object.entries(ledger.customers).filter(
        ([customerId, it]) =>
          rows.some(([, row]) => row.customer_id === customerId) ||
          (isPlain && customer !== undefined && has(it.name, customer)),
      );
      return {
        invoices: rows.map(([invoice_id, it]) => {
          const left = leftOf(ledger, invoice_id, it);
          return {
            number: String(it.number),
            invoice_id,
            customer: ledger.customers[it.customer_id]!.name,
            status: statusOf(it, now),
            ...(left ? { left } : {}),
            total: totalOf(it),
            due: it.due,
          };
        }),
        customers: concerned.map(([customer_id, it]) => ({
          customer: it.name,
          customer_id,
          owes: owedBy(ledger, customer_id, now),
        })),
      };
    },
  }),
};

export const settling = {
  pay_invoice: tool({
    effect: "write",
    summary: "Record that a customer paid an invoice, in full or in part.",
    input: {
      invoice_id: invoiceId,
      method: z.enum(methods).describe("How it was paid"),
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
    run(ledger, { invoice_id, method, amount: given }, context) {
      const invoice = invoiceOf(ledger, invoice_id);
      const { number } = invoice;
      const called = `invoice ${number} (${invoice_id})`;
      const state = statusOf(invoice, context.now);
      if (state === "paid")
        refuse("conflict", `${called} is already paid`, "payments_get_invoice shows its payments");
      if (state === "void")
        refuse(
          "precondition_failed",
          `${called} is void and cannot be paid`,
          "payments_create_invoice makes a new one",
        );
      if (state === "draft")
        refuse(
          "precondition_failed",
          `${called} is a draft that goes out on ${invoice.issued}`,
          "it can be paid from that day on",
        );
      const customer = ledger.customers[invoice.customer_id]!;
      if (method === "direct_debit" && !customer.mandate)
        refuse(
          "permission_denied",
          `${customer.name} has not agreed to direct debit`,
          "choose bank_transfer, card or cash",
        );
      const left = leftOf(before(ledger), invoice_id, invoice);
      const paid = given ?? left;
      if (paid > left)
        refuse(
          "precondition_failed",
          `${called} has ${left} left to pay, ${paid} is more`,
          `give at most ${left}`,
        );
      const own = paymentsOf(before(ledger), invoice_id);
      const inCash = sum(own.filter(([, it]) => it.method === "cash").map(([, it]) => it.amount));
      if (method === "cash" && round(inCash + paid) > ledger.cash_limit)
        refuse(
          "limit_exceeded",
          `at most ${ledger.cash_limit} of an invoice may be paid in cash, and ${inCash} of ${called} was`,
          "record a smaller amount, or another method",
        );
      const isWhole = own.length === 0 && paid === left;
      const payment_id = context.newId("pmt");
      ledger.payments[payment_id] = {
        invoice_id,
        reference: `invoice ${number}${isWhole ? "" : ` part ${own.length + 1}`}`,
        amount: paid,
        method,
        at: context.now,
        refunds: [],
      };
      if (paid === left) invoice.status = "paid";
      log(ledger, context, "payment.received", `invoice ${number}`);
      if (paid === left) log(ledger, context, "invoice.paid", `invoice ${number}`);
      return {
        reference: ledger.payments[payment_id].reference,
        payment_id,
        invoice: String(number),
        paid,
        left: round(left - paid),
        status: statusOf(invoice, context.now),
      };
    },
  }),
  void_invoice: tool({
    effect: "write",
    summary:
      "Cancel an invoice or draft for good, so that nobody has to pay it. Money that came in for it has to be refunded first.",
    destructive: true,
    input: { invoice_id: invoiceId },
    returns: {
      number: label("invoice"),
      invoice_id: id("invoice"),
      status,
      cancelled: cents().describe("What is no longer owed"),
    },
    run(ledger, { invoice_id }, context) {
      const invoice = invoiceOf(ledger, invoice_id);
      const called = `invoice ${invoice.number} (${invoice_id})`;
      if (invoice.status === "void") refuse("conflict", `${called} is already void`);
      const received = receivedFor(before(ledger), invoice_id);
      if (received > 0)
        refuse(
          "precondition_failed",
          `${called} has had ${received} paid`,
          "payments_refund_payment gives that back; payments_get_invoice lists its payments",
        );
      const cancelled = leftOf(before(ledger), invoice_id, invoice);
      invoice.status = "void";
      log(ledger, context, "invoice.voided", `invoice ${invoice.number}`);
      return { number: String(invoice.number), invoice_id, status: "void" as const, cancelled };
    },
  }),
};
