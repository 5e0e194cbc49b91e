/**
 * R_name, equation (3): the share of calls whose full name is among the goals' names, whatever
 * their order and arguments.
 */
import type { ScoredGoal, ScoredCall } from "./align.ts";

export const listGoalNames = (goals: readonly ScoredGoal[]): ReadonlySet<string> =>
  new Set(goals.flatMap(it => it.calls.map(call => call.name)));

/** R_name = |{c : c.name ∈ goal names}| / N; 0 without calls. */
export const scoreNames = (calls: readonly ScoredCall[], names: ReadonlySet<string>): number =>
  calls.length === 0 ? 0 : calls.filter(it => names.has(it.name)).length / calls.length;
