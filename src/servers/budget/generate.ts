/**
 * The budget's part of a world: what the bank's accounts say was paid by card and bill, what went
 * in cash, limits, closed months and savings goals. Knows how banking writes its ledger, and no
 * other server.
 */
import { balanceOf, server, type Budget } from "./server.ts";
import type { SharedCast } from "../shared/cast.ts";
import { cashPools, categoryPlans, goalPlans, type CategoryPlan } from "./generateValues.ts";
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

interface Paid {
  readonly day: string;
  readonly amount: number;
  readonly text: string;
  readonly method: "card" | "bill";
}

/**
 * What was paid by card and bill from the accounts that are the customer's own to use, in order.
 */
function paidIn({ accounts, transactions }: Ledger): Paid[] {
  return Object.values(transactions).flatMap(({ account_id, at, amount, kind, text }) =>
    accounts[account_id]!.access === "full" && amount < 0 && (kind === "card" || kind === "bill")
      ? [{ day: at.slice(0, 10), amount: -amount, text, method: kind }]
      : [],
  );
}

/** What came in by month: salary and what clients paid, not what was moved between accounts. */
function incomeIn({ accounts, transactions }: Ledger): Map<string, number> {
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

/** The key of the category to which a merchant belongs. */
function keyOf(text: string, { clients, getPlace }: SharedCast): string {
  const at = (...roles: string[]) => roles.some(it => text.startsWith(getPlace(it).name));
  if (text.startsWith(clients[2]!.name) || at("bakery")) return "groceries";
  if (text.startsWith(clients[1]!.name)) return "outdoors";
  if (at("cafe", "pasta")) return "eating";
  if (at("pharmacy")) return "health";
  if (at("books", "cinema") || text.endsWith("Streaming")) return "culture";
  if (at("florist")) return "gifts";
  if (at("velo") || text.endsWith("Transit")) return "transport";
  if (at("paper", "printer")) return "studio";
  if (text.endsWith("Hair")) return "beauty";
  if (text.endsWith("rent")) return "housing";
  return "utilities";
}

function generate({ cast, random, states, size, nextId }: GeneratorContext): Budget {
  const ledger = states.get("banking") as unknown as Ledger;
  const income = incomeIn(ledger);
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
  const ids = new Map<string, string>();
  for (const it of plans) ids.set(it.key, openCategory(state, it, months, isFull, nextId));
  const lines = [
    ...paidIn(ledger).map(it => ({ ...it, source: "bank" as const, key: keyOf(it.text, cast) })),
    ...(isFull ? cashIn(months, plans, random) : smallCash).map(it => ({
      ...it,
      method: "cash" as const,
      source: "own" as const,
    })),
  ].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  for (const { key, ...it } of lines)
    state.expenses[nextId("exp")] = { category_id: ids.get(key)!, ...it };
  for (const it of goalPlans.filter(of => isFull || of.small)) {
    const goalId = nextId("goal");
    state.goals[goalId] = {
      name: it.name,
      target: it.target,
      created: dayAfterStart(-90),
      ...(it.by === undefined ? {} : { by: dayAfterStart(it.by) }),
    };
    for (const [i, amount] of (isFull ? it.saved : it.saved.slice(-2)).entries()) {
      const month = months.slice(-(isFull ? it.saved.length : Math.min(2, it.saved.length)))[i];
      if (month && amount > 0)
        state.contributions[nextId("con")] = {
          goal_id: goalId,
          day: `${month}-0${2 + (i % 4)}`,
          amount,
        };
    }
  }
  return state;
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

/** Cash spent over the months, within what fixed categories allow. */
function cashIn(
  months: readonly string[],
  plans: readonly CategoryPlan[],
  random: GeneratorContext["random"],
) {
  const open = plans.filter(it => cashPools[it.key] !== undefined);
  return months.flatMap(month => {
    const last = month === months.at(-1) ? 8 : 28;
    return open.flatMap(plan => {
      const pool = random.shuffle([...cashPools[plan.key]!]);
      const lines = pool.slice(0, 1 + random.integer(month === months.at(-1) ? 1 : 2));
      return lines.map(([text, least, most]) => ({
        key: plan.key,
        day: `${month}-${String(1 + random.integer(last)).padStart(2, "0")}`,
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
  const wrong: string[] = [];
  for (const month of Object.keys(state.months)) {
    const { free } = balanceOf(state, month);
    if (free < 0) wrong.push(`${month} has ${free} free`);
  }
  for (const [key, it] of Object.entries(state.goals)) {
    const saved = Object.values(state.contributions).reduce(
      (sum, of) => (of.goal_id === key ? sum + of.amount : sum),
      0,
    );
    if (saved > it.target) wrong.push(`${key} (${it.name}) has ${saved} of ${it.target}`);
  }
  for (const [key, it] of Object.entries(state.expenses))
    if ((it.method === "cash") !== (it.source === "own"))
      wrong.push(`${key} was paid by ${it.method} and is from ${it.source}`);
  return wrong;
}

/** The expenses that the bank reports, line by line, and what came in by month. */
function findBankInconsistencies(state: Budget, states: GeneratedStates): string[] {
  const bank = states.get("banking") as unknown as Ledger | undefined;
  if (!bank) return [];
  const say = ({
    day,
    amount,
    text,
    method,
  }: Pick<Paid, "day" | "amount" | "text"> & { method: string }) =>
    `${day} ${amount} ${text} by ${method}`;
  const left = new Map<string, number>();
  for (const it of paidIn(bank)) left.set(say(it), (left.get(say(it)) ?? 0) + 1);
  const wrong: string[] = [];
  for (const [key, it] of Object.entries(state.expenses).filter(([, of]) => of.source === "bank")) {
    const n = left.get(say(it)) ?? 0;
    if (n === 0) wrong.push(`${key} is not in the bank's ledger: ${say(it)}`);
    left.set(say(it), n - 1);
  }
  for (const [line, n] of left)
    if (n > 0) wrong.push(`the bank's ledger has what the budget lacks: ${line}`);
  const income = incomeIn(bank);
  for (const [month, it] of Object.entries(state.months))
    if (income.get(month) !== it.income)
      wrong.push(
        `${month} has an income of ${it.income}, and the bank's ledger ${income.get(month) ?? 0}`,
      );
  return wrong;
}
