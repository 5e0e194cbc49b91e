/** Tests every payments tool: results, changes to the state, and refusals. */
import { describe, expect, test } from "vitest";
import { server as payments } from "../../src/servers/payments/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(payments);

const [northwind, bluepeak, orchard, hotels, books] = [
  "cus_101",
  "cus_104",
  "cus_107",
  "cus_110",
  "cus_113",
] as const;
const [paid41, overdue42, open43, void44, draft45] = [
  "inv_101",
  "inv_104",
  "inv_107",
  "inv_110",
  "inv_113",
] as const;
const [early, late, part] = ["pmt_101", "pmt_104", "pmt_107"] as const;

const refusedOrBadArguments = { kind: expect.stringMatching(/refused|bad-arguments/) as string };

describe("billing", () => {
  const line = { text: "Flyer", quantity: 2, unit_price: 105.5 };
  const create = (customer_id: string, more: Record<string, string> = {}, lines = [line]): Call => [
    "create_invoice",
    { customer_id, lines, ...more },
  ];
  test("adds up lines: 2 × 105.50 + 90 = 301, due in 30 days", () =>
    check(
      [create(northwind, {}, [line, { text: "Icons", quantity: 1, unit_price: 90 }])],
      returns({ number: "47", status: "open", total: 301, due: "2026-04-08" }),
    ));
  test("shows in what the customer owes: 315 + 211", () =>
    check(
      [create(orchard), ["list_invoices", { customer: "orchard" }]],
      returns({ customers: [{ customer_id: orchard, owes: 526 }] }),
    ));
  test("increments the number", () =>
    check([create(northwind), create(bluepeak)], returns({ number: "48" })));
  test("for a later day makes a draft", () =>
    check(
      [create(hotels, { send_on: "2026-03-20" })],
      returns({ status: "draft", due: "2026-04-19" }),
    ));
  test("logs an event with its deliveries", () =>
    check(
      [create(northwind), ["list_webhook_events", { limit: 1 }]],
      returns({
        events: [
          {
            event: "invoice.created",
            about: "invoice 47",
            deliveries: [{ webhook_id: "whk_101", result: "delivered" }],
          },
        ],
      }),
    ));
  test("an archived customer is refused", () =>
    check([create(books)], refuses("precondition_failed", /Tidewater Books .* is archived/)));
  test("beyond the customer's credit is refused: 450 + 800 > 1200", () =>
    check(
      [create(bluepeak, {}, [{ text: "Website", quantity: 1, unit_price: 800 }])],
      refuses("limit_exceeded", /owes 450 and may owe 1200/),
    ));
  test("is within the credit after a payment", () =>
    check(
      [
        ["pay_invoice", { invoice_id: overdue42, method: "card" }],
        create(bluepeak, {}, [{ text: "Website", quantity: 1, unit_price: 800 }]),
      ],
      returns({ total: 800 }),
    ));
  test("a draft counts like an invoice: 450 + 750 is just within 1200", () =>
    check(
      [
        create(bluepeak, { send_on: "2026-03-10" }, [
          { text: "Website", quantity: 1, unit_price: 750 },
        ]),
      ],
      returns({ status: "draft" }),
    ));
  test("an unknown customer is refused", () =>
    check([create("cus_999")], refuses("not_found", /no customer cus_999/)));
  test("due before it goes out is refused", () =>
    check(
      [create(northwind, { due: "2026-03-08" })],
      refuses("precondition_failed", /due 2026-03-08 is before/),
    ));
  test("sending in the past is refused", () =>
    check(
      [create(northwind, { send_on: "2026-03-08" })],
      refuses("precondition_failed", /before today, 2026-03-09/),
    ));
  test("a day that does not exist is refused", () =>
    check([create(northwind, { due: "2026-02-30" })], refuses("invalid_params", /due/)));
  test("without lines is refused", () =>
    check(
      [["create_invoice", { customer_id: northwind, lines: [] }]],
      refuses("invalid_params", /lines/),
    ));
  for (const unit_price of [0, -5, -0, 0.001, 1e308, Number.NaN])
    test(`a price of ${unit_price} is refused`, () =>
      check([create(northwind, {}, [{ ...line, unit_price }])], refusedOrBadArguments));
  test("an invoice shows its lines and payments: 420 − 105 = 315", () =>
    check(
      [["get_invoice", { invoice_id: open43 }]],
      returns({
        number: "43",
        customer: "Orchard Foods",
        customer_id: orchard,
        status: "open",
        total: 420,
        left: 315,
        lines: [
          { text: "Poster", amount: 300 },
          { text: "Print", amount: 120 },
        ],
        payments: [{ reference: "invoice 43 part 1", payment_id: part, amount: 105 }],
      }),
    ));
  test("__proto__ is just an unknown invoice", () =>
    check(
      [["get_invoice", { invoice_id: "__proto__" }]],
      refuses("not_found", /no invoice __proto__/),
    ));
  test("is found by number", () =>
    check(
      [["list_invoices", { number: "42" }]],
      returns({
        invoices: [{ invoice_id: overdue42, customer: "Bluepeak", status: "overdue", left: 450 }],
      }),
    ));
  test("overdue ones are apart from open ones", () =>
    check(
      [["list_invoices", { status: "open" }]],
      returns({
        invoices: [{ invoice_id: open43 }],
        customers: [{ customer: "Orchard Foods", owes: 315 }],
      }),
    ));
  test("does not count drafts as owed", () =>
    check(
      [["list_invoices", { status: "draft", limit: 2 }]],
      returns({
        invoices: [{ number: "46" }, { number: "45" }],
        customers: [{ owes: 0 }, { owes: 0 }],
      }),
    ));
  test("an unknown customer gives an empty list", () =>
    check([["list_invoices", { customer: "nobody" }]], returns({ invoices: [], customers: [] })));
  test("an unknown status is refused", () =>
    check([["list_invoices", { status: "late" }]], refuses("invalid_params", /status/)));
});

