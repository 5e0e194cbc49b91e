/**
 * Draws chains of tools to build conversations from: simple paths in the dependency graph. Tools
 * used least so far are preferred, so that every tool is used.
 */
import type { Server } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import {
  getDependencyGraph,
  type DependencyGraph,
  type Edge,
  removeRejectedEdges,
  type EdgeVerdicts,
} from "./dependencyGraph.ts";

/** Chain lengths and their shares. */
const chainLengths = [
  { tools: 2, weight: 0.3 },
  { tools: 3, weight: 0.3 },
  { tools: 4, weight: 0.25 },
  { tools: 5, weight: 0.15 },
] as const;

/** How many of the tasks so far grew from a chain of each length. */
export type LengthCounts = ReadonlyMap<number, number>;

/** The length as which a chain is counted. */
export const limitLength = (tools: number): number => Math.min(5, Math.max(2, tools));

/** With fewer tasks than this, the shares measured so far are not used. */
const minTasksForShares = 50;

/** The lengths with their shares, those that have been rare so far with more. */
export function computeLengthWeights(
  counts: LengthCounts,
): readonly { readonly tools: number; readonly weight: number }[] {
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  if (total < minTasksForShares) return chainLengths;
  return chainLengths.map(({ tools, weight }) => ({
    tools,
    weight: Math.max(0.02, weight + 3 * (weight - (counts.get(tools) ?? 0) / total)),
  }));
}

/** Share of chains that end with a write tool. */
const writeEndShare = 0.7;

export interface Chain {
  /** Full tool names, in the order of the path. */
  readonly tools: readonly string[];
  /** The edges of the path, one fewer than the tools. */
  readonly edges: readonly Edge[];
}

/**
 * How often each tool has been used: 1 for a call, 1/3 for an attempt that produced no call. Chains
 * are drawn so that the counts even out.
 */
export type UseCounts = Map<string, number>;

/** The weight with which a tool is drawn. */
export const computeRarity = (tool: string, uses: UseCounts): number =>
  1 / (1 + (uses.get(tool) ?? 0)) ** 3;

/** Draws per chain before giving up. */
const maxDraws = 8;

/** What chains are drawn from. */
export interface ChainSource {
  readonly server: Server;
  readonly uses: UseCounts;
  /** Rejected edges are not used. */
  readonly verdicts: EdgeVerdicts;
  /**
   * Lengths that have been rare so far are preferred, and paths grow in both directions; without
   * counts, only towards their beginning.
   */
  readonly lengthCounts?: LengthCounts;
}

/**
 * Draws a path of two to five tools with at least one explicit edge; undefined when no draw
 * produces one. On a server none of whose tools shows what another one takes, the tools are
 * separate requests.
 */
export function drawChain(source: ChainSource, random: Random): Chain | undefined {
  for (let draw = 0; draw < maxDraws; draw++) {
    const chain = drawPath(source, random);
    if (chain) return chain;
  }
  return undefined;
}

function drawPath(
  { server, uses, verdicts, lengthCounts }: ChainSource,
  random: Random,
): Chain | undefined {
  const graph = removeRejectedEdges(getDependencyGraph(server), verdicts);
  const lengths = computeLengthWeights(lengthCounts ?? new Map());
  const length = random.pickWeighted(lengths, it => it.weight).tools;
  const rarity = (tool: string) => computeRarity(tool, uses);
  if (listIsolatedTools({ server, verdicts }).length === server.tools.size)
    return { tools: drawTools([...server.tools.keys()], length - 1, rarity, random), edges: [] };
  const lastTools = [...server.tools.values()].filter(it => graph.getEdgesTo(it.name).length > 0);
  const writes = lastTools.filter(it => it.effect === "write");
  const pool = writes.length > 0 && random.boolean(writeEndShare) ? writes : lastTools;
  if (pool.length === 0) return undefined;
  let tools = [random.pickWeighted(pool, it => rarity(it.name)).name];
  const edges: Edge[] = [];
  while (tools.length < length) {
    const edge = drawEdgeInto(tools, graph, rarity, random);
    if (edge) {
      tools = [edge.a, ...tools];
      edges.unshift(edge);
      continue;
    }
    const next = lengthCounts && drawEdgeFrom(tools, graph, rarity, random);
    if (!next) break;
    tools = [...tools, next.b];
    edges.push(next);
  }
  return edges.some(it => it.kind === "explicit") ? { tools, edges } : undefined;
}

function drawTools(
  tools: readonly string[],
  count: number,
  rarity: (tool: string) => number,
  random: Random,
): string[] {
  const drawn: string[] = [];
  while (drawn.length < Math.min(count, tools.length))
    drawn.push(
      random.pickWeighted(
        tools.filter(it => !drawn.includes(it)),
        rarity,
      ),
    );
  return drawn;
}

/** Draws an edge to the first tool of the path from a tool that is not on the path. */
function drawEdgeInto(
  path: readonly string[],
  graph: DependencyGraph,
  rarity: (tool: string) => number,
  random: Random,
): Edge | undefined {
  const choices = graph.getEdgesTo(path[0]!).filter(it => !path.includes(it.a));
  return choices.length === 0
    ? undefined
    : random.pickWeighted(choices, it => rarity(it.a) * it.confidence);
}

/** Draws an edge from the last tool of the path to a tool that is not on the path. */
function drawEdgeFrom(
  path: readonly string[],
  graph: DependencyGraph,
  rarity: (tool: string) => number,
  random: Random,
): Edge | undefined {
  const choices = graph.getEdgesFrom(path.at(-1)!).filter(it => !path.includes(it.b));
  return choices.length === 0
    ? undefined
    : random.pickWeighted(choices, it => rarity(it.b) * it.confidence);
}

/**
 * Counts tools as used. A failed use counts a third, so that a tool that cannot be reached is not
 * tried forever.
 */
export function countUses(tools: Iterable<string>, uses: UseCounts, isFailed = false): void {
  for (const it of tools) uses.set(it, (uses.get(it) ?? 0) + (isFailed ? 1 / 3 : 1));
}

/** Lists the tools without a usable edge. They join conversations as separate requests. */
export function listIsolatedTools({
  server,
  verdicts,
}: Pick<ChainSource, "server" | "verdicts">): readonly string[] {
  const graph = removeRejectedEdges(getDependencyGraph(server), verdicts);
  return [...server.tools.keys()].filter(
    it => graph.getEdgesFrom(it).length === 0 && graph.getEdgesTo(it).length === 0,
  );
}
