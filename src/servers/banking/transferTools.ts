/** Tools that move money between the customer's accounts, now or on a later day. */
import { z } from "zod";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { accountId, amount, balance } from "./parameters.ts";
import { BankingState, findOpenAccount, findPayingAccount, addTransaction } from "./state.ts";

function requireFutureDay(date: string, now: string): void {
  if (date <= now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${date} is not after today, ${now.slice(0, 10)}`,
      "choose a later day, or banking_transfer for now",
    );
}

const tool = createToolFactory(BankingState);

export const transferTools = {
  transfer: tool({
    effect: "write",
    summary: "Move money between two of the customer's accounts at once.",
    input: {
      from_account: accountId.describe("Account the money leaves"),
      to_account: accountId.describe("Account the money goes to"),
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
      from_account: accountId.describe("Account the money will leave"),
      to_account: accountId.describe("Account the money will go to"),
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
      scheduled_id: id("scheduled_transfer").describe(
        "Id of the planned transfer, as banking_list_scheduled_transfers gives it",
      ),
    },
    returns: { scheduled_id: id("scheduled_transfer"), status: z.string() },
    run({ scheduled, accounts }, { scheduled_id }) {
      const scheduledTransfer = findEntity(
        scheduled,
        scheduled_id,
        "scheduled transfer",
        "banking_list_scheduled_transfers gives the ids",
      );
      if (scheduledTransfer.status === "cancelled")
        refuse("conflict", `scheduled transfer ${scheduled_id} is already cancelled`);
      const { from_account } = scheduledTransfer;
      const { name, access } = accounts[from_account]!;
      if (access === "view")
        refuse(
          "permission_denied",
          `scheduled transfer ${scheduled_id} leaves account ${from_account} (${name}), which you may view but whose money you may not move`,
        );
      scheduledTransfer.status = "cancelled";
      return { scheduled_id, status: scheduledTransfer.status };
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
