/** The tools of the budget server: what they return, what they change, and what they refuse. */
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { join } from "node:path";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import { computeBalance, server as budget, type Budget } from "../../src/servers/budget/server.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(budget);

const [rent, power, groceries, eating, books, gym] = [
  "cat_101",
  "cat_104",
  "cat_107",
  "cat_110",
  "cat_113",
  "cat_116",
] as const;
const [oldRolls, novels, cafe, eggs, foods] = [
  "exp_116",
  "exp_125",
  "exp_131",
  "exp_134",
  "exp_137",
] as const;
const [trip, bicycle, party] = ["goal_101", "goal_104", "goal_107"] as const;

const spend = (category_id: string, amount: number, text = "Market stall", day?: string): Call => [
  "add_expense",
  { category_id, amount, text, ...(day ? { day } : {}) },
];
const put = (goal_id: string, amount: number): Call => ["contribute_to_goal", { goal_id, amount }];
const limit = (category_id: string, amount: number, month?: string): Call => [
  "set_category_limit",
  { category_id, limit: amount, ...(month ? { month } : {}) },
];

describe("categories", () => {
  test("show what is left: 80 - 18.9 - 31", () =>
    check(
      [["list_categories", { name: "eating" }]],
      returns({
        categories: [
          { category: "Eating out", category_id: eating, limit: 80, spent: 49.9, left: 30.1 },
        ],
      }),
    ));
  test("show another month: 18.9 + 14.2", () =>
    check(
      [["list_categories", { name: "eating", month: "2026-02" }]],
      returns({ categories: [{ spent: 33.1 }] }),
    ));
  test("that are archived are listed", () =>
    check(
      [["list_categories", { archived: true }]],
      returns({ categories: [{ category: "Old gym", category_id: gym, spent: 0 }] }),
    ));
  test("overspent ones are found", () =>
    check(
      [spend(books, 55), ["list_categories", { over_limit: true }]],
      returns({ categories: [{ category: "Books and films", left: -4.5 }] }),
    ));
  test("of an unknown month are refused", () =>
    check([["list_categories", { month: "2025-01" }]], refuses("not_found", /no month 2025-01/)));
  test("are opened: 820 is free, 820 - 100", () =>
    check(
      [["create_category", { name: "Pets", limit: 100 }]],
      returns({ category: "Pets", limit: 100, free: 720 }),
    ));
  test("are not opened twice", () =>
    check(
      [["create_category", { name: "old GYM" }]],
      refuses("conflict", /Old gym \(cat_116\), which is archived/),
    ));
  test("cannot have a limit above the free income", () =>
    check(
      [["create_category", { name: "Pets", limit: 820.01 }]],
      refuses(
        "precondition_failed",
        /820.01 more would be planned in 2026-03, and 820 of its income is free/,
      ),
    ));
  test("that are fixed need a limit", () =>
    check(
      [["create_category", { name: "Pets", fixed: true }]],
      refuses("invalid_params", /needs a limit/),
    ));
  test("get another limit: 49.9 of 100", () =>
    check(
      [limit(eating, 100)],
      returns({ from: "2026-03", limit: 100, spent: 49.9, left: 50.1, free: 800 }),
    ));
  test("show the new limit in later reads", () =>
    check(
      [limit(eating, 100), ["get_category_summary", { category_id: eating }]],
      returns({ limit: 100, left: 50.1 }),
    ));
  test("lower limits free money", () => check([limit(groceries, 150)], returns({ free: 920 })));
  test("limits below what is spent free no more than that: 820 + 90 - 38.4", () =>
    check([limit(power, 20)], returns({ left: -18.4, free: 871.6 })));
  test("limits of closed months cannot change", () =>
    check([limit(eating, 100, "2026-02")], refuses("precondition_failed", /2026-02 is closed/)));
  test("a limit equal to the current one is refused", () =>
    check([limit(eating, 80)], refuses("conflict", /already 80 in 2026-03/)));
  test("limits beyond the income are refused", () =>
    check(
      [limit(rent, 1750)],
      refuses("precondition_failed", /850 more would be planned in 2026-03, and 820/),
    ));
  test("archived ones get no limit", () =>
    check([limit(gym, 20)], refuses("precondition_failed", /archived/)));
  for (const amount of [0, -0, -5, 0.001, 1e308])
    test(`limits of ${amount} are refused`, () =>
      check([limit(eating, amount)], refuses("invalid_params", /limit/)));
});

