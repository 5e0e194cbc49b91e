/**
 * The dependency edges between the goals of a task: which tool's result supplied a value that
 * another tool's call takes.
 */
import type { Goal } from "./task.ts";

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
