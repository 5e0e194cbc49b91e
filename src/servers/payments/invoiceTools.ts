/** Tools that create and read invoices. */
import { z } from "zod";
import { cents, day, id, label, money } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import {
  computeLineAmount,
  findInvoice,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  sumDrafts,
  sumOwed,
  listInvoicePayments,
  getInvoiceStatus,
  computeTotal,
  type Invoice,
} from "./state.ts";
import { invoiceId, statusesByUrgency, status, limit } from "./parameters.ts";

const pricedLine = { text: z.string(), quantity: z.int(), unit_price: cents(), amount: cents() };

const tool = createToolFactory(PaymentsState);

const exampleLines = [
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

/**
 * Refuses an invoice with which the customer would owe more than their credit, and a draft with
 * which their drafts would come to more.
 */
function requireCredit(
  state: PaymentsState,
  { customer_id, issued, total }: Pick<Invoice, "customer_id" | "issued"> & { total: number },
  now: string,
): void {
  const { name, credit } = state.customers[customer_id]!;
  const owed = sumOwed(state, customer_id, now);
  if (issued === now.slice(0, 10)) {
    if (roundToCents(owed + total) > credit)
      refuse(
        "limit_exceeded",
        `${name} owes ${owed} and may owe ${credit}: another ${total} is too much`,
        "record a payment first, bill less, or send it on a later day",
      );
    return;
  }
  const drafted = sumDrafts(state, customer_id, now);
  if (owed > credit || roundToCents(drafted + total) > credit)
    refuse(
      "limit_exceeded",
      `${name} owes ${owed}, has drafts over ${drafted} and may owe ${credit}: another draft over ${total} is too much`,
      "record a payment first, bill less, or void a draft with payments_void_invoice",
    );
}

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
        .meta({ examples: exampleLines }),
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
    run(state, { customer_id, lines, send_on, due: wanted }, context) {
      const today = context.now.slice(0, 10);
      const customer = findEntity(
        state.customers,
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
      const due = wanted ?? addDays(issued, 30);
      if (due < issued)
        refuse(
          "precondition_failed",
          `due ${due} is before the invoice goes out on ${issued}`,
          "choose a later last day to pay",
        );
      const total = computeTotal({ lines });
      requireCredit(getOriginal(state), { customer_id, issued, total }, context.now);
      const number =
        1 + Math.max(0, ...Object.values(getOriginal(state).invoices).map(it => it.number));
      const invoice: Invoice = { number, customer_id, status: "open", issued, due, lines };
      const invoice_id = context.newId("inv");
      state.invoices[invoice_id] = invoice;
      logEvent(state, context, "invoice.created", `invoice ${number}`);
      return {
        number: String(number),
        invoice_id,
        status: getInvoiceStatus(invoice, context.now),
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
      lines: z.array(z.object(pricedLine)),
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
    run(state, { invoice_id }, { now }) {
      const invoice = findInvoice(state, invoice_id);
      const customer = state.customers[invoice.customer_id]!;
      return {
        number: String(invoice.number),
        invoice_id,
        customer: customer.name,
        customer_id: invoice.customer_id,
        send_to: `${customer.contact} <${customer.email}>`,
        status: getInvoiceStatus(invoice, now),
        issued: invoice.issued,
        due: invoice.due,
        lines: invoice.lines.map(it => ({ ...it, amount: computeLineAmount(it) })),
        total: computeTotal(invoice),
        left: computeOpenAmount(state, invoice_id, invoice),
        payments: listInvoicePayments(state, invoice_id).map(([payment_id, it]) => ({
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
    run(state, { number, customer, status: wanted, due_by, limit = 10 }, { now }) {
      const matches = Object.entries(state.invoices).filter(
        ([, it]) =>
          (number === undefined || String(it.number) === number.replace(/^#?0*/, "")) &&
          (!customer || containsText(state.customers[it.customer_id]!.name, customer)) &&
          (!wanted || getInvoiceStatus(it, now) === wanted) &&
          (!due_by || it.due <= due_by),
      );
      const rows = matches
        .sort(
          ([, a], [, b]) =>
            statusesByUrgency.indexOf(getInvoiceStatus(a, now)) -
              statusesByUrgency.indexOf(getInvoiceStatus(b, now)) || b.number - a.number,
        )
        .slice(0, limit);
      const isPlain = number === undefined && !wanted && !due_by;
      const concerned = Object.entries(state.customers).filter(
        ([customerId, it]) =>
          rows.some(([, row]) => row.customer_id === customerId) ||
          (isPlain && customer !== undefined && containsText(it.name, customer)),
      );
      return {
        invoices: rows.map(([invoice_id, it]) => {
          const left = computeOpenAmount(state, invoice_id, it);
          return {
            number: String(it.number),
            invoice_id,
            customer: state.customers[it.customer_id]!.name,
            status: getInvoiceStatus(it, now),
            ...(left ? { left } : {}),
            total: computeTotal(it),
            due: it.due,
          };
        }),
        customers: concerned.map(([customer_id, it]) => ({
          customer: it.name,
          customer_id,
          owes: sumOwed(state, customer_id, now),
        })),
      };
    },
  }),
};
