/**
 * The audit layer over a dependency graph: edges that were turned down, by a run or by a person,
 * with the reason. The graph itself stays what the declarations say; what is left of it is the
 * graph that chains walk. Knows files of verdicts, and no sessions.
 */
import { join } from "node:path";
import { z } from "zod";
import { readStrictLog } from "../../storage/jsonLines.ts";
import { createGraph, type Edge, type DependencyGraph } from "./dependencyGraph.ts";

export const verdictFormat = "prove/audit@1";

/** A line of an audit file. Of two lines on one edge the later one counts. */
const verdictSchema = z.strictObject({
  format: z.literal(verdictFormat),
  /** Full tool names: `a` before `b`. */
  a: z.string(),
  b: z.string(),
  /** The argument of `b` along which the edge flows; absent for an implicit edge. */
  input: z.string().optional(),
  verdict: z.enum(["accept", "reject"]),
  reason: z.string(),
  /** `run`, or whoever judged. */
  author: z.string(),
});

export type EdgeVerdict = z.infer<typeof verdictSchema>;

/** What was said of edges. */
export type EdgeVerdicts = ReadonlyMap<string, EdgeVerdict>;

const edgeKey = ({ a, b, input }: Pick<EdgeVerdict, "a" | "b" | "input">): string =>
  `${a} ${b} ${input ?? ""}`;

/** What was said of an edge, or undefined where nobody judged it. */
export const findVerdict = (
  { a, b, via }: Pick<Edge, "a" | "b" | "via">,
  audit: EdgeVerdicts,
): EdgeVerdict | undefined => audit.get(edgeKey({ a, b, ...(via ? { input: via.input } : {}) }));

/** Where verdicts lie: those that ship, and over them the workspace's own. */
export const listVerdictFiles = (resources: string, prove?: string): string[] =>
  [resources, ...(prove === undefined ? [] : [prove])].map(it => join(it, "graphs", "audit.jsonl"));

/**
 * Reads audit files, those that are there, the later ones over the earlier. Throws a `Mistake` with
 * file and line where one does not fit.
 */
export function readVerdicts(files: readonly string[]): EdgeVerdicts {
  const audit = new Map<string, EdgeVerdict>();
  for (const file of files)
    for (const it of readStrictLog(verdictSchema, file, { noun: "a verdict on an edge" }))
      audit.set(edgeKey(it), it);
  return audit;
}

/** An edge's entry as its line. */
export const formatVerdict = (said: Omit<EdgeVerdict, "format">): string =>
  JSON.stringify({ format: verdictFormat, ...said } satisfies EdgeVerdict);

const filteredGraphs = new WeakMap<
  DependencyGraph,
  { readonly audit: EdgeVerdicts; readonly graph: DependencyGraph }
>();

/** The graph without the edges that were turned down. */
export function removeRejectedEdges(graph: DependencyGraph, audit: EdgeVerdicts): DependencyGraph {
  const known = filteredGraphs.get(graph);
  if (known?.audit === audit) return known.graph;
  const left = createGraph(
    graph,
    graph.edges.filter(it => findVerdict(it, audit)?.verdict !== "reject"),
  );
  filteredGraphs.set(graph, { audit, graph: left });
  return left;
}
