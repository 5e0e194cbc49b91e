/** The tools of the banking server: what they return, what they change, and what they refuse. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { server as banking } from "../../src/servers/banking/server.ts";
import { catalog } from "../contracts/transports.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, refuses, returns, type Call } from "./check.ts";

const openSmall = () =>
  openSessionByName(catalog, { servers: [{ name: "banking", fixture: "small" }], seed: 1 });

const { check, checkAllTools } = createChecks(banking);

const [everyday, savings, holiday, flat, student] = [
  "acc_101",
  "acc_108",
  "acc_115",
  "acc_122",
  "acc_129",
] as const;
const [everydayCard, travelCard, flatCard] = ["card_211", "card_217", "card_223"] as const;

describe("accounts", () => {
  test("are found by part of a name", () =>
    check(
      [["list_accounts", { name: "sav" }]],
      returns({ accounts: [{ name: "Savings", account_id: savings, kind: "savings" }] }),
    ));
  test("are found by kind", () =>
    check([["list_accounts", { kind: "credit" }]], returns({ accounts: [] })));
  test("of no known kind are refused", () =>
    check([["list_accounts", { kind: "gold" }]], refuses("invalid_params", /kind/)));
  test("show their cards", () =>
    check(
      [["get_account", { account_id: holiday }]],
      returns({
        cards: [
          { card: "Travel card", card_id: travelCard, last_digits: "9052", status: "frozen" },
        ],
      }),
    ));
  test("unknown ones are refused", () =>
    check(
      [["get_account", { account_id: "acc_999" }]],
      refuses("not_found", /no account acc_999/),
    ));
  test("__proto__ is an unknown id", () =>
    check(
      [["get_balance", { account_id: "__proto__" }]],
      refuses("not_found", /no account __proto__/),
    ));
  test("available counts the overdraft: 3148.95 + 300", () =>
    check(
      [["get_balance", { account_id: everyday }]],
      returns({ balance: 3148.95, available: 3448.95 }),
    ));
});

describe("ledger", () => {
  test("is newest first, and bounded", () =>
    check(
      [["list_transactions", { account_id: everyday, limit: 1 }]],
      returns({ transactions: [{ text: "Orchard Foods", date: "2026-03-08", amount: -64.15 }] }),
    ));
  test("filters by text, day and size", () =>
    check(
      [
        [
          "list_transactions",
          { account_id: everyday, text: "orchard", to_date: "2026-03-07", min_amount: 42.6 },
        ],
      ],
      returns({
        transactions: [{ date: "2026-03-03" }, { date: "2026-02-08" }, { date: "2026-02-03" }],
      }),
    ));
  test("a first day after the last day is refused", () =>
    check(
      [
        [
          "list_transactions",
          { account_id: everyday, from_date: "2026-03-02", to_date: "2026-03-01" },
        ],
      ],
      refuses("invalid_params", /from_date 2026-03-02 is after/),
    ));
  test("a day that does not exist is refused", () =>
    check(
      [["list_transactions", { account_id: everyday, from_date: "2026-02-30" }]],
      refuses("invalid_params", /from_date/),
    ));
  test("shows one transaction in full", () =>
    check(
      [["get_transaction", { transaction_id: "txn_401" }]],
      returns({ text: "Harbor Studio salary", kind: "salary", amount: 2450 }),
    ));
  test("unknown transactions are refused", () =>
    check(
      [["get_transaction", { transaction_id: "txn_1" }]],
      refuses("not_found", /no transaction txn_1/),
    ));
  test("a statement adds up: 200 in, nothing out, 3100 + 200 = 3300 at the end of February", () =>
    check(
      [["get_statement", { account_id: savings, month: "2026-02" }]],
      returns({ money_in: 200, money_out: 0, closing: 3300, transactions: 1 }),
    ));
  test("a future month is refused", () =>
    check(
      [["get_statement", { account_id: savings, month: "2026-04" }]],
      refuses("precondition_failed", /2026-04 has not begun/),
    ));
});

describe("transfers", () => {
  const transfer = (amount: number, from: string = everyday, to: string = savings): Call => [
    "transfer",
    { from_account: from, to_account: to, amount },
  ];
  test("move money: 3148.95 - 100.10 and 3500 + 100.10", () =>
    check([transfer(100.1)], returns({ from_balance: 3048.85, to_balance: 3600.1 })));
  test("change the balances that are read later", () =>
    check(
      [transfer(100.1), ["get_balance", { account_id: savings }]],
      returns({ balance: 3600.1 }),
    ));
  test("appear in the ledger", () =>
    check(
      [transfer(5), ["list_transactions", { account_id: savings, limit: 1 }]],
      returns({ transactions: [{ text: "Transfer from Everyday", amount: 5 }] }),
    ));
  test("beyond the funds are refused: 3448.95 is available", () =>
    check(
      [transfer(3448.96)],
      refuses("precondition_failed", /insufficient funds: Everyday has 3448.95 available/),
    ));
  test("up to the last cent of the overdraft go through", () =>
    check([transfer(3448.95)], returns({ from_balance: -300 })));
  test("to the same account are refused", () =>
    check([transfer(5, savings, savings)], refuses("invalid_params", /same account/)));
  test("from a closed account are refused", () =>
    check([transfer(5, student)], refuses("precondition_failed", /acc_129 .* is closed/)));
  for (const amount of [0, -5, -0, 0.001, 1e308, Number.NaN])
    test(`of ${amount} are refused`, () =>
      check([transfer(amount)], {
        kind: expect.stringMatching(/refused|bad-arguments/) as string,
      }));
  test("can be planned", () =>
    check(
      [
        [
          "schedule_transfer",
          { from_account: everyday, to_account: flat, amount: 20, date: "2026-03-10" },
        ],
      ],
      returns({ date: "2026-03-10", status: "pending" }),
    ));
  test("cannot be planned for today", () =>
    check(
      [
        [
          "schedule_transfer",
          { from_account: everyday, to_account: flat, amount: 20, date: "2026-03-09" },
        ],
      ],
      refuses("precondition_failed", /not after today/),
    ));
  test("planned ones are listed by the account they leave", () =>
    check(
      [["list_scheduled_transfers", { from_account: everyday }]],
      returns({
        scheduled: [
          { to: "Savings", scheduled_id: "sch_601", date: "2026-03-15", amount: 150 },
          { to: "Holiday fund" },
        ],
      }),
    ));
  test("of an unknown account cannot be listed", () =>
    check(
      [["list_scheduled_transfers", { from_account: "acc_0" }]],
      refuses("not_found", /acc_0/),
    ));
  test("cancelled ones are no longer listed", () =>
    check(
      [
        ["cancel_scheduled_transfer", { scheduled_id: "sch_601" }],
        ["list_scheduled_transfers", {}],
      ],
      returns({ scheduled: [{ scheduled_id: "sch_604" }] }),
    ));
  test("are not cancelled twice", () =>
    check(
      [
        ["cancel_scheduled_transfer", { scheduled_id: "sch_601" }],
        ["cancel_scheduled_transfer", { scheduled_id: "sch_601" }],
      ],
      refuses("conflict", /already cancelled/),
    ));
});

describe("cash and cards", () => {
  const withdraw = (amount: number, card: string = everydayCard): Call => [
    "withdraw",
    { card_id: card, amount },
  ];
  test("deposits raise the balance: 600 + 45.50", () =>
    check([["deposit", { account_id: holiday, amount: 45.5 }]], returns({ balance: 645.5 })));
  test("deposits into a closed account are refused", () =>
    check(
      [["deposit", { account_id: student, amount: 5 }]],
      refuses("precondition_failed", /closed/),
    ));
  test("withdrawals lower it", () => check([withdraw(100)], returns({ balance: 3048.95 })));
  test("a frozen card gives no cash", () =>
    check([withdraw(20, travelCard)], refuses("precondition_failed", /frozen/)));
  test("an unfrozen card gives cash", () =>
    check(
      [["unfreeze_card", { card_id: travelCard, last_digits: "9052" }], withdraw(20, travelCard)],
      returns({ balance: 580 }),
    ));
  test("the daily limit counts what was taken: 300 + 101 > 400", () =>
    check(
      [withdraw(300), withdraw(101)],
      refuses("limit_exceeded", /allows 400 in cash a day, and 300 is used/),
    ));
  test("funds count too: 138.80 + 100 < 150 + 100", () =>
    check(
      [withdraw(100, flatCard), withdraw(50, flatCard), withdraw(1, flatCard)],
      refuses("limit_exceeded", /150/),
    ));
  test("cards are frozen", () =>
    check(
      [["freeze_card", { card_id: flatCard }]],
      returns({ card: "Flat card", status: "frozen" }),
    ));
  test("a frozen card is not frozen again", () =>
    check([["freeze_card", { card_id: travelCard }]], refuses("conflict", /already frozen/)));
  test("the wrong digits do not unfreeze", () =>
    check(
      [["unfreeze_card", { card_id: travelCard, last_digits: "0000" }]],
      refuses("permission_denied", /last digits/),
    ));
  test("an active card needs no unfreezing", () =>
    check(
      [["unfreeze_card", { card_id: flatCard, last_digits: "3186" }]],
      refuses("conflict", /not frozen/),
    ));
});

describe("payees and bills", () => {
  test("are found by name, with what is due", () =>
    check(
      [["list_payees", { name: "bright" }]],
      returns({ payees: [{ name: "Brightline Energy", payee_id: "pay_309", due: 96.35 }] }),
    ));
  test("names beyond bounds are refused", () =>
    check([["list_payees", { name: "x".repeat(201) }]], refuses("invalid_params", /name/)));
  test("a bill is paid in full: 3148.95 - 96.35", () =>
    check(
      [["pay_bill", { account_id: everyday, payee_id: "pay_309" }]],
      returns({ paid: 96.35, balance: 3052.6 }),
    ));
  test("a paid bill is no longer due", () =>
    check(
      [
        ["pay_bill", { account_id: everyday, payee_id: "pay_309" }],
        ["pay_bill", { account_id: everyday, payee_id: "pay_309" }],
      ],
      refuses("precondition_failed", /no open bill/),
    ));
  test("a new payee can be found", () =>
    check(
      [
        ["add_payee", { name: "Corner Bakery", iban: "DE44500105175407" }],
        ["list_payees", { name: "corner" }],
      ],
      returns({ payees: [{ name: "Corner Bakery" }] }),
    ));
  test("a payee who exists is refused", () =>
    check(
      [["add_payee", { name: "ben okafor", iban: "DE44500105175407" }]],
      refuses("conflict", /already a payee Ben Okafor/),
    ));
});

describe("loopholes", () => {
  test("a planned transfer of an account that may only be viewed is not cancelled", () =>
    check(
      [["cancel_scheduled_transfer", { scheduled_id: "sch_900" }]],
      refuses("permission_denied", /sch_900 leaves account acc_122 .*, which you may view/),
      {
        edits: {
          [`accounts.${flat}.access`]: "view",
          "scheduled.sch_900": {
            from_account: flat,
            to_account: everyday,
            amount: 10,
            date: "2026-03-20",
            status: "pending",
          },
        },
      },
    ));
  test("spaces around a name do not make a second payee of that name", () =>
    check(
      [["add_payee", { name: " Ben Okafor ", iban: "DE44500105175407" }]],
      refuses("conflict", /already a payee Ben Okafor/),
    ));
  test("a payee has a name that can be seen", () =>
    check(
      [["add_payee", { name: "   ", iban: "DE44500105175407" }]],
      refuses("invalid_params", /name/),
    ));
});

const listBalances = (world: unknown) => {
  const { accounts, transactions } = world as {
    accounts: Record<string, { opening: number; balance: number }>;
    transactions: Record<string, { account_id: string; amount: number }>;
  };
  return Object.entries(accounts).map(([id, it]) => {
    const ownLines = Object.values(transactions).filter(line => line.account_id === id);
    return [
      id,
      Math.round(it.balance * 100),
      Math.round(it.opening * 100) +
        ownLines.reduce((sum, line) => sum + Math.round(line.amount * 100), 0),
    ];
  });
};

test("after any calls, every balance is its opening plus its ledger, and the state fits its schema", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), seed => {
      const session = openSmall();
      walk(banking, session, 120, seed);
      const { world } = session.state["banking"]!;
      for (const [id, balance, sum] of listBalances(world)) expect(balance, String(id)).toBe(sum);
      expect(banking.schema.safeParse(world).error).toBeUndefined();
    }),
    { numRuns: 25 },
  );
});

checkAllTools();
