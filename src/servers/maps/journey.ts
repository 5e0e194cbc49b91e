/**
 * Plans journeys between places: by street or transit line within the home city, and by road,
 * rail and ferry between cities. Refuses the call if there is no route at that time.
 */
import {
  findNearestPoint,
  metersBetween,
  type Point,
  type MapsState,
  type Place,
  type Street,
  isWithin,
  getTimeOfDay,
  places,
  type Line,
  getTrafficFactor,
  getCity,
  listIncidentsAt,
  type Ferry,
  type Mode,
} from "./state.ts";
import { refuse } from "../../environment/server.ts";

interface Step {
  readonly along: string;
  readonly meters: number;
}

export interface Journey {
  readonly meters: number;
  readonly minutes: number;
  readonly steps: readonly Step[];
}

export interface Trip {
  readonly from: Place;
  readonly to: Place;
  readonly mode: Mode;
  /** `YYYY-MM-DDTHH:MM` */
  readonly departs: string;
  readonly avoids: "ferries" | "busy streets" | undefined;
}
import { addMinutes, toMinutes } from "../../environment/time.ts";

/** The part of a route along one street. */
interface Stretch {
  readonly street_id: string;
  readonly meters: number;
}

interface Route {
  readonly stretches: readonly Stretch[];
  readonly minutes: number;
}

