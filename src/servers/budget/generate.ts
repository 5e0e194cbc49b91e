/**
 * Generates the budget of a fixture set: card payments, bills and income from the ledger of
 * `banking`, cash payments, limits, closed months and savings goals.
 */
import { computeBalance, server, type Budget } from "./server.ts";
import type { SharedCast } from "../shared/cast.ts";
import {
  cashPools,
  categoryPlans,
  goalPlans,
  type CategoryPlan,
  type GoalPlan,
} from "./generateValues.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";

interface Ledger {
  readonly accounts: Readonly<Record<string, { readonly access: string }>>;
  readonly transactions: Readonly<
    Record<
      string,
      {
        readonly account_id: string;
        readonly at: string;
        readonly amount: number;
        readonly kind: string;
        readonly text: string;
      }
    >
  >;
}

interface Payment {
  readonly day: string;
  readonly amount: number;
  readonly text: string;
  readonly method: "card" | "bill";
}

/** The card payments and bills of the accounts that the customer can use, in order. */
function listPayments({ accounts, transactions }: Ledger): Payment[] {
  return Object.values(transactions).flatMap(({ account_id, at, amount, kind, text }) =>
    accounts[account_id]!.access === "full" && amount < 0 && (kind === "card" || kind === "bill")
      ? [{ day: at.slice(0, 10), amount: -amount, text, method: kind }]
      : [],
  );
}

/** Income by month: salary and payments of clients, without transfers between accounts. */
function sumIncomeByMonth({ accounts, transactions }: Ledger): Map<string, number> {
  const months = new Map<string, number>();
  for (const { account_id, at, amount, kind, text } of Object.values(transactions)) {
    const isIncome =
      accounts[account_id]!.access === "full" &&
      amount > 0 &&
      (kind === "salary" || (kind === "transfer" && !text.startsWith("Transfer ")));
    if (isIncome)
      months.set(
        at.slice(0, 7),
        Math.round(((months.get(at.slice(0, 7)) ?? 0) + amount) * 100) / 100,
      );
  }
  return new Map([...months].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The key of the category of a merchant. */
function findCategoryKey(text: string, { clients, getPlace }: SharedCast): string {
  const isPaidTo = (...roles: string[]) => roles.some(it => text.startsWith(getPlace(it).name));
  if (text.startsWith(clients[2]!.name) || isPaidTo("bakery")) return "groceries";
  if (text.startsWith(clients[1]!.name)) return "outdoors";
  if (isPaidTo("cafe", "pasta")) return "eating";
  if (isPaidTo("pharmacy")) return "health";
  if (isPaidTo("books", "cinema") || text.endsWith("Streaming")) return "culture";
  if (isPaidTo("florist")) return "gifts";
  if (isPaidTo("velo") || text.endsWith("Transit")) return "transport";
  if (isPaidTo("paper", "printer")) return "studio";
  if (text.endsWith("Hair")) return "beauty";
  if (text.endsWith("rent")) return "housing";
  return "utilities";
}

function generate({ cast, random, states, size, nextId }: GeneratorContext): Budget {
  const ledger = states.get("banking") as unknown as Ledger;
  const income = sumIncomeByMonth(ledger);
  const months = [...income.keys()];
  const isFull = size === "full";
  const state: Budget = {
    owner: cast.user.name,
    categories: {},
    expenses: {},
    months: {},
    goals: {},
    contributions: {},
  };
  for (const [i, month] of months.entries())
    state.months[month] = {
      status: i < months.length - (isFull ? 2 : 1) ? "closed" : "open",
      income: income.get(month)!,
    };
  const plans = categoryPlans.filter(it => isFull || it.small !== undefined);
  const categoryIds = new Map<string, string>();
  for (const it of plans) categoryIds.set(it.key, openCategory(state, it, months, isFull, nextId));
  const expenses = [
    ...listPayments(ledger).map(it => ({
      ...it,
      source: "bank" as const,
      key: findCategoryKey(it.text, cast),
    })),
    ...(isFull ? generateCashPayments(months, plans, random) : smallCash).map(it => ({
      ...it,
      method: "cash" as const,
      source: "own" as const,
    })),
  ].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  for (const { key, ...it } of expenses)
    state.expenses[nextId("exp")] = { category_id: categoryIds.get(key)!, ...it };
  for (const it of goalPlans.filter(plan => isFull || plan.small))
    addGoal(state, it, months, isFull, nextId);
  return state;
}

/** Adds a goal with its contributions; in the small fixture, only those of the last two months. */
function addGoal(
  state: Budget,
  plan: GoalPlan,
  months: readonly string[],
  isFull: boolean,
  nextId: GeneratorContext["nextId"],
): void {
  const goalId = nextId("goal");
  state.goals[goalId] = {
    name: plan.name,
    target: plan.target,
    created: dayAfterStart(-90),
    ...(plan.by === undefined ? {} : { by: dayAfterStart(plan.by) }),
  };
  const amounts = isFull ? plan.saved : plan.saved.slice(-2);
  const ownMonths = months.slice(-(isFull ? plan.saved.length : Math.min(2, plan.saved.length)));
  for (const [i, amount] of amounts.entries()) {
    const month = ownMonths[i];
    if (month && amount > 0)
      state.contributions[nextId("con")] = {
        goal_id: goalId,
        day: `${month}-0${2 + (i % 4)}`,
        amount,
      };
  }
}

function openCategory(
  state: Budget,
  plan: CategoryPlan,
  months: readonly string[],
  isFull: boolean,
  id: GeneratorContext["nextId"],
): string {
  const categoryId = id("cat");
  const limit = isFull ? plan.limit : plan.small;
  const limits = limit
    ? { [months[0]!]: limit, ...(isFull && plan.raised ? { [months.at(-2)!]: plan.raised } : {}) }
    : {};
  state.categories[categoryId] = {
    name: plan.name,
    kind: plan.kind,
    status: plan.isArchived ? "archived" : "active",
    limits,
    fixed: plan.isFixed ?? false,
  };
  return categoryId;
}

const smallCash = [
  { key: "groceries", day: dayAfterStart(-2), amount: 12.5, text: "Farm eggs" },
  { key: "eating", day: dayAfterStart(-1), amount: 31, text: "Brunch with friends" },
  { key: "eating", day: dayAfterStart(-20), amount: 14.2, text: "Fish rolls" },
  { key: "culture", day: dayAfterStart(-5), amount: 9.5, text: "Second-hand novels" },
];

/** Cash payments of all months, within the limits of fixed categories. */
function generateCashPayments(
  months: readonly string[],
  plans: readonly CategoryPlan[],
  random: GeneratorContext["random"],
) {
  const cashCategories = plans.filter(it => cashPools[it.key] !== undefined);
  return months.flatMap(month => {
    const lastDay = month === months.at(-1) ? 8 : 28;
    return cashCategories.flatMap(plan => {
      const pool = random.shuffle([...cashPools[plan.key]!]);
      const lines = pool.slice(0, 1 + random.integer(month === months.at(-1) ? 1 : 2));
      return lines.map(([text, least, most]) => ({
        key: plan.key,
        day: `${month}-${String(1 + random.integer(lastDay)).padStart(2, "0")}`,
        amount: Math.round((least + random.next() * (most - least)) * 10) / 10,
        text,
      }));
    });
  });
}

export const generator = defineGenerator<Budget>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [
    ...(state.owner === cast.user.name
      ? []
      : [`the owner ${state.owner} is not ${cast.user.name}`]),
    ...findStateInconsistencies(state),
    ...findBankInconsistencies(state, states),
  ],
});

