/** Sums up the audits of tasks: a row a solver, with the attempts that are most worth reading. */
import type { CallEvent } from "../trajectory/trajectory.ts";
import { auditProfiles, type AuditedAttempt, type SolverAttempt, type TaskAudit } from "./audit.ts";
import type { Solver } from "./solvers/solver.ts";

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
