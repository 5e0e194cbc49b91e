/** Tools that read and refund payments. */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { contains, descending, equals, getSchemas, meets } from "../kit/table.ts";
import { amount } from "./parameters.ts";
import {
  getLastRefundDay,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  paymentMethods,
  payments,
  sumOwed,
  sumRefunds,
  type Payment,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const paymentRow = payments.fields({
  reference: label("payment"),
  payment_id: payments.idField,
});

const getPayer = ({ invoice_id }: Payment, { customers, invoices }: PaymentsState) =>
  customers[invoices[invoice_id]!.customer_id]!.name;

/** Refuses a refund of an open invoice with which the customer would owe more than their credit. */
function requireCredit(
  state: PaymentsState,
  { invoice_id }: Payment,
  refunded: number,
  now: string,
): void {
  const invoice = state.invoices[invoice_id]!;
  const { name, credit, status } = state.customers[invoice.customer_id]!;
  if (invoice.status !== "open" || status === "archived") return;
  const owed = sumOwed(state, invoice.customer_id, now);
  if (roundToCents(owed + refunded) > credit)
    refuse(
      "limit_exceeded",
      `${name} owes ${owed} and may owe ${credit}: invoice ${invoice.number} (${invoice_id}) is open, so that another ${refunded} would be owed`,
      "give back less, or record a payment first",
    );
}

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
      requireCredit(state, payment, refunded, context.now);
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
