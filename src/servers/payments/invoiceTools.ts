/** Tools that create and read invoices. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import {
  cents,
  day,
  id,
  label,
  money,
  rowLimit,
  rowTotal,
} from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getSchemas } from "../kit/table.ts";
import {
  computeLineAmount,
  customers,
  invoices,
  payments,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  requireCredit,
  sumOwed,
  getInvoiceStatus,
  computeTotal,
  type Invoice,
  invoiceRow,
  status,
  statusesByUrgency,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(PaymentsState);

export const invoiceTools = {
  create_invoice: tool({
    effect: "write",
    summary:
      "Bill a customer: make an invoice of one or more lines and send it, at once or on a later day; until then it is a draft.",
    input: {
      customer_id: customers.id,
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
        .meta({ examples: vocabulary.lines }),
      send_on: day().optional().describe("Day on which it goes out, today if not given"),
      due: day().optional().describe("Last day to pay, 30 days after it goes out if not given"),
    },
    returns: {
      ...getSchemas(invoiceRow),
      status,
      total: cents(),
      due: day(),
    },
    run(state, { customer_id, lines, send_on, due: wanted }, context) {
      const today = context.now.slice(0, 10);
      const customer = customers.find(state, customer_id);
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
      requireCredit(getOriginal(state), {
        customer_id,
        more: total,
        now: context.now,
        hint: "bill less, record a payment first, or void a draft with payments_void_invoice",
      });
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
  get_invoice: invoices.get({
    summary:
      "Get one invoice in full: its lines, its total, what is left to pay and the payments it got.",
    row: {
      ...invoiceRow,
      customer: [label("customer"), (it, { world }) => world.customers[it.customer_id]!.name],
      customer_id: id("customer"),
      send_to: [
        z.string(),
        (it, { world }) => {
          const { contact, email } = world.customers[it.customer_id]!;
          return `${contact} <${email}>`;
        },
      ],
      status: [status, (it, { now }) => getInvoiceStatus(it, now)],
      issued: day(),
      due: day(),
      lines: [
        z.array(
          z.object({ text: z.string(), quantity: z.int(), unit_price: cents(), amount: cents() }),
        ),
        it => it.lines.map(line => ({ ...line, amount: computeLineAmount(line) })),
      ],
      total: [cents(), computeTotal],
      left: [
        cents().describe("Still to pay"),
        (it, { id: invoiceId, world }) => computeOpenAmount(world, invoiceId, it),
      ],
      payments: payments.related({
        row: {
          reference: label("payment"),
          payment_id: payments.idField,
          amount: cents(),
          date: [day(), it => it.at.slice(0, 10)],
        },
        where: (it, { id: invoiceId }) => it.invoice_id === invoiceId,
        isRequired: true,
      }),
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
      limit: rowLimit(10),
    },
    returns: {
      total: rowTotal("invoices"),
      invoices: z.array(
        z.object({
          ...getSchemas(invoiceRow),
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
        total: matches.length,
        invoices: rows.map(([invoice_id, it]) =>
          omitUndefined({
            number: String(it.number),
            invoice_id,
            customer: state.customers[it.customer_id]!.name,
            status: getInvoiceStatus(it, now),
            left: computeOpenAmount(state, invoice_id, it) || undefined,
            total: computeTotal(it),
            due: it.due,
          }),
        ),
        customers: concerned.map(([customer_id, it]) => ({
          customer: it.name,
          customer_id,
          owes: sumOwed(state, customer_id, now),
        })),
      };
    },
  }),
};
