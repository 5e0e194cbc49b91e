/**
 * Verdicts on the edges of a dependency graph: which edges a run or a person has accepted or
 * rejected, with the reason. The graph itself keeps what the declarations say; chains use the graph
 * without the rejected edges.
 */
import { join } from "node:path";
import { z } from "zod";
import { readStrictLog } from "../../storage/jsonLines.ts";
import { createGraph, type Edge, type DependencyGraph } from "./dependencyGraph.ts";

export const verdictFormat = "prove/audit@1";

/** A line of a verdict file. Of two lines about one edge, the later one counts. */
const verdictSchema = z.strictObject({
  format: z.literal(verdictFormat),
  /** Full tool names: `a` before `b`. */
  a: z.string(),
  b: z.string(),
  /** The argument of `b` that takes the value; absent for an implicit edge. */
  input: z.string().optional(),
  verdict: z.enum(["accept", "reject"]),
  reason: z.string(),
  /** `run` for a verification run, otherwise a person's name. */
  author: z.string(),
});

export type EdgeVerdict = z.infer<typeof verdictSchema>;

/** Verdicts by edge key. */
export type EdgeVerdicts = ReadonlyMap<string, EdgeVerdict>;

const getEdgeKey = ({ a, b, input }: Pick<EdgeVerdict, "a" | "b" | "input">): string =>
  `${a} ${b} ${input ?? ""}`;

/** The verdict on an edge, or undefined if there is none. */
export const findVerdict = (
  { a, b, via }: Pick<Edge, "a" | "b" | "via">,
  verdicts: EdgeVerdicts,
): EdgeVerdict | undefined =>
  verdicts.get(getEdgeKey({ a, b, ...(via ? { input: via.input } : {}) }));

/** Lists the verdict files: the one that ships, then the workspace's own (`prove/graphs`). */
export const listVerdictFiles = (resources: string, prove?: string): string[] => [
  join(resources, "graphs", "verdicts.jsonl"),
  ...(prove === undefined ? [] : [join(prove, "graphs", "audit.jsonl")]),
];

/**
 * Reads the verdict files that exist; later ones override earlier ones. Throws a `UserError` with
 * file and line where a line is invalid.
 */
export function readVerdicts(files: readonly string[]): EdgeVerdicts {
  const verdicts = new Map<string, EdgeVerdict>();
  for (const file of files)
    for (const it of readStrictLog(verdictSchema, file, { noun: "a verdict on an edge" }))
      verdicts.set(getEdgeKey(it), it);
  return verdicts;
}

/** Formats a verdict as a line of a verdict file. */
export const formatVerdict = (verdict: Omit<EdgeVerdict, "format">): string =>
  JSON.stringify({ format: verdictFormat, ...verdict } satisfies EdgeVerdict);

const filteredGraphs = new WeakMap<
  DependencyGraph,
  { readonly verdicts: EdgeVerdicts; readonly graph: DependencyGraph }
>();

/** The graph without the rejected edges. */
export function removeRejectedEdges(
  graph: DependencyGraph,
  verdicts: EdgeVerdicts,
): DependencyGraph {
  const known = filteredGraphs.get(graph);
  if (known?.verdicts === verdicts) return known.graph;
  const filtered = createGraph(
    graph,
    graph.edges.filter(it => findVerdict(it, verdicts)?.verdict !== "reject"),
  );
  filteredGraphs.set(graph, { verdicts, graph: filtered });
  return filtered;
}
