/** Tools that move money: transfers now or on a later day, cash, and the bills of payees. */
import { z } from "zod";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { contains, refersTo } from "../kit/table.ts";
import {
  accounts,
  addTransaction,
  amount,
  balance,
  BankingState,
  cards,
  findOpenAccount,
  findPayingAccount,
  payees,
  scheduled,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(BankingState);

function requireFutureDay(date: string, now: string): void {
  if (date <= now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${date} is not after today, ${now.slice(0, 10)}`,
      "choose a later day, or banking_transfer for now",
    );
}

export const transferTools = {
  transfer: tool({
    effect: "write",
    summary: "Move money between two of the customer's accounts at once.",
    input: {
      from_account: accounts.id.describe("Account the money leaves"),
      to_account: accounts.id.describe("Account the money goes to"),
      amount: amount.describe("Amount in euros"),
    },
    returns: { transaction_id: id("transaction"), from_balance: balance, to_balance: balance },
    run(state, { from_account, to_account, amount: transferAmount }, context) {
      if (from_account === to_account)
        refuse("invalid_params", "from_account and to_account are the same account");
      const from = findPayingAccount(state, from_account, transferAmount);
      const to = findOpenAccount(state, to_account);
      const transaction_id = addTransaction(state, context, {
        account_id: from_account,
        amount: -transferAmount,
        kind: "transfer",
        text: `Transfer to ${to.name}`,
      });
      addTransaction(state, context, {
        account_id: to_account,
        amount: transferAmount,
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
      from_account: accounts.id.describe("Account the money will leave"),
      to_account: accounts.id.describe("Account the money will go to"),
      amount: amount.describe("Amount in euros"),
      date: day().describe("Day of the transfer, after today"),
    },
    returns: { scheduled_id: id("scheduled_transfer"), date: day(), status: z.string() },
    run(state, { from_account, to_account, amount: transferAmount, date }, { now, newId }) {
      if (from_account === to_account)
        refuse("invalid_params", "from_account and to_account are the same account");
      if (findOpenAccount(state, from_account).access === "view")
        refuse("permission_denied", `you may view account ${from_account} but not move its money`);
      findOpenAccount(state, to_account);
      requireFutureDay(date, now);
      const scheduled_id = newId("sch");
      state.scheduled[scheduled_id] = {
        from_account,
        to_account,
        amount: transferAmount,
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
      scheduled_id: scheduled.id,
    },
    returns: { scheduled_id: id("scheduled_transfer"), status: z.string() },
    run(state, { scheduled_id }) {
      const scheduledTransfer = scheduled.find(state, scheduled_id);
      if (scheduledTransfer.status === "cancelled")
        refuse("conflict", `scheduled transfer ${scheduled_id} is already cancelled`);
      const { from_account } = scheduledTransfer;
      const { name, access } = state.accounts[from_account]!;
      if (access === "view")
        refuse(
          "permission_denied",
          `scheduled transfer ${scheduled_id} leaves account ${from_account} (${name}), which you may view but whose money you may not move`,
        );
      scheduledTransfer.status = "cancelled";
      return { scheduled_id, status: scheduledTransfer.status };
    },
  }),
  list_scheduled_transfers: scheduled.list({
    summary:
      "List planned transfers that are pending, all of them or only those that leave one account.",
    filters: {
      from_account: refersTo(
        accounts,
        "Only transfers that leave this account",
        it => it.from_account,
      ),
    },
    where: it => it.status === "pending",
    row: {
      to: [label("account"), (it, { world }) => world.accounts[it.to_account]!.name],
      scheduled_id: scheduled.idField,
      date: day(),
      amount: cents(),
    },
  }),
};

export const cashTools = {
  deposit: tool({
    effect: "write",
    summary: "Pay cash into an account.",
    input: { account_id: accounts.id, amount: amount.describe("Amount in euros") },
    returns: { transaction_id: id("transaction"), balance },
    run(state, { account_id, amount: deposit }, context) {
      const account = findOpenAccount(state, account_id);
      const transaction_id = addTransaction(state, context, {
        account_id,
        amount: deposit,
        kind: "deposit",
        text: "Cash deposit",
      });
      return { transaction_id, balance: account.balance };
    },
  }),
  withdraw: tool({
    effect: "write",
    summary: "Take out cash with a card. The card must be active, and its daily limit holds.",
    input: { card_id: cards.id, amount: amount.describe("Amount in euros") },
    returns: { transaction_id: id("transaction"), balance },
    run(state, { card_id, amount: withdrawal }, context) {
      const card = cards.find(state, card_id);
      if (card.status === "frozen")
        refuse(
          "precondition_failed",
          `card ${card_id} (${card.name}) is frozen`,
          "banking_unfreeze_card makes it usable again",
        );
      const account = findPayingAccount(state, card.account_id, withdrawal);
      const today = Object.values(state.transactions).filter(
        it =>
          it.card_id === card_id &&
          it.kind === "withdrawal" &&
          it.at.slice(0, 10) === context.now.slice(0, 10),
      );
      const used = roundToCents(today.reduce((total, it) => total - it.amount, 0));
      if (roundToCents(used + withdrawal) > card.daily_limit)
        refuse(
          "limit_exceeded",
          `${card.name} allows ${card.daily_limit} in cash a day, and ${used} is used`,
          `${roundToCents(card.daily_limit - used)} is left for today`,
        );
      const transaction_id = addTransaction(state, context, {
        account_id: card.account_id,
        amount: -withdrawal,
        kind: "withdrawal",
        text: `Cash with ${card.name}`,
        card_id,
      });
      return { transaction_id, balance: account.balance };
    },
  }),
};

export const payeeTools = {
  pay_bill: tool({
    effect: "write",
    summary: "Pay a payee's open bill from an account, in full.",
    input: { account_id: accounts.id.describe("Account that pays"), payee_id: payees.id },
    returns: { transaction_id: id("transaction"), paid: cents(), balance },
    run(state, { account_id, payee_id }, context) {
      const payee = payees.find(state, payee_id);
      const { bill } = payee;
      if (!bill) refuse("precondition_failed", `${payee.name} has no open bill`);
      const account = findPayingAccount(state, account_id, bill.amount);
      const transaction_id = addTransaction(state, context, {
        account_id,
        amount: -bill.amount,
        kind: "bill",
        text: `${payee.name} ${bill.reference}`,
      });
      delete payee.bill;
      return { transaction_id, paid: bill.amount, balance: account.balance };
    },
  }),
  list_payees: payees.list({
    summary:
      "List payees and what each one's open bill comes to, all of them or only those whose name contains some words.",
    filters: {
      name: contains(label("payee"), "Only payees whose name contains this", it => it.name),
    },
    row: {
      name: label("payee"),
      payee_id: payees.idField,
      due: [cents().optional(), it => it.bill?.amount],
    },
  }),
  add_payee: tool({
    effect: "write",
    summary: "Add somebody to pay, by name and IBAN.",
    input: {
      name: z.string().min(2).max(60).describe("Name of the payee").meta({
        examples: vocabulary.payees,
      }),
      iban: z
        .string()
        .regex(/^[A-Z]{2}\d{2}[A-Z0-9]{8,26}$/)
        .describe("IBAN without spaces")
        .meta({
          examples: vocabulary.ibans,
        }),
    },
    returns: { name: label("payee"), payee_id: id("payee") },
    run(state, { name: requestedName, iban }, { newId }) {
      const name = requestedName.trim();
      if (name === "") refuse("invalid_params", "the name of a payee cannot be blank");
      const duplicate = Object.values(state.payees).find(
        it => it.name.trim().toLowerCase() === name.toLowerCase() || it.iban === iban,
      );
      if (duplicate)
        refuse(
          "conflict",
          `there is already a payee ${duplicate.name} with IBAN ${duplicate.iban}`,
          "use that payee",
        );
      const payee_id = newId("pay");
      state.payees[payee_id] = { name, iban };
      return { name, payee_id };
    },
  }),
};
