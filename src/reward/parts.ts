/**
 * The five parts of equation (5), in its order, each a function of the calls or their alignment
 * with the goals; and the rule for tasks without goals, which replaces them.
 */
import {
  computeEqualShare,
  getPosition,
  type AlignedPair,
  type Alignment,
  type ScoredCall,
  type ScoredGoal,
} from "./align.ts";
import type { Profile } from "./profiles.ts";

const validities = { "unknown-tool": 0, "bad-arguments": 1 / 3, refused: 2 / 3, ok: 1 } as const;

/**
 * v(c): a third each for a known name, valid arguments and acceptance by the server. A block that
 * could not be parsed has no name and scores 0.
 */
export const getCallValidity = (call: ScoredCall): number =>
  call.name === "" ? 0 : validities[call.outcome.kind];

/** How far each call got: R_validity = (1/N) Σ v(c); 0 without calls. */
export const scoreValidity = (calls: readonly ScoredCall[]): number =>
  calls.length === 0 ? 0 : calls.reduce((sum, it) => sum + getCallValidity(it), 0) / calls.length;

/**
 * Equation (1), the share of goals that were matched after all of their direct predecessors:
 * R_coverage = (1/|G|) Σ m(g)·o(g), o(g) = Π over direct predecessors of 1[μ(j) < μ(g)].
 */
export function scoreCoverage({ positions, broken }: Alignment): number {
  const covered = positions.filter(
    (callPositions, g) => getPosition(callPositions) !== undefined && broken[g]!.length === 0,
  );
  return covered.length / positions.length;
}

/**
 * Equation (2), a penalty for calls beyond the budget: R_efficiency = −α · max(0, N − B)/B, and
 * never below the profile's floor.
 */
export const scoreEfficiency = (
  n: number,
  budget: number,
  { alpha, efficiencyFloor }: Pick<Profile, "alpha" | "efficiencyFloor">,
): number => (n <= budget ? 0 : Math.max(efficiencyFloor, (-alpha * (n - budget)) / budget));

export const listGoalNames = (goals: readonly ScoredGoal[]): ReadonlySet<string> =>
  new Set(goals.flatMap(it => it.calls.map(call => call.name)));

/**
 * Equation (3), the share of calls whose full name is among the goals' names, whatever their order
 * and arguments: R_name = |{c : c.name ∈ goal names}| / N; 0 without calls.
 */
export const scoreNames = (calls: readonly ScoredCall[], names: ReadonlySet<string>): number =>
  calls.length === 0 ? 0 : calls.filter(it => names.has(it.name)).length / calls.length;

/**
 * Equation (4), the share of argument values that equal the goal's, over the aligned pairs:
 * R_arg = (1/|M|) Σ over pairs of the share of equal arguments; 0 if nothing is aligned.
 */
export const scoreArguments = (pairs: readonly AlignedPair[]): number =>
  pairs.length === 0
    ? 0
    : pairs.reduce((sum, it) => sum + computeEqualShare(it.arguments), 0) / pairs.length;

// What counts in place of equations (2), (3) and (4) where a profile judges the conduct.

/**
 * The share of calls that serve a goal, beside what failed calls lack: R_validity = S/(S + Σ (1 −
 * v(c))) over S calls that serve a goal and all calls that failed. Other calls that succeed do not
 * count, so that no call makes up for a failed one. If none serves a goal, half of the lowest v(c).
 */
export function scoreServingValidity(serving: number, others: readonly ScoredCall[]): number {
  const validities = others.map(getCallValidity);
  if (serving === 0)
    return validities.length === 0 ? 0 : validities.reduce((a, b) => Math.min(a, b)) / 2;
  return serving / (serving + validities.reduce((sum, it) => sum + 1 - it, 0));
}

/**
 * R_name = S/(S + U), U the calls whose name no goal has. If none serves a goal, a half if the
 * goals have the names of all calls, else 0.
 */
export function scoreServingNames(
  serving: number,
  others: readonly ScoredCall[],
  names: ReadonlySet<string>,
): number {
  const unnamed = others.filter(it => !names.has(it.name)).length;
  if (serving === 0) return others.length > 0 && unnamed === 0 ? 0.5 : 0;
  return serving / (serving + unnamed);
}

const [lookUpCost, maxLookUpCost] = [0.05, 0.2];

/** The reward of a task without goals: 0 with a write, otherwise 1 less the cost of look-ups. */
export const scoreRestraint = (writes: number, others: number): number =>
  writes > 0 ? 0 : 1 - Math.min(maxLookUpCost, lookUpCost * others);

/**
 * The reward of a task without goals, whose right answer makes no calls: 1 for no call at all, else
 * 0. The text of the answer is not scored.
 */
export const scoreAbstention = (n: number): number => (n === 0 ? 1 : 0);
