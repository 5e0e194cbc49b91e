/**
 * The edges and pairs of tools that no training task uses, from `graphs/heldOut.json`. They are
 * listed, because a rule alone would hold out an edge that almost every task of a tool needs.
 * `test/chooseHeldOut.ts` chooses them by a hash of their names.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";
import { listGoalEdges } from "../../trajectory/goalEdges.ts";
import type { Task } from "../../trajectory/task.ts";

export const heldOutFormat = "prove/heldOut@1";

const heldOutSchema = z.strictObject({
  format: z.literal(heldOutFormat),
  /** A value flows from the first tool to the second. */
  edges: z.array(z.string()),
  /** Two tools in one task, neither of which needs the other. */
  pairs: z.array(z.string()),
});

export interface HeldOutEdges {
  readonly edges: ReadonlySet<string>;
  readonly pairs: ReadonlySet<string>;
}

/** Two tools, in the order of their names, in one string. */
export const formatPair = (a: string, b: string): string => (a < b ? `${a} + ${b}` : `${b} + ${a}`);

const listsByFolder = new Map<string, HeldOutEdges>();

/** Reads the list of the product's `resources` folder once. */
export function readHeldOutEdges(resources: string): HeldOutEdges {
  let list = listsByFolder.get(resources);
  if (!list) listsByFolder.set(resources, (list = readList(resources)));
  return list;
}

function readList(resources: string): HeldOutEdges {
  const { edges, pairs } = readJsonFile(heldOutSchema, join(resources, "graphs", "heldOut.json"), {
    noun: "a list of held-out edges",
    remedy: "reinstall PROVE",
  });
  return { edges: new Set(edges), pairs: new Set(pairs) };
}

/** The held-out edges of a task. */
export const listHeldOutEdges = (
  goals: Task["goals"],
  { edges }: HeldOutEdges,
): readonly string[] => listGoalEdges(goals).filter(it => edges.has(it));

/** The held-out pairs among the tools that a task's goals call. */
export function listHeldOutPairs(
  tools: readonly string[],
  { pairs }: HeldOutEdges,
): readonly string[] {
  const names = [...new Set(tools)].sort();
  return names.flatMap((a, i) =>
    names.slice(i + 1).flatMap(b => {
      const pair = formatPair(a, b);
      return pairs.has(pair) ? [pair] : [];
    }),
  );
}
