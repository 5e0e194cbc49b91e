/** The streets of the home city as a graph, and the quickest route through it at a given pace. */
import { findNearestPoint, metersBetween, type Point } from "./geometry.ts";
import type { MapsState, Place, Street } from "./state.ts";

/** The part of a route along one street. */
interface Stretch {
  readonly street_id: string;
  readonly meters: number;
}

export interface Route {
  readonly stretches: readonly Stretch[];
  readonly minutes: number;
}

/** Minutes per metre of a street, or undefined if the street cannot be used. */
export type Pace = (streetId: string, street: Street) => number | undefined;

interface Edge {
  readonly to: number;
  readonly street_id: string;
  readonly meters: number;
}

interface Graph {
  readonly points: readonly Point[];
  readonly edges: readonly (readonly Edge[])[];
  /** The indexes of a street's points in `points`, by street. */
  readonly numbers: ReadonlyMap<string, readonly number[]>;
}

const graphs = new WeakMap<object, Graph>();

function getGraph(streets: MapsState["streets"]): Graph {
  const cached = graphs.get(streets);
  if (cached) return cached;
  const numberOf = new Map<string, number>();
  const points: Point[] = [];
  const edges: Edge[][] = [];
  const numbers = new Map<string, number[]>();
  for (const [street_id, { line }] of Object.entries(streets)) {
    const pointNumbers = line.map(([latitude, longitude]) => {
      const key = `${latitude} ${longitude}`;
      const number = numberOf.get(key) ?? points.length;
      if (number === points.length) {
        numberOf.set(key, number);
        points.push({ latitude, longitude });
        edges.push([]);
      }
      return number;
    });
    numbers.set(street_id, pointNumbers);
    for (const [i, to] of pointNumbers.slice(1).entries()) {
      const meters = metersBetween(points[pointNumbers[i]!]!, points[to]!);
      edges[pointNumbers[i]!]!.push({ to, street_id, meters });
      edges[to]!.push({ to: pointNumbers[i]!, street_id, meters });
    }
  }
  const graph = { points, edges, numbers };
  graphs.set(streets, graph);
  return graph;
}

/** The two ends of the street segment that a place lies on, with the distance to each. */
function listAccessPoints(
  graph: Graph,
  streets: MapsState["streets"],
  place: Place,
): { street_id: string; node: number; meters: number }[] {
  const street_id = place.street_id!;
  const nearest = findNearestPoint(streets[street_id]!.line, place);
  return [nearest.at, nearest.at + 1].map(i => {
    const node = graph.numbers.get(street_id)![i]!;
    return {
      street_id,
      node,
      meters: nearest.meters + metersBetween(nearest.point, graph.points[node]!),
    };
  });
}

/**
 * The quickest route between two places of the home city, by Dijkstra's algorithm, or undefined if
 * there is none.
 */
export function findQuickestRoute(
  { streets }: MapsState,
  from: Place,
  to: Place,
  pace: Pace,
): Route | undefined {
  const graph = getGraph(streets);
  const paces = new Map(Object.entries(streets).map(([id, it]) => [id, pace(id, it)]));
  if (paces.get(from.street_id!) === undefined || paces.get(to.street_id!) === undefined)
    return undefined;
  const minutes: number[] = graph.points.map(() => Infinity);
  const predecessors: ({ from: number | undefined; stretch: Stretch } | undefined)[] =
    graph.points.map(() => undefined);
  const pending = new Set<number>();
  const reach = (node: number, time: number, previous: number | undefined, stretch: Stretch) => {
    if (time >= minutes[node]!) return;
    minutes[node] = time;
    predecessors[node] = { from: previous, stretch };
    pending.add(node);
  };
  for (const { node, meters, street_id } of listAccessPoints(graph, streets, from))
    reach(node, meters * paces.get(street_id)!, undefined, { street_id, meters });
  while (pending.size > 0) {
    let node = -1;
    for (const it of pending) if (node < 0 || minutes[it]! < minutes[node]!) node = it;
    pending.delete(node);
    for (const { to: next, street_id, meters } of graph.edges[node]!) {
      const streetPace = paces.get(street_id);
      if (streetPace !== undefined)
        reach(next, minutes[node]! + meters * streetPace, node, { street_id, meters });
    }
  }
  const arrivals = listAccessPoints(graph, streets, to).map(it => ({
    ...it,
    minutes: minutes[it.node]! + it.meters * paces.get(it.street_id)!,
  }));
  const end = arrivals.reduce((best, it) => (it.minutes < best.minutes ? it : best));
  const direct = findDirectRoute(streets, from, to, paces.get(from.street_id!)!);
  if (direct && direct.minutes <= end.minutes) return direct;
  if (end.minutes === Infinity) return undefined;
  const stretches: Stretch[] = [{ street_id: end.street_id, meters: end.meters }];
  for (let at: number | undefined = end.node; at !== undefined; at = predecessors[at]!.from)
    stretches.unshift(predecessors[at]!.stretch);
  return { stretches: joinStretches(stretches), minutes: end.minutes };
}

/** The route between two places on the same segment of a street, which passes no corner. */
function findDirectRoute(
  streets: MapsState["streets"],
  from: Place,
  to: Place,
  pace: number,
): Route | undefined {
  if (from.street_id !== to.street_id) return undefined;
  const [a, b] = [from, to].map(it => findNearestPoint(streets[it.street_id!]!.line, it)) as [
    ReturnType<typeof findNearestPoint>,
    ReturnType<typeof findNearestPoint>,
  ];
  if (a.at !== b.at) return undefined;
  const meters = Math.max(metersBetween(a.point, b.point), metersBetween(from, to));
  return { stretches: [{ street_id: from.street_id!, meters }], minutes: meters * pace };
}

/** Joins consecutive stretches along the same street. */
function joinStretches(stretches: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = [];
  for (const it of stretches) {
    const last = joined.at(-1);
    if (last?.street_id === it.street_id)
      joined[joined.length - 1] = { ...last, meters: last.meters + it.meters };
    else joined.push(it);
  }
  return joined;
}