function findStateInconsistencies(state: Budget): string[] {
  const problems: string[] = [];
  for (const month of Object.keys(state.months)) {
    const { free } = computeBalance(state, month);
    if (free < 0) problems.push(`${month} has ${free} free`);
  }
  for (const [key, it] of Object.entries(state.goals)) {
    const saved = Object.values(state.contributions).reduce(
      (sum, of) => (of.goal_id === key ? sum + of.amount : sum),
      0,
    );
    if (saved > it.target) problems.push(`${key} (${it.name}) has ${saved} of ${it.target}`);
  }
  for (const [key, it] of Object.entries(state.expenses))
    if ((it.method === "cash") !== (it.source === "own"))
      problems.push(`${key} was paid by ${it.method} and is from ${it.source}`);
  return problems;
}

/** Compares the expenses and the income with the bank's ledger. */
function findBankInconsistencies(state: Budget, states: GeneratedStates): string[] {
  const bank = states.get("banking") as unknown as Ledger | undefined;
  if (!bank) return [];
  const formatPayment = ({
    day,
    amount,
    text,
    method,
  }: Pick<Payment, "day" | "amount" | "text"> & { method: string }) =>
    `${day} ${amount} ${text} by ${method}`;
  const remaining = new Map<string, number>();
  for (const it of listPayments(bank))
    remaining.set(formatPayment(it), (remaining.get(formatPayment(it)) ?? 0) + 1);
  const problems: string[] = [];
  for (const [key, it] of Object.entries(state.expenses).filter(([, of]) => of.source === "bank")) {
    const n = remaining.get(formatPayment(it)) ?? 0;
    if (n === 0) problems.push(`${key} is not in the bank's ledger: ${formatPayment(it)}`);
    remaining.set(formatPayment(it), n - 1);
  }
  for (const [line, n] of remaining)
    if (n > 0) problems.push(`the bank's ledger has what the budget lacks: ${line}`);
  const income = sumIncomeByMonth(bank);
  for (const [month, it] of Object.entries(state.months))
    if (income.get(month) !== it.income)
      problems.push(
        `${month} has an income of ${it.income}, and the bank's ledger ${income.get(month) ?? 0}`,
      );
  return problems;
}
