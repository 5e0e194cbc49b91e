/**
 * Which tool's result another needs: the dependency graph of a server, read off its declarations.
 * Explicit where a result carries an entity that a required input takes, implicit where a tool must
 * have run before. Knows no sessions and no chains.
 */
import { digestOf, freeze, type Digest } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { declarationsOf, type ToolDeclaration } from "./declarations.ts";

export interface Edge {
  /** Full tool names: `a` before `b`. */
  readonly a: string;
  readonly b: string;
  readonly kind: "explicit" | "implicit";
  /**
   * What flows: the place in the result, and the argument that takes it. Absent where nothing does.
   */
  readonly via?: { readonly output: string; readonly input: string; readonly entity: string };
  /** 1 where it is declared; less where only a part of the results may carry the value. */
  readonly confidence: number;
}

export interface DependencyGraph {
  readonly server: string;
  readonly edges: readonly Edge[];
  /** Of the declarations that the edges were read from: equal hashes, equal edges. */
  readonly hash: Digest;
  edgesFrom(tool: string): readonly Edge[];
  edgesTo(tool: string): readonly Edge[];
}

const graphsByServer = new WeakMap<Server, DependencyGraph>();

export function dependencyGraphOf(server: Server): DependencyGraph {
  let graph = graphsByServer.get(server);
  if (!graph) graphsByServer.set(server, (graph = buildGraph(server)));
  return graph;
}

function buildGraph(server: Server): DependencyGraph {
  const all = [...declarationsOf(server).values()];
  const edges = all.flatMap(a => all.filter(b => b !== a).flatMap(b => findEdgesBetween(a, b)));
  const tools = all.map(({ tool: { name, summary, inputSchema, outputSchema, requires } }) => ({
    name,
    summary,
    inputSchema,
    outputSchema,
    requires,
  }));
  return createGraph(
    { server: server.name, hash: digestOf(freeze(structuredClone(tools))) },
    edges,
  );
}

/** A graph of the same declarations with these edges. */
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
    edgesFrom: tool => from.get(tool) ?? [],
    edgesTo: tool => to.get(tool) ?? [],
  };
}

function groupByTool(edges: readonly Edge[], tool: (it: Edge) => string): Map<string, Edge[]> {
  const grouped = new Map<string, Edge[]>();
  for (const it of edges) grouped.set(tool(it), [...(grouped.get(tool(it)) ?? []), it]);
  return grouped;
}

/**
 * One explicit edge for every required input that `a` can fill; an implicit one only where there is
 * none.
 */
function findEdgesBetween(a: ToolDeclaration, b: ToolDeclaration): Edge[] {
  const explicit = b.inputs.flatMap((input): Edge[] => {
    const output = input.isRequired ? a.outputs.find(it => it.entity === input.entity) : undefined;
    if (!output) return [];
    // the single thing that a result is about is always there; a list may be empty
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
