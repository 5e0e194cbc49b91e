/**
 * Judges a task by solvers, and marks the writes that the final state does not show, such as a
 * change that is changed again later: without the mark, an attempt that leaves them out succeeds.
 */
import type { FindSolverFlaw, SolverFlaw } from "../../evaluation/solverJudge.ts";
import type { GoalCall, Task } from "../../trajectory/task.ts";

/** The task with its required writes, and what is still wrong with it. */
export interface JudgedTask {
  readonly task: Task;
  readonly flaw: SolverFlaw | undefined;
}

/** Judges a task until no wrong solver shows another write that has to be required. */
export async function judgeTask(task: Task, findSolverFlaw: FindSolverFlaw): Promise<JudgedTask> {
  const flaw = await findSolverFlaw(task);
  const hidden = new Set(flaw?.unmadeWrites.filter(it => !it.required));
  return hidden.size === 0
    ? { task, flaw }
    : judgeTask(requireWrites(task, hidden), findSolverFlaw);
}

const requireWrites = (task: Task, writes: ReadonlySet<GoalCall>): Task => ({
  ...task,
  goals: task.goals.map(goal => ({
    ...goal,
    calls: goal.calls.map(it => (writes.has(it) ? { ...it, required: true as const } : it)),
  })),
});
