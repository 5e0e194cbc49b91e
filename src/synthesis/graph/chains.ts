/**
 * Chains of tools to make conversations of: simple paths in the dependency graph, the tools used
 * least so far first, so that every tool gets its turn. Knows no entities and no words.
 */
import type { Server } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import { removeRejectedEdges, type EdgeVerdicts } from "./edgeVerdicts.ts";
import { dependencyGraphOf, type Edge, type DependencyGraph } from "./dependencyGraph.ts";

/** How long chains are, by weight. */
const chainLengths = [
  { tools: 2, weight: 0.3 },
  { tools: 3, weight: 0.3 },
  { tools: 4, weight: 0.25 },
  { tools: 5, weight: 0.15 },
];

/** Chains that end with a tool that changes something. */
const writeEndShare = 0.7;

export interface Chain {
  /** Full tool names, in the order of the path. */
  readonly tools: readonly string[];
  /** The edges walked, one fewer than the tools. */
  readonly edges: readonly Edge[];
}

/**
 * How often each tool has been called, and, for less, wished for in vain: tools are drawn so that
 * this evens out.
 */
export type UseCounts = Map<string, number>;

/** The weight by which a tool is drawn. */
export const computeRarity = (tool: string, uses: UseCounts): number =>
  1 / (1 + (uses.get(tool) ?? 0)) ** 3;

/** A draw that leads to no such path is made again so often. */
const maxDraws = 8;

/** What chains are drawn from. */
export interface ChainSource {
  readonly server: Server;
  readonly uses: UseCounts;
  /** Edges that were turned down are not walked. */
  readonly verdicts: EdgeVerdicts;
}

/**
 * A path of two to five tools with at least one explicit edge, or undefined where there seems to be
 * none.
 */
export function drawChain(ways: ChainSource, random: Random): Chain | undefined {
  for (let draw = 0; draw < maxDraws; draw++) {
    const chain = drawPath(ways, random);
    if (chain) return chain;
  }
  return undefined;
}

function drawPath({ server, uses, verdicts }: ChainSource, random: Random): Chain | undefined {
  const graph = removeRejectedEdges(dependencyGraphOf(server), verdicts);
  const wanted = random.pickWeighted(chainLengths, it => it.weight).tools;
  const rarity = (tool: string) => computeRarity(tool, uses);
  const ends = [...server.tools.values()].filter(it => graph.edgesTo(it.name).length > 0);
  const writes = ends.filter(it => it.effect === "write");
  const pool = writes.length > 0 && random.boolean(writeEndShare) ? writes : ends;
  if (pool.length === 0) return undefined;
  let tools = [random.pickWeighted(pool, it => rarity(it.name)).name];
  const edges: Edge[] = [];
  while (tools.length < wanted) {
    const edge = drawEdgeInto(graph, tools, rarity, random);
    if (!edge) break;
    tools = [edge.a, ...tools];
    edges.unshift(edge);
  }
  return edges.some(it => it.kind === "explicit") ? { tools, edges } : undefined;
}

/** An edge that leads to the path's first tool from one that is not on it yet. */
function drawEdgeInto(
  graph: DependencyGraph,
  tools: readonly string[],
  rarity: (tool: string) => number,
  random: Random,
): Edge | undefined {
  const choices = graph.edgesTo(tools[0]!).filter(it => !tools.includes(it.a));
  return choices.length === 0
    ? undefined
    : random.pickWeighted(choices, it => rarity(it.a) * it.confidence);
}

/**
 * Counts tools as used; in vain counts for a third, so that what cannot be had is not asked for
 * forever.
 */
export function countUses(tools: Iterable<string>, uses: UseCounts, isInVain = false): void {
  for (const it of tools) uses.set(it, (uses.get(it) ?? 0) + (isInVain ? 1 / 3 : 1));
}

/** Tools that no edge which works touches: they come into conversations as wishes of their own. */
export const listIsolatedTools = ({
  server,
  verdicts,
}: Pick<ChainSource, "server" | "verdicts">): readonly string[] => {
  const graph = removeRejectedEdges(dependencyGraphOf(server), verdicts);
  return [...server.tools.keys()].filter(
    it => graph.edgesFrom(it).length === 0 && graph.edgesTo(it).length === 0,
  );
};
