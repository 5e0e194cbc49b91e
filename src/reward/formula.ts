/** Rewards of other papers, whose parts take the place of the five parts of equation (5). */
import type { Attempt } from "../trajectory/attempt.ts";
import type { ScoredCall, ScoredGoal } from "./align.ts";
import type { Breakdown } from "./breakdown.ts";
import { scoreEnvFactory } from "./envFactory.ts";
import type { Formula, FormulaParts } from "./formulaParts.ts";
import { scoreGraduated } from "./graduated.ts";
import { scoreTier } from "./tier.ts";

/** The goals, and the calls that are compared with them. */
interface FormulaInput {
  readonly goals: readonly ScoredGoal[];
  readonly calls: readonly ScoredCall[];
  /** Whether these are all calls: parts that need the final state are 0 before. */
  readonly hasEnded: boolean;
}

/** The breakdown with the parts of a formula, whose total is their sum and never below 0. */
export function applyFormula(
  formula: Formula,
  breakdown: Breakdown,
  attempt: Attempt,
  input: FormulaInput,
): Breakdown {
  const extras = Object.fromEntries(
    Object.entries(scoreFormula(formula, attempt, input)).map(([name, { score, weight }]) => [
      name,
      { score, weight, value: score * weight },
    ]),
  );
  const total = Object.values(extras).reduce((sum, it) => sum + it.value, 0);
  return { ...breakdown, extras, total: Math.max(0, total) };
}

function scoreFormula(
  formula: Formula,
  attempt: Attempt,
  { goals, calls, hasEnded }: FormulaInput,
): FormulaParts {
  switch (formula) {
    case "graduated":
      return scoreGraduated(goals, calls, it => attempt.tools.get(it)?.inputSchema);
    case "envfactory":
      return scoreEnvFactory(attempt, goals, calls, hasEnded);
    case "tier":
      return scoreTier(attempt, calls, hasEnded);
    default:
      throw new Error(`unknown formula ${String(formula satisfies never)}`);
  }
}
