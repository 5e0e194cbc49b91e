/**
 * Audits tasks: every solver plays every task. A right solver that fails shows a task that accepts
 * the teacher's habits only; a wrong one that succeeds shows a task that checks too little.
 */
import type { Catalog } from "../environment/catalog.ts";
import { parseFixtureName } from "../environment/fixture.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { createTeacherPolicy } from "../policy/scripted.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";
import { createScorer, type ScoredAttempt, type UnscoredAttempt } from "../reward/scorer.ts";
import { getSuccess } from "../reward/success.ts";
import type { Task } from "../trajectory/task.ts";
import { listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import { isOwnWay } from "./solverJudge.ts";
import { createSolverPolicy, type Solver } from "./solvers/solver.ts";

/** How one attempt at a task went. */
export interface AuditedAttempt {
  readonly success: boolean;
  /** Rewards by profile. */
  readonly rewards: Readonly<Record<string, number>>;
  readonly calls: readonly CallEvent[];
  /** Why it failed; undefined if it succeeded. */
  readonly reason: string | undefined;
}

export interface SolverAttempt extends AuditedAttempt {
  readonly solver: Solver;
  /**
   * Whether the solver did anything else than make the goals' calls. A wrong solver that did not
   * has nothing to do wrong in this task.
   */
  readonly differs: boolean;
}

/**
 * The audit of a task. `unmet`: its own teacher fails, so that no attempt can be judged. `gone`: a
 * server, fixture or tool is missing.
 */
export type TaskAudit =
  | {
      readonly kind: "audited";
      readonly teacher: AuditedAttempt;
      readonly attempts: readonly SolverAttempt[];
    }
  | { readonly kind: "unmet" | "gone"; readonly why: string };

/** The profiles by which attempts are scored, the paper's first. */
export const auditProfiles = [paperProfile, provePlusProfile] as const;

/** Creates the function that audits tasks of a catalog. */
export function createAuditor(
  catalog: Catalog,
  solvers: readonly Solver[],
  signal?: AbortSignal,
): (task: Task) => Promise<TaskAudit> {
  const score = createScorer(catalog);
  return async task => {
    const play = async (policy: Policy) =>
      score(await rollout(task, policy, catalog, signal ? { signal } : {}), ...auditProfiles);
    let teacher: AuditedAttempt;
    try {
      teacher = judgeAttempt(await play(createTeacherPolicy(task)));
    } catch (error) {
      // a task that cannot be opened or whose goals cannot be run does not stop the others
      if (error instanceof UserError)
        return { kind: classifyError(task, catalog), why: error.what };
      throw error;
    }
    if (!teacher.success) return { kind: "unmet", why: teacher.reason! };
    const attempts: SolverAttempt[] = [];
    for (const solver of solvers) {
      const policy = createSolverPolicy(solver, task);
      const scored = await play(policy);
      const judged = judgeAttempt(scored);
      const reason = judged.success ? undefined : (policy.problem ?? judged.reason);
      attempts.push({ ...judged, reason, solver, differs: isOwnWay(solver, scored.attempt) });
    }
    return { kind: "audited", teacher, attempts };
  };
}

function judgeAttempt(scored: ScoredAttempt | UnscoredAttempt): AuditedAttempt {
  const { attempt } = scored;
  const calls = listCalls(attempt.trajectory);
  if ("unscorable" in scored)
    return { success: false, rewards: {}, calls, reason: scored.unscorable };
  const { achieved, reasons } = getSuccess(attempt);
  return {
    success: achieved,
    rewards: Object.fromEntries(scored.breakdowns.map(it => [it.profile, it.total])),
    calls,
    reason: achieved ? undefined : reasons[0],
  };
}

/** Why a task whose goals do not run has no audit. */
function classifyError({ servers, goals, menu }: Task, catalog: Catalog): "unmet" | "gone" {
  const hasTools = [...menu, ...goals.flatMap(it => it.calls)].every(it =>
    catalog.tools.has(it.name),
  );
  const hasFixtures = servers.every(
    ({ name, fixture }) =>
      catalog.servers.has(name) &&
      catalog.listFixtures(name).includes(parseFixtureName(fixture).base),
  );
  return hasTools && hasFixtures ? "unmet" : "gone";
}
