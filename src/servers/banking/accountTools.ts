/** Tools that read accounts, transactions and statements, and freeze and unfreeze cards. */
import { z } from "zod";
import { cents, day, id, label, minute, sensitive } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { contains, descending, equals, meets, refersTo } from "../kit/table.ts";
import { accounts, balance, BankingState, cards, transactions } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(BankingState);

export const accountTools = {
  list_accounts: accounts.list({
    summary:
      "List the customer's accounts with their ids and kinds, all of them or only those whose name contains some words.",
    filters: {
      name: contains(label("account"), "Only accounts whose name contains this", it => it.name),
      kind: equals(
        z.enum(["checking", "savings", "credit"]),
        "Only accounts of this kind",
        it => it.kind,
      ),
    },
    row: { name: label("account"), account_id: accounts.idField, kind: z.string() },
  }),
  get_account: accounts.get({
    summary: "Get one account with its status, access and the cards that belong to it.",
    row: {
      name: label("account"),
      account_id: accounts.idField,
      status: z.string(),
      access: z.string(),
      cards: cards.related({
        isRequired: true,
        where: (it, owner) => it.account_id === owner.id,
        row: {
          card: [label("card"), it => it.name],
          card_id: cards.idField,
          last_digits: z.string(),
          status: z.string(),
        },
      }),
    },
  }),
  get_balance: accounts.get({
    summary: "Get the balance of one account and what can be spent from it, overdraft included.",
    row: {
      name: label("account"),
      balance,
      available: [cents(), it => roundToCents(it.balance + it.overdraft)],
    },
  }),
  list_transactions: transactions.list({
    summary: "List an account's transactions, newest first, by day, text or smallest size.",
    filters: {
      account_id: { ...refersTo(accounts, undefined, it => it.account_id), isRequired: true },
      from_date: meets(day(), "First day", (it, first) => it.at.slice(0, 10) >= first),
      to_date: meets(day(), "Last day", (it, last) => it.at.slice(0, 10) <= last),
      text: contains(
        label("transaction"),
        "Only transactions whose text contains this",
        it => it.text,
      ),
      min_amount: meets(
        z.number().min(0).max(1_000_000),
        "Only transactions of at least this size, whether in or out",
        (it, least) => Math.abs(it.amount) >= least,
      ),
    },
    check({ account_id, from_date, to_date }, state) {
      accounts.find(state, account_id!);
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
    },
    order: descending(it => it.at, { latestId: true }),
    limit: 10,
    row: {
      text: label("transaction"),
      transaction_id: transactions.idField,
      date: [day(), it => it.at.slice(0, 10)],
      amount: cents(),
    },
  }),
  get_transaction: transactions.get({
    summary: "Get one transaction in full: account, time, kind and amount.",
    row: {
      text: label("transaction"),
      transaction_id: transactions.idField,
      account_id: id("account"),
      at: minute(),
      kind: z.string(),
      amount: cents(),
    },
  }),
  get_statement: tool({
    effect: "read",
    summary:
      "Get an account's statement for one month: what came in, what went out, and the balance at its end.",
    input: {
      account_id: accounts.id,
      month: z
        .string()
        .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
        .describe("Month, YYYY-MM")
        .meta({ examples: vocabulary.months }),
    },
    returns: {
      name: label("account"),
      month: z.string(),
      money_in: cents(),
      money_out: cents(),
      closing: cents(),
      transactions: z.int(),
    },
    run(state, { account_id, month }, { now }) {
      const account = accounts.find(state, account_id);
      if (month > now.slice(0, 7))
        refuse("precondition_failed", `${month} has not begun: today is ${now.slice(0, 10)}`);
      const lines = Object.values(state.transactions).filter(it => it.account_id === account_id);
      const within = lines.filter(it => it.at.slice(0, 7) === month);
      const sum = (list: typeof lines) =>
        roundToCents(list.reduce((total, it) => total + it.amount, 0));
      return {
        name: account.name,
        month,
        money_in: sum(within.filter(it => it.amount > 0)),
        money_out: roundToCents(0 - sum(within.filter(it => it.amount < 0))),
        closing: roundToCents(
          account.opening + sum(lines.filter(it => it.at.slice(0, 7) <= month)),
        ),
        transactions: within.length,
      };
    },
  }),
};

export const cardTools = {
  freeze_card: tool({
    effect: "write",
    summary: "Block a card at once, so that nobody can use it.",
    input: { card_id: cards.id },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run(state, { card_id }) {
      const card = cards.find(state, card_id);
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
      card_id: cards.id,
      last_digits: sensitive(z.string().regex(/^\d{4}$/)).describe(
        "Last four digits of the card's number",
      ),
    },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run(state, { card_id, last_digits }) {
      const card = cards.find(state, card_id);
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
