/**
 * The budget server: the household budget of one person. Also its rules, which hold whichever
 * tools are used.
 */
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { maxCategories, categoryTools, maxGoals, goalTools } from "./categoryTools.ts";
import {
  computeBalance,
  computeSavings,
  computeSpending,
  getLimit,
  Budget,
  type Expense,
  references,
} from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { summaryTools, expenseTools } from "./expenseTools.ts";
export { computeBalance, type Budget } from "./state.ts";

const goalsAreNotExceeded = defineStateRule<Budget>(
  "What is put aside for a goal is at most its target.",
  function* (budget) {
    for (const [id, { target }] of Object.entries(budget.goals)) {
      const saved = computeSavings(budget, id);
      if (saved > target) yield `${id} has ${saved} of ${target}`;
    }
  },
);

const contributionsAreFinal = defineWriteRule<Budget>(
  "A contribution, a goal or a month is never changed or removed.",
  function* (budget, before) {
    for (const table of ["contributions", "goals", "months"] as const)
      for (const it of listChanges<object>(before[table], budget[table]))
        if (it.before && !isSameJson(it.before, it.after)) yield `${it.id} was changed or removed`;
    for (const [id] of listAddedRows(before.months, budget.months)) yield `month ${id} is new`;
  },
);

const plansFitIncome = defineWriteRule<Budget>(
  "Limits and contributions take only what is free of a month's income.",
  function* (budget, before) {
    // what is spent is a fact, which may take more
    if (!isSameJson(budget.expenses, before.expenses)) return;
    for (const month of Object.keys(budget.months)) {
      const [free, freeBefore] = [budget, before].map(it => computeBalance(it, month).free);
      if (free! < freeBefore! && free! < 0) yield `${free} is free in ${month}`;
    }
  },
);

const closedMonthsStay = defineWriteRule<Budget>(
  "Nothing in a closed month changes: no expense, no contribution, no limit.",
  function* (budget, before) {
    const isClosed = (day: string) => before.months[day.slice(0, 7)]?.status === "closed";
    for (const table of ["expenses", "contributions"] as const)
      for (const it of listChanges<{ readonly day: string }>(before[table], budget[table]))
        if (
          !isSameJson(it.before, it.after) &&
          [it.before, it.after].some(row => row && isClosed(row.day))
        )
          yield `${it.id} is in a closed month`;
    for (const it of listChanges(before.categories, budget.categories))
      for (const month of Object.keys(before.months).filter(isClosed))
        if ((it.before && getLimit(it.before, month)) !== (it.after && getLimit(it.after, month)))
          yield `the limit of ${it.id} changed in ${month}`;
  },
);

const bankExpensesStay = defineWriteRule<Budget>(
  "An expense from the bank's statement stays, with its amount, day and text; no other one becomes the bank's.",
  function* (budget, before) {
    for (const it of listChanges(before.expenses, budget.expenses)) {
      if (it.before?.source !== "bank") {
        if (it.after?.source === "bank") yield `${it.id} was not in the bank's statement`;
        continue;
      }
      const fields = it.after ? listChangedFields(it.before, it.after) : ["all"];
      if (fields.some(key => key !== "category_id")) yield `${fields.join()} of ${it.id} changed`;
    }
  },
);

const fixedLimitsHold = defineWriteRule<Budget>(
  "Spending in a category with a fixed limit does not rise above the limit, and in an archived one not at all.",
  function* (budget, before) {
    const changes = listChanges(before.expenses, budget.expenses);
    for (const { after } of changes) {
      if (!after) continue;
      const { category_id } = after;
      const month = after.day.slice(0, 7);
      const { fixed, status } = budget.categories[category_id]!;
      const spent = computeSpending(budget, category_id, month);
      if (spent <= computeSpending(before, category_id, month)) continue;
      const limit = getLimit(budget.categories[category_id]!, month);
      if (fixed && limit !== undefined && spent > limit)
        yield `${category_id} has ${spent} of ${limit} in ${month}`;
      if (status === "archived") yield `${category_id} is archived and has ${spent} in ${month}`;
    }
  },
);

const getExpenseKey = ({ day, amount, text }: Expense): string =>
  `${day} ${amount} ${text.trim().toLowerCase()}`;

const expensesAreWrittenOnce = defineWriteRule<Budget>(
  "No expense is written down twice.",
  function* (budget, before) {
    for (const { id, after, before: old } of listChanges(before.expenses, budget.expenses)) {
      if (!after || (old && getExpenseKey(old) === getExpenseKey(after))) continue;
      const twin = Object.entries(budget.expenses).find(
        ([key, it]) => key !== id && getExpenseKey(it) === getExpenseKey(after),
      );
      if (twin) yield `${id} and ${twin[0]} are both ${getExpenseKey(after)}`;
    }
  },
);

const fewCategories = defineStateRule<Budget>(
  `There are at most ${maxCategories} categories and ${maxGoals} goals, each with a name of its own.`,
  function* ({ categories, goals }) {
    for (const [rows, most] of [
      [categories, maxCategories],
      [goals, maxGoals],
    ] as const) {
      const names = Object.values(rows).map(it => it.name.trim().toLowerCase());
      if (names.length > most) yield `there are ${names.length}`;
      const duplicate = names.find((it, i) => names.indexOf(it) !== i);
      if (duplicate !== undefined) yield `two are called ${duplicate}`;
    }
  },
);

const invariants = [
  goalsAreNotExceeded,
  contributionsAreFinal,
  plansFitIncome,
  closedMonthsStay,
  bankExpensesStay,
  fixedLimitsHold,
  expensesAreWrittenOnce,
  fewCategories,
];

export const server = defineServer({
  name: "budget",
  category: "Lifestyle",
  summary: "expenses in categories with monthly limits, months that close, savings goals",
  schema: Budget,
  references,
  tools: { ...categoryTools, ...expenseTools, ...summaryTools, ...goalTools },
  invariants,
});
