/**
 * Audits tasks: every solver plays every task in which it does anything in its own way. A right
 * solver that fails shows a task that accepts the teacher's habits only; a wrong one that succeeds
 * shows a task that checks too little; a wasteful one that earns more than the teacher shows a
 * reward that pays for calls. A tally counts them over many tasks.
 */
import type { Catalog } from "../environment/catalog.ts";
import { CallMemo } from "../environment/session.ts";
import { parseFixtureName } from "../environment/fixture.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { createTeacherPolicy } from "../policy/scripted.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";
import type { Unscorable } from "../reward/reward.ts";
import { createScorer, scoreRecorded, type ScoredAttempt } from "../reward/scorer.ts";
import { getSuccess } from "../reward/success.ts";
import type { Task } from "../trajectory/task.ts";
import { listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import { isOwnWay } from "./solverJudge.ts";
import { createSolverPolicy, type Solver } from "./solvers/solver.ts";

/** How one attempt at a task went. */
interface AuditedAttempt {
  readonly success: boolean;
  /** Rewards by profile. */
  readonly rewards: Readonly<Record<string, number>>;
  readonly calls: readonly CallEvent[];
  /** Why it failed; undefined if it succeeded. */
  readonly reason: string | undefined;
}

interface SolverAttempt extends AuditedAttempt {
  readonly solver: Solver;
  /**
   * Whether the solver did anything in its own way. If not, the attempt says nothing: it is the
   * teacher's.
   */
  readonly differs: boolean;
}

/**
 * The audit of a task. `unmet`: its own teacher fails, so that no attempt can be judged. `gone`: a
 * server, fixture or tool is missing.
 */
type TaskAudit =
  | {
      readonly kind: "audited";
      readonly teacher: AuditedAttempt;
      readonly attempts: readonly SolverAttempt[];
    }
  | { readonly kind: "unmet" | "gone"; readonly why: string };

/** The profiles by which attempts are scored, the paper's first. */
const auditProfiles = [paperProfile, provePlusProfile] as const;

/** Creates the function that audits tasks of a catalog. */
export function createAuditor(
  catalog: Catalog,
  solvers: readonly Solver[],
  signal?: AbortSignal,
): (task: Task) => Promise<TaskAudit> {
  const score = createScorer(catalog);
  return async task => {
    // solvers repeat many calls of one another
    const options = { ...(signal ? { signal } : {}), memo: new CallMemo() };
    const play = async (policy: Policy, record?: Solver["record"]) => {
      const finished = await rollout(task, policy, catalog, options);
      if (!record) return score(finished, ...auditProfiles);
      const trajectory = record(finished.trajectory, catalog.tools);
      return scoreRecorded(score, { task, trajectory }, ...auditProfiles);
    };
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
      if (solver.isIdle?.(task)) continue;
      const policy = createSolverPolicy(solver, task);
      const scored = await play(policy, solver.record);
      const judged = judgeAttempt(scored);
      const reason = judged.success ? undefined : (policy.problem ?? judged.reason);
      const differs = "attempt" in scored ? isOwnWay(solver, scored.attempt, policy) : true;
      attempts.push({ ...judged, reason, solver, differs });
    }
    return { kind: "audited", teacher, attempts };
  };
}

function judgeAttempt(scored: ScoredAttempt | Unscorable): AuditedAttempt {
  if ("unscorable" in scored)
    return { success: false, rewards: {}, calls: [], reason: scored.unscorable };
  const { attempt } = scored;
  const calls = listCalls(attempt.trajectory);
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
      catalog.hasServer(name) &&
      catalog.listFixtures(name).includes(parseFixtureName(fixture).base),
  );
  return hasTools && hasFixtures ? "unmet" : "gone";
}

/** The most examples of each kind that a summary keeps. */
const maxExamples = 5;

export interface AuditSummary {
  readonly tasks: number;
  /** Tasks that solvers played. */
  readonly audited: number;
  /** Tasks whose own teacher fails. */
  readonly unmet: TaskGroup;
  /** Tasks that cannot be opened. */
  readonly gone: TaskGroup;
  readonly teacher: { readonly reward: Readonly<Record<string, number>>; readonly calls: number };
  readonly solvers: readonly SolverSummary[];
}

interface TaskGroup {
  readonly tasks: number;
  readonly examples: readonly { readonly task: string; readonly why: string }[];
}

export interface SolverSummary {
  readonly solver: string;
  readonly kind: Solver["kind"];
  readonly summary: string;
  /** Tasks in which it did anything in its own way; the other figures are over these. */
  readonly tasks: number;
  readonly success: number;
  /** By profile. */
  readonly reward: Readonly<Record<string, RewardSummary>>;
  readonly calls: number;
  /**
   * Attempts that did not end as they should, the worst first: of a right solver those that failed
   * or earned too little, of a wasteful one those that failed or earned more than the teacher, of a
   * wrong one those that succeeded; of a baseline none.
   */
  readonly examples: readonly AuditExample[];
}

interface RewardSummary {
  readonly mean: number;
  /** The mean's share of the teacher's mean on the same tasks. */
  readonly ofTeacher: number;
  /** The share of the tasks in which it earned less than 95% of the teacher's reward. */
  readonly losing: number;
  /** The share of the tasks in which it earned more than the teacher. */
  readonly gaining: number;
}

interface AuditExample {
  readonly task: string;
  readonly calls: readonly string[];
  /** Why the attempt failed, that it succeeded, or what it earned. */
  readonly why: string;
}

