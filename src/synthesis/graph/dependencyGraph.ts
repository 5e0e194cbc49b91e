/**
 * The dependency graph of a server, derived from its declarations: which tool's result another tool
 * needs. An edge is explicit if a result contains an entity that a required input takes, implicit
 * if one tool must have run before the other.
 */
import { computeDigest, deepFreeze, type Digest } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { getDeclarations, type ToolDeclaration } from "./declarations.ts";

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
export function createGraph(
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
        via: { output: output.path, input: input.key, entity: input.entity },
        confidence,
      },
    ];
  });
  if (explicit.length > 0 || !b.tool.requires.includes(a.tool.name)) return explicit;
  return [{ a: a.tool.name, b: b.tool.name, kind: "implicit", confidence: 1 }];
}