describe("being paid", () => {
  const pay = (invoice_id: string, more: Record<string, string | number> = {}): Call => [
    "pay_invoice",
    { invoice_id, method: "bank_transfer", ...more },
  ];
  test("in full settles", () =>
    check(
      [pay(overdue42)],
      returns({ reference: "invoice 42", paid: 450, left: 0, status: "paid" }),
    ));
  test("in part leaves the rest: 315 − 15.50", () =>
    check(
      [pay(open43, { amount: 15.5 })],
      returns({ reference: "invoice 43 part 2", left: 299.5, status: "open" }),
    ));
  test("the rest settles the invoice", () =>
    check(
      [pay(open43, { amount: 15.5 }), pay(open43)],
      returns({ reference: "invoice 43 part 3", paid: 299.5, status: "paid" }),
    ));
  test("twice is refused", () =>
    check([pay(overdue42), pay(overdue42)], refuses("conflict", /invoice 42 .* already paid/)));
  test("of a void invoice is refused", () =>
    check([pay(void44)], refuses("precondition_failed", /invoice 44 .* is void/)));
  test("of a draft is refused", () =>
    check([pay(draft45)], refuses("precondition_failed", /draft that goes out on 2026-03-11/)));
  test("beyond what is left is refused", () =>
    check(
      [pay(open43, { amount: 315.01 })],
      refuses("precondition_failed", /has 315 left to pay, 315.01 is more/),
    ));
  test("by direct debit requires a mandate", () =>
    check(
      [pay(open43, { method: "direct_debit" })],
      refuses("permission_denied", /Orchard Foods has not agreed/),
    ));
  test("by direct debit works with a mandate", () =>
    check([pay(overdue42, { method: "direct_debit" })], returns({ status: "paid" })));
  test("in cash has a limit: 1100 > 1000", () => {
    const create: Call = [
      "create_invoice",
      { customer_id: northwind, lines: [{ text: "Film", quantity: 1, unit_price: 1100 }] },
    ];
    check(
      [
        create,
        pay("inv_6875", { method: "cash", amount: 600 }),
        pay("inv_6875", { method: "cash", amount: 400.01 }),
      ],
      refuses("limit_exceeded", /at most 1000 .* in cash, and 600 of/),
    );
  });
  test("a payment that is unknown is refused", () =>
    check(
      [["get_payment", { payment_id: "pmt_999" }]],
      refuses("not_found", /no payment pmt_999/),
    ));
  test("a payment shows its refunds: 500 − 100, until 90 days after 13 February", () =>
    check(
      [["get_payment", { payment_id: late }]],
      returns({
        invoice: "41",
        invoice_id: paid41,
        refunds: [{ amount: 100, reason: "photos delivered late" }],
        refundable: 400,
        refundable_until: "2026-05-14",
      }),
    ));
  test("a payment after its refund window is not refundable", () =>
    check(
      [["get_payment", { payment_id: early }]],
      returns({ method: "cash", refundable: 0, refundable_until: "2026-02-13" }),
    ));
  test("payments are listed newest first", () =>
    check(
      [pay(overdue42), ["list_payments", { limit: 2 }]],
      returns({
        payments: [{ reference: "invoice 42", date: "2026-03-09" }, { payment_id: part }],
      }),
    ));
  test("payments are found by customer and reference", () =>
    check(
      [["list_payments", { customer: "north", reference: "41" }]],
      returns({
        payments: [
          { payment_id: late, amount: 500, refunded: 100 },
          { payment_id: early, amount: 500 },
        ],
      }),
    ));
  test("reversed dates are refused", () =>
    check(
      [["list_payments", { from_date: "2026-03-02", to_date: "2026-03-01" }]],
      refuses("invalid_params", /from_date 2026-03-02 is after/),
    ));
});

