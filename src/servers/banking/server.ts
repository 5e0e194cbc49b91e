/**
 * The banking server: a bank as its customer sees it. / Also its rules, which hold whichever
 * tools are used.
 */
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { BankingState, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { accountTools, cardTools } from "./accountTools.ts";
import { cashTools, payeeTools, transferTools } from "./paymentTools.ts";

type State = BankingState;

const balancesAddUp = defineStateRule<State>(
  "A balance is the opening balance plus the transactions of the account.",
  function* ({ accounts, transactions }) {
    for (const [id, { opening, balance }] of Object.entries(accounts)) {
      const ownAmounts = Object.values(transactions).flatMap(it =>
        it.account_id === id ? [it.amount] : [],
      );
      const sum = sumAmounts([opening, ...ownAmounts]);
      if (sum !== balance) yield `${id} has ${balance}, and its transactions come to ${sum}`;
    }
  },
);

const noOverdrawnAccounts = defineStateRule<State>(
  "An account is never below its overdraft, and a closed account is empty.",
  function* ({ accounts }) {
    for (const [id, { balance, overdraft, status }] of Object.entries(accounts)) {
      if (roundToCents(balance + overdraft) < 0) yield `${id} has ${balance}`;
      if (status === "closed" && balance !== 0) yield `${id} is closed and has ${balance}`;
    }
  },
);

const transfersBalance = defineWriteRule<State>(
  "What a transfer takes from one account arrives in another one.",
  function* (state, before) {
    const transfers = listAddedRows(before.transactions, state.transactions).flatMap(([, it]) =>
      it.kind === "transfer" ? [it] : [],
    );
    const sum = sumAmounts(transfers.map(it => it.amount));
    if (sum !== 0) yield `transfers of ${sum} euros in all`;
    if (new Set(transfers.map(it => it.account_id)).size !== transfers.length)
      yield "a transfer between an account and itself";
  },
);

const transactionsAreFinal = defineWriteRule<State>(
  "A transaction is never changed or removed.",
  function* (state, before) {
    for (const it of listChanges(before.transactions, state.transactions))
      if (it.before && !isSameJson(it.before, it.after)) yield `${it.id} is not as it was booked`;
  },
);

const withdrawalsWithinLimits = defineStateRule<State>(
  "The cash taken with a card on one day is at most its daily limit.",
  function* ({ cards, transactions }) {
    const cashByDay = new Map<string, number>();
    for (const { card_id, kind, at, amount } of Object.values(transactions)) {
      if (kind !== "withdrawal" || card_id === undefined) continue;
      const key = `${card_id} ${at.slice(0, 10)}`;
      const total = roundToCents((cashByDay.get(key) ?? 0) - amount);
      if (total > cards[card_id]!.daily_limit) yield `${total} with ${key}`;
      cashByDay.set(key, total);
    }
  },
);

const moneyLeavesWithPermission = defineWriteRule<State>(
  "Money leaves only open accounts with full access, and cash only with an active card of theirs.",
  function* (state, before) {
    for (const [id, it] of listAddedRows(before.transactions, state.transactions)) {
      const { status, access } = before.accounts[it.account_id]!;
      if (status === "closed") yield `${id} is booked on a closed account`;
      if (it.amount >= 0) continue;
      if (access !== "full") yield `${id} takes money from an account that may only be viewed`;
      const card = it.card_id === undefined ? undefined : before.cards[it.card_id]!;
      if (it.kind === "withdrawal" && !card) yield `${id} is cash without a card`;
      if (card && (card.status !== "active" || card.account_id !== it.account_id))
        yield `${id} uses ${it.card_id}, which is ${card.status}`;
    }
  },
);

const billsArePaidOnce = defineWriteRule<State>(
  "A bill is paid once and in full, and only what a bill asks for is paid.",
  function* (state, before) {
    const paid = listAddedRows(before.transactions, state.transactions).flatMap(([, it]) =>
      it.kind === "bill" ? [-it.amount] : [],
    );
    const billed: number[] = [];
    for (const it of listChanges(before.payees, state.payees)) {
      if (!it.after) yield `payee ${it.id} is gone`;
      if (isSameJson(it.before?.bill, it.after?.bill)) continue;
      if (it.after?.bill) yield `${it.id} has another bill`;
      if (it.before?.bill) billed.push(it.before.bill.amount);
    }
    if (!isSameJson(paid, billed)) yield `${paid.join()} is paid for bills of ${billed.join()}`;
  },
);

const termsAreFixed = defineWriteRule<State>(
  "The customer changes no terms: of an account only the balance, of a card only the status, of a planned transfer only that it is cancelled, and only where they may move the money.",
  function* (state, before) {
    for (const [table, changeable] of [
      ["accounts", "balance"],
      ["cards", "status"],
      ["scheduled", "status"],
    ] as const)
      for (const it of listChanges<object>(before[table], state[table])) {
        if (!it.after || (!it.before && table !== "scheduled")) yield `${it.id} is new or gone`;
        if (!it.before || !it.after) continue;
        const fields = listChangedFields(it.before, it.after).filter(key => key !== changeable);
        if (fields.length > 0) yield `${fields.join()} of ${it.id} changed`;
      }
    for (const it of listChanges(before.scheduled, state.scheduled)) {
      if (before.accounts[(it.after ?? it.before)!.from_account]!.access !== "full")
        yield `${it.id} leaves an account that may only be viewed`;
      if (it.before?.status === "cancelled" && it.after?.status !== "cancelled")
        yield `${it.id} is no longer cancelled`;
    }
  },
);

const payeesAreDistinct = defineStateRule<State>(
  "No two payees have the same name or the same IBAN.",
  function* ({ payees }) {
    const seen = new Set<string>();
    for (const [id, { name, iban }] of Object.entries(payees))
      for (const key of [name.trim().toLowerCase(), `IBAN ${iban}`]) {
        if (seen.has(key)) yield `${id} and another payee are both ${key}`;
        seen.add(key);
      }
  },
);

const invariants = [
  balancesAddUp,
  noOverdrawnAccounts,
  transfersBalance,
  transactionsAreFinal,
  withdrawalsWithinLimits,
  moneyLeavesWithPermission,
  billsArePaidOnce,
  termsAreFixed,
  payeesAreDistinct,
];

export const server = defineServer({
  name: "banking",
  category: "Finance",
  summary: "accounts, cards, ledger, planned transfers, payees and their bills",
  schema: BankingState,
  references,
  tools: { ...accountTools, ...transferTools, ...cashTools, ...payeeTools, ...cardTools },
  invariants,
});
