/** Generates invoices and their payments. */
import { addDays } from "../../environment/time.ts";
import { computeTotal } from "./state.ts";
import type { Firm } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import type { PaymentsBuilder } from "./booksBuilder.ts";
import { type Line, type Method } from "./booksBuilder.ts";
import type { WrittenInvoice } from "./writtenInvoices.ts";

const workItems = [
  "Website layout",
  "Website texts",
  "Photos",
  "Logo",
  "Business cards",
  "Letterhead",
  "Poster",
  "Print",
  "Menu design",
  "Label design",
  "Style guide",
  "Icons",
  "Brochure",
  "Flyer",
  "Newsletter",
  "Banner",
  "Illustrations",
  "Catalogue pages",
  "Packaging",
  "Trade fair stand",
  "Product film",
  "Translation",
  "Shop pages",
  "Accessibility check",
  "Annual report",
  "Invitation cards",
];

const usualMethods: readonly Method[] = ["bank_transfer", "direct_debit", "card"];

/** Adds the invoices in the file system, except those that last year's invoices include. */
export function addWrittenInvoices(
  builder: PaymentsBuilder,
  writtenInvoices: readonly WrittenInvoice[],
  isFull: boolean,
): void {
  const { now, clients } = builder.context.cast;
  for (const it of writtenInvoices.filter(row => !isFull || row.number > 37)) {
    const due = it.due ?? (it.isPaid ? addDays(now, -20) : addDays(now, 12 * (it.number % 5) - 26));
    const status = it.isPaid ? "paid" : "open";
    const key = builder.addInvoice(it.number, it.firm, status, addDays(due, -30), due, it.lines);
    if (!it.isPaid) continue;
    const days =
      it.number % 3 === 0 || !isFull ? [addDays(due, -18), addDays(due, -4)] : [addDays(due, -3)];
    const method = usualMethods[clients.findIndex(firm => firm.name === it.firm)];
    builder.addPayments(key, days, method ?? "bank_transfer");
  }
}

/** One or two lines of work with this total. */
function createLines(total: number, { random }: GeneratorContext): Line[] {
  const [first, second] = random.shuffle(workItems) as [string, string];
  if (total < 250 || random.boolean(0.4)) return [{ text: first, quantity: 1, unit_price: total }];
  const part = 10 * Math.max(4, Math.round((total / 10) * (0.2 + 0.3 * random.next())));
  const n = part % 30 === 0 ? 3 : part % 20 === 0 ? 2 : 1;
  return [
    { text: first, quantity: 1, unit_price: total - part },
    { text: second, quantity: n, unit_price: part / n },
  ];
}

/**
 * Adds last year's invoices to the three clients. Their number and total match the yearly list in
 * the file system.
 */
export function addLastYear(
  builder: PaymentsBuilder,
  writtenInvoices: readonly WrittenInvoice[],
): void {
  const { context } = builder;
  const { cast, random } = context;
  const yearly = [
    [9, 8450],
    [6, 5120],
    [11, 4980],
  ] as const;
  const writtenByNumber = new Map(writtenInvoices.map(it => [it.number, it]));
  const remaining = yearly.map(([n, total], i) => {
    const ownInvoices = writtenInvoices.filter(
      it => it.number <= 37 && it.firm === cast.clients[i]!.name,
    );
    return {
      firm: cast.clients[i]!.name,
      n: n - ownInvoices.length,
      total:
        total - ownInvoices.reduce((sum, it) => sum + computeTotal({ lines: [...it.lines] }), 0),
    };
  });
  for (const number of [9, 10, 11]) {
    const issued = addDays("2025-02-03", 11 * (number - 9));
    builder.addInvoice(
      number,
      cast.clients[number % 3]!.name,
      "void",
      issued,
      addDays(issued, 30),
      createLines(150 + 10 * random.integer(40), context),
    );
  }
  for (let number = 12; number <= 37; number++) {
    const issued = addDays("2025-03-15", (number - 12) * 11);
    const it = writtenByNumber.get(number);
    const remainingRow = it ? undefined : random.pickWeighted(remaining, row => row.n);
    const share =
      remainingRow &&
      (remainingRow.n === 1
        ? remainingRow.total
        : 10 *
          Math.max(
            9,
            Math.round((remainingRow.total / remainingRow.n / 10) * (0.6 + 0.8 * random.next())),
          ));
    if (remainingRow) {
      remainingRow.total -= share!;
      remainingRow.n--;
    }
    const firm = it?.firm ?? remainingRow!.firm;
    const key = builder.addInvoice(
      number,
      firm,
      "paid",
      issued,
      addDays(issued, 30),
      it?.lines ?? createLines(share!, context),
    );
    const isSmall = share !== undefined && share < 200;
    const days = random.boolean(0.3)
      ? [addDays(issued, 8 + random.integer(8)), addDays(issued, 24 + random.integer(6))]
      : [addDays(issued, 12 + random.integer(20))];
    builder.addPayments(
      key,
      days,
      isSmall ? "cash" : usualMethods[cast.clients.findIndex(row => row.name === firm)]!,
    );
  }
}

/**
 * Adds the latest invoices: void ones, open ones, and drafts for companies that may become clients.
 */
export function addRecentInvoices(builder: PaymentsBuilder, last: number, isFull: boolean): void {
  const { context } = builder;
  const { cast } = context;
  const today = cast.now.slice(0, 10);
  const [first, second, third] = cast.clients;
  const amounts = [480, 360, 260, 750, 540, 1200, 330, 690, 880, 450, 1500, 610, 270, 940];
  let number = last + 1;
  const addDraftOrInvoice = (firm: Firm, status: "open" | "void", issued: string) => {
    builder.addInvoice(
      number,
      firm.name,
      status,
      issued,
      addDays(issued, 30),
      createLines(amounts[number % amounts.length]!, context),
    );
    number++;
  };
  addDraftOrInvoice(third!, "void", addDays(today, -3));
  if (isFull) {
    addDraftOrInvoice(third!, "open", addDays(today, -2));
    addDraftOrInvoice(first!, "open", addDays(today, -1));
    addDraftOrInvoice(first!, "open", today);
    addDraftOrInvoice(second!, "void", today);
  }
  for (const [i, firm] of cast.prospects.slice(0, isFull ? 6 : 2).entries())
    addDraftOrInvoice(firm, "open", addDays(today, 2 + 3 * i));
}
