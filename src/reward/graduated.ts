/**
 * The graduated reward of Cheng et al. (arXiv 2603.24709): half for each call on its own, half for
 * the order of the goals. It compares with the teacher's calls.
 */
import { isJsonObject } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";
import { getJsonType } from "../environment/typeCheck.ts";
import type { ScoredCall, ScoredGoal, ScoredGoalCall } from "./align.ts";
import { compareArguments, computeEqualShare } from "./argument.ts";
import type { FormulaParts } from "./formulaParts.ts";

type SchemaOf = ((tool: string) => JsonSchema | undefined) | undefined;

/** R = ½ R_atomic + ½ R_orch. */
export const scoreGraduated = (
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  schemaOf: SchemaOf,
): FormulaParts => ({
  atomic: { score: scoreAtomic(goals, calls, schemaOf), weight: 0.5 },
  orchestration: { score: scoreOrchestration(goals, calls), weight: 0.5 },
});

/**
 * R_atomic = ½ mean(form) + ½ mean(executed) over all calls. A call of a tool that no goal names
 * has 0 in both.
 */
function scoreAtomic(
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  schemaOf: SchemaOf,
): number {
  const goalCalls = goals.flatMap(it => it.calls);
  const sum = calls.reduce((total, call) => {
    const named = goalCalls.filter(it => it.name === call.name);
    if (named.length === 0) return total;
    const form = Math.max(...named.map(it => scoreForm(it, call, schemaOf)));
    return total + form / 2 + (call.outcome.kind === "ok" ? 0.5 : 0);
  }, 0);
  return calls.length === 0 ? 0 : sum / calls.length;
}

/** 0.33 for the name, up to 0.33 for keys of the right types, 0.34 if all values are equal. */
function scoreForm(goal: ScoredGoalCall, { arguments: args }: ScoredCall, schemaOf: SchemaOf) {
  const own = isJsonObject(args) ? args : {};
  const keys = Object.keys(goal.arguments);
  const typed = keys.filter(
    it => Object.hasOwn(own, it) && getJsonType(own[it]) === getJsonType(goal.arguments[it]),
  );
  const structure =
    keys.length === 0 ? Number(Object.keys(own).length === 0) : typed.length / keys.length;
  const isEqual =
    Object.keys(own).every(it => keys.includes(it)) &&
    computeEqualShare(compareArguments(goal, args, schemaOf?.(goal.name))) === 1;
  return 0.33 + 0.33 * structure + (isEqual ? 0.34 : 0);
}

/**
 * R_orch: the share of goals whose tools were called after all goals they depend on. The first
 * calls that fit win, and one call may serve several goals.
 */
function scoreOrchestration(goals: readonly ScoredGoal[], calls: readonly ScoredCall[]): number {
  const positions: number[] = [];
  for (const { calls: goalCalls, after } of goals) {
    const start = Math.max(-1, ...after.map(it => positions[it.goal]!));
    const found = goalCalls.map(goal => {
      const at = calls.findIndex((it, i) => i > start && it.name === goal.name);
      return at < 0 ? Infinity : at;
    });
    positions.push(Math.max(...found));
  }
  return positions.filter(it => it < Infinity).length / goals.length;
}
