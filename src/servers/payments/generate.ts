/**
 * The studio's books: what the invoices on the disk say, what was billed the year before, and what
 * came in for it. Its firms are the canon's; its lines of work come from a pool. Knows how invoices
 * are written on the disk, and no other server.
 */
import { dayAfter } from "../../environment/time.ts";
import { server, statusOf, totalOf, type PaymentsWorld } from "./server.ts";
import type { SharedCast, Firm } from "../shared/cast.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";

type Line = PaymentsWorld["invoices"][string]["lines"][number];
type Method = PaymentsWorld["payments"][string]["method"];
type Kind = PaymentsWorld["events"][string]["kind"];

const refundDays = { bank_transfer: 90, card: 120, direct_debit: 56, cash: 14 };

const work = [
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

interface Written {
  readonly number: number;
  readonly firm: string;
  readonly lines: readonly Line[];
  readonly isPaid: boolean;
  readonly due?: string;
}

/** Every invoice that lies on a disk as text, its trash included, by number. */
export function writtenInvoices(disk: unknown): Written[] {
  const found: Written[] = [];
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { text } = node as { text?: unknown };
    const written = typeof text === "string" ? writtenIn(text) : undefined;
    if (written) found.push(written);
    for (const it of Object.values(node)) walk(it);
  };
  walk(disk);
  return found.sort((a, b) => a.number - b.number);
}

function writtenIn(text: string): Written | undefined {
  const head = /^Invoice (\d+) for (.+)\n/.exec(text);
  if (!head) return undefined;
  const rows = [...text.matchAll(/^(.+) (\d+)$/gm)].filter(it => it[1] !== "Total");
  const lines = rows.map(it => ({ text: it[1]!, quantity: 1, unit_price: Number(it[2]) }));
  const due = /^Due (\d{4}-\d\d-\d\d)$/m.exec(text)?.[1];
  return {
    number: Number(head[1]),
    firm: head[2]!,
    lines,
    isPaid: /^Status: paid$/m.test(text),
    ...(due === undefined ? {} : { due }),
  };
}

/** Makes the books row by row, so that what belongs together is written together. */
class Books {
  readonly context: GeneratorContext;
  readonly state: PaymentsWorld;
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

