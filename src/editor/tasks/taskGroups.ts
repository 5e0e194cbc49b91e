/** Groups the tasks of a file by a field, for the Tasks view. */
import { forEachInSlices } from "../shared/timeSlices.ts";
import type { TaskEntry } from "../attempts/taskIndex.ts";
import type { TaskScore } from "./taskScores.ts";

/** The fields that tasks can be grouped by. */
export const groupings = ["none", "server", "kind", "split", "success"] as const;
export type Grouping = (typeof groupings)[number];

/** The tasks with one value of the field. */
interface TaskGroup {
  readonly value: string;
  readonly entries: readonly TaskEntry[];
}

type ReadScore = (entry: TaskEntry) => TaskScore | undefined;

/** A task on several servers belongs to the group of each. */
function listValues(
  entry: TaskEntry,
  grouping: Exclude<Grouping, "none">,
  readScore: ReadScore,
): readonly string[] {
  switch (grouping) {
    case "server":
      return entry.servers.length > 0 ? entry.servers : ["no server"];
    case "kind":
      return [entry.kind];
    case "split":
      return [entry.split];
    case "success": {
      const success = readScore(entry)?.success;
      return [success === undefined ? "not scored" : success ? "success" : "no success"];
    }
    default:
      throw new Error(`unknown grouping ${String(grouping satisfies never)}`);
  }
}

/** The order of the groups by success; other groups are sorted by name. */
const successOrder = ["no success", "not scored", "success"];

/** The groups of some tasks, whose tasks keep their order. */
export async function groupTasks(
  entries: readonly TaskEntry[],
  grouping: Exclude<Grouping, "none">,
  readScore: ReadScore,
): Promise<readonly TaskGroup[]> {
  const groups = new Map<string, TaskEntry[]>();
  await forEachInSlices(entries, entry => {
    for (const value of listValues(entry, grouping, readScore)) {
      const group = groups.get(value);
      if (group) group.push(entry);
      else groups.set(value, [entry]);
    }
  });
  const rank = (value: string) => successOrder.indexOf(value);
  return [...groups]
    .map(([value, tasks]) => ({ value, entries: tasks }))
    .toSorted((a, b) => rank(a.value) - rank(b.value) || (a.value < b.value ? -1 : 1));
}
