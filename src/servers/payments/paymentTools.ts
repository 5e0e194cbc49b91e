/** Tools that read and refund payments. */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { amount, limit } from "./parameters.ts";
import {
  getLastRefundDay,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  paymentMethods,
  sortNewestFirst,
  findPayment,
  sumOwed,
  sumRefunds,
  type Payment,
} from "./state.ts";

const paymentId = id("payment").describe("Payment id, as payments_list_payments gives it");
const refuseReversedDays = (from: string | undefined, to: string | undefined) => {
  if (from && to && from > to) refuse("invalid_params", `from_date ${from} is after to_date ${to}`);
};

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
    run(state, { payment_id }, { now }) {
      const payment = findPayment(state, payment_id);
      const { reference, invoice_id, amount: paid, method, at, refunds } = payment;
      const invoice = state.invoices[invoice_id]!;
      const refundable_until = getLastRefundDay(state, payment);
      return {
        reference,
        payment_id,
        invoice: String(invoice.number),
        invoice_id,
        customer: state.customers[invoice.customer_id]!.name,
        amount: paid,
        method,
        at,
        ...(refunds.length ? { refunds } : {}),
        refundable:
          now.slice(0, 10) > refundable_until ? 0 : roundToCents(paid - sumRefunds(payment)),
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
      method: z.enum(paymentMethods).optional().describe("Only payments made in this way"),
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
    run(state, { reference, customer, method, from_date, to_date, limit = 10 }) {
      refuseReversedDays(from_date, to_date);
      const payer = (it: Payment) =>
        state.customers[state.invoices[it.invoice_id]!.customer_id]!.name;
      const matches = Object.entries(state.payments).filter(
        ([, it]) =>
          (!reference || containsText(it.reference, reference)) &&
          (!customer || containsText(payer(it), customer)) &&
          (!method || it.method === method) &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!to_date || it.at.slice(0, 10) <= to_date),
      );
      return {
        payments: sortNewestFirst(matches, it => it.at)
          .slice(0, limit)
          .map(([payment_id, it]) => {
            const refunded = sumRefunds(it);
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
    run(
      state,
      { payment_id, amount: requestedAmount, reason = "requested by the customer" },
      context,
    ) {
      const payment = findPayment(state, payment_id);
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
