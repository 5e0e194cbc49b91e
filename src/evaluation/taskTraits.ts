/**
 * Describes a task for the tables of an evaluation: the cluster that it is resampled with, and the
 * traits by which results are shown apart.
 */
import type { SeenTasks } from "../trajectory/seenTasks.ts";
import { listGoalTools } from "../trajectory/seenTasks.ts";
import type { Task } from "../trajectory/task.ts";

/** A property of a task, such as the split, and its value. */
export interface Trait {
  readonly by: string;
  readonly is: string;
}

/** Knobs that have a value of their own in almost every task, or that only describe the menu. */
const unlistedKnobs: ReadonlySet<string> = new Set([
  "bridges",
  "pair",
  "heldOut",
  "company",
  "distractors",
  "failedCalls",
]);

/** Chains with more goal calls than this are counted together. */
const longestChain = 6;

/**
 * The key of the tasks that need the same tools: their results are not independent. Tasks without
 * goals are grouped by the chain that they grew from.
 */
export function getCluster(task: Task): string {
  const tools = listGoalTools(task);
  return (tools.length > 0 ? tools : [...new Set(task.chain)].sort()).join(" ") || task.id;
}

/** The traits of a task; `seen` tells its distance from the training tasks. */
export function listTraits(task: Task, seen?: SeenTasks): readonly Trait[] {
  const calls = task.goals.reduce((sum, it) => sum + it.calls.length, 0);
  const distance = task.split === "train" ? undefined : seen?.getDistance(task);
  return [
    { by: "split", is: task.split },
    ...(distance === undefined ? [] : [{ by: "distance", is: distance }]),
    { by: "server", is: task.servers[0]?.name ?? "none" },
    { by: "calls", is: calls > longestChain ? `over ${longestChain}` : String(calls) },
    { by: "turns", is: String(task.turns.length) },
    { by: "kind", is: task.kind },
    { by: "info", is: task.info },
    ...Object.entries(task.knobs)
      .filter(([knob]) => !unlistedKnobs.has(knob))
      .map(([knob, value]) => ({
        by: knob,
        is: typeof value === "string" ? value : JSON.stringify(value),
      })),
  ];
}