  customer(firm: Firm, rules: { credit: number; mandate?: boolean; archived?: boolean }): void {
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

  invoice(
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

  /** Money for an invoice on some days, in equal parts but for the last one. */
  paid(invoiceId: string, days: readonly string[], method: Method, share = 1): void {
    const invoice = this.state.invoices[invoiceId]!;
    const total = Math.round(totalOf(invoice) * share);
    const part = Math.floor(total / days.length);
    for (const [i, on] of days.entries()) {
      const amount = i === days.length - 1 ? total - part * i : part;
      const reference = `invoice ${invoice.number}${days.length === 1 && share === 1 ? "" : ` part ${i + 1}`}`;
      this.state.payments[this.context.nextId("pmt")] = {
        invoice_id: invoiceId,
        reference,
        amount,
        method,
        at: `${on}T${this.#time()}`,
        refunds: [],
      };
    }
  }

  refund(reference: string, amount: number, at: string, reason: string): void {
    const payment = Object.values(this.state.payments).find(it => it.reference === reference)!;
    payment.refunds.push({ amount: Math.min(amount, payment.amount), at, reason });
  }

  webhook(path: string, events: Kind[], status: "active" | "failing"): void {
    this.state.webhooks[this.context.nextId("whk")] = { url: `https://${path}`, events, status };
  }

  #time(): string {
    return `${String(8 + this.context.random.integer(10)).padStart(2, "0")}:${String(this.context.random.integer(60)).padStart(2, "0")}`;
  }

  /** The log of what these books hold, from a day on. */
  log(from: string): void {
    const { invoices, payments: received } = this.state;
    const told: { kind: Kind; at: string; about: string }[] = [];
    for (const it of Object.values(invoices)) {
      if (it.issued <= this.context.cast.now.slice(0, 10))
        told.push({
          kind: "invoice.created",
          at: `${it.issued}T08:${String(it.number % 60).padStart(2, "0")}`,
          about: `invoice ${it.number}`,
        });
      if (it.status === "void")
        told.push({
          kind: "invoice.voided",
          at: `${it.issued}T08:59`,
          about: `invoice ${it.number}`,
        });
    }
    for (const [invoiceId, { number, status }] of Object.entries(invoices)) {
      const own = Object.values(received).filter(it => it.invoice_id === invoiceId);
      const last = own
        .map(it => it.at)
        .sort()
        .at(-1);
      for (const it of own)
        told.push({ kind: "payment.received", at: it.at, about: `invoice ${number}` });
      for (const it of own)
        for (const back of it.refunds)
          told.push({ kind: "payment.refunded", at: back.at, about: it.reference });
      if (status === "paid" && last !== undefined)
        told.push({ kind: "invoice.paid", at: last, about: `invoice ${number}` });
    }
    const recent = told
      .filter(it => it.at >= from)
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    for (const it of recent) {
      const wanted = Object.entries(this.state.webhooks).filter(([, hook]) =>
        hook.events.includes(it.kind),
      );
      // what fails now has failed since the beginning of March
      const result = (hook: { status: string }, at: string) =>
        hook.status === "failing" && at >= "2026-03-01"
          ? ("failed" as const)
          : ("delivered" as const);
      this.state.events[this.context.nextId("evt")] = {
        ...it,
        deliveries: Object.fromEntries(wanted.map(([key, hook]) => [key, result(hook, it.at)])),
      };
    }
  }
}

const usualMethods: readonly Method[] = ["bank_transfer", "direct_debit", "card"];

function generate(context: GeneratorContext): PaymentsWorld {
  const { cast, size } = context;
  const books = new Books(context);
  const isFull = size === "full";
  const today = cast.now.slice(0, 10);
  for (const [i, firm] of cast.clients.entries())
    books.customer(firm, { credit: [9000, 1200, 2500][i]!, mandate: i === 1 });
  for (const [i, firm] of cast.prospects.slice(0, isFull ? 12 : 2).entries())
    books.customer(firm, {
      credit: 1500 + 500 * (i % 4),
      mandate: i % 3 === 0,
      archived: i === (isFull ? 5 : 1),
    });
  const methodOf = (firm: string) =>
    usualMethods[cast.clients.findIndex(it => it.name === firm)] ?? "bank_transfer";
  const written = writtenInvoices(context.states.get("filesystem"));
  if (isFull) lastYear(books, written);
  for (const it of written.filter(row => !isFull || row.number > 37)) {
    const due =
      it.due ?? (it.isPaid ? dayAfter(today, -20) : dayAfter(today, 12 * (it.number % 5) - 26));
    const key = books.invoice(
      it.number,
      it.firm,
      it.isPaid ? "paid" : "open",
      dayAfter(due, -30),
      due,
      it.lines,
    );
    if (it.isPaid)
      books.paid(
        key,
        it.number % 3 === 0 || !isFull
          ? [dayAfter(due, -18), dayAfter(due, -4)]
          : [dayAfter(due, -3)],
        methodOf(it.firm),
      );
  }
  // small keeps a payment whose window has closed
  if (!isFull) Object.values(books.state.payments)[0]!.method = "cash";
  const last = Math.max(...written.map(it => it.number));
  const open = Object.entries(books.state.invoices).filter(
    ([, it]) => it.status === "open" && it.due >= today,
  );
  for (const [key] of open.slice(isFull ? -2 : -1))
    books.paid(key, [dayAfter(today, -3)], "bank_transfer", 0.25);
  newest(books, last, isFull);
  books.refund(
    isFull ? "invoice 40" : "invoice 41 part 2",
    isFull ? 515 : 100,
    `${dayAfter(today, -6)}T10:20`,
    isFull ? "menus printed in the wrong colour" : "photos delivered late",
  );
  if (isFull) {
    books.refund("invoice 38", 250, `${dayAfter(today, -5)}T15:05`, "two photos left out");
    books.refund("invoice 39 part 2", 50, `${dayAfter(today, -12)}T11:40`, "agreed discount");
  }
  books.webhook(
    `books.${cast.studio.domain}/hooks/invoices`,
    ["invoice.created", "invoice.paid", "invoice.voided"],
    "active",
  );
  books.webhook(
    `chat.${cast.studio.domain}/hooks/money`,
    ["payment.received", "payment.refunded"],
    "failing",
  );
  if (isFull) books.webhook(`reports.${cast.studio.domain}/push`, ["invoice.paid"], "active");
  books.log(isFull ? "2025-11-15" : dayAfter(today, -12));
  return books.state;
}

/** Some lines of work that add up to an amount in whole tens. */
function linesFor(total: number, { random }: GeneratorContext): Line[] {
  const [first, second] = random.shuffle(work) as [string, string];
  if (total < 250 || random.boolean(0.4)) return [{ text: first, quantity: 1, unit_price: total }];
  const part = 10 * Math.max(4, Math.round((total / 10) * (0.2 + 0.3 * random.next())));
  const n = part % 30 === 0 ? 3 : part % 20 === 0 ? 2 : 1;
  return [
    { text: first, quantity: 1, unit_price: total - part },
    { text: second, quantity: n, unit_price: part / n },
  ];
}

/**
 * What the three clients were billed in the year before: as many invoices, and as much, as the
 * yearly list on the disk says.
 */
function lastYear(books: Books, written: readonly Written[]): void {
  const { context } = books;
  const { cast, random } = context;
  const yearly = [
    [9, 8450],
    [6, 5120],
    [11, 4980],
  ] as const;
  const known = new Map(written.map(it => [it.number, it]));
  const left = yearly.map(([n, total], i) => {
    const own = written.filter(it => it.number <= 37 && it.firm === cast.clients[i]!.name);
    return {
      firm: cast.clients[i]!.name,
      n: n - own.length,
      total: total - own.reduce((sum, it) => sum + totalOf({ lines: [...it.lines] }), 0),
    };
  });
  for (const number of [9, 10, 11]) {
    const issued = dayAfter("2025-02-03", 11 * (number - 9));
    books.invoice(
      number,
      cast.clients[number % 3]!.name,
      "void",
      issued,
      dayAfter(issued, 30),
      linesFor(150 + 10 * random.integer(40), context),
    );
  }
  for (let number = 12; number <= 37; number++) {
    const issued = dayAfter("2025-03-15", (number - 12) * 11);
    const it = known.get(number);
    const from = it ? undefined : random.pickWeighted(left, row => row.n);
    const share =
      from &&
      (from.n === 1
        ? from.total
        : 10 * Math.max(9, Math.round((from.total / from.n / 10) * (0.6 + 0.8 * random.next()))));
    if (from) {
      from.total -= share!;
      from.n--;
    }
    const firm = it?.firm ?? from!.firm;
    const key = books.invoice(
      number,
      firm,
      "paid",
      issued,
      dayAfter(issued, 30),
      it?.lines ?? linesFor(share!, context),
    );
    const isSmall = share !== undefined && share < 200;
    const days = random.boolean(0.3)
      ? [dayAfter(issued, 8 + random.integer(8)), dayAfter(issued, 24 + random.integer(6))]
      : [dayAfter(issued, 12 + random.integer(20))];
    books.paid(
      key,
      days,
      isSmall ? "cash" : usualMethods[cast.clients.findIndex(row => row.name === firm)]!,
    );
  }
}

/**
 * What was made since the list on the disk was written: a mistake, some new bills, and drafts for
 * firms that may become clients.
 */
function newest(books: Books, last: number, isFull: boolean): void {
  const { context } = books;
  const { cast } = context;
  const today = cast.now.slice(0, 10);
  const [first, second, third] = cast.clients;
  const amounts = [480, 360, 260, 750, 540, 1200, 330, 690, 880, 450, 1500, 610, 270, 940];
  let number = last + 1;
  const bill = (firm: Firm, status: "open" | "void", issued: string) => {
    books.invoice(
      number,
      firm.name,
      status,
      issued,
      dayAfter(issued, 30),
      linesFor(amounts[number % amounts.length]!, context),
    );
    number++;
  };
  bill(third!, "void", dayAfter(today, -3));
  if (isFull) {
    bill(third!, "open", dayAfter(today, -2));
    bill(first!, "open", dayAfter(today, -1));
    bill(first!, "open", today);
    bill(second!, "void", today);
  }
  for (const [i, firm] of cast.prospects.slice(0, isFull ? 6 : 2).entries())
    bill(firm, "open", dayAfter(today, 2 + 3 * i));
}

function* contradictions(
  state: PaymentsWorld,
  states: GeneratedStates,
  cast: SharedCast,
): Generator<string> {
  const firms = new Map([...cast.clients, ...cast.prospects].map(it => [it.name, it]));
  for (const [key, it] of Object.entries(state.customers)) {
    const contact = firms.get(it.name)?.contacts.find(person => person.name === it.contact);
    if (contact?.email !== it.email)
      yield `the customer ${key} (${it.name}, ${it.contact} <${it.email}>) is no firm with that contact`;
  }
  const numbers = Object.values(state.invoices).map(it => it.number);
  if (new Set(numbers).size < numbers.length) yield "two invoices have one number";
  for (const [key, it] of Object.entries(state.invoices)) {
    if (!Object.hasOwn(state.customers, it.customer_id))
      yield `invoice ${key} is for ${it.customer_id}, who is no customer`;
    const own = Object.values(state.payments).filter(row => row.invoice_id === key);
    const received = own.reduce((sum, row) => sum + row.amount, 0);
    if (it.status === "paid" && received !== totalOf(it))
      yield `invoice ${it.number} is paid with ${received} of ${totalOf(it)}`;
    if (it.status === "open" && received >= totalOf(it))
      yield `invoice ${it.number} is open with ${received} of ${totalOf(it)} received`;
    if (statusOf(it, cast.now) === "draft" && received > 0)
      yield `the draft ${it.number} has been paid for`;
  }
  for (const [key, it] of Object.entries(state.payments)) {
    if (!Object.hasOwn(state.invoices, it.invoice_id))
      yield `payment ${key} is for ${it.invoice_id}, which is no invoice`;
    if (it.at > cast.now) yield `payment ${key} is to come`;
    if (it.refunds.reduce((sum, row) => sum + row.amount, 0) > it.amount)
      yield `more of payment ${key} was given back than came in`;
  }
  for (const [key, it] of Object.entries(state.events))
    if (it.at > cast.now) yield `event ${key} is to come`;
  for (const [key, it] of Object.entries(state.events))
    for (const hook of Object.keys(it.deliveries))
      if (!Object.hasOwn(state.webhooks, hook))
        yield `event ${key} went to ${hook}, which is no webhook`;
  for (const it of writtenInvoices(states.get("filesystem"))) {
    const own = Object.values(state.invoices).find(row => row.number === it.number);
    if (!own) yield `invoice ${it.number} of the disk is missing`;
    else if (
      state.customers[own.customer_id]!.name !== it.firm ||
      totalOf(own) !== totalOf({ lines: [...it.lines] }) ||
      (own.status === "paid") !== it.isPaid ||
      (it.due ?? own.due) !== own.due
    )
      yield `invoice ${it.number} is not what the disk says`;
  }
}

export const generator = defineGenerator<PaymentsWorld>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [...contradictions(state, states, cast)],
});
