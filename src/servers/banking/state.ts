/**
 * The state of the bank: accounts with cards, a ledger, planned transfers and payees with their
 * bills. Money is in euros and cents; every balance is the opening balance plus the transactions.
 */
import { z } from "zod";
import { cents, day, minute, money } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse, type ToolContext } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const allowance = z.number().min(0).max(1_000_000);

const Account = z.strictObject({
  name: z.string(),
  kind: z.enum(["checking", "savings", "credit"]),
  /** `view`: the customer may see the account but not move its money. */
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
  /** Most cash per day, in euros. */
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

export const references = {
  "cards.*.account_id": "accounts",
  "transactions.*.account_id": "accounts",
  "transactions.*.card_id": "cards",
  "scheduled.*.from_account": "accounts",
  "scheduled.*.to_account": "accounts",
} satisfies References;

export const BankingState = z.strictObject({
  customer: z.string(),
  accounts: z.record(z.string(), Account),
  cards: z.record(z.string(), Card),
  payees: z.record(z.string(), Payee),
  transactions: z.record(z.string(), Transaction),
  scheduled: z.record(z.string(), Scheduled),
});
export type BankingState = z.infer<typeof BankingState>;

const table = createTableFactory(BankingState);
export const accounts = table("accounts", { entity: "account", idsFrom: "banking_list_accounts" });
export const cards = table("cards", {
  entity: "card",
  idsFrom: "banking_get_account",
  hint: "banking_get_account lists the cards of an account",
});
export const payees = table("payees", { entity: "payee", idsFrom: "banking_list_payees" });
export const transactions = table("transactions", {
  entity: "transaction",
  idsFrom: "banking_list_transactions",
});
export const scheduled = table("scheduled", {
  entity: "scheduled_transfer",
  noun: "scheduled transfer",
  idsFrom: "banking_list_scheduled_transfers",
  description: "Id of the planned transfer, as banking_list_scheduled_transfers gives it",
});

export const amount = money().meta({ examples: vocabulary.amounts });
export const balance = cents().describe("Balance of the account, in euros");

/** The account, unless it is closed. */
export function findOpenAccount(state: BankingState, accountId: string) {
  const account = accounts.find(state, accountId);
  if (account.status === "closed")
    refuse("precondition_failed", `account ${accountId} (${account.name}) is closed`);
  return account;
}

/** The account, if the customer may take `amount` from it. */
export function findPayingAccount(state: BankingState, accountId: string, amount: number) {
  const account = findOpenAccount(state, accountId);
  if (account.access === "view")
    refuse(
      "permission_denied",
      `you may view account ${accountId} (${account.name}) but not move its money`,
    );
  if (roundToCents(account.balance + account.overdraft) < amount)
    refuse(
      "precondition_failed",
      `insufficient funds: ${account.name} has ${roundToCents(account.balance + account.overdraft)} available, ${amount} needed`,
      "choose a smaller amount or another account",
    );
  return account;
}

type NewTransaction = Omit<z.infer<typeof Transaction>, "at">;

/** Adds a transaction to the ledger and updates the balance. Returns the id of the transaction. */
export function addTransaction(
  state: BankingState,
  context: Pick<ToolContext, "now" | "newId">,
  transaction: NewTransaction,
): string {
  const transactionId = context.newId("txn");
  state.transactions[transactionId] = {
    ...transaction,
    amount: roundToCents(transaction.amount),
    at: context.now,
  };
  const account = state.accounts[transaction.account_id]!;
  account.balance = roundToCents(account.balance + transaction.amount);
  return transactionId;
}
