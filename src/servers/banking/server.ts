/**
 * A bank as its customer sees it: accounts with cards and a ledger, transfers now or on a day,
 * payees and their bills. Money is in euros and cents, and every balance is its opening balance
 * plus its transactions. Knows no sessions.
 */
import { z } from "zod";
import { cents, day, id, label, minute, money, sensitive } from "../../environment/entity.ts";
import {
  defineServer,
  findEntity,
  refuse,
  toolOf,
  type ToolContext,
} from "../../environment/server.ts";
import { has } from "../../environment/words.ts";
import { round } from "../../environment/money.ts";

const allowance = z.number().min(0).max(1_000_000);

const Account = z.strictObject({
  name: z.string(),
  kind: z.enum(["checking", "savings", "credit"]),
  /** `view`: the customer sees the account and may not move its money. */
  access: z.enum(["full", "view"]),
  status: z.enum(["open", "closed"]),
  opening: cents(),
  balance: cents(),
  /** How far below zero the balance may go. */
  overdraft: allowance,
});

const Card = z.strictObject({
  name: z.string(),
  account_id: z.string(),
  last_digits: z.string().regex(/^\d{4}$/),
  status: z.enum(["active", "frozen"]),
  /** Cash a day, in euros. */
  daily_limit: allowance,
});

const Transaction = z.strictObject({
  account_id: z.string(),
  at: minute(),
  amount: cents(),
  kind: z.enum(["transfer", "deposit", "withdrawal", "bill", "card", "salary", "fee"]),
  text: z.string(),
  card_id: z.string().optional(),
});

const Payee = z.strictObject({
  name: z.string(),
  iban: z.string(),
  /** The open bill, if there is one. */
  bill: z.strictObject({ amount: money(), due: day(), reference: z.string() }).optional(),
});

const Scheduled = z.strictObject({
  from_account: z.string(),
  to_account: z.string(),
  amount: money(),
  date: day(),
  status: z.enum(["pending", "cancelled"]),
});

const Bank = z.strictObject({
  customer: z.string(),
  accounts: z.record(z.string(), Account),
  cards: z.record(z.string(), Card),
  payees: z.record(z.string(), Payee),
  transactions: z.record(z.string(), Transaction),
  scheduled: z.record(z.string(), Scheduled),
});
type Bank = z.infer<typeof Bank>;

function openAccount(bank: Bank, accountId: string) {
  const account = findEntity(
    bank.accounts,
    accountId,
    "account",
    "banking_list_accounts gives the ids",
  );
  if (account.status === "closed")
    refuse("precondition_failed", `account ${accountId} (${account.name}) is closed`);
  return account;
}

/** The account, if the customer may take `amount` out of it. */
function payingAccount(bank: Bank, accountId: string, amount: number) {
  const account = openAccount(bank, accountId);
  if (account.access === "view")
    refuse(
      "permission_denied",
      `you may view account ${accountId} (${account.name}) but not move its money`,
    );
  if (round(account.balance + account.overdraft) < amount)
    refuse(
      "precondition_failed",
      `insufficient funds: ${account.name} has ${round(account.balance + account.overdraft)} available, ${amount} needed`,
      "choose a smaller amount or another account",
    );
  return account;
}

type Booking = Omit<z.infer<typeof Transaction>, "at">;

/** Writes one line of the ledger and moves the balance with it. */
function book(bank: Bank, context: Pick<ToolContext, "now" | "newId">, booking: Booking): string {
  const transactionId = context.newId("txn");
  bank.transactions[transactionId] = { ...booking, amount: round(booking.amount), at: context.now };
  const account = bank.accounts[booking.account_id]!;
  account.balance = round(account.balance + booking.amount);
  return transactionId;
}

