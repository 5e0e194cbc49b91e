/**
 * What a model's training tasks asked for, and how far another task is from them. A held-out task
 * is far if no training task needs all of its tools and some turn of it calls tools in a sequence
 * that no training task has. Edges say which tool's result supplied a value that another call
 * takes.
 */
import type { Task, Goal } from "./task.ts";

export type Distance = "near" | "far";

/** The calls of a task by turn. */
export interface TaskCalls {
  readonly goals: readonly {
    readonly calls: readonly { readonly name: string }[];
    readonly turn: number;
  }[];
}

/** The tools that a task's goals call, sorted and without duplicates. */
export const listGoalTools = ({ goals }: Pick<TaskCalls, "goals">): readonly string[] =>
  [...new Set(goals.flatMap(it => it.calls.map(call => call.name)))].sort();

/**
 * The key of the tasks that need the same tools: their results are not independent. Tasks without
 * goals are grouped by the chain that they grew from.
 */
export function getTaskCluster(task: Pick<Task, "id" | "goals" | "chain">): string {
  const tools = listGoalTools(task);
  return (tools.length > 0 ? tools : [...new Set(task.chain)].sort()).join(" ") || task.id;
}

/** The names of the goal calls of each turn that has some, in their order. */
export function listTurnSequences({ goals }: TaskCalls): readonly (readonly string[])[] {
  const byTurn = new Map<number, string[]>();
  for (const { turn, calls } of goals)
    byTurn.set(turn, [...(byTurn.get(turn) ?? []), ...calls.map(it => it.name)]);
  return [...byTurn.values()].filter(it => it.length > 0);
}

export interface SeenTasks {
  /** The distance of a task; undefined for a task without goals. */
  getDistance(task: Pick<Task, "goals">): Distance | undefined;
}

/** Creates the tasks that were seen from their sets of tools and the sequences of their turns. */
export function createSeenTasks(
  sets: Iterable<readonly string[]>,
  sequences: Iterable<readonly string[]>,
): SeenTasks {
  const setsByTool = new Map<string, Set<ReadonlySet<string>>>();
  for (const it of sets) {
    const set = new Set(it);
    for (const tool of set) {
      const others = setsByTool.get(tool);
      if (others) others.add(set);
      else setsByTool.set(tool, new Set([set]));
    }
  }
  const seen = new Set([...sequences].map(formatSequence));
  const isContained = (tools: readonly string[]) =>
    [...(setsByTool.get(tools[0]!) ?? [])].some(set => tools.every(it => set.has(it)));
  return {
    getDistance(task) {
      const tools = listGoalTools(task);
      if (tools.length === 0) return undefined;
      const hasNewSequence = listTurnSequences(task).some(it => !seen.has(formatSequence(it)));
      return hasNewSequence && !isContained(tools) ? "far" : "near";
    },
  };
}

const formatSequence = (names: readonly string[]): string => names.join(" ");

/** Both tools of an edge in one string. */
export const formatEdge = (from: string, to: string): string => `${from} > ${to}`;

/** The edges along which a value flows, without duplicates, as `formatEdge` writes them. */
export function listGoalEdges(
  goals: readonly {
    readonly calls: readonly { readonly name: string }[];
    readonly after?: Goal["after"];
  }[],
): readonly string[] {
  const edges = new Set<string>();
  for (const { calls, after = [] } of goals)
    for (const { goal, kind } of after)
      if (kind === "explicit")
        for (const from of goals[goal]?.calls ?? [])
          for (const to of calls)
            if (from.name !== to.name) edges.add(formatEdge(from.name, to.name));
  return [...edges];
}
