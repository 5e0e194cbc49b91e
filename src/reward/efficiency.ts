/**
 * R_efficiency, equation (2): what calls beyond the budget cost. Within the budget nothing; there
 * is no bonus for fewer.
 */
import type { GoalStep } from "./align.ts";
import type { Profile } from "./profiles.ts";

/** B = n + ⌈β·n⌉, n the goal calls over all goals. */
export function budgetOf(goals: readonly GoalStep[], { beta }: Pick<Profile, "beta">): number {
  const n = goals.reduce((sum, it) => sum + it.calls.length, 0);
  // 0.1 · 30 is a little more than 3
  return n + Math.ceil(beta * n - 1e-9);
}

/** R_efficiency = −α · max(0, N − B)/B, and never below the profile's floor. */
export const efficiencyScore = (
  n: number,
  budget: number,
  { alpha, efficiencyFloor }: Pick<Profile, "alpha" | "efficiencyFloor">,
): number => (n <= budget ? 0 : Math.max(efficiencyFloor, (-alpha * (n - budget)) / budget));
