/** Builds the generated state of the payments server. */
import { computeTotal, type PaymentsState } from "./state.ts";
import type { Firm } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";

export type Line = PaymentsState["invoices"][string]["lines"][number];
export type Method = PaymentsState["payments"][string]["method"];
type Kind = PaymentsState["events"][string]["kind"];

const refundDays = { bank_transfer: 90, card: 120, direct_debit: 56, cash: 14 };

/** Builds the generated state row by row. */
export class PaymentsBuilder {
  readonly context: GeneratorContext;
  readonly state: PaymentsState;
  readonly #customers = new Map<string, string>();

  constructor(context: GeneratorContext) {
    this.context = context;
    this.state = {
      refund_days: refundDays,
      cash_limit: 1000,
      customers: {},
      invoices: {},
      payments: {},
      webhooks: {},
      events: {},
    };
  }

  addCustomer(firm: Firm, rules: { credit: number; mandate?: boolean; archived?: boolean }): void {
    const key = this.context.nextId("cus");
    const { name, email } = firm.contacts[0]!;
    this.#customers.set(firm.name, key);
    this.state.customers[key] = {
      name: firm.name,
      contact: name,
      email,
      status: rules.archived ? "archived" : "active",
      credit: rules.credit,
      mandate: rules.mandate ?? false,
    };
  }

  addInvoice(
    number: number,
    firm: string,
    status: "open" | "paid" | "void",
    issued: string,
    due: string,
    lines: readonly Line[],
  ): string {
    const key = this.context.nextId("inv");
    this.state.invoices[key] = {
      number,
      customer_id: this.#customers.get(firm)!,
      status,
      issued,
      due,
      lines: [...lines],
    };
    return key;
  }

  /** Adds the payments of an invoice, one for each day; all but the last are equal. */
  addPayments(invoiceId: string, days: readonly string[], method: Method, share = 1): void {
    const invoice = this.state.invoices[invoiceId]!;
    const total = Math.round(computeTotal(invoice) * share);
    const partAmount = Math.floor(total / days.length);
    for (const [i, date] of days.entries()) {
      const amount = i === days.length - 1 ? total - partAmount * i : partAmount;
      const reference = `invoice ${invoice.number}${days.length === 1 && share === 1 ? "" : ` part ${i + 1}`}`;
      this.state.payments[this.context.nextId("pmt")] = {
        invoice_id: invoiceId,
        reference,
        amount,
        method,
        at: `${date}T${this.#createTime()}`,
        refunds: [],
      };
    }
  }

  addRefund(reference: string, amount: number, at: string, reason: string): void {
    const payment = Object.values(this.state.payments).find(it => it.reference === reference)!;
    payment.refunds.push({ amount: Math.min(amount, payment.amount), at, reason });
  }

  addWebhook(path: string, events: Kind[], status: "active" | "failing"): void {
    this.state.webhooks[this.context.nextId("whk")] = { url: `https://${path}`, events, status };
  }

  #createTime(): string {
    return `${String(8 + this.context.random.integer(10)).padStart(2, "0")}:${String(this.context.random.integer(60)).padStart(2, "0")}`;
  }

  /** Adds the events of all rows since `from`. */
  addEvents(from: string): void {
    const { invoices, payments } = this.state;
    const events: { kind: Kind; at: string; about: string }[] = [];
    for (const it of Object.values(invoices)) {
      if (it.issued <= this.context.cast.now.slice(0, 10))
        events.push({
          kind: "invoice.created",
          at: `${it.issued}T08:${String(it.number % 60).padStart(2, "0")}`,
          about: `invoice ${it.number}`,
        });
      if (it.status === "void")
        events.push({
          kind: "invoice.voided",
          at: `${it.issued}T08:59`,
          about: `invoice ${it.number}`,
        });
    }
    for (const [invoiceId, { number, status }] of Object.entries(invoices)) {
      const invoicePayments = Object.values(payments).filter(it => it.invoice_id === invoiceId);
      const last = invoicePayments
        .map(it => it.at)
        .sort()
        .at(-1);
      for (const it of invoicePayments)
        events.push({ kind: "payment.received", at: it.at, about: `invoice ${number}` });
      for (const it of invoicePayments)
        for (const refund of it.refunds)
          events.push({ kind: "payment.refunded", at: refund.at, about: it.reference });
      if (status === "paid" && last !== undefined)
        events.push({ kind: "invoice.paid", at: last, about: `invoice ${number}` });
    }
    const recentEvents = events
      .filter(it => it.at >= from)
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    for (const it of recentEvents) {
      const subscribers = Object.entries(this.state.webhooks).filter(([, hook]) =>
        hook.events.includes(it.kind),
      );
      // a failing webhook has failed since the beginning of March
      const getDeliveryResult = (hook: { status: string }, at: string) =>
        hook.status === "failing" && at >= "2026-03-01"
          ? ("failed" as const)
          : ("delivered" as const);
      this.state.events[this.context.nextId("evt")] = {
        ...it,
        deliveries: Object.fromEntries(
          subscribers.map(([key, hook]) => [key, getDeliveryResult(hook, it.at)]),
        ),
      };
    }
  }
}