describe("giving back and cancelling", () => {
  const refund = (payment_id: string, amount?: number): Call => [
    "refund_payment",
    { payment_id, ...(amount === undefined ? {} : { amount }) },
  ];
  test("in part adds up: 100 + 250", () =>
    check([refund(late, 250)], returns({ refunded: 250, refunded_in_all: 350, invoice_left: 0 })));
  test("of an open invoice raises what is left: 315 + 105", () =>
    check([refund(part)], returns({ refunded: 105, invoice_left: 420 })));
  test("beyond what is left of the payment is refused", () =>
    check(
      [refund(late, 400.01)],
      refuses("precondition_failed", /has 400 that can be given back, 400.01 is more/),
    ));
  test("after the refund window is refused: 14 days for cash", () =>
    check(
      [refund(early, 10)],
      refuses("precondition_failed", /until 2026-02-13, 14 days after it was made by cash/),
    ));
  test("a second time in full is refused", () =>
    check([refund(part), refund(part)], refuses("conflict", /already given back in full/)));
  test("an unknown payment is refused", () =>
    check([refund("inv_101")], refuses("not_found", /no payment inv_101/)));
  test("logs an event whose delivery to the chat fails", () =>
    check(
      [refund(part, 5), ["list_webhook_events", { webhook: "chat", limit: 1 }]],
      returns({
        events: [
          {
            event: "payment.refunded",
            about: "invoice 43 part 1",
            deliveries: [{ result: "failed" }],
          },
        ],
      }),
    ));
  test("an unpaid invoice is cancelled", () =>
    check(
      [["void_invoice", { invoice_id: overdue42 }]],
      returns({ status: "void", cancelled: 450 }),
    ));
  test("a void invoice is not owed", () =>
    check(
      [
        ["void_invoice", { invoice_id: overdue42 }],
        ["list_invoices", { customer: "Bluepeak" }],
      ],
      returns({ invoices: [{ status: "void" }], customers: [{ owes: 0 }] }),
    ));
  test("an invoice with payments is not cancelled", () =>
    check(
      [["void_invoice", { invoice_id: open43 }]],
      refuses("precondition_failed", /has had 105 paid/),
    ));
  test("an invoice is cancelled after its payments are refunded", () =>
    check(
      [refund(part), ["void_invoice", { invoice_id: open43 }]],
      returns({ status: "void", cancelled: 420 }),
    ));
  test("an invoice is cancelled once", () =>
    check([["void_invoice", { invoice_id: void44 }]], refuses("conflict", /already void/)));
});

describe("webhooks", () => {
  const register = (url: string, events = ["invoice.paid"]): Call => [
    "register_webhook",
    { url, events },
  ];
  test("receive the events that they subscribe to", () =>
    check(
      [
        register("https://x.example/in"),
        ["pay_invoice", { invoice_id: overdue42, method: "card" }],
        ["list_webhook_events", { webhook: "x.example" }],
      ],
      returns({ events: [{ event: "invoice.paid", about: "invoice 42" }] }),
    ));
  test("are counted", () =>
    check([register("https://x.example/in")], returns({ webhooks: 3, events: ["invoice.paid"] })));
  test("without https are refused", () =>
    check([register("http://x.example/in")], refuses("invalid_params", /not an https address/)));
  test("are registered once", () =>
    check(
      [register("https://BOOKS.harbor.example/hooks/invoices")],
      refuses("conflict", /already registered \(whk_101\)/),
    ));
  test("are at most six", () =>
    check(
      [1, 2, 3, 4, 5].map(n => register(`https://x.example/${n}`)),
      refuses("limit_exceeded", /6 webhooks/),
    ));
  test("require at least one kind of event", () =>
    check([["register_webhook", { url: "https://x.example/in" }]], rejectsArguments(/events/)));
  test("events are found by kind, subject and failure", () =>
    check(
      [["list_webhook_events", { event: "payment.received", about: "invoice 43", failed: true }]],
      returns({ events: [{ event_id: "evt_110", about: "invoice 43", at: "2026-03-06T17:10" }] }),
    ));
  test("events in the future are refused", () =>
    check(
      [["list_webhook_events", { from_date: "2026-03-10" }]],
      refuses("precondition_failed", /is to come/),
    ));
});

