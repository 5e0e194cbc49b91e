/**
 * The payments server: invoices, payments and webhooks of a design studio. Also its rules, which
 * hold whichever tools are used.
 */
import { sumAmounts } from "../../environment/amounts.ts";
import {
  defineRule,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import {
  computeOpenAmount,
  computeTotal,
  getLastRefundDay,
  listInvoicePayments,
  PaymentsState,
  sumReceived,
  sumRefunds,
  references,
} from "./state.ts";
import { maxWebhooks, webhookTools, paymentTools, settlementTools } from "./paymentTools.ts";
import { invoiceTools } from "./invoiceTools.ts";

const rule = defineRule<PaymentsState>;

const invariants: readonly Invariant<PaymentsState>[] = [
  rule(
    "An invoice receives at most its total, and has received it when it becomes paid.",
    function* (state, before) {
      for (const [id, invoice] of Object.entries(state.invoices)) {
        const [total, received] = [computeTotal(invoice), sumReceived(state, id)];
        if (received > total) yield `${id} over ${total} has received ${received}`;
        const wasPaid = before?.invoices[id]?.status === "paid";
        if (before && invoice.status === "paid" && !wasPaid && received < total)
          yield `${id} over ${total} became paid with ${received}`;
        if (invoice.status === "open" && received === total) yield `${id} is paid and open`;
      }
    },
  ),
  rule("A void invoice has received nothing that was not given back.", function* (state) {
    for (const [id, { status }] of Object.entries(state.invoices))
      if (status === "void" && sumReceived(state, id) !== 0)
        yield `${id} has received ${sumReceived(state, id)}`;
  }),
  rule(
    "An invoice stays as it is, except that it is paid or voided once.",
    function* ({ invoices }, before) {
      if (!before) return;
      for (const [id] of listRemovedRows(before.invoices, invoices)) yield `${id} is gone`;
      for (const [id, it, previous] of listChangedRows(before.invoices, invoices)) {
        const isForward =
          it.status === "void" || (it.status === "paid" && previous.status === "open");
        if (listChangedFields(previous, it).join() !== "status" || !isForward)
          yield `${id} has changed from ${previous.status} to ${it.status}`;
      }
    },
  ),
  rule(
    "Refunds of a payment are at most its amount, and are made within its days.",
    function* (state, before) {
      for (const [id, payment] of Object.entries(state.payments)) {
        if (sumRefunds(payment) > payment.amount)
          yield `${sumRefunds(payment)} of ${payment.amount} was given back for ${id}`;
        const count = before?.payments[id]?.refunds.length ?? 0;
        for (const { at } of before ? payment.refunds.slice(count) : [])
          if (at.slice(0, 10) > getLastRefundDay(state, payment))
            yield `${id} was refunded at ${at}`;
      }
    },
  ),
  rule(
    "A payment stays as it is, except that refunds are added.",
    function* ({ payments }, before) {
      if (!before) return;
      for (const [id] of listRemovedRows(before.payments, payments)) yield `${id} is gone`;
      for (const [id, it, previous] of listChangedRows(before.payments, payments)) {
        const keptRefunds = it.refunds.slice(0, previous.refunds.length);
        if (
          listChangedFields(previous, it).join() !== "refunds" ||
          listChangedFields(previous.refunds, keptRefunds).length > 0
        )
          yield `${id} has changed`;
      }
    },
  ),
  rule(
    "An invoice is paid in cash up to the limit only, however often it is paid.",
    function* (state) {
      for (const id of Object.keys(state.invoices)) {
        const cash = listInvoicePayments(state, id).filter(it => it.method === "cash");
        const sum = sumAmounts(cash.map(it => it.amount));
        if (sum > state.cash_limit) yield `${sum} of ${id} was paid in cash`;
      }
    },
  ),
  rule(
    "Direct debits are made only where the customer has agreed to them.",
    function* ({ payments, invoices, customers }, before) {
      for (const [id, it] of before ? listAddedRows(before.payments, payments) : [])
        if (
          it.method === "direct_debit" &&
          !customers[invoices[it.invoice_id]!.customer_id]!.mandate
        )
          yield `${id} has no mandate`;
    },
  ),
  rule(
    "No invoice, draft or refund takes an active customer beyond their credit, drafts included.",
    function* (state, before) {
      if (!before) return;
      const sumOpen = (customerId: string) =>
        sumAmounts(
          Object.entries(state.invoices)
            .filter(([, it]) => it.customer_id === customerId)
            .map(([id, it]) => computeOpenAmount(state, id, it)),
        );
      for (const [id, it] of listAddedRows(before.invoices, state.invoices)) {
        const { credit, status } = state.customers[it.customer_id]!;
        const sum = sumOpen(it.customer_id);
        if (sum > credit) yield `${id} makes it ${sum} of at most ${credit}`;
        if (status === "archived") yield `${id} bills an archived customer`;
      }
      for (const [id, { invoice_id }] of listChangedRows(before.payments, state.payments)) {
        const { customer_id, status } = state.invoices[invoice_id]!;
        const customer = state.customers[customer_id]!;
        const sum = sumOpen(customer_id);
        if (status === "open" && customer.status === "active" && sum > customer.credit)
          yield `the refund of ${id} makes it ${sum} of at most ${customer.credit}`;
      }
    },
  ),
  rule("Each invoice has its own number, and each reference its own payment.", function* (state) {
    const numbers = Object.values(state.invoices).map(it => it.number);
    const references = Object.values(state.payments).map(it => it.reference);
    if (new Set(numbers).size < numbers.length) yield "two invoices have the same number";
    if (new Set(references).size < references.length) yield "two payments have the same reference";
  }),
  rule("The log has an event for each change, and no event changes.", function* (state, before) {
    if (!before) return;
    const added = listAddedRows(before.events, state.events).map(([, it]) => it.kind);
    const expected = [
      ...listAddedRows(before.invoices, state.invoices).map(() => "invoice.created"),
      ...listAddedRows(before.payments, state.payments).map(() => "payment.received"),
      ...listAddedRows(before.webhooks, state.webhooks).map(() => "webhook.registered"),
      ...listChangedRows(before.payments, state.payments).map(() => "payment.refunded"),
      ...listChangedRows(before.invoices, state.invoices).map(([, it]) =>
        it.status === "paid" ? "invoice.paid" : "invoice.voided",
      ),
    ];
    if (added.sort().join() !== expected.sort().join())
      yield `logged ${added.join() || "nothing"} for ${expected.join() || "nothing"}`;
    if (listChangedRows(before.events, state.events).length > 0) yield "an event has changed";
    if (listRemovedRows(before.events, state.events).length > 0) yield "an event is gone";
  }),
  rule(
    "There are at most six webhooks, each with its own https address.",
    function* ({ webhooks }) {
      const urls = Object.values(webhooks).map(it => it.url.toLowerCase());
      if (urls.length > maxWebhooks) yield `${urls.length} webhooks`;
      if (new Set(urls).size < urls.length) yield "two webhooks have the same address";
      for (const url of urls) if (!url.startsWith("https://")) yield `${url} is not https`;
    },
  ),
];

export const server = defineServer({
  name: "payments",
  category: "Finance",
  summary: "invoices with lines and totals, payments and refunds, webhooks and their event log",
  schema: PaymentsState,
  references,
  invariants,
  tools: { ...invoiceTools, ...settlementTools, ...paymentTools, ...webhookTools },
});
