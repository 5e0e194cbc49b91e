/**
 * Where the tools of a dependency graph stand: a column says how many calls must come before, rows
 * are ordered so that edges cross little. Deterministic and pure; knows no elements.
 */

export interface Dependency {
  /** Places in the list of tools: `a` before `b`. */
  readonly a: number;
  readonly b: number;
  /** What of b it fills; edges of one input are each other's alternatives. */
  readonly need: string;
}

export interface Position {
  readonly column: number;
  readonly row: number;
}

/** Rows of a column; a longer one goes on in the next. */
const maxRows = 18;

/** The spot of each tool, in the order of the list. */
export function layOut(count: number, edges: readonly Dependency[]): readonly Position[] {
  const depths = findDepths(count, edges);
  const layers = Array.from({ length: Math.max(-1, ...depths) + 1 }, (_, depth) =>
    depths.flatMap((it, tool) => (it === depth ? [tool] : [])),
  ).filter(it => it.length > 0);
  orderLayers(layers, edges);
  const spots: Position[] = [];
  let column = 0;
  for (const layer of layers) {
    const columns = Math.ceil(layer.length / maxRows);
    const rows = Math.ceil(layer.length / columns);
    for (const [i, tool] of layer.entries())
      spots[tool] = {
        column: column + Math.floor(i / rows),
        row: (i % rows) + (countRows(layers) - Math.min(rows, layer.length)) / 2,
      };
    column += columns;
  }
  return spots;
}

/** The tallest column's rows. */
const countRows = (layers: readonly (readonly number[])[]) =>
  Math.max(...layers.map(it => Math.ceil(it.length / Math.ceil(it.length / maxRows))));

/**
 * How many calls must come before each tool: one more than its hardest need, which its easiest
 * alternative fills.
 */
function findDepths(count: number, edges: readonly Dependency[]): readonly number[] {
  const into = Array.from({ length: count }, (_, tool) => edges.filter(it => it.b === tool));
  const gives = Array.from(
    { length: count },
    (_, tool) => edges.filter(it => it.a === tool).length,
  );
  const depths = into.map(it => (it.length === 0 ? 0 : Infinity));
  for (;;) {
    settleDepths(depths, into);
    const unsettled = depths.flatMap((it, tool) => (it === Infinity ? [tool] : []));
    if (unsettled.length === 0) return depths;
    // they need each other: whoever gives most begins
    const balance = (tool: number) => gives[tool]! - into[tool]!.length;
    const first = unsettled.reduce((best, it) => (balance(it) > balance(best) ? it : best));
    depths[first] = Math.max(0, ...depths.filter(it => it !== Infinity));
  }
}

function settleDepths(depths: number[], into: readonly (readonly Dependency[])[]): void {
  for (let changed = true; changed;) {
    changed = false;
    for (const [tool, edges] of into.entries()) {
      if (depths[tool] !== Infinity) continue;
      const needs = new Map<string, number>();
      for (const { a, need } of edges)
        needs.set(need, Math.min(needs.get(need) ?? Infinity, depths[a]!));
      const depth = 1 + Math.max(...needs.values());
      if (depth === Infinity) continue;
      depths[tool] = depth;
      changed = true;
    }
  }
}

const sweeps = 6;

/**
 * Orders each layer by the mean place of what its tools are tied to in the others, forth and back.
 */
function orderLayers(layers: number[][], edges: readonly Dependency[]): void {
  const tied = new Map<number, number[]>();
  for (const { a, b } of edges)
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const)
      tied.set(one, [...(tied.get(one) ?? []), other]);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const places = new Map(
      layers.flatMap(layer => layer.map((tool, i) => [tool, (i + 0.5) / layer.length] as const)),
    );
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const own = new Set(layer);
      const mean = (tool: number) => {
        const others = (tied.get(tool) ?? []).filter(it => !own.has(it));
        return others.length
          ? others.reduce((sum, it) => sum + places.get(it)!, 0) / others.length
          : places.get(tool)!;
      };
      const means = new Map(layer.map(it => [it, mean(it)]));
      layer.sort((a, b) => means.get(a)! - means.get(b)! || a - b);
      for (const [i, tool] of layer.entries()) places.set(tool, (i + 0.5) / layer.length);
    }
  }
}