/** Minutes per metre of a street, or undefined if the street cannot be used. */
type Pace = (streetId: string, street: Street) => number | undefined;

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
function findQuickestRoute(
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

type Walk = (walk: { readonly from: Place; readonly to: Place }) => Journey | undefined;

/** In metres per minute. */
const lineSpeeds = { tram: 400, bus: 480 } as const;
const stopMinutes = 0.5;

interface Ride {
  readonly step: Step;
  readonly minutes: number;
}

/**
 * The quickest journey by line; short distances are walked. Refuses the call if no line runs, or
 * none leads there.
 */
function findTransitJourney(state: MapsState, { from, to, departs }: Trip, walk: Walk): Journey {
  const time = getTimeOfDay(departs);
  const runningLines = Object.values(state.lines).filter(it => isWithin(time, it.first, it.last));
  const directWalk = walk({ from, to });
  if (directWalk && directWalk.minutes <= 8)
    return { ...directWalk, steps: [{ along: "on foot", meters: directWalk.meters }] };
  if (runningLines.length === 0) {
    const first = Object.values(state.lines)
      .map(it => it.first)
      .sort()[0]!;
    refuse(
      "precondition_failed",
      `no line runs at ${time}: the first one leaves at ${first}`,
      "choose a later departure, or another mode",
    );
  }
  const [starts, ends] = [
    findNearestStops(state, runningLines, from, walk, false),
    findNearestStops(state, runningLines, to, walk, true),
  ];
  const journeys = starts.flatMap(on =>
    ends.flatMap((off): Journey[] => {
      const rides = findRides(state, on.line, off.line, on.stop, off.stop);
      if (!rides) return [];
      const steps = [
        ...createWalkSteps(on.walk, `on foot to ${places.find(state, on.stop).name}`),
        ...rides.map(it => it.step),
        ...createWalkSteps(off.walk, `on foot from ${places.find(state, off.stop).name}`),
      ];
      const minutes =
        on.walk.minutes + off.walk.minutes + rides.reduce((sum, it) => sum + it.minutes, 0);
      return [
        {
          meters: steps.reduce((sum, it) => sum + it.meters, 0),
          minutes: Math.round(minutes),
          steps,
        },
      ];
    }),
  );
  if (journeys.length === 0)
    return refuse(
      "precondition_failed",
      `no line that runs at ${time} leads from ${from.name} to ${to.name}`,
      "choose driving or cycling",
    );
  return journeys.reduce((best, it) => (it.minutes < best.minutes ? it : best));
}

const createWalkSteps = (walk: Journey, along: string): Step[] =>
  walk.meters > 0 ? [{ along, meters: walk.meters }] : [];

/** The longest walk to a stop. */
const maxWalkMeters = 2500;

/** The nearest stop of each line, with the walk there. */
function findNearestStops(
  state: MapsState,
  lines: readonly Line[],
  place: Place,
  walk: Walk,
  isArrival: boolean,
): { line: Line; stop: string; walk: Journey }[] {
  const getDistance = (stop: string) => metersBetween(place, places.find(state, stop));
  return lines.flatMap(line => {
    const stop = line.stops.reduce((best, it) => (getDistance(it) < getDistance(best) ? it : best));
    if (getDistance(stop) > maxWalkMeters) return [];
    const stopWalk = isArrival
      ? walk({ from: places.find(state, stop), to: place })
      : walk({ from: place, to: places.find(state, stop) });
    return stopWalk ? [{ line, stop, walk: stopWalk }] : [];
  });
}

/** One ride, or two with a change where the lines meet. */
function findRides(
  state: MapsState,
  first: Line,
  second: Line,
  on: string,
  off: string,
): Ride[] | undefined {
  if (first === second) return on === off ? undefined : [createRide(state, first, on, off)];
  const changeStop = first.stops.find(it => it !== on && it !== off && second.stops.includes(it));
  return changeStop === undefined
    ? undefined
    : [createRide(state, first, on, changeStop), createRide(state, second, changeStop, off)];
}

function createRide(
  state: MapsState,
  { name, kind, stops, every }: Line,
  on: string,
  off: string,
): Ride {
  const ends = [stops.indexOf(on), stops.indexOf(off)].sort((a, b) => a - b) as [number, number];
  const stopPlaces = stops.slice(ends[0], ends[1] + 1).map(it => places.find(state, it));
  const meters = Math.round(
    stopPlaces.slice(1).reduce((sum, it, i) => sum + metersBetween(stopPlaces[i]!, it) * 1.2, 0),
  );
  return {
    step: { along: `${name} to ${places.find(state, off).name}`, meters },
    minutes: every / 2 + meters / lineSpeeds[kind] + stopMinutes * (stopPlaces.length - 1),
  };
}

/** In kilometres per hour, by kind of street. */
const carSpeeds = { main: 42, street: 28, lane: 18, country: 65, path: 0, ferry: 0 } as const;
const speeds = { walking: 4.8, cycling: 15, ferry: 14 } as const;
/** How much longer than the straight line a route is where the map has no streets. */
const detourFactors = { walking: 1.25, cycling: 1.3, driving: 1.4, transit: 1.4 } as const;
const maxMeters = { walking: 40_000, cycling: 150_000 } as const;

/** The factor by which traffic slows a car on a street at a time; 1 is an empty street. */
export function getSlowness(state: MapsState, streetId: string, at: string): number {
  const isSlowed = listIncidentsAt(state, at).some(
    it => it.street_id === streetId && it.kind !== "closure",
  );
  return 1 + state.streets[streetId]!.busy * 0.35 * getTrafficFactor(at) + (isSlowed ? 0.8 : 0);
}

/** Why a street cannot be used at a time, or undefined if it can. */
function getClosureReason(
  state: MapsState,
  streetId: string,
  mode: Mode,
  at: string,
): string | undefined {
  const { name, kind, hours } = state.streets[streetId]!;
  if (mode === "driving" && kind === "path") return `${name} is a path without cars`;
  if (mode === "driving" && kind === "ferry") return `${name} takes no cars`;
  if (hours && !isWithin(getTimeOfDay(at), hours.from, hours.to))
    return `${name} runs from ${hours.from} to ${hours.to}`;
  const closure = listIncidentsAt(state, at).find(
    it => it.street_id === streetId && it.kind === "closure" && it.modes.includes(mode),
  );
  return closure && `${name} is closed to ${mode} until ${closure.until}`;
}

/**
 * Minutes per metre by street. `usedStreets` has factors that slow down streets of other routes.
 */
function createPace(
  state: MapsState,
  { mode, departs, avoids }: Trip,
  usedStreets: ReadonlyMap<string, number> = new Map(),
): Pace {
  return (id, street: Street) => {
    if (getClosureReason(state, id, mode, departs) !== undefined) return undefined;
    if (avoids === "ferries" && street.kind === "ferry") return undefined;
    const avoidanceFactor = avoids === "busy streets" ? 1 + street.busy : 1;
    const reuseFactor = usedStreets.get(id) ?? 1;
    const speed =
      street.kind === "ferry"
        ? speeds.ferry
        : mode === "driving"
          ? carSpeeds[street.kind] / getSlowness(state, id, departs)
          : mode === "cycling"
            ? speeds.cycling
            : speeds.walking;
    return (60 / (speed * 1000)) * avoidanceFactor * reuseFactor;
  };
}

/** The quickest journey. If there is none, the refusal gives the reason. */
export function planJourney(state: MapsState, trip: Trip): Journey {
  const { from, to, mode } = trip;
  if (from === to)
    refuse("invalid_params", `both ends are ${from.name}`, "give two different places");
  if (mode === "walking" || mode === "cycling") {
    const estimate = metersBetween(from, to) * detourFactors[mode];
    if (estimate > maxMeters[mode])
      refuse(
        "limit_exceeded",
        `${to.name} is ${Math.round(estimate / 1000)} km away: ${mode} goes up to ${maxMeters[mode] / 1000} km`,
        "choose driving or transit",
      );
  }
  if (from.city_id !== to.city_id) return planBetweenCities(state, trip);
  if (from.city_id !== state.home_city) return planCityJourney(trip);
  if (mode === "transit")
    return findTransitJourney(state, trip, walk => findWalk(state, trip, walk.from, walk.to));
  return createJourney(state, trip, findRoute(state, trip));
}

/** The quickest route through the home city's streets. */
export function findRoute(
  state: MapsState,
  trip: Trip,
  usedStreets?: ReadonlyMap<string, number>,
): Route {
  const route = findQuickestRoute(state, trip.from, trip.to, createPace(state, trip, usedStreets));
  if (route) return route;
  const endClosure = [trip.to, trip.from]
    .map(it => getClosureReason(state, it.street_id!, trip.mode, trip.departs))
    .find(it => it !== undefined);
  const reasons = Object.keys(state.streets)
    .flatMap(id => getClosureReason(state, id, trip.mode, trip.departs) ?? [])
    .filter(it => !it.includes("path without") && !it.includes("no cars"));
  const reason =
    endClosure ??
    (trip.avoids === "ferries" ? "the only way there is by ferry" : reasons.join("; "));
  return refuse(
    "precondition_failed",
    `there is no way for ${trip.mode} from ${trip.from.name} to ${trip.to.name} at ${trip.departs}: ${reason}`,
    trip.avoids === "ferries"
      ? "leave out avoid, or choose another mode"
      : "choose another mode or another time",
  );
}

/** The journey along a route, in real minutes, without the factors for avoided streets. */
export function createJourney(state: MapsState, trip: Trip, route: Route): Journey {
  const pace = createPace(state, { ...trip, avoids: undefined });
  const timedStretches = route.stretches.map(it => ({
    ...it,
    minutes: it.meters * (pace(it.street_id, state.streets[it.street_id]!) ?? 0),
  }));
  const visibleStretches = timedStretches.filter(
    it => it.meters >= 20 || timedStretches.length === 1,
  );
  return {
    meters: Math.round(timedStretches.reduce((sum, it) => sum + it.meters, 0)),
    minutes: roundMinutes(timedStretches.reduce((sum, it) => sum + it.minutes, 0)),
    steps: visibleStretches.map(it => ({
      along: state.streets[it.street_id]!.name,
      meters: Math.round(it.meters),
    })),
  };
}

const roundMinutes = (minutes: number) => Math.max(1, Math.round(minutes));

/** The walk to or from a stop, or undefined if there is none. */
function findWalk(
  state: MapsState,
  { departs }: Trip,
  from: Place,
  to: Place,
): Journey | undefined {
  if (from === to) return { meters: 0, minutes: 0, steps: [] };
  const trip: Trip = { from, to, mode: "walking", departs, avoids: undefined };
  const route = findQuickestRoute(state, from, to, createPace(state, trip));
  return route && createJourney(state, trip, route);
}

/** A journey within a city whose streets the map does not have. */
function planCityJourney({ from, to, mode, departs }: Trip): Journey {
  const meters = Math.round(metersBetween(from, to) * detourFactors[mode]);
  const speed =
    mode === "walking" || mode === "cycling"
      ? speeds[mode]
      : mode === "driving"
        ? 30 / (1 + 0.6 * getTrafficFactor(departs))
        : 20;
  return {
    meters,
    minutes: roundMinutes(meters / (speed / 0.06)) + (mode === "transit" ? 6 : 0),
    steps: [{ along: "city streets", meters }],
  };
}

/** A journey between cities: by road or rail, and by ferry across the sea. */
function planBetweenCities(state: MapsState, trip: Trip): Journey {
  const [start, end] = [getCity(state, trip.from), getCity(state, trip.to)];
  if (start.land === end.land) {
    const leg = planOverland(trip, trip.from, trip.to, `${start.name} to ${end.name}`);
    return { ...leg, steps: [leg.step] };
  }
  if (trip.avoids === "ferries")
    refuse(
      "precondition_failed",
      `every way from ${start.name} to ${end.name} takes a ferry`,
      "leave out avoid",
    );
  const ferries = Object.values(state.ferries).flatMap(it => [
    it,
    { ...it, from_city: it.to_city, to_city: it.from_city },
  ]);
  const candidates = ferries.filter(
    it =>
      state.cities[it.from_city]!.land === start.land &&
      state.cities[it.to_city]!.land === end.land,
  );
  const running = candidates.filter(
    it => !it.suspended_until || it.suspended_until <= trip.departs,
  );
  if (running.length === 0) {
    const until = candidates
      .map(it => `${it.name} is suspended until ${it.suspended_until}`)
      .join(", ");
    refuse(
      "precondition_failed",
      `no ferry sails from ${start.land} to ${end.land} at ${trip.departs}: ${until || "there is no line"}`,
      "choose a later departure",
    );
  }
  return running
    .map(it => planFerryTrip(state, trip, it))
    .reduce((best, it) => (it.minutes < best.minutes ? it : best));
}

function planFerryTrip(state: MapsState, trip: Trip, ferry: Ferry): Journey {
  const [port, landing] = [state.cities[ferry.from_city]!, state.cities[ferry.to_city]!];
  const [before, after] = [
    planOverland(trip, trip.from, port, `to ${port.name}`),
    planOverland(trip, landing, trip.to, `${landing.name} onward`),
  ];
  const arrives = addMinutes(trip.departs, before.minutes);
  const wait =
    (toMinutes(`1970-01-01T${ferry.departs}`) -
      toMinutes(`1970-01-01T${getTimeOfDay(arrives)}`) +
      1440) %
    1440;
  const crossing = Math.round(metersBetween(port, landing));
  return {
    meters: before.meters + crossing + after.meters,
    minutes: before.minutes + wait + ferry.minutes + after.minutes,
    steps: [
      before.step,
      { along: `${ferry.name}, sails ${ferry.departs}`, meters: crossing },
      after.step,
    ],
  };
}

function planOverland(
  { mode }: Trip,
  from: { latitude: number; longitude: number },
  to: { latitude: number; longitude: number },
  along: string,
) {
  const meters = Math.round(metersBetween(from, to) * 1.22);
  const speed =
    mode === "walking" || mode === "cycling"
      ? speeds[mode]
      : meters < 30_000
        ? 35
        : mode === "driving"
          ? 96
          : 118;
  const vehicle = mode === "transit" ? "train" : "road";
  return {
    meters,
    minutes: roundMinutes(meters / (speed / 0.06)) + (mode === "transit" ? 15 : 0),
    step: { along: `${vehicle} ${along}`, meters },
  };
}

/** The trip that the arguments describe. Refuses a departure in the past. */
export function createTrip(
  state: MapsState,
  args: {
    from_place: string;
    to_place: string;
    mode: Mode;
    depart_at?: string | undefined;
    avoid?: Trip["avoids"];
  },
  now: string,
): Trip {
  const { depart_at: departs = now } = args;
  if (departs < now)
    refuse(
      "precondition_failed",
      `${departs} has passed: it is ${now}`,
      "leave depart_at out to leave now",
    );
  return {
    from: places.find(state, args.from_place),
    to: places.find(state, args.to_place),
    mode: args.mode,
    departs,
    avoids: args.avoid,
  };
}
