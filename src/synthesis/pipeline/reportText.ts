/** The shape and the distances of a report as text, for the terminal and the editor. */
import type { TaskShape } from "./taskShape.ts";
import type { TrainingDistance } from "./trainingDistance.ts";

const formatShare = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** Names and values, in the order in which they are read. */
export function formatShape(shape: TaskShape): readonly (readonly [string, string])[] {
  const [none, one, two, more] = shape.turnsByCalls;
  return [
    ["user turns of a task", `${shape.turns.toFixed(2)}, at most ${shape.mostTurns}`],
    ["calls of a task with goals", `${shape.calls.toFixed(2)}, at most ${shape.mostCalls}`],
    ["calls of a turn", shape.callsPerTurn.toFixed(2)],
    ["turns without a call", formatShare(none)],
    ["turns with one call", formatShare(one)],
    ["turns with two calls", formatShare(two)],
    ["turns with three or more calls", formatShare(more)],
    ["turns with two or more writes", formatShare(shape.turnsWithWrites)],
    ["tasks with two or more writes", formatShare(shape.tasksWithWrites)],
    ["offered tools", shape.offeredTools.toFixed(1)],
    ["servers of a task with goals", shape.servers.toFixed(2)],
    ["tasks with a failed call", formatShare(shape.withFailedCall)],
    ["tasks with a refusal or question", formatShare(shape.withUnmet)],
    ["tasks without goals", formatShare(shape.withoutGoals)],
    ["tasks with tools added later", formatShare(shape.withAddedTools)],
    ["tasks with a condition", formatShare(shape.withCondition)],
    ["tasks with a limit", formatShare(shape.withLimit)],
    ["tasks with a change of mind", formatShare(shape.withChangeOfMind)],
    ["tasks with a recovery", formatShare(shape.withRecovery)],
    ["tasks with a policy", formatShare(shape.withPolicy)],
  ];
}

interface Column {
  readonly heading: string;
  readonly description: string;
  readonly format: (it: TrainingDistance) => string;
}

const columns: readonly Column[] = [
  { heading: "tasks", description: "with goals", format: it => String(it.tasks) },
  {
    heading: "contained",
    description: "one training task calls all of their tools",
    format: it => formatShare(it.contained),
  },
  {
    heading: "one tool",
    description: "the tools of a training task differ by at most one",
    format: it => formatShare(it.oneTool),
  },
  {
    heading: "Jaccard",
    description: "mean distance to the most similar set of tools of a training task",
    format: it => it.distance.toFixed(3),
  },
  {
    heading: "sequence",
    description: "a turn with a sequence of calls that training does not have",
    format: it => formatShare(it.newSequence),
  },
  {
    heading: "edge",
    description: "a dependency between two tools that training does not have",
    format: it => formatShare(it.newEdge),
  },
  {
    heading: "names",
    description: "names in the users' words that training does not have",
    format: it => formatShare(it.newName),
  },
  {
    heading: "far",
    description: "not contained, and with a new sequence",
    format: it => formatShare(it.far),
  },
];

export interface DistanceTable {
  /** The headings of the columns after the split, and what each means. */
  readonly headings: readonly { readonly text: string; readonly description: string }[];
  readonly rows: readonly { readonly split: string; readonly cells: readonly string[] }[];
}

export const formatDistances = (
  distances: Readonly<Record<string, TrainingDistance>> = {},
): DistanceTable => ({
  headings: columns.map(({ heading, description }) => ({ text: heading, description })),
  rows: Object.entries(distances).map(([split, it]) => ({
    split,
    cells: columns.map(({ format }) => format(it)),
  })),
});
