/**
 * A task and an attempt at it, with what only running the servers can tell: the tools, and the
 * worlds before, after the goals and after the attempt. It is all that grading needs, as values.
 * Does not know whether the attempt was good.
 */
import { openByName, type Catalog } from "../environment/catalog.ts";
import type { Tool } from "../environment/server.ts";
import type { State } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import type { Task } from "./task.ts";
import { callsOf, type Finished, type Trajectory } from "./trajectory.ts";

export interface Attempt {
  readonly task: Task;
  readonly trajectory: Finished<Trajectory>;
  /** All tools of the task's servers, on the menu or not, by full name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly worlds: Worlds;
}

export interface Worlds {
  readonly start: State;
  /** After the goal calls alone, in their order. */
  readonly goal: State;
  /** After the attempt's calls. */
  readonly reached: State;
}

/**
 * Makes attempts over a catalog; the goals of a task object are run once. Throws a `Mistake` where
 * a task's goals no longer run.
 */
export function attemptsOn(
  catalog: Catalog,
): (task: Task, trajectory: Finished<Trajectory>) => Attempt {
  const goals = new WeakMap<Task, Pick<Attempt, "tools"> & Omit<Worlds, "reached">>();
  return (task, trajectory) => {
    let known = goals.get(task);
    if (!known) goals.set(task, (known = goalsRun(catalog, task)));
    const { tools, start, goal } = known;
    return {
      task,
      trajectory,
      tools,
      worlds: { start, goal, reached: reached(catalog, trajectory) },
    };
  };
}

function goalsRun(catalog: Catalog, task: Task) {
  const session = openByName(catalog, { servers: task.servers, seed: task.seed });
  const start = session.state;
  for (const [i, goal] of task.goals.entries()) {
    for (const call of goal.calls) {
      const { outcome } = session.call(call.name, call.arguments);
      if (outcome.kind === "ok") continue;
      throw new UserError(
        `task ${task.id}: goal ${i + 1}, ${call.name}, is ${outcome.kind} (${outcome.message})`,
        "restore the fixture it was made on, or synthesize it anew",
      );
    }
  }
  return { tools: session.tools, start, goal: session.state };
}

function reached(catalog: Catalog, { header, events }: Trajectory): State {
  const session = openByName(catalog, header);
  for (const { name, arguments: args } of callsOf({ header, events })) session.call(name, args);
  return session.state;
}