function notPast(date: string, now: string): void {
  if (date <= now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${date} is not after today, ${now.slice(0, 10)}`,
      "choose a later day, or banking_transfer for now",
    );
}

/** A ledger's lines that pass, newest first. */
function ledger(bank: Bank, passes: (it: z.infer<typeof Transaction>) => boolean) {
  const lines = Object.entries(bank.transactions).filter(([, it]) => passes(it));
  return lines.sort(([a, x], [b, y]) => (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1));
}

const accountId = id("account").describe("Account id, as banking_list_accounts gives it");
const cardId = id("card").describe("Card id, as banking_get_account gives it");
const payeeId = id("payee").describe("Payee id, as banking_list_payees gives it");
const amount = money().meta({
  examples: [20, 25, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 450, 500, 750, 1200],
});
const limit = z.int().min(1).max(50).optional();
const balance = cents().describe("Balance of the account, in euros");

const tool = toolOf(Bank);

const accountTools = {
  list_accounts: tool({
    effect: "read",
    summary:
      "List the customer's accounts with their ids and kinds, all of them or only those whose name contains some words.",
    input: {
      name: label("account").optional().describe("Only accounts whose name contains this"),
      kind: z
        .enum(["checking", "savings", "credit"])
        .optional()
        .describe("Only accounts of this kind"),
    },
    returns: {
      accounts: z.array(
        z.object({ name: label("account"), account_id: id("account"), kind: z.string() }),
      ),
    },
    run: ({ accounts }, { name, kind }) => ({
      accounts: Object.entries(accounts)
        .filter(([, it]) => (!name || has(it.name, name)) && (!kind || it.kind === kind))
        .map(([account_id, it]) => ({ name: it.name, account_id, kind: it.kind })),
    }),
  }),
  get_account: tool({
    effect: "read",
    summary: "Get one account with its status, access and the cards that belong to it.",
    input: { account_id: accountId },
    returns: {
      name: label("account"),
      account_id: id("account"),
      status: z.string(),
      access: z.string(),
      cards: z.array(
        z.object({
          card: label("card"),
          card_id: id("card"),
          last_digits: z.string(),
          status: z.string(),
        }),
      ),
    },
    run({ accounts, cards }, { account_id }) {
      const { name, status, access } = findEntity(
        accounts,
        account_id,
        "account",
        "banking_list_accounts gives the ids",
      );
      const own = Object.entries(cards).filter(([, it]) => it.account_id === account_id);
      return {
        name,
        account_id,
        status,
        access,
        cards: own.map(([card_id, it]) => ({
          card: it.name,
          card_id,
          last_digits: it.last_digits,
          status: it.status,
        })),
      };
    },
  }),
  get_balance: tool({
    effect: "read",
    summary: "Get the balance of one account and what can be spent from it, overdraft included.",
    input: { account_id: accountId },
    returns: { name: label("account"), balance, available: cents() },
    run({ accounts }, { account_id }) {
      const it = findEntity(accounts, account_id, "account", "banking_list_accounts gives the ids");
      return { name: it.name, balance: it.balance, available: round(it.balance + it.overdraft) };
    },
  }),
  list_transactions: tool({
    effect: "read",
    summary: "List an account's transactions, newest first, by day, text or smallest size.",
    input: {
      account_id: accountId,
      from_date: day().optional().describe("First day"),
      to_date: day().optional().describe("Last day"),
      text: label("transaction").optional().describe("Only transactions whose text contains this"),
      min_amount: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Only transactions of at least this size, whether in or out"),
      limit: limit.describe("At most this many, 10 if not given"),
    },
    returns: {
      transactions: z.array(
        z.object({
          text: label("transaction"),
          transaction_id: id("transaction"),
          date: day(),
          amount: cents(),
        }),
      ),
    },
    run(bank, { account_id, from_date, to_date, text, min_amount, limit: most = 10 }) {
      findEntity(bank.accounts, account_id, "account", "banking_list_accounts gives the ids");
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const lines = ledger(
        bank,
        it =>
          it.account_id === account_id &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!to_date || it.at.slice(0, 10) <= to_date) &&
          (!text || has(it.text, text)) &&
          (min_amount === undefined || Math.abs(it.amount) >= min_amount),
      );
      return {
        transactions: lines.slice(0, most).map(([transaction_id, it]) => ({
          text: it.text,
          transaction_id,
          date: it.at.slice(0, 10),
          amount: it.amount,
        })),
      };
    },
  }),
  get_transaction: tool({
    effect: "read",
    summary: "Get one transaction in full: account, time, kind and amount.",
    input: {
      transaction_id: id("transaction").describe(
        "Transaction id, as banking_list_transactions gives it",
      ),
    },
    returns: {
      text: label("transaction"),
      transaction_id: id("transaction"),
      account_id: id("account"),
      at: minute(),
      kind: z.string(),
      amount: cents(),
    },
    run({ transactions }, { transaction_id }) {
      const {
        text,
        account_id,
        at,
        kind,
        amount: booked,
      } = findEntity(
        transactions,
        transaction_id,
        "transaction",
        "banking_list_transactions gives the ids",
      );
      return { text, transaction_id, account_id, at, kind, amount: booked };
    },
  }),
  get_statement: tool({
    effect: "read",
    summary:
      "Get an account's statement for one month: what came in, what went out, and the balance at its end.",
    input: {
      account_id: accountId,
      month: z
        .string()
        .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
        .describe("Month, YYYY-MM")
        .meta({ examples: ["2026-01", "2026-02", "2026-03"] }),
    },
    returns: {
      name: label("account"),
      month: z.string(),
      money_in: cents(),
      money_out: cents(),
      closing: cents(),
      transactions: z.int(),
    },
    run(bank, { account_id, month }, { now }) {
      const account = findEntity(
        bank.accounts,
        account_id,
        "account",
        "banking_list_accounts gives the ids",
      );
      if (month > now.slice(0, 7))
        refuse("precondition_failed", `${month} has not begun: today is ${now.slice(0, 10)}`);
      const lines = ledger(bank, it => it.account_id === account_id).map(([, it]) => it);
      const within = lines.filter(it => it.at.slice(0, 7) === month);
      const sum = (list: typeof lines) => round(list.reduce((total, it) => total + it.amount, 0));
      return {
        name: account.name,
        month,
        money_in: sum(within.filter(it => it.amount > 0)),
        money_out: round(0 - sum(within.filter(it => it.amount < 0))),
        closing: round(account.opening + sum(lines.filter(it => it.at.slice(0, 7) <= month))),
        transactions: within.length,
      };
    },
  }),
};

const transferTools = {
  transfer: tool({
    effect: "write",
    summary: "Move money between two of the customer's accounts at once.",
    input: {
      from_account: accountId.describe("Account the money leaves"),
      to_account: accountId.describe("Account the money goes to"),
      amount: amount.describe("Amount in euros"),
    },
    returns: { transaction_id: id("transaction"), from_balance: balance, to_balance: balance },
    run(bank, { from_account, to_account, amount: moved }, context) {
      if (from_account === to_account)
        refuse("invalid_params", "from_account and to_account are the same account");
      const from = payingAccount(bank, from_account, moved);
      const to = openAccount(bank, to_account);
      const transaction_id = book(bank, context, {
        account_id: from_account,
        amount: -moved,
        kind: "transfer",
        text: `Transfer to ${to.name}`,
      });
      book(bank, context, {
        account_id: to_account,
        amount: moved,
        kind: "transfer",
        text: `Transfer from ${from.name}`,
      });
      return { transaction_id, from_balance: from.balance, to_balance: to.balance };
    },
  }),
  schedule_transfer: tool({
    effect: "write",
    summary: "Plan a transfer between two of the customer's accounts for a later day.",
    input: {
      from_account: accountId.describe("Account the money will leave"),
      to_account: accountId.describe("Account the money will go to"),
      amount: amount.describe("Amount in euros"),
      date: day().describe("Day of the transfer, after today"),
    },
    returns: { scheduled_id: id("scheduled_transfer"), date: day(), status: z.string() },
    run(bank, { from_account, to_account, amount: planned, date }, { now, newId }) {
      if (from_account === to_account)
        refuse("invalid_params", "from_account and to_account are the same account");
      if (openAccount(bank, from_account).access === "view")
        refuse("permission_denied", `you may view account ${from_account} but not move its money`);
      openAccount(bank, to_account);
      notPast(date, now);
      const scheduled_id = newId("sch");
      bank.scheduled[scheduled_id] = {
        from_account,
        to_account,
        amount: planned,
        date,
        status: "pending",
      };
      return { scheduled_id, date, status: "pending" };
    },
  }),
  cancel_scheduled_transfer: tool({
    effect: "write",
    summary: "Cancel a planned transfer that has not happened yet.",
    destructive: true,
    input: {
      scheduled_id: id("scheduled_transfer").describe(
        "Id of the planned transfer, as banking_list_scheduled_transfers gives it",
      ),
    },
    returns: { scheduled_id: id("scheduled_transfer"), status: z.string() },
    run({ scheduled }, { scheduled_id }) {
      const planned = findEntity(
        scheduled,
        scheduled_id,
        "scheduled transfer",
        "banking_list_scheduled_transfers gives the ids",
      );
      if (planned.status === "cancelled")
        refuse("conflict", `scheduled transfer ${scheduled_id} is already cancelled`);
      planned.status = "cancelled";
      return { scheduled_id, status: planned.status };
    },
  }),
  list_scheduled_transfers: tool({
    effect: "read",
    summary:
      "List planned transfers that are pending, all of them or only those that leave one account.",
    input: {
      from_account: id("account").optional().describe("Only transfers that leave this account"),
    },
    returns: {
      scheduled: z.array(
        z.object({
          to: label("account"),
          scheduled_id: id("scheduled_transfer"),
          date: day(),
          amount: cents(),
        }),
      ),
    },
    run({ scheduled, accounts }, { from_account }) {
      if (from_account)
        findEntity(accounts, from_account, "account", "banking_list_accounts gives the ids");
      const pending = Object.entries(scheduled).filter(
        ([, it]) => it.status === "pending" && (!from_account || it.from_account === from_account),
      );
      return {
        scheduled: pending.map(([scheduled_id, it]) => ({
          to: accounts[it.to_account]!.name,
          scheduled_id,
          date: it.date,
          amount: it.amount,
        })),
      };
    },
  }),
};

const cashTools = {
  deposit: tool({
    effect: "write",
    summary: "Pay cash into an account.",
    input: { account_id: accountId, amount: amount.describe("Amount in euros") },
    returns: { transaction_id: id("transaction"), balance },
    run(bank, { account_id, amount: paid }, context) {
      const account = openAccount(bank, account_id);
      const transaction_id = book(bank, context, {
        account_id,
        amount: paid,
        kind: "deposit",
        text: "Cash deposit",
      });
      return { transaction_id, balance: account.balance };
    },
  }),
  withdraw: tool({
    effect: "write",
    summary: "Take out cash with a card. The card must be active, and its daily limit holds.",
    input: { card_id: cardId, amount: amount.describe("Amount in euros") },
    returns: { transaction_id: id("transaction"), balance },
    run(bank, { card_id, amount: taken }, context) {
      const card = findEntity(
        bank.cards,
        card_id,
        "card",
        "banking_get_account lists the cards of an account",
      );
      if (card.status === "frozen")
        refuse(
          "precondition_failed",
          `card ${card_id} (${card.name}) is frozen`,
          "banking_unfreeze_card makes it usable again",
        );
      const account = payingAccount(bank, card.account_id, taken);
      const today = ledger(
        bank,
        it =>
          it.card_id === card_id &&
          it.kind === "withdrawal" &&
          it.at.slice(0, 10) === context.now.slice(0, 10),
      );
      const used = round(today.reduce((total, [, it]) => total - it.amount, 0));
      if (used + taken > card.daily_limit)
        refuse(
          "limit_exceeded",
          `${card.name} allows ${card.daily_limit} in cash a day, and ${used} is used`,
          `${round(card.daily_limit - used)} is left for today`,
        );
      const transaction_id = book(bank, context, {
        account_id: card.account_id,
        amount: -taken,
        kind: "withdrawal",
        text: `Cash with ${card.name}`,
        card_id,
      });
      return { transaction_id, balance: account.balance };
    },
  }),
  freeze_card: tool({
    effect: "write",
    summary: "Block a card at once, so that nobody can use it.",
    input: { card_id: cardId },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run({ cards }, { card_id }) {
      const card = findEntity(
        cards,
        card_id,
        "card",
        "banking_get_account lists the cards of an account",
      );
      if (card.status === "frozen")
        refuse("conflict", `card ${card_id} (${card.name}) is already frozen`);
      card.status = "frozen";
      return { card: card.name, card_id, status: card.status };
    },
  }),
  unfreeze_card: tool({
    effect: "write",
    summary: "Make a frozen card usable again, confirmed by the last four digits of its number.",
    input: {
      card_id: cardId,
      last_digits: sensitive(z.string().regex(/^\d{4}$/)).describe(
        "Last four digits of the card's number",
      ),
    },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run({ cards }, { card_id, last_digits }) {
      const card = findEntity(
        cards,
        card_id,
        "card",
        "banking_get_account lists the cards of an account",
      );
      if (card.last_digits !== last_digits)
        refuse(
          "permission_denied",
          `the last digits do not match card ${card_id}`,
          "ask the customer, or read them with banking_get_account",
        );
      if (card.status === "active")
        refuse("conflict", `card ${card_id} (${card.name}) is not frozen`);
      card.status = "active";
      return { card: card.name, card_id, status: card.status };
    },
  }),
};

const payeeTools = {
  pay_bill: tool({
    effect: "write",
    summary: "Pay a payee's open bill from an account, in full.",
    input: { account_id: accountId.describe("Account that pays"), payee_id: payeeId },
    returns: { transaction_id: id("transaction"), paid: cents(), balance },
    run(bank, { account_id, payee_id }, context) {
      const payee = findEntity(bank.payees, payee_id, "payee", "banking_list_payees gives the ids");
      const { bill } = payee;
      if (!bill) refuse("precondition_failed", `${payee.name} has no open bill`);
      const account = payingAccount(bank, account_id, bill.amount);
      const transaction_id = book(bank, context, {
        account_id,
        amount: -bill.amount,
        kind: "bill",
        text: `${payee.name} ${bill.reference}`,
      });
      delete payee.bill;
      return { transaction_id, paid: bill.amount, balance: account.balance };
    },
  }),
  list_payees: tool({
    effect: "read",
    summary:
      "List payees and what each one's open bill comes to, all of them or only those whose name contains some words.",
    input: { name: label("payee").optional().describe("Only payees whose name contains this") },
    returns: {
      payees: z.array(
        z.object({ name: label("payee"), payee_id: id("payee"), due: cents().optional() }),
      ),
    },
    run: ({ payees }, { name }) => ({
      payees: Object.entries(payees)
        .filter(([, it]) => !name || has(it.name, name))
        .map(([payee_id, it]) => ({
          name: it.name,
          payee_id,
          ...(it.bill ? { due: it.bill.amount } : {}),
        })),
    }),
  }),
  add_payee: tool({
    effect: "write",
    summary: "Add somebody to pay, by name and IBAN.",
    input: {
      name: z
        .string()
        .min(2)
        .max(60)
        .describe("Name of the payee")
        .meta({
          examples: [
            "Lighthouse Gym",
            "Corner Bakery",
            "Dr Adler",
            "Maple Nursery",
            "Riverside Garage",
            "Studio Yoga",
            "Piano Lessons",
            "Window Cleaning",
          ],
        }),
      iban: z
        .string()
        .regex(/^[A-Z]{2}\d{2}[A-Z0-9]{8,26}$/)
        .describe("IBAN without spaces")
        .meta({
          examples: [
            "DE44500105175407",
            "ES91210004184502",
            "FR14200410100505",
            "NL91ABNA04171643",
            "IE29AIBK93115212",
          ],
        }),
    },
    returns: { name: label("payee"), payee_id: id("payee") },
    run({ payees }, { name, iban }, { newId }) {
      const known = Object.values(payees).find(
        it => it.name.toLowerCase() === name.toLowerCase() || it.iban === iban,
      );
      if (known)
        refuse(
          "conflict",
          `there is already a payee ${known.name} with IBAN ${known.iban}`,
          "use that payee",
        );
      const payee_id = newId("pay");
      payees[payee_id] = { name, iban };
      return { name, payee_id };
    },
  }),
};

const {
  list_accounts,
  get_account,
  get_balance,
  list_transactions,
  get_transaction,
  get_statement,
} = accountTools;
const { pay_bill, list_payees, add_payee } = payeeTools;
const { deposit, withdraw, freeze_card, unfreeze_card } = cashTools;

export const server = defineServer({
  name: "banking",
  category: "Finance",
  summary: "accounts, cards, ledger, planned transfers, payees and their bills",
  schema: Bank,
  tools: {
    list_accounts,
    get_account,
    get_balance,
    list_transactions,
    get_transaction,
    get_statement,
    ...transferTools,
    deposit,
    withdraw,
    pay_bill,
    list_payees,
    add_payee,
    freeze_card,
    unfreeze_card,
  },
});
