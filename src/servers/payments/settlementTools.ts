/** Tools that settle an invoice: record a payment, or void it. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { getSchemas } from "../kit/table.ts";
import {
  invoices,
  computeOpenAmount,
  PaymentsState,
  logEvent,
  paymentMethods,
  listInvoicePayments,
  sumReceived,
  getInvoiceStatus,
} from "./state.ts";
import { amount, invoiceRow, status } from "./parameters.ts";

const tool = createToolFactory(PaymentsState);

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
