/** The frame that right solvers share: they make all planned calls, each with habits of its own. */
import type { PlannedCall } from "./plan.ts";
import type { Solver } from "./solver.ts";
import type { SolverRun, Steps } from "./solverRun.ts";

export interface Habits {
  /**
   * Makes a read in another way. Returns whether that showed what the read is for; if not, the
   * planned call is made.
   */
  readonly read?: (run: SolverRun, call: PlannedCall) => Steps<boolean>;
  /** What comes before a write. */
  readonly beforeWrite?: (run: SolverRun, call: PlannedCall) => Steps;
  /** The calls of the next message; those of one goal if absent. */
  readonly selectBatch?: (run: SolverRun, remaining: readonly PlannedCall[]) => PlannedCall[];
}

/** Creates the right solver with some habits. */
export const createRightSolver = (
  name: string,
  summary: string,
  { read, beforeWrite, selectBatch = selectGoal }: Habits,
): Solver => ({
  name,
  kind: "right",
  summary,
  *solve(run) {
    for (const { calls, reply } of run.turns) {
      let remaining = calls;
      while (remaining.length > 0) {
        const batch = selectBatch(run, remaining);
        remaining = remaining.filter(it => !batch.includes(it));
        const isDone = new Set<PlannedCall>();
        for (const it of batch) {
          if (it.isRead && read && (yield* read(run, it))) isDone.add(it);
          if (!it.isRead && beforeWrite && (yield* run.lookUpUnseen(it)))
            yield* beforeWrite(run, it);
        }
        yield* run.follow(...batch.filter(it => !isDone.has(it)));
      }
      yield* run.reply(reply);
    }
  },
});

const selectGoal = (_run: SolverRun, remaining: readonly PlannedCall[]): PlannedCall[] =>
  remaining.filter(it => it.goal === remaining[0]!.goal);
