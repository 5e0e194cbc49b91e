/**
 * Generates the accounting of a fixture set from the invoices in the file system, last year's list
 * of invoices and the companies of the shared cast.
 */
import { addDays } from "../../environment/time.ts";
import { server } from "./server.ts";
import type { PaymentsState } from "./state.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { PaymentsBuilder } from "./booksBuilder.ts";
import { addWrittenInvoices, addLastYear, addRecentInvoices } from "./generateInvoices.ts";
import { findContradictions } from "./inconsistencies.ts";
import { findWrittenInvoices } from "./writtenInvoices.ts";

function generate(context: GeneratorContext): PaymentsState {
  const { cast, size } = context;
  const builder = new PaymentsBuilder(context);
  const isFull = size === "full";
  const today = cast.now.slice(0, 10);
  addCustomers(builder, isFull);
  const writtenInvoices = findWrittenInvoices(context.states.get("filesystem"));
  if (isFull) addLastYear(builder, writtenInvoices);
  addWrittenInvoices(builder, writtenInvoices, isFull);
  // one payment of the small fixture is past its refund window
  if (!isFull) Object.values(builder.state.payments)[0]!.method = "cash";
  const lastNumber = Math.max(...writtenInvoices.map(it => it.number));
  const open = Object.entries(builder.state.invoices).filter(
    ([, it]) => it.status === "open" && it.due >= today,
  );
  for (const [key] of open.slice(isFull ? -2 : -1))
    builder.addPayments(key, [addDays(today, -3)], "bank_transfer", 0.25);
  addRecentInvoices(builder, lastNumber, isFull);
  addRefunds(builder, isFull);
  addWebhooks(builder, isFull);
  builder.addEvents(isFull ? "2025-11-15" : addDays(today, -12));
  return builder.state;
}

function addCustomers(builder: PaymentsBuilder, isFull: boolean): void {
  const { clients, prospects } = builder.context.cast;
  for (const [i, firm] of clients.entries())
    builder.addCustomer(firm, { credit: [9000, 1200, 2500][i]!, mandate: i === 1 });
  for (const [i, firm] of prospects.slice(0, isFull ? 12 : 2).entries())
    builder.addCustomer(firm, {
      credit: 1500 + 500 * (i % 4),
      mandate: i % 3 === 0,
      archived: i === (isFull ? 5 : 1),
    });
}

function addRefunds(builder: PaymentsBuilder, isFull: boolean): void {
  const at = (daysAgo: number, time: string) =>
    `${addDays(builder.context.cast.now, -daysAgo)}T${time}`;
  if (!isFull) {
    builder.addRefund("invoice 41 part 2", 100, at(6, "10:20"), "photos delivered late");
    return;
  }
  builder.addRefund("invoice 40", 515, at(6, "10:20"), "menus printed in the wrong colour");
  builder.addRefund("invoice 38", 250, at(5, "15:05"), "two photos left out");
  builder.addRefund("invoice 39 part 2", 50, at(12, "11:40"), "agreed discount");
}

function addWebhooks(builder: PaymentsBuilder, isFull: boolean): void {
  const { domain } = builder.context.cast.studio;
  builder.addWebhook(
    `books.${domain}/hooks/invoices`,
    ["invoice.created", "invoice.paid", "invoice.voided"],
    "active",
  );
  builder.addWebhook(
    `chat.${domain}/hooks/money`,
    ["payment.received", "payment.refunded"],
    "failing",
  );
  if (isFull) builder.addWebhook(`reports.${domain}/push`, ["invoice.paid"], "active");
}

export const generator = defineGenerator<PaymentsState>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [...findContradictions(state, states, cast)],
});
