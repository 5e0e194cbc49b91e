/** R_efficiency, equation (2): a penalty for calls beyond the budget, and 0 within it. */
import type { Profile } from "./profiles.ts";

/** R_efficiency = −α · max(0, N − B)/B, and never below the profile's floor. */
export const scoreEfficiency = (
  n: number,
  budget: number,
  { alpha, efficiencyFloor }: Pick<Profile, "alpha" | "efficiencyFloor">,
): number => (n <= budget ? 0 : Math.max(efficiencyFloor, (-alpha * (n - budget)) / budget));