describe("loopholes", () => {
  const bill = (unit_price: number, send_on?: string, customer_id: string = bluepeak): Call => [
    "create_invoice",
    {
      customer_id,
      lines: [{ text: "Website", quantity: 1, unit_price }],
      ...(send_on && { send_on }),
    },
  ];
  const draft = (unit_price: number, customer_id?: string) =>
    bill(unit_price, "2026-03-10", customer_id);
  test("a draft over more than the credit leaves is not billed tomorrow", () =>
    check([draft(750.01)], refuses("limit_exceeded", /owes 450 and may owe 1200: another 750.01/)));
  test("several drafts together do not pass the credit either", () =>
    check(
      [draft(700), draft(51)],
      refuses("limit_exceeded", /owes 450, has drafts over 700 and may owe 1200: another 51 is/),
    ));
  test("an invoice counts the drafts that will go out: 450 + 700 + 51", () =>
    check(
      [draft(700), bill(51)],
      refuses("limit_exceeded", /owes 450, has drafts over 700 and may owe 1200: another 51 is/),
    ));
  test("a voided draft makes room for another", () =>
    check(
      [draft(750), ["void_invoice", { invoice_id: "inv_6875" }], draft(700)],
      returns({ total: 700 }),
    ));
  const billAll = bill(2185, undefined, orchard);
  const giveBack: Call = ["refund_payment", { payment_id: part, amount: 100 }];
  test("a refund does not let a customer owe more than their credit: 315 + 2185 + 100", () =>
    check(
      [billAll, giveBack],
      refuses(
        "limit_exceeded",
        /Orchard Foods owes 2500 and may owe 2500: another 100 is too much/,
      ),
    ));
  test("a refund counts the drafts that will go out: 315 + 2185 + 100", () =>
    check(
      [draft(2185, orchard), giveBack],
      refuses("limit_exceeded", /owes 315, has drafts over 2185 and may owe 2500: another 100 is/),
    ));
  test("after a payment there is room for the refund", () =>
    check(
      [billAll, ["pay_invoice", { invoice_id: "inv_6875", method: "card", amount: 100 }], giveBack],
      returns({ refunded: 100, invoice_left: 415 }),
    ));
  test("who owes too much already gets no drafts", () =>
    check([draft(1)], refuses("limit_exceeded", /owes 450 and may owe 400/), {
      edits: { "customers.cus_104.credit": 400 },
    }));
});

describe("every rule can be broken", () => {
  const lines = [{ text: "Logo", quantity: 1, unit_price: 800 }];
  const invoice = {
    number: 50,
    customer_id: bluepeak,
    status: "open",
    issued: "2026-03-09",
    due: "2026-04-08",
    lines,
  };
  const event = { kind: "invoice.created", at: "2026-03-09T09:00", about: "", deliveries: {} };
  const payment = {
    invoice_id: open43,
    reference: "invoice 43 part 2",
    amount: 10,
    method: "direct_debit",
    at: "2026-03-09T09:00",
    refunds: [],
  };
  const refund = { amount: 1, at: "2026-03-09T09:00", reason: "none" };
  checkInvariants({
    "An invoice receives at most its total, and has received it when it becomes paid.": {
      "invoices.inv_107.status": "paid",
    },
    "A void invoice has received nothing that was not given back.": {
      "invoices.inv_107.status": "void",
    },
    "An invoice stays as it is, except that it is paid or voided once.": {
      "invoices.inv_110.status": "open",
    },
    "Refunds of a payment are at most its amount, and are made within its days.": {
      "payments.pmt_101.refunds": [refund],
    },
    "A payment stays as it is, except that refunds are added.": {
      "payments.pmt_104.refunds": [refund],
    },
    "An invoice is paid in cash up to the limit only, however often it is paid.": {
      "payments.pmt_101.amount": 1000.01,
    },
    "Direct debits are made only where the customer has agreed to them.": {
      "payments.pmt_900": payment,
    },
    "No invoice, draft or refund takes an active customer beyond their credit, drafts included.": {
      "invoices.inv_900": invoice,
      "events.evt_900": event,
    },
    "Each invoice has its own number, and each reference its own payment.": {
      "invoices.inv_900": { ...invoice, number: 46 },
    },
    "The log has an event for each change, and no event changes.": { "payments.pmt_900": payment },
    "There are at most six webhooks, each with its own https address.": {
      "webhooks.whk_104.url": "http://chat.harbor.example/hooks/money",
    },
  });
});

checkAllTools();
