/** Finds contradictions within the payments state, and with the invoices in the file system. */
import { computeTotal, getInvoiceStatus, type PaymentsState } from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratedStates } from "../shared/generator.ts";
import { findWrittenInvoices } from "./writtenInvoices.ts";

export function* findContradictions(
  state: PaymentsState,
  states: GeneratedStates,
  cast: SharedCast,
): Generator<string> {
  const companies = new Map([...cast.clients, ...cast.prospects].map(it => [it.name, it]));
  for (const [key, it] of Object.entries(state.customers)) {
    const contact = companies.get(it.name)?.contacts.find(person => person.name === it.contact);
    if (contact?.email !== it.email)
      yield `the customer ${key} (${it.name}, ${it.contact} <${it.email}>) is not a company with that contact`;
  }
  const numbers = Object.values(state.invoices).map(it => it.number);
  if (new Set(numbers).size < numbers.length) yield "two invoices have the same number";
  for (const [key, it] of Object.entries(state.invoices)) {
    if (!Object.hasOwn(state.customers, it.customer_id))
      yield `invoice ${key} is for ${it.customer_id}, who is not a customer`;
    const own = Object.values(state.payments).filter(row => row.invoice_id === key);
    const received = own.reduce((sum, row) => sum + row.amount, 0);
    if (it.status === "paid" && received !== computeTotal(it))
      yield `invoice ${it.number} is paid with ${received} of ${computeTotal(it)}`;
    if (it.status === "open" && received >= computeTotal(it))
      yield `invoice ${it.number} is open with ${received} of ${computeTotal(it)} received`;
    if (getInvoiceStatus(it, cast.now) === "draft" && received > 0)
      yield `the draft ${it.number} has been paid for`;
  }
  for (const [key, it] of Object.entries(state.payments)) {
    if (!Object.hasOwn(state.invoices, it.invoice_id))
      yield `payment ${key} is for ${it.invoice_id}, which is not an invoice`;
    if (it.at > cast.now) yield `payment ${key} is in the future`;
    if (it.refunds.reduce((sum, row) => sum + row.amount, 0) > it.amount)
      yield `more of payment ${key} was refunded than was paid`;
  }
  for (const [key, it] of Object.entries(state.events))
    if (it.at > cast.now) yield `event ${key} is in the future`;
  for (const [key, it] of Object.entries(state.events))
    for (const hook of Object.keys(it.deliveries))
      if (!Object.hasOwn(state.webhooks, hook))
        yield `event ${key} went to ${hook}, which is not a webhook`;
  for (const it of findWrittenInvoices(states.get("filesystem"))) {
    const own = Object.values(state.invoices).find(row => row.number === it.number);
    if (!own) yield `invoice ${it.number} in the file system is missing`;
    else if (
      state.customers[own.customer_id]!.name !== it.firm ||
      computeTotal(own) !== computeTotal({ lines: [...it.lines] }) ||
      (own.status === "paid") !== it.isPaid ||
      (it.due ?? own.due) !== own.due
    )
      yield `invoice ${it.number} differs from the file system`;
  }
}
