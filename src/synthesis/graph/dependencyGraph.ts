/**
 * The dependency graph of a server, derived from its declarations: which tool's result another tool
 * needs. An edge is explicit if a result contains an entity that a required input takes, implicit
 * if one tool must have run before the other.
 */
import { computeDigest, deepFreeze, type Digest } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { getDeclarations, type ToolDeclaration } from "./declarations.ts";
import { join } from "node:path";
import { z } from "zod";
import { readStrictLog } from "../../storage/jsonLines.ts";

export interface Edge {
  /** Full tool names: `a` before `b`. */
  readonly a: string;
  readonly b: string;
  readonly kind: "explicit" | "implicit";
  /** The path in the result of `a` and the argument of `b` that takes it; explicit edges only. */
  readonly via?: { readonly output: string; readonly input: string; readonly entity: string };
  /** 1 where the value is always present; less where it is in a list that may be empty. */
  readonly confidence: number;
}

export interface DependencyGraph {
  readonly server: string;
  readonly edges: readonly Edge[];
  /** Digest of the declarations from which the edges were derived. */
  readonly hash: Digest;
  getEdgesFrom(tool: string): readonly Edge[];
  getEdgesTo(tool: string): readonly Edge[];
}

const graphsByServer = new WeakMap<Server, DependencyGraph>();

export function getDependencyGraph(server: Server): DependencyGraph {
  let graph = graphsByServer.get(server);
  if (!graph) graphsByServer.set(server, (graph = buildGraph(server)));
  return graph;
}

function buildGraph(server: Server): DependencyGraph {
  const all = [...getDeclarations(server).values()];
  const edges = all.flatMap(a => all.filter(b => b !== a).flatMap(b => findEdgesBetween(a, b)));
  const tools = all.map(({ tool: { name, summary, inputSchema, outputSchema, requires } }) => ({
    name,
    summary,
    inputSchema,
    outputSchema,
    requires,
  }));
  return createGraph(
    { server: server.name, hash: computeDigest(deepFreeze(structuredClone(tools))) },
    edges,
  );
}

/** Creates a graph of the same declarations with these edges. */
function createGraph(
  { server, hash }: Pick<DependencyGraph, "server" | "hash">,
  edges: readonly Edge[],
): DependencyGraph {
  const from = groupByTool(edges, it => it.a);
  const to = groupByTool(edges, it => it.b);
  return {
    server,
    edges,
    hash,
    getEdgesFrom: tool => from.get(tool) ?? [],
    getEdgesTo: tool => to.get(tool) ?? [],
  };
}

function groupByTool(edges: readonly Edge[], getTool: (edge: Edge) => string): Map<string, Edge[]> {
  const groups = new Map<string, Edge[]>();
  for (const it of edges) groups.set(getTool(it), [...(groups.get(getTool(it)) ?? []), it]);
  return groups;
}

/**
 * Returns an explicit edge for every required input of `b` that `a` can fill, or an implicit edge
 * if there is none and `b` requires `a`.
 */
function findEdgesBetween(a: ToolDeclaration, b: ToolDeclaration): Edge[] {
  const explicit = b.inputs.flatMap((input): Edge[] => {
    const output = input.isRequired ? a.outputs.find(it => it.entity === input.entity) : undefined;
    if (!output) return [];
    // a value outside of lists is always present; a list may be empty
    const confidence = output.path.includes("[") || output.path.includes("{") ? 0.9 : 1;
    return [
      {
        a: a.tool.name,
        b: b.tool.name,
        kind: "explicit",
        via: { output: output.path, input: input.path, entity: input.entity },
        confidence,
      },
    ];
  });
  if (explicit.length > 0 || !b.tool.requires.includes(a.tool.name)) return explicit;
  return [{ a: a.tool.name, b: b.tool.name, kind: "implicit", confidence: 1 }];
}

// Creates the dependency graph of several servers, with the edges within each of them.

export function createCrossServerGraph(servers: readonly Server[]): DependencyGraph {
  const graphs = servers.map(getDependencyGraph);
  return createGraph(
    {
      server: servers.map(it => it.name).join(", "),
      hash: computeDigest(deepFreeze(graphs.map(it => it.hash))),
    },
    graphs.flatMap(it => it.edges),
  );
}

// Verdicts on the edges of a dependency graph: which edges a run or a person has accepted or
// rejected, with the reason. The graph itself keeps what the declarations say; chains use the graph
// without the rejected edges.

const verdictFormat = "prove/audit@1";

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

type EdgeVerdict = z.infer<typeof verdictSchema>;

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
