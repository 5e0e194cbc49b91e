/**
 * Rewards of other papers, whose parts take the place of the five parts of equation (5). They are
 * the graduated reward of Cheng et al., EnvFactory and TIER.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import {
  type ScoredCall,
  type ScoredGoal,
  type ScoredGoalCall,
  compareArguments,
  computeEqualShare,
} from "./align.ts";
import type { Breakdown } from "./breakdown.ts";
import { isJsonObject } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";
import { getJsonType } from "../environment/argumentChecks.ts";
import { listOtherServers, isAchieved } from "./success.ts";

/** The formulas that a profile can name. */
export type Formula = "graduated" | "envfactory" | "tier";

/** The parts of a formula by name. */
type FormulaParts = Readonly<Record<string, { readonly score: number; readonly weight: number }>>;

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

type SchemaOf = ((tool: string) => JsonSchema | undefined) | undefined;

/**
 * The graduated reward of Cheng et al. (arXiv 2603.24709), half for each call on its own, half for
 * the order of the goals: R = ½ R_atomic + ½ R_orch.
 */
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

/**
 * The reward of EnvFactory (arXiv 2605.18703), the teacher's calls in any order and the final
 * states, with a penalty for further calls: R = max(0, ½ trace + ½ state − penalty). The floor is
 * the caller's.
 */
function scoreEnvFactory(
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

/** What one call with wrong parameters costs of the tenth. */
const mismatchCost = 0.25;

/**
 * The reward of TIER (arXiv 2605.16790), which needs no reference calls; the answer is this
 * program's success. 0.1 each for calls that can be parsed, tools that are offered, complete
 * parameters, their types and execution, and 0.5 for the answer. Nothing counts without calls,
 * nothing after the format if a call cannot be parsed, and nothing after the names if a tool is not
 * offered.
 */
function scoreTier(
  attempt: Attempt,
  calls: readonly ScoredCall[],
  hasEnded: boolean,
): FormulaParts {
  const isParsed = calls.length > 0 && calls.every(it => it.name !== "");
  const isNamed = isParsed && calls.every(it => it.outcome.kind !== "unknown-tool");
  const misfits = calls.filter(it => it.outcome.kind === "bad-arguments");
  const incomplete = misfits.filter(it => lacksKey(attempt, it)).length;
  const score = (count: number) => (isNamed ? Math.max(0, 1 - mismatchCost * count) : 0);
  const isExecuted = isNamed && calls.every(it => it.outcome.kind === "ok");
  return {
    format: { score: Number(isParsed), weight: 0.1 },
    names: { score: Number(isNamed), weight: 0.1 },
    parameters: { score: score(incomplete), weight: 0.1 },
    types: { score: score(misfits.length - incomplete), weight: 0.1 },
    execution: { score: Number(isExecuted), weight: 0.1 },
    answer: {
      score: Number(isNamed && hasEnded && isAchieved(attempt)),
      weight: 0.5,
    },
  };
}

function lacksKey({ tools }: Attempt, { name, arguments: args }: ScoredCall): boolean {
  const required = tools.get(name)?.inputSchema["required"];
  return (
    !isJsonObject(args) ||
    (Array.isArray(required) && required.some(it => !Object.hasOwn(args, String(it))))
  );
}
