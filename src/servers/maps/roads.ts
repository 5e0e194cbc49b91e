/**
 * The streets of the home city as a graph, and the quickest way through it. Knows speeds and what
 * is shut; it does not know why.
 */
import { footOn, metersBetween, type Point } from "./geometry.ts";
import type { Atlas, Place, Street } from "./state.ts";

/** A stretch of a way along one street. */
export interface Stretch {
  readonly street_id: string;
  readonly meters: number;
}

export interface Way {
  readonly stretches: readonly Stretch[];
  readonly minutes: number;
}

/** Minutes for a metre of a street; undefined where the street is of no use. */
export type Pace = (streetId: string, street: Street) => number | undefined;

interface Edge {
  readonly to: number;
  readonly street_id: string;
  readonly meters: number;
}

interface Graph {
  readonly points: readonly Point[];
  readonly edges: readonly (readonly Edge[])[];
  /** Numbers of a street's points, by street. */
  readonly numbers: ReadonlyMap<string, readonly number[]>;
}

const graphs = new WeakMap<object, Graph>();

function graphOf(streets: Atlas["streets"]): Graph {
  const known = graphs.get(streets);
  if (known) return known;
  const numberOf = new Map<string, number>();
  const points: Point[] = [];
  const edges: Edge[][] = [];
  const numbers = new Map<string, number[]>();
  for (const [street_id, { line }] of Object.entries(streets)) {
    const own = line.map(([latitude, longitude]) => {
      const key = `${latitude} ${longitude}`;
      const number = numberOf.get(key) ?? points.length;
      if (number === points.length) {
        numberOf.set(key, number);
        points.push({ latitude, longitude });
        edges.push([]);
      }
      return number;
    });
    numbers.set(street_id, own);
    for (const [i, to] of own.slice(1).entries()) {
      const meters = metersBetween(points[own[i]!]!, points[to]!);
      edges[own[i]!]!.push({ to, street_id, meters });
      edges[to]!.push({ to: own[i]!, street_id, meters });
    }
  }
  const graph = { points, edges, numbers };
  graphs.set(streets, graph);
  return graph;
}

/** The two ends of the stretch of street that a place lies on, and how far it is to each. */
function doorsOf(
  graph: Graph,
  streets: Atlas["streets"],
  place: Place,
): { street_id: string; node: number; meters: number }[] {
  const street_id = place.street_id!;
  const foot = footOn(streets[street_id]!.line, place);
  return [foot.at, foot.at + 1].map(i => {
    const node = graph.numbers.get(street_id)![i]!;
    return {
      street_id,
      node,
      meters: foot.meters + metersBetween(foot.point, graph.points[node]!),
    };
  });
}

/** The quickest way between two places of the home city, or undefined where there is none. */
export function wayBetween(
  { streets }: Atlas,
  from: Place,
  to: Place,
  pace: Pace,
): Way | undefined {
  const graph = graphOf(streets);
  const paces = new Map(Object.entries(streets).map(([id, it]) => [id, pace(id, it)]));
  if (paces.get(from.street_id!) === undefined || paces.get(to.street_id!) === undefined)
    return undefined;
  const minutes: number[] = graph.points.map(() => Infinity);
  const before: ({ from: number | undefined; stretch: Stretch } | undefined)[] = graph.points.map(
    () => undefined,
  );
  const open = new Set<number>();
  const reach = (node: number, time: number, came: number | undefined, stretch: Stretch) => {
    if (time >= minutes[node]!) return;
    minutes[node] = time;
    before[node] = { from: came, stretch };
    open.add(node);
  };
  for (const { node, meters, street_id } of doorsOf(graph, streets, from))
    reach(node, meters * paces.get(street_id)!, undefined, { street_id, meters });
  while (open.size > 0) {
    let node = -1;
    for (const it of open) if (node < 0 || minutes[it]! < minutes[node]!) node = it;
    open.delete(node);
    for (const { to: next, street_id, meters } of graph.edges[node]!) {
      const own = paces.get(street_id);
      if (own !== undefined)
        reach(next, minutes[node]! + meters * own, node, { street_id, meters });
    }
  }
  const ends = doorsOf(graph, streets, to).map(it => ({
    ...it,
    minutes: minutes[it.node]! + it.meters * paces.get(it.street_id)!,
  }));
  const end = ends.reduce((best, it) => (it.minutes < best.minutes ? it : best));
  const direct = walkDirectly(streets, from, to, paces.get(from.street_id!)!);
  if (direct && direct.minutes <= end.minutes) return direct;
  if (end.minutes === Infinity) return undefined;
  const stretches: Stretch[] = [{ street_id: end.street_id, meters: end.meters }];
  for (let at: number | undefined = end.node; at !== undefined; at = before[at]!.from)
    stretches.unshift(before[at]!.stretch);
  return { stretches: joinStretches(stretches), minutes: end.minutes };
}

/** Places on one stretch of a street need no corner. */
function walkDirectly(
  streets: Atlas["streets"],
  from: Place,
  to: Place,
  pace: number,
): Way | undefined {
  if (from.street_id !== to.street_id) return undefined;
  const [a, b] = [from, to].map(it => footOn(streets[it.street_id!]!.line, it)) as [
    ReturnType<typeof footOn>,
    ReturnType<typeof footOn>,
  ];
  if (a.at !== b.at) return undefined;
  const meters = Math.max(metersBetween(a.point, b.point), metersBetween(from, to));
  return { stretches: [{ street_id: from.street_id!, meters }], minutes: meters * pace };
}

/** Stretches along the same street, one after the other, are one. */
function joinStretches(stretches: readonly Stretch[]): Stretch[] {
  const all: Stretch[] = [];
  for (const it of stretches) {
    const last = all.at(-1);
    if (last?.street_id === it.street_id)
      all[all.length - 1] = { ...last, meters: last.meters + it.meters };
    else all.push(it);
  }
  return all;
}
