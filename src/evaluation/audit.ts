/**
 * Audits tasks: every solver plays every task. A right solver that fails shows a task that accepts
 * the teacher's habits only; a wrong one that succeeds shows a task that checks too little. A tally
 * counts both over many tasks.
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
   * Whether the solver did anything else than make the goals' calls. A wrong solver that did not
   * has nothing to do wrong in this task.
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
  /**
   * Tasks that the means below are over: all that were audited or, for a wrong solver, those in
   * which it does something else than the goals.
   */
  readonly tasks: number;
  /** Tasks in which it did anything else than the goals' calls. */
  readonly differs: number;
  readonly success: number;
  /** By profile: the mean, and its share of the teacher's mean on the same tasks. */
  readonly reward: Readonly<Record<string, { readonly mean: number; readonly ofTeacher: number }>>;
  readonly calls: number;
  /** Attempts of a right solver that failed, or of a wrong one that succeeded, the worst first. */
  readonly examples: readonly AuditExample[];
}

interface AuditExample {
  readonly task: string;
  readonly calls: readonly string[];
  /** Why the attempt failed, or that it succeeded. */
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
    for (const [i, attempt] of audit.attempts.entries())
      this.#rows[i]!.add(task, attempt, audit.teacher);
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

class SolverRow {
  readonly #solver: Solver;
  readonly #own = new Sums();
  readonly #teacher = new Sums();
  #differs = 0;
  #examples: (AuditExample & { readonly reward: number })[] = [];

  constructor(solver: Solver) {
    this.#solver = solver;
  }

  add(task: string, attempt: SolverAttempt, teacher: AuditedAttempt): void {
    const isRight = this.#solver.kind === "right";
    if (!isRight && !attempt.differs) return;
    this.#own.add(attempt);
    this.#teacher.add(teacher);
    if (attempt.differs) this.#differs++;
    if (attempt.success === isRight) return;
    const reward = divide(attempt.rewards["paper"] ?? 0, teacher.rewards["paper"] ?? 0);
    this.#examples.push({
      task,
      calls: attempt.calls.map(formatCall),
      why: attempt.reason ?? "it succeeds all the same",
      reward,
    });
    // a stable sort: of equal attempts, the first stay
    this.#examples.sort((a, b) => (isRight ? a.reward - b.reward : b.reward - a.reward));
    this.#examples = this.#examples.slice(0, maxExamples);
  }

  summarize(): SolverSummary {
    const { name, kind, summary } = this.#solver;
    const own = this.#own.rewards;
    const teacher = this.#teacher.rewards;
    return {
      solver: name,
      kind,
      summary,
      tasks: this.#own.n,
      differs: this.#differs,
      success: divide(this.#own.successes, this.#own.n),
      reward: Object.fromEntries(
        auditProfiles.map(it => [
          it.name,
          { mean: own[it.name]!, ofTeacher: divide(own[it.name]!, teacher[it.name]!) },
        ]),
      ),
      calls: this.#own.calls,
      examples: this.#examples.map(({ task, calls, why }) => ({ task, calls, why })),
    };
  }
}

const formatCall = ({ name, arguments: args, outcome }: CallEvent): string =>
  `${name} ${JSON.stringify(args)}${outcome.kind === "ok" ? "" : ` (${outcome.kind})`}`;
