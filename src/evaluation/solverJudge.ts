/**
 * Judges a task by solvers: a right solver must succeed, and a wrong one must not, unless there is
 * nothing in the task that it does wrong.
 */
import { CallMemo } from "../environment/session.ts";
import type { Catalog } from "../environment/catalog.ts";
import { canonicalJson } from "../environment/json.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { createTeacherPolicy } from "../policy/scripted.ts";
import { createScorer } from "../reward/scorer.ts";
import { getSuccess, hasKeptRules, isAchieved, listUnmadeCalls } from "../reward/success.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { GoalCall, Task } from "../trajectory/task.ts";
import { listCalls, type CallEvent, type Trajectory } from "../trajectory/trajectory.ts";
import { createSolverPolicy, type Solver, type SolverPolicy } from "./solvers/solver.ts";

/** A solver that shows that a task accepts too little or too much. */
export interface SolverFlaw {
  readonly solver: string;
  readonly why: string;
  /** The goals' writes that a wrong solver succeeded without. */
  readonly unmadeWrites: readonly GoalCall[];
}

export type FindSolverFlaw = (task: Task) => Promise<SolverFlaw | undefined>;

/**
 * Creates the function that finds the first solver that a task misjudges. A solver that chooses,
 * such as the skipper, plays every choice.
 */
export function createSolverJudge(
  catalog: Catalog,
  solvers: readonly Solver[],
  signal?: AbortSignal,
): FindSolverFlaw {
  const score = createScorer(catalog);
  return async task => {
    // solvers repeat many calls of one another
    const options = { ...(signal ? { signal } : {}), memo: new CallMemo() };
    const play = async (policy: Policy) =>
      score(await rollout(task, policy, catalog, options)).attempt;
    // what the teacher asks has to be answered in a rollout as well
    if (task.policy) {
      const attempt = await play(createTeacherPolicy(task));
      const { achieved, reasons } = getSuccess(attempt);
      if (!achieved)
        return { solver: "teacher", why: `teacher fails: ${reasons[0]}`, unmadeWrites: [] };
    }
    for (const solver of solvers) {
      if (solver.isIdle?.(task)) continue;
      for (let choice = 0, choices = 1; choice < choices; choice++) {
        const policy = createSolverPolicy(solver, task, choice);
        const attempt = await play(policy);
        choices = policy.choices;
        const why = findFlaw(solver, attempt, policy);
        if (why === undefined) continue;
        const unmadeWrites = solver.kind === "wrong" ? listUnmadeWrites(attempt) : [];
        return { solver: solver.name, why: `${solver.name} ${why}`, unmadeWrites };
      }
    }
    return undefined;
  };
}

const listUnmadeWrites = (attempt: Attempt): GoalCall[] =>
  listUnmadeCalls(attempt)
    .map(it => it.goalCall)
    .filter(it => attempt.tools.get(it.name)?.effect === "write");

function findFlaw(solver: Solver, attempt: Attempt, policy: SolverPolicy): string | undefined {
  if (solver.kind !== "wrong")
    return isAchieved(attempt)
      ? undefined
      : `fails: ${policy.problem ?? getSuccess(attempt).reasons[0]}`;
  if (!isOwnWay(solver, attempt, policy) || !isAchieved(attempt)) return undefined;
  const calls = listCalls(attempt.trajectory).map(describeCall);
  return `succeeds with ${calls.length === 0 ? "no call" : calls.join("; ")}`;
}

/**
 * Whether a solver did anything else than the goals' calls, unless it says so itself: for a wrong
 * one, also without keeping the rules, for any other, also in other messages.
 */
export function isOwnWay(
  solver: Solver,
  attempt: Attempt,
  { differs }: Pick<SolverPolicy, "differs">,
): boolean {
  if (differs !== undefined) return differs;
  const { task, trajectory } = attempt;
  const calls = listCalls(trajectory);
  const planned = task.goals.flatMap((it, goal) => it.calls.map(call => ({ ...call, goal })));
  if (planned.map(describeCall).join("\n") !== calls.map(describeCall).join("\n")) return true;
  return solver.kind !== "wrong" ? !isSentAsPlanned(trajectory, planned) : !hasKeptRules(attempt);
}

const describeCall = ({ name, arguments: args }: Pick<CallEvent, "name" | "arguments">) =>
  `${name} ${canonicalJson(args)}`;

/** Whether the calls of each goal have a message of their own, and the user was asked nothing. */
function isSentAsPlanned(
  trajectory: Trajectory,
  planned: readonly { readonly goal: number }[],
): boolean {
  const messages = listCalls(trajectory).map(it => it.message);
  return (
    messages.every(
      (it, i) =>
        i === 0 || (it === messages[i - 1]) === (planned[i]!.goal === planned[i - 1]!.goal),
    ) && !trajectory.events.some(it => it.kind === "user" && it.answers)
  );
}
