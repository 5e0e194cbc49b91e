/**
 * Plans journeys between places: by street or transit line within the home city, and by road, rail
 * and ferry between cities. Refuses the call if there is no route at that time.
 */
import { refuse } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { isWithin, getTrafficFactor, getTimeOfDay } from "./localTime.ts";
import { metersBetween } from "./geometry.ts";
import { findQuickestRoute, type Pace, type Route } from "./roads.ts";
import {
  getCity,
  listIncidentsAt,
  places,
  type MapsState,
  type Ferry,
  type Mode,
  type Place,
  type Street,
} from "./state.ts";
import { findTransitJourney } from "./transit.ts";
import type { Journey, Trip } from "./trip.ts";

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
