/** Tools that read accounts, transactions and statements. */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { accountId, limit, balance } from "./parameters.ts";
import { BankingState, listTransactions } from "./state.ts";

const tool = createToolFactory(BankingState);

export const accountTools = {
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
        .filter(([, it]) => (!name || containsText(it.name, name)) && (!kind || it.kind === kind))
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
      const accountCards = Object.entries(cards).filter(([, it]) => it.account_id === account_id);
      return {
        name,
        account_id,
        status,
        access,
        cards: accountCards.map(([card_id, it]) => ({
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
      return {
        name: it.name,
        balance: it.balance,
        available: roundToCents(it.balance + it.overdraft),
      };
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
    run(state, { account_id, from_date, to_date, text, min_amount, limit: maxRows = 10 }) {
      findEntity(state.accounts, account_id, "account", "banking_list_accounts gives the ids");
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const lines = listTransactions(
        state,
        it =>
          it.account_id === account_id &&
          (!from_date || it.at.slice(0, 10) >= from_date) &&
          (!to_date || it.at.slice(0, 10) <= to_date) &&
          (!text || containsText(it.text, text)) &&
          (min_amount === undefined || Math.abs(it.amount) >= min_amount),
      );
      return {
        transactions: lines.slice(0, maxRows).map(([transaction_id, it]) => ({
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
        amount: bookedAmount,
      } = findEntity(
        transactions,
        transaction_id,
        "transaction",
        "banking_list_transactions gives the ids",
      );
      return { text, transaction_id, account_id, at, kind, amount: bookedAmount };
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
    run(state, { account_id, month }, { now }) {
      const account = findEntity(
        state.accounts,
        account_id,
        "account",
        "banking_list_accounts gives the ids",
      );
      if (month > now.slice(0, 7))
        refuse("precondition_failed", `${month} has not begun: today is ${now.slice(0, 10)}`);
      const lines = listTransactions(state, it => it.account_id === account_id).map(([, it]) => it);
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
