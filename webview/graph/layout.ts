/**
 * Lays out the tools of a dependency graph. A tool's column is the number of calls that must come
 * before it; rows are ordered so that few edges cross.
 *
 * Own code instead of dagre, which ranks by longest path: alternatives and cycles make its drawings
 * of the twenty servers 1,050 to 4,158 px wide (these: 424 to 798), and a column no longer counts
 * calls. With these columns imposed, dagre's order has more crossings on eleven servers, fewer on
 * eight, and the page's script grows from 10 to 60 KB.
 */

export interface Dependency {
  /** Indices into the list of tools: `a` comes before `b`. */
  readonly a: number;
  readonly b: number;
  /** The input of `b` that `a` fills. Edges for the same input are alternatives. */
  readonly need: string;
}

export interface Position {
  readonly column: number;
  readonly row: number;
}

/** The most rows in a column; a longer layer takes several columns. */
const maxRows = 18;

/** Returns the position of each tool, in the order of the list. */
export function layOut(count: number, edges: readonly Dependency[]): readonly Position[] {
  const depths = findDepths(count, edges);
  const layers = Array.from({ length: Math.max(-1, ...depths) + 1 }, (_, depth) =>
    depths.flatMap((it, tool) => (it === depth ? [tool] : [])),
  ).filter(it => it.length > 0);
  orderLayers(layers, edges);
  const height = Math.max(...layers.map(countRows));
  const positions: Position[] = [];
  let column = 0;
  for (const layer of layers) {
    const rows = countRows(layer);
    const top = (height - Math.min(rows, layer.length)) / 2;
    for (const [i, tool] of layer.entries())
      positions[tool] = { column: column + Math.floor(i / rows), row: (i % rows) + top };
    column += countColumns(layer);
  }
  return positions;
}

const countColumns = (layer: readonly number[]) => Math.ceil(layer.length / maxRows);
const countRows = (layer: readonly number[]) => Math.ceil(layer.length / countColumns(layer));

/**
 * Finds how many calls must come before each tool: one more than the depth of its hardest need. The
 * depth of a need is that of its easiest alternative.
 */
function findDepths(count: number, edges: readonly Dependency[]): readonly number[] {
  const incoming = Array.from({ length: count }, (_, tool) => edges.filter(it => it.b === tool));
  const outgoing = Array.from(
    { length: count },
    (_, tool) => edges.filter(it => it.a === tool).length,
  );
  const depths = incoming.map(it => (it.length === 0 ? 0 : Infinity));
  for (;;) {
    settleDepths(depths, incoming);
    const unsettled = depths.flatMap((it, tool) => (it === Infinity ? [tool] : []));
    if (unsettled.length === 0) return depths;
    // a cycle: the tool with the most outgoing edges comes first
    const balance = (tool: number) => outgoing[tool]! - incoming[tool]!.length;
    const first = unsettled.reduce((best, it) => (balance(it) > balance(best) ? it : best));
    depths[first] = Math.max(0, ...depths.filter(it => it !== Infinity));
  }
}

/** Sets the depth of every tool whose needs all have one. */
function settleDepths(depths: number[], incoming: readonly (readonly Dependency[])[]): void {
  for (let hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (const [tool, edges] of incoming.entries()) {
      if (depths[tool] !== Infinity) continue;
      const needs = new Map<string, number>();
      for (const { a, need } of edges)
        needs.set(need, Math.min(needs.get(need) ?? Infinity, depths[a]!));
      const depth = 1 + Math.max(...needs.values());
      if (depth === Infinity) continue;
      depths[tool] = depth;
      hasChanged = true;
    }
  }
}

const sweeps = 6;

/**
 * Orders each layer by the mean position of its neighbors in other layers, sweeping forward and
 * backward (the barycenter heuristic).
 */
function orderLayers(layers: number[][], edges: readonly Dependency[]): void {
  const neighbors = listNeighbors(edges);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    // a tool's position in its layer, from 0 to 1
    const positions = new Map(
      layers.flatMap(layer => layer.map((tool, i) => [tool, (i + 0.5) / layer.length] as const)),
    );
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const own = new Set(layer);
      const mean = (tool: number) => {
        const others = (neighbors.get(tool) ?? []).filter(it => !own.has(it));
        return others.length
          ? others.reduce((sum, it) => sum + positions.get(it)!, 0) / others.length
          : positions.get(tool)!;
      };
      const means = new Map(layer.map(it => [it, mean(it)]));
      layer.sort((a, b) => means.get(a)! - means.get(b)! || a - b);
      for (const [i, tool] of layer.entries()) positions.set(tool, (i + 0.5) / layer.length);
    }
  }
}

function listNeighbors(edges: readonly Dependency[]): ReadonlyMap<number, readonly number[]> {
  const neighbors = new Map<number, number[]>();
  const add = (tool: number, neighbor: number) =>
    neighbors.set(tool, [...(neighbors.get(tool) ?? []), neighbor]);
  for (const { a, b } of edges) {
    add(a, b);
    add(b, a);
  }
  return neighbors;
}