describe("expenses", () => {
  test("are written down: 49.9 + 12.3 of 80", () =>
    check(
      [spend(eating, 12.3)],
      returns({
        expense: "Market stall",
        day: "2026-03-09",
        category: "Eating out",
        spent: 62.2,
        left: 17.8,
      }),
    ));
  test("appear in the list", () =>
    check(
      [spend(eating, 12.3), ["list_expenses", { limit: 1 }]],
      returns({
        count: 15,
        expenses: [{ expense: "Market stall", amount: 12.3, method: "cash", category_id: eating }],
      }),
    ));
  test("keep to a fixed limit: 49.9 + 30.2 > 80", () =>
    check(
      [spend(eating, 30.2)],
      refuses(
        "limit_exceeded",
        /fixed limit of 80 in 2026-03, 49.9 is spent, and 30.2 does not fit/,
      ),
    ));
  test("may reach a fixed limit exactly", () => check([spend(eating, 30.1)], returns({ left: 0 })));
  test("may exceed a limit that is not fixed", () =>
    check([spend(books, 60)], returns({ spent: 69.5, left: -9.5 })));
  test("are not of closed months, of tomorrow, or of no day", () => {
    check(
      [spend(groceries, 5, "Jam", "2026-02-20")],
      refuses("precondition_failed", /2026-02 is closed/),
    );
    check(
      [spend(groceries, 5, "Jam", "2026-03-10")],
      refuses("precondition_failed", /still to come/),
    );
    check([spend(groceries, 5, "Jam", "2026-02-30")], refuses("invalid_params", /day/));
  });
  test("are not in archived or unknown categories", () => {
    check([spend(gym, 5)], refuses("precondition_failed", /archived/));
    check([spend("__proto__", 5)], refuses("not_found", /no category __proto__/));
  });
  test("are not written down twice", () =>
    check(
      [spend(groceries, 12.5, "farm EGGS", "2026-03-07")],
      refuses("conflict", /written down already \(exp_134\)/),
    ));
  test("of text as an amount do not fit", () =>
    check(
      [["add_expense", { category_id: eating, amount: "5", text: "Jam" }]],
      rejectsArguments(/amount/),
    ));
  test("are corrected: 250 - 42.6 - 64.15 - 15", () =>
    check(
      [["update_expense", { expense_id: eggs, amount: 15 }]],
      returns({ changed: ["amount"], amount: 15, left: 128.25 }),
    ));
  test("move to another category, the bank's too", () =>
    check(
      [
        ["update_expense", { expense_id: foods, category_id: books }],
        ["get_category_summary", { category_id: books }],
      ],
      returns({ spent: 73.65, expenses: 2, left: -13.65 }),
    ));
  test("of the bank keep amount and day", () =>
    check(
      [["update_expense", { expense_id: cafe, amount: 5 }]],
      refuses("permission_denied", /bank's statement, which says 18.9 on 2026-03-06/),
    ));
  test("of closed months cannot change", () =>
    check(
      [["update_expense", { expense_id: oldRolls, amount: 5 }]],
      refuses("precondition_failed", /2026-02 is closed/),
    ));
  test("do not move into closed months", () =>
    check(
      [["update_expense", { expense_id: eggs, day: "2026-02-07" }]],
      refuses("precondition_failed", /2026-02 is closed/),
    ));
  test("do not move beyond a fixed limit", () =>
    check(
      [["update_expense", { expense_id: foods, category_id: eating }]],
      refuses("limit_exceeded", /64.15 does not fit/),
    ));
  test("are refused a change without effect", () => {
    check(
      [["update_expense", { expense_id: eggs }]],
      refuses("invalid_params", /nothing to change/),
    );
    check(
      [["update_expense", { expense_id: eggs, amount: 12.5 }]],
      refuses("conflict", /like that already/),
    );
  });
  test("are deleted: 42.6 + 64.15 remain", () =>
    check(
      [["delete_expense", { expense_id: eggs }]],
      returns({ deleted: "Farm eggs", amount: 12.5, spent: 106.75 }),
    ));
  test("are not listed after that", () =>
    check(
      [
        ["delete_expense", { expense_id: novels }],
        ["update_expense", { expense_id: novels, amount: 1 }],
      ],
      refuses("not_found", /no expense exp_125/),
    ));
  test("of the bank and of closed months are not deleted", () => {
    check(
      [["delete_expense", { expense_id: cafe }]],
      refuses("permission_denied", /from the bank's statement/),
    );
    check([["delete_expense", { expense_id: oldRolls }]], refuses("precondition_failed", /closed/));
  });
  test("are listed with their sum: 42.6 + 64.15 twice", () =>
    check(
      [["list_expenses", { text: "orchard", limit: 1 }]],
      returns({ count: 4, total: 213.5, expenses: [{ expense_id: foods, day: "2026-03-08" }] }),
    ));
  test("are listed by method, days and size", () =>
    check(
      [["list_expenses", { method: "cash", from: "2026-03-01", min_amount: 10 }]],
      returns({
        count: 2,
        total: 43.5,
        expenses: [{ expense: "Brunch with friends" }, { expense: "Farm eggs" }],
      }),
    ));
  test("with a first day after the last day are refused", () =>
    check(
      [["list_expenses", { from: "2026-03-02", to: "2026-03-01" }]],
      refuses("invalid_params", /is after/),
    ));
});

describe("summaries", () => {
  test("of a category name the largest, and the month before", () =>
    check(
      [["get_category_summary", { category_id: groceries }]],
      returns({
        spent: 119.25,
        left: 130.75,
        expenses: 3,
        spent_before: 106.75,
        largest: { expense: "Orchard Foods", expense_id: foods, amount: 64.15 },
      }),
    ));
  test("of a category in no month are refused", () =>
    check(
      [["get_category_summary", { category_id: groceries, month: "2027-01" }]],
      refuses("not_found", /no month 2027-01/),
    ));
  test("of a month add up: 1087.05 + 292.95 + 250 + 820 = 2450", () =>
    check(
      [["get_monthly_summary", {}]],
      returns({
        status: "open",
        income: 2450,
        spent: 1087.05,
        reserved: 292.95,
        saved: 250,
        free: 820,
        expenses: 8,
        categories: [
          { category: "Rent", spent: 870 },
          { category: "Groceries", spent: 119.25 },
          {},
          {},
          {},
        ],
      }),
    ));
  test("of a closed month say so", () =>
    check(
      [["get_monthly_summary", { month: "2026-02" }]],
      returns({ status: "closed", saved: 280 }),
    ));
  test("of no month are refused", () =>
    check([["get_monthly_summary", { month: "2026-13" }]], refuses("invalid_params", /month/)));
});

describe("goals", () => {
  test("show what is missing, and a month's share", () =>
    check(
      [["list_goals", { name: "bicycle" }]],
      returns({
        goals: [
          {
            goal: "New bicycle",
            goal_id: bicycle,
            target: 640,
            saved: 190,
            missing: 450,
            by: "2026-05-08",
            a_month: 225,
          },
        ],
      }),
    ));
  test("beyond the limit are refused", () =>
    check([["list_goals", { limit: 0 }]], refuses("invalid_params", /limit/)));
  test("are created", () =>
    check(
      [
        ["create_savings_goal", { name: "Piano", target: 800, by: "2026-12-01" }],
        ["list_goals", { name: "piano" }],
      ],
      returns({ goals: [{ saved: 0, missing: 800 }] }),
    ));
  test("are not created twice, nor with a past day", () => {
    check(
      [["create_savings_goal", { name: "sailing trip", target: 800 }]],
      refuses("conflict", /already a goal Sailing trip/),
    );
    check(
      [["create_savings_goal", { name: "Piano", target: 800, by: "2026-03-09" }]],
      refuses("precondition_failed", /not after today/),
    );
  });
  test("take contributions from the free income: 820 - 60", () =>
    check([put(trip, 60)], returns({ saved: 300, missing: 900, reached: false, free: 760 })));
  test("take no more than the free income", () =>
    check(
      [put(trip, 810), put(bicycle, 20)],
      refuses("precondition_failed", /20 is more than the 10 that is free in 2026-03/),
    ));
  test("take more after a limit was lowered", () =>
    check([put(trip, 810), limit(groceries, 200), put(bicycle, 60)], returns({ free: 0 })));
  test("take no more than their target", () =>
    check([put(party, 60)], refuses("precondition_failed", /needs only 50 more of its 150/)));
  test("take nothing after they are reached", () => {
    check([put(party, 50)], returns({ missing: 0, reached: true }));
    check([put(party, 50), put(party, 1)], refuses("conflict", /is reached/));
  });
  test("are found once they are reached", () =>
    check(
      [put(party, 50), ["list_goals", { status: "reached" }]],
      returns({ goals: [{ goal_id: party, missing: 0 }] }),
    ));
});

describe("loopholes", () => {
  const update = (expense_id: string, changes: Record<string, string | number>): Call => [
    "update_expense",
    { expense_id, ...changes },
  ];
  test("a corrected expense is not written down twice", () =>
    check(
      [spend(books, 9.5, "Bus ticket", "2026-03-04"), update(novels, { text: "bus ticket" })],
      refuses("conflict", /9.5 for Bus ticket on 2026-03-04 is written down already/),
    ));
  test("spaces around its words do not hide an expense", () =>
    check(
      [update(novels, { text: "Used novels " }), spend(books, 9.5, "Used novels", "2026-03-04")],
      refuses("conflict", /is written down already/),
    ));
  test("a closed month takes no contributions", () =>
    check([put(trip, 10)], refuses("precondition_failed", /2026-03 is closed/), {
      edits: { "months.2026-03.status": "closed" },
    }));
  test("a closed month takes no limit of a new category", () =>
    check(
      [["create_category", { name: "Pets", limit: 40 }]],
      refuses("precondition_failed", /2026-03 is closed/),
      { edits: { "months.2026-03.status": "closed" } },
    ));
  test("a limit from an earlier month does not reach into a closed one", () =>
    check([limit(groceries, 200, "2026-02")], refuses("precondition_failed", /2026-03 is closed/), {
      edits: { "months.2026-02.status": "open", "months.2026-03.status": "closed" },
    }));
  test("the limit of a new category fits the income of later months too", () =>
    check(
      [["create_category", { name: "Pets", limit: 40 }]],
      refuses(
        "precondition_failed",
        /40 more would be planned in 2026-04, and 20 of its income is free/,
      ),
      { edits: { "months.2026-04": { status: "open", income: 1400 } } },
    ));
});

test("after any calls, every month's income is what is spent, reserved, saved and free, and no contribution overdraws it", () => {
  const catalog = openCatalog([budget], [join(import.meta.dirname, "../../resources/servers")]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), seed => {
      const session = openSessionByName(catalog, {
        servers: [{ name: "budget", fixture: "small" }],
        seed: 1,
      });
      walk(budget, session, 100, seed);
      const state = session.state["budget"]!.world as unknown as Budget;
      expect(budget.schema.safeParse(state).error).toBeUndefined();
      for (const month of Object.keys(state.months)) {
        const { income, spent, reserved, saved, free } = computeBalance(state, month);
        const lines = Object.values(state.expenses).filter(it => it.day.startsWith(month));
        expect(Math.round(spent * 100)).toBe(
          lines.reduce((sum, it) => sum + Math.round(it.amount * 100), 0),
        );
        expect(Math.round((spent + reserved + saved + free) * 100)).toBe(Math.round(income * 100));
      }
    }),
    { numRuns: 15 },
  );
});

checkAllTools();
