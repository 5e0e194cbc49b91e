/**
 * The reward of EnvFactory (arXiv 2605.18703): the teacher's calls in any order and the final
 * states, with a penalty for further calls.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import type { ScoredCall, ScoredGoal } from "./align.ts";
import { compareArguments, computeEqualShare } from "./argument.ts";
import type { FormulaParts } from "./formulaParts.ts";
import { listOtherServers } from "./success.ts";

/** R = max(0, ½ trace + ½ state − penalty); the floor is the caller's. */
export function scoreEnvFactory(
  attempt: Attempt,
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  hasEnded: boolean,
): FormulaParts {
  const goalCount = goals.reduce((sum, it) => sum + it.calls.length, 0);
  const unparsed = calls.filter(it => it.name === "").length;
  const penalty =
    Math.min(0.5, 0.05 * Math.max(0, calls.length - goalCount)) + Math.min(0.5, 0.05 * unparsed);
  return {
    trace: { score: Number(hasAllCalls(attempt, goals, calls)), weight: 0.5 },
    state: { score: hasEnded ? scoreStates(attempt, goals) : 0, weight: 0.5 },
    penalty: { score: penalty, weight: -1 },
  };
}

/** Whether each goal call has a call of its own with the same name and equal arguments. */
function hasAllCalls(
  { tools }: Attempt,
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
): boolean {
  const used = new Set<ScoredCall>();
  return goals
    .flatMap(it => it.calls)
    .every(goal => {
      const schema = tools.get(goal.name)?.inputSchema;
      const made = calls.find(
        it =>
          it.name === goal.name &&
          !used.has(it) &&
          computeEqualShare(compareArguments(goal, it.arguments, schema)) === 1,
      );
      if (made) used.add(made);
      return made !== undefined;
    });
}

/** The share of the servers used by the goals that end in the goals' state. */
function scoreStates(attempt: Attempt, goals: readonly ScoredGoal[]): number {
  const used = attempt.task.servers
    .map(it => it.name)
    .filter(server => goals.some(goal => goal.calls.some(it => it.name.startsWith(`${server}_`))));
  const others = listOtherServers(attempt);
  return used.length === 0 ? 0 : used.filter(it => !others.includes(it)).length / used.length;
}
