/**
 * A solver plays a task in a way of its own: right solvers reach everything that the user asked for
 * in another way than the teacher, wrong ones do not. A solver knows the task, as the teacher did,
 * but acts through the ordinary policy interface.
 */
import type { AssistantMessage, Conversation, Policy } from "../../policy/policy.ts";
import type { Tool } from "../../environment/server.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Finished, Trajectory } from "../../trajectory/trajectory.ts";
import { SolverRun, type Steps } from "./solverRun.ts";

export interface Solver {
  readonly name: string;
  /**
   * `right` ones do what the user asked for and should earn what the teacher does; `wasteful` ones
   * do more than that and should never earn more; `wrong` ones do not do it and should fail. A
   * `baseline` does not know the task: its success measures how hard tasks are and judges none.
   */
  readonly kind: "right" | "wasteful" | "wrong" | "baseline";
  /** What it does, in one line. */
  readonly summary: string;
  /** The messages of one attempt. */
  readonly solve: (run: SolverRun) => Steps;
  /** Whether there is nothing in a task that it could do in its own way. */
  readonly isIdle?: (task: Task) => boolean;
  /** What it hands in as the record of its attempt, if it is not what happened. */
  readonly record?: (
    trajectory: Finished<Trajectory>,
    tools: ReadonlyMap<string, Tool>,
  ) => Finished<Trajectory>;
}

export interface SolverPolicy extends Policy {
  /** Why the solver could not go on as it does, if the last attempt met such a case. */
  readonly problem: string | undefined;
  /**
   * Whether the last attempt was in a way of the solver's own; undefined if its calls show that.
   */
  readonly differs: boolean | undefined;
  /** How many choices the solver had in the last attempt, such as calls to leave out. */
  readonly choices: number;
}

interface Attempt {
  readonly run: SolverRun;
  readonly steps: Steps;
  eventsRead: number;
}

/**
 * The policy of a solver for one task; every attempt begins anew. `choice` is the number of what it
 * chooses; by the task's seed if absent.
 */
export function createSolverPolicy(solver: Solver, task: Task, choice?: number): SolverPolicy {
  const attempts = new WeakMap<Conversation, Attempt>();
  let latest: SolverRun | undefined;
  const start = (conversation: Conversation): Attempt => {
    const run = new SolverRun(task, conversation.tools, solver.name, choice);
    latest = run;
    const attempt = { run, steps: solver.solve(run), eventsRead: 0 };
    attempts.set(conversation, attempt);
    return attempt;
  };
  return {
    name: `solver:${solver.name}`,
    get problem() {
      return latest?.problem;
    },
    get differs() {
      return latest?.differs;
    },
    get choices() {
      return latest?.choices ?? 1;
    },
    async next(conversation): Promise<AssistantMessage> {
      const attempt = attempts.get(conversation) ?? start(conversation);
      const events = conversation.events.slice(attempt.eventsRead);
      attempt.eventsRead = conversation.events.length;
      attempt.run.readEvents(events, conversation.tools);
      const { value } = attempt.steps.next(events);
      return value ?? { text: "", calls: [] };
    },
    release: conversation => void attempts.delete(conversation),
  };
}
