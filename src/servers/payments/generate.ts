/**
 * Generates the accounting of a fixture set from the invoices in the file system, last year's list of
 * invoices and the companies of the shared cast.
 */
import { addDays } from "../../environment/time.ts";
import { server } from "./server.ts";
import type { PaymentsState } from "./state.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { BooksBuilder } from "./booksBuilder.ts";
import { addWrittenInvoices, addLastYear, addRecentInvoices } from "./generateInvoices.ts";
import { findContradictions } from "./inconsistencies.ts";
import { findWrittenInvoices } from "./writtenInvoices.ts";

function generate(context: GeneratorContext): PaymentsState {
  const { cast, size } = context;
  const books = new BooksBuilder(context);
  const isFull = size === "full";
  const today = cast.now.slice(0, 10);
  addCustomers(books, isFull);
  const written = findWrittenInvoices(context.states.get("filesystem"));
  if (isFull) addLastYear(books, written);
  addWrittenInvoices(books, written, isFull);
  // one payment of the small fixture is past its refund window
  if (!isFull) Object.values(books.state.payments)[0]!.method = "cash";
  const last = Math.max(...written.map(it => it.number));
  const open = Object.entries(books.state.invoices).filter(
    ([, it]) => it.status === "open" && it.due >= today,
  );
  for (const [key] of open.slice(isFull ? -2 : -1))
    books.addPayments(key, [addDays(today, -3)], "bank_transfer", 0.25);
  addRecentInvoices(books, last, isFull);
  addRefunds(books, isFull);
  addWebhooks(books, isFull);
  books.addEvents(isFull ? "2025-11-15" : addDays(today, -12));
  return books.state;
}

function addCustomers(books: BooksBuilder, isFull: boolean): void {
  const { clients, prospects } = books.context.cast;
  for (const [i, firm] of clients.entries())
    books.addCustomer(firm, { credit: [9000, 1200, 2500][i]!, mandate: i === 1 });
  for (const [i, firm] of prospects.slice(0, isFull ? 12 : 2).entries())
    books.addCustomer(firm, {
      credit: 1500 + 500 * (i % 4),
      mandate: i % 3 === 0,
      archived: i === (isFull ? 5 : 1),
    });
}

function addRefunds(books: BooksBuilder, isFull: boolean): void {
  const at = (daysAgo: number, time: string) =>
    `${addDays(books.context.cast.now, -daysAgo)}T${time}`;
  if (!isFull) {
    books.addRefund("invoice 41 part 2", 100, at(6, "10:20"), "photos delivered late");
    return;
  }
  books.addRefund("invoice 40", 515, at(6, "10:20"), "menus printed in the wrong colour");
  books.addRefund("invoice 38", 250, at(5, "15:05"), "two photos left out");
  books.addRefund("invoice 39 part 2", 50, at(12, "11:40"), "agreed discount");
}

function addWebhooks(books: BooksBuilder, isFull: boolean): void {
  const { domain } = books.context.cast.studio;
  books.addWebhook(
    `books.${domain}/hooks/invoices`,
    ["invoice.created", "invoice.paid", "invoice.voided"],
    "active",
  );
  books.addWebhook(
    `chat.${domain}/hooks/money`,
    ["payment.received", "payment.refunded"],
    "failing",
  );
  if (isFull) books.addWebhook(`reports.${domain}/push`, ["invoice.paid"], "active");
}

export const generator = defineGenerator<PaymentsState>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [...findContradictions(state, states, cast)],
});
