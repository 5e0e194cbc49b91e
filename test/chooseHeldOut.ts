/**
 * Chooses the edges and pairs of tools that training tasks never use, from what the tasks of files
 * use, and writes resources/graphs/heldOut.json. The order of candidates is a hash of their names.
 * A candidate is skipped if a tool would keep too few training tasks.
 * Usage: node test/chooseHeldOut.ts F.tasks.jsonl …
 */
import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadServers } from "../src/servers/catalog.ts";
import { getDependencyGraph } from "../src/synthesis/graph/dependencyGraph.ts";
import { formatPair, heldOutFormat } from "../src/synthesis/pipeline/split.ts";
import { readTasks } from "../src/trajectory/file.ts";
import { formatEdge, listGoalEdges } from "../src/trajectory/seenTasks.ts";

/** The share of the tasks that may be held out by edges, and by pairs. */
const maxShare = { edges: 0.08, pairs: 0.1 };

/** The share of the edges that are held out at the most. */
const maxEdgeShare = 1 / 12;

/** The share of its tasks that each tool keeps for training. */
const minKept = { edges: 0.65, pairs: 0.5 };

interface Uses {
  readonly tools: readonly string[];
  readonly edges: readonly string[];
  readonly pairs: readonly string[];
}

const declared = new Set(
  (await loadServers())
    .flatMap(it => getDependencyGraph(it).edges)
    .map(it => formatEdge(it.a, it.b)),
);
const tasks: Uses[] = [];
for (const file of process.argv.slice(2))
  for await (const { goals, split } of readTasks(file)) {
    if (goals.length === 0 || split === "heldout-server") continue;
    const tools = [...new Set(goals.flatMap(it => it.calls.map(call => call.name)))].sort();
    const edges = listGoalEdges(goals);
    const isJoined = (a: string, b: string) =>
      [formatEdge(a, b), formatEdge(b, a)].some(it => declared.has(it) || edges.includes(it));
    const pairs = tools.flatMap((a, i) =>
      tools.slice(i + 1).flatMap(b => (isJoined(a, b) ? [] : [formatPair(a, b)])),
    );
    tasks.push({ tools, edges, pairs });
  }

const usesByTool = countUses(tasks);
const left = new Set(tasks);
const edges = choose(
  "edges",
  Math.floor(new Set(tasks.flatMap(it => it.edges)).size * maxEdgeShare),
);
const pairs = choose("pairs", Infinity);
const file = join(import.meta.dirname, "../resources/graphs/heldOut.json");
writeFileSync(file, `${JSON.stringify({ format: heldOutFormat, edges, pairs }, undefined, 2)}\n`);
console.log(
  `${edges.length} edges, ${pairs.length} pairs; ${left.size} of ${tasks.length} tasks are left`,
);

function choose(kind: "edges" | "pairs", limit: number): string[] {
  const tasksByItem = new Map<string, Set<Uses>>();
  for (const task of left)
    for (const it of task[kind]) tasksByItem.set(it, (tasksByItem.get(it) ?? new Set()).add(task));
  const order = (it: string) => hash("sha256", it, "hex");
  const chosen: string[] = [];
  let most = maxShare[kind] * tasks.length;
  for (const item of [...tasksByItem.keys()].sort((a, b) => (order(a) < order(b) ? -1 : 1))) {
    const lost = [...tasksByItem.get(item)!].filter(it => left.has(it));
    if (chosen.length >= limit || lost.length < 3 || lost.length > most) continue;
    for (const it of lost) left.delete(it);
    const kept = countUses(left);
    const isSpared = [...new Set(lost.flatMap(it => it.tools))].every(
      it => (kept.get(it) ?? 0) >= minKept[kind] * usesByTool.get(it)!,
    );
    if (isSpared) {
      chosen.push(item);
      most -= lost.length;
    } else for (const it of lost) left.add(it);
  }
  return chosen.sort();
}

function countUses(of: Iterable<Uses>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { tools } of of) for (const it of tools) counts.set(it, (counts.get(it) ?? 0) + 1);
  return counts;
}
