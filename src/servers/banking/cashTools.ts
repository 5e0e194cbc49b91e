/** Tools that deposit and withdraw cash. */
import { id } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { accountId, cardId, amount, balance } from "./parameters.ts";
import {
  BankingState,
  findOpenAccount,
  findPayingAccount,
  addTransaction,
  listTransactions,
} from "./state.ts";

const tool = createToolFactory(BankingState);

export const cashTools = {
  deposit: tool({
    effect: "write",
    summary: "Pay cash into an account.",
    input: { account_id: accountId, amount: amount.describe("Amount in euros") },
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
    input: { card_id: cardId, amount: amount.describe("Amount in euros") },
    returns: { transaction_id: id("transaction"), balance },
    run(state, { card_id, amount: withdrawal }, context) {
      const card = findEntity(
        state.cards,
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
      const account = findPayingAccount(state, card.account_id, withdrawal);
      const today = listTransactions(
        state,
        it =>
          it.card_id === card_id &&
          it.kind === "withdrawal" &&
          it.at.slice(0, 10) === context.now.slice(0, 10),
      );
      const used = roundToCents(today.reduce((total, [, it]) => total - it.amount, 0));
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
