/**
 * Which tool's result another needs: the dependency graph of a server, read off its declarations.
 * Explicit where a result carries an entity that a required input takes, implicit where a tool must
 * have run before. Knows no sessions and no chains.
 */
import { digestOf, freeze, type Digest } from "../../environment/digest.ts";
import type { Server } from "../../environment/server.ts";
import { declarationsOf, type Declared } from "./declarations.ts";

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

export interface Graph {
  readonly server: string;
  readonly edges: readonly Edge[];
  /** Of the declarations that the edges were read from: equal hashes, equal edges. */
  readonly hash: Digest;
  from(tool: string): readonly Edge[];
  to(tool: string): readonly Edge[];
}

const known = new WeakMap<Server, Graph>();

export function graphOf(server: Server): Graph {
  let graph = known.get(server);
  if (!graph) known.set(server, (graph = build(server)));
  return graph;
}

function build(server: Server): Graph {
  const all = [...declarationsOf(server).values()];
  const edges = all.flatMap(a => all.filter(b => b !== a).flatMap(b => edgesBetween(a, b)));
  const tools = all.map(({ tool: { name, summary, inputSchema, outputSchema, requires } }) => ({
    name,
    summary,
    inputSchema,
    outputSchema,
    requires,
  }));
  return graphWith({ server: server.name, hash: digestOf(freeze(structuredClone(tools))) }, edges);
}

/** A graph of the same declarations with these edges. */
export function graphWith(
  { server, hash }: Pick<Graph, "server" | "hash">,
  edges: readonly Edge[],
): Graph {
  const from = byTool(edges, it => it.a);
  const to = byTool(edges, it => it.b);
  return {
    server,
    edges,
    hash,
    from: tool => from.get(tool) ?? [],
    to: tool => to.get(tool) ?? [],
  };
}

function byTool(edges: readonly Edge[], tool: (it: Edge) => string): Map<string, Edge[]> {
  const grouped = new Map<string, Edge[]>();
  for (const it of edges) grouped.set(tool(it), [...(grouped.get(tool(it)) ?? []), it]);
  return grouped;
}

/**
 * One explicit edge for every required input that `a` can fill; an implicit one only where there is
 * none.
 */
function edgesBetween(a: Declared, b: Declared): Edge[] {
  const explicit = b.inputs.flatMap((input): Edge[] => {
    const output = input.required ? a.outputs.find(it => it.entity === input.entity) : undefined;
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