export class AuditTally {
  readonly #rows: readonly SolverRow[];
  readonly #teacher = new Sums();
  readonly #unmet = new GroupRow();
  readonly #gone = new GroupRow();
  #audited = 0;

  constructor(solvers: readonly Solver[]) {
    this.#rows = solvers.map(it => new SolverRow(it));
  }

  get count(): number {
    return this.#audited + this.#unmet.tasks + this.#gone.tasks;
  }

  add(task: string, audit: TaskAudit): void {
    if (audit.kind !== "audited") {
      (audit.kind === "unmet" ? this.#unmet : this.#gone).add(task, audit.why);
      return;
    }
    this.#audited++;
    this.#teacher.add(audit.teacher);
    for (const it of audit.attempts)
      this.#rows.find(row => row.solver === it.solver)!.add(task, it, audit.teacher);
  }

  summarize(): AuditSummary {
    return {
      tasks: this.count,
      audited: this.#audited,
      unmet: this.#unmet.summarize(),
      gone: this.#gone.summarize(),
      teacher: { reward: this.#teacher.rewards, calls: this.#teacher.calls },
      solvers: this.#rows.map(it => it.summarize()),
    };
  }
}

class GroupRow {
  tasks = 0;
  readonly #examples: { task: string; why: string }[] = [];

  add(task: string, why: string): void {
    if (this.tasks++ < maxExamples) this.#examples.push({ task, why });
  }

  summarize = (): TaskGroup => ({ tasks: this.tasks, examples: this.#examples });
}

/** Sums of attempts. */
class Sums {
  n = 0;
  successes = 0;
  #calls = 0;
  readonly #rewards: Record<string, number> = {};

  add({ success, calls, rewards }: AuditedAttempt): void {
    this.n++;
    this.#calls += calls.length;
    if (success) this.successes++;
    for (const { name } of auditProfiles)
      this.#rewards[name] = (this.#rewards[name] ?? 0) + (rewards[name] ?? 0);
  }

  get calls(): number {
    return divide(this.#calls, this.n);
  }

  /** Mean rewards by profile. */
  get rewards(): Record<string, number> {
    return Object.fromEntries(
      auditProfiles.map(({ name }) => [name, divide(this.#rewards[name] ?? 0, this.n)]),
    );
  }
}

const divide = (total: number, n: number) => (n === 0 ? 0 : total / n);

const { name: provePlus } = provePlusProfile;

/** Below this share of the teacher's reward, an attempt counts as losing. */
const losingShare = 0.95;
const tolerance = 1e-9;

class SolverRow {
  readonly solver: Solver;
  readonly #own = new Sums();
  readonly #teacher = new Sums();
  readonly #losing: Record<string, number> = {};
  readonly #gaining: Record<string, number> = {};
  #examples: (AuditExample & { readonly rank: number })[] = [];

  constructor(solver: Solver) {
    this.solver = solver;
  }

  add(task: string, attempt: SolverAttempt, teacher: AuditedAttempt): void {
    if (!attempt.differs) return;
    this.#own.add(attempt);
    this.#teacher.add(teacher);
    for (const { name } of auditProfiles) {
      const [own, taught] = [attempt.rewards[name] ?? 0, teacher.rewards[name] ?? 0];
      if (own < losingShare * taught - tolerance) count(this.#losing, name);
      if (own > taught + tolerance) count(this.#gaining, name);
    }
    const why = this.#findFault(attempt, teacher);
    if (why === undefined) return;
    const rank = divide(attempt.rewards[provePlus] ?? 0, teacher.rewards[provePlus] ?? 0);
    this.#examples.push({ task, calls: attempt.calls.map(formatCall), why, rank });
    // a stable sort: of equal attempts, the first stay
    const order = this.solver.kind === "right" ? 1 : -1;
    this.#examples.sort((a, b) => order * (a.rank - b.rank));
    this.#examples = this.#examples.slice(0, maxExamples);
  }

  /** What is not as it should be, or undefined. */
  #findFault(attempt: SolverAttempt, teacher: AuditedAttempt): string | undefined {
    const { kind } = this.solver;
    if (kind === "baseline") return undefined;
    if (kind === "wrong") return attempt.success ? "it succeeds all the same" : undefined;
    if (!attempt.success) return attempt.reason;
    const share = divide(attempt.rewards[provePlus] ?? 0, teacher.rewards[provePlus] ?? 0);
    const isFault = kind === "right" ? share < losingShare - tolerance : share > 1 + tolerance;
    if (isFault) return `it earns ${(100 * share).toFixed(1)}% of the teacher's ${provePlus}`;
    return undefined;
  }

  summarize(): SolverSummary {
    const { name, kind, summary } = this.solver;
    const own = this.#own.rewards;
    const teacher = this.#teacher.rewards;
    const tasks = this.#own.n;
    return {
      solver: name,
      kind,
      summary,
      tasks,
      success: divide(this.#own.successes, tasks),
      reward: Object.fromEntries(
        auditProfiles.map(it => [
          it.name,
          {
            mean: own[it.name]!,
            ofTeacher: divide(own[it.name]!, teacher[it.name]!),
            losing: divide(this.#losing[it.name] ?? 0, tasks),
            gaining: divide(this.#gaining[it.name] ?? 0, tasks),
          },
        ]),
      ),
      calls: this.#own.calls,
      examples: this.#examples.map(({ task, calls, why }) => ({ task, calls, why })),
    };
  }
}

const count = (counts: Record<string, number>, key: string): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};

const formatCall = ({ name, arguments: args, outcome }: CallEvent): string =>
  `${name} ${JSON.stringify(args)}${outcome.kind === "ok" ? "" : ` (${outcome.kind})`}`;
