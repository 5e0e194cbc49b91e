/**
 * An attempt at a task: as it is recorded, as a rollout hands it over, and opened for scoring with
 * what that needs from the servers: the tools, and the states at the start, after the goals and
 * after the attempt.
 */
import { CallMemo } from "../environment/session.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { Outcome, Patch } from "../environment/outcome.ts";
import type { Tool } from "../environment/server.ts";
import type { State } from "../environment/state.ts";
import { UserError } from "../userError.ts";
import { endTaskAfter } from "./oneTurn.ts";
import { repeatCalls, replaceResult } from "./replay.ts";
import type { Task } from "./task.ts";
import type { CallEvent, Event, Finished, Trajectory } from "./trajectory.ts";

/** An attempt as files hold it. */
export interface RecordedAttempt {
  readonly trajectory: Trajectory;
  /** The attempted task, if it was found. */
  readonly task?: Task | undefined;
}

/** An attempt that has ended, as the program that made it hands it over. */
export interface FinishedAttempt extends RecordedAttempt {
  readonly trajectory: Finished<Trajectory>;
  readonly task: Task;
  /** The session's state at the end; without it, the calls are replayed. */
  readonly finalState?: State;
}

export interface Attempt {
  /** Up to the end of the turn, if only one turn was attempted. */
  readonly task: Task;
  /** With the results that the servers return, whatever was recorded. */
  readonly trajectory: Finished<Trajectory>;
  /** How many results were recorded otherwise. */
  readonly replacedResults: number;
  /** All tools of the task's servers, on the menu or not, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly states: {
    readonly start: State;
    /** After the goal calls alone, in their order. */
    readonly goal: State;
    /** After the attempt's calls. */
    readonly final: State;
  };
  /** The goal calls in their order, each with its effect. */
  readonly goalSteps: readonly GoalStep[];
  /** What each of the attempt's calls changed, and the state after it. */
  readonly listSteps: () => readonly Step[];
}

/** The effect of a call. */
export interface Step {
  readonly patches: readonly Patch[];
  readonly after: State;
}

/** The effect of a goal call. */
export interface GoalStep extends Step {
  readonly goal: number;
  /** Index within the goal. */
  readonly part: number;
}

/**
 * Creates the attempt of a task and a trajectory. `finalState` is the one that a rollout hands
 * over, whose results are those of the servers. Without it, the trajectory is a record: it is
 * replayed, and results that differ are replaced. Throws a `UserError` if the task's goals no
 * longer run.
 */
export type CreateAttempt = (
  task: Task,
  trajectory: Finished<Trajectory>,
  finalState?: State,
) => Attempt;

/** Creates the function for a catalog. The goals of a task object are run once. */
export function createAttemptFactory(catalog: Catalog): CreateAttempt {
  const goalRuns = new WeakMap<Task, GoalRun>();
  return (wholeTask, trajectory, finalState) => {
    const { turn } = trajectory.header;
    const task = turn === undefined ? wholeTask : endTaskAfter(wholeTask, turn);
    let run = goalRuns.get(task);
    if (!run) goalRuns.set(task, (run = runGoals(catalog, task)));
    const { tools, start, goalSteps, memo } = run;
    let replayed: Replayed | undefined;
    const getReplayed = () => (replayed ??= replayCalls(catalog, task, trajectory, memo));
    const listSteps = () => getReplayed().steps;
    const goal = goalSteps.at(-1)?.after ?? start;
    const common = { task, tools, goalSteps, listSteps };
    if (finalState)
      return {
        ...common,
        trajectory,
        replacedResults: 0,
        states: { start, goal, final: finalState },
      };
    const { state, events, replacedResults } = getReplayed();
    return {
      ...common,
      trajectory: replacedResults === 0 ? trajectory : { ...trajectory, events },
      replacedResults,
      states: { start, goal, final: state },
    };
  };
}

/** What a score says about an attempt that was recorded with other results. */
export const describeReplaced = ({
  replacedResults,
}: Pick<Attempt, "replacedResults">): string | undefined =>
  replacedResults === 0
    ? undefined
    : replacedResults === 1
      ? "1 result is not what the servers return; scored on the replayed one"
      : `${replacedResults} results are not what the servers return; scored on the replayed ones`;

/** Throws a `UserError` if the task's goals do not run. */
export const checkGoals = (catalog: Catalog, task: Task): void => void runGoals(catalog, task);

interface GoalRun extends Pick<Attempt, "tools" | "goalSteps"> {
  readonly start: State;
  /** Most attempts repeat goal calls, and the teacher's makes them all. */
  readonly memo: CallMemo;
}

function runGoals(catalog: Catalog, task: Task): GoalRun {
  const memo = new CallMemo();
  const session = openSessionByName(catalog, { servers: task.servers, seed: task.seed, memo });
  const start = session.state;
  const goalSteps: GoalStep[] = [];
  for (const [i, goal] of task.goals.entries()) {
    for (const [part, call] of goal.calls.entries()) {
      const { outcome, patches } = session.call(call.name, call.arguments);
      goalSteps.push({ goal: i, part, patches, after: session.state });
      if (outcome.kind === "ok") continue;
      // the message of a crash has a stack
      const [message] = outcome.message.split("\n");
      throw new UserError(
        `task ${task.id}: goal ${i + 1}, ${call.name}, is ${outcome.kind} (${message})`,
        remedies[outcome.kind],
      );
    }
  }
  return { tools: session.tools, start, goalSteps, memo };
}

/** What to do if a goal call has no value. */
const remedies: Readonly<Record<Exclude<Outcome["kind"], "ok">, string>> = {
  "unknown-tool": "use the version of PROVE that the task was made with, or synthesize it anew",
  "bad-arguments": "restore the fixture it was made on, or synthesize it anew",
  refused: "restore the fixture it was made on, or synthesize it anew",
  broken: "fix the tool, or leave the task out",
};

interface Replayed {
  readonly state: State;
  readonly events: readonly Event[];
  readonly replacedResults: number;
  /** For each call, what it did. */
  readonly steps: readonly Step[];
}

function replayCalls(
  catalog: Catalog,
  task: Task,
  { header, events }: Trajectory,
  memo: CallMemo,
): Replayed {
  const [made, wanted] = [header, task].map(it =>
    it.servers
      .map(({ name }) => name)
      .toSorted()
      .join(", "),
  );
  if (made !== wanted)
    throw new UserError(
      `attempt ${header.id} was made on ${made || "no server"}, and its task on ${wanted}`,
      "score it with the tasks that it was made with",
    );
  // what a call does depends on the seed too
  const session = openSessionByName(
    catalog,
    header.seed === task.seed ? { ...header, memo } : header,
  );
  const steps: Step[] = [];
  const replaced = new Map<number, CallEvent>();
  for (const { index, event, result } of repeatCalls(session, events)) {
    steps.push({ patches: result.patches, after: session.state });
    const replayed = replaceResult(event, result);
    if (replayed !== event) replaced.set(index, replayed);
  }
  return {
    state: session.state,
    events: events.map((it, i) => replaced.get(i) ?? it),
    replacedResults: replaced.size,
    steps,
  };
}
