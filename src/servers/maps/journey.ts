/**
 * How long it takes to get from one place to another: by street within the home city, by line, and
 * by road, rail and ferry between cities. Refuses where there is no way at that time. Reads the map
 * only.
 */
import { refuse } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { isWithin, rushAt, timeOf } from "./localTime.ts";
import { metersBetween } from "./geometry.ts";
import { wayBetween, type Pace, type Way } from "./roads.ts";
import {
  cityOf,
  incidentsAt,
  placeOf,
  type Atlas,
  type Ferry,
  type Mode,
  type Place,
  type Street,
} from "./state.ts";
import { ridesBetween } from "./transit.ts";
import type { Journey } from "./trip.ts";
import type { Trip } from "./trip.ts";

/** Kilometres an hour by kind of street. */
const carSpeeds = { main: 42, street: 28, lane: 18, country: 65, path: 0, ferry: 0 } as const;
const speeds = { walking: 4.8, cycling: 15, ferry: 14 } as const;
/** What a way through streets that the map does not have is longer than the crow's flight. */
const detours = { walking: 1.25, cycling: 1.3, driving: 1.4, transit: 1.4 } as const;
const farthest = { walking: 40_000, cycling: 150_000 } as const;

/** How much slower than free a car is on a street at a time: 1 is free. */
export function slownessOf(atlas: Atlas, streetId: string, at: string): number {
  const blocked = incidentsAt(atlas, at).some(
    it => it.street_id === streetId && it.kind !== "closure",
  );
  return 1 + atlas.streets[streetId]!.busy * 0.35 * rushAt(at) + (blocked ? 0.8 : 0);
}

/** Why a street is of no use to somebody at a time, or undefined where it is. */
export function isClosedFor(
  atlas: Atlas,
  streetId: string,
  mode: Mode,
  at: string,
): string | undefined {
  const { name, kind, hours } = atlas.streets[streetId]!;
  if (mode === "driving" && kind === "path") return `${name} is a path without cars`;
  if (mode === "driving" && kind === "ferry") return `${name} takes no cars`;
  if (hours && !isWithin(timeOf(at), hours.from, hours.to))
    return `${name} runs from ${hours.from} to ${hours.to}`;
  const closure = incidentsAt(atlas, at).find(
    it => it.street_id === streetId && it.kind === "closure" && it.modes.includes(mode),
  );
  return closure && `${name} is closed to ${mode} until ${closure.until}`;
}

/** Minutes for a metre by street. `tried` slows streets down that another way has used. */
export function paceOf(
  atlas: Atlas,
  { mode, departs, avoids }: Trip,
  tried: ReadonlyMap<string, number> = new Map(),
): Pace {
  return (id, street: Street) => {
    if (isClosedFor(atlas, id, mode, departs) !== undefined) return undefined;
    if (avoids === "ferries" && street.kind === "ferry") return undefined;
    const shunned = avoids === "busy streets" ? 1 + street.busy : 1;
    const again = tried.get(id) ?? 1;
    const speed =
      street.kind === "ferry"
        ? speeds.ferry
        : mode === "driving"
          ? carSpeeds[street.kind] / slownessOf(atlas, id, departs)
          : mode === "cycling"
            ? speeds.cycling
            : speeds.walking;
    return (60 / (speed * 1000)) * shunned * again;
  };
}

/** The quickest journey; a refusal says what stands in the way. */
export function journeyOf(atlas: Atlas, trip: Trip): Journey {
  const { from, to, mode } = trip;
  if (from === to)
    refuse("invalid_params", `both ends are ${from.name}`, "give two different places");
  if (mode === "walking" || mode === "cycling") {
    const far = metersBetween(from, to) * detours[mode];
    if (far > farthest[mode])
      refuse(
        "limit_exceeded",
        `${to.name} is ${Math.round(far / 1000)} km away: ${mode} goes up to ${farthest[mode] / 1000} km`,
        "choose driving or transit",
      );
  }
  if (from.city_id !== to.city_id) return planBetweenCities(atlas, trip);
  if (from.city_id !== atlas.home_city) return planJourney(trip);
  if (mode === "transit")
    return ridesBetween(atlas, trip, walk => walkBetween(atlas, trip, walk.from, walk.to));
  return describeJourney(atlas, trip, findQuickestWay(atlas, trip));
}

/** The quickest way through the home city's streets. */
export function findQuickestWay(
  atlas: Atlas,
  trip: Trip,
  tried?: ReadonlyMap<string, number>,
): Way {
  const way = wayBetween(atlas, trip.from, trip.to, paceOf(atlas, trip, tried));
  if (way) return way;
  const shut = [trip.to, trip.from]
    .map(it => isClosedFor(atlas, it.street_id!, trip.mode, trip.departs))
    .find(it => it !== undefined);
  const reasons = Object.keys(atlas.streets)
    .flatMap(id => isClosedFor(atlas, id, trip.mode, trip.departs) ?? [])
    .filter(it => !it.includes("path without") && !it.includes("no cars"));
  const why =
    shut ?? (trip.avoids === "ferries" ? "the only way there is by ferry" : reasons.join("; "));
  return refuse(
    "precondition_failed",
    `there is no way for ${trip.mode} from ${trip.from.name} to ${trip.to.name} at ${trip.departs}: ${why}`,
    trip.avoids === "ferries"
      ? "leave out avoid, or choose another mode"
      : "choose another mode or another time",
  );
}

/** A way as it is told: real minutes, whatever it shunned. */
export function describeJourney(atlas: Atlas, trip: Trip, way: Way): Journey {
  const pace = paceOf(atlas, { ...trip, avoids: undefined });
  const parts = way.stretches.map(it => ({
    ...it,
    minutes: it.meters * (pace(it.street_id, atlas.streets[it.street_id]!) ?? 0),
  }));
  const shown = parts.filter(it => it.meters >= 20 || parts.length === 1);
  return {
    meters: Math.round(parts.reduce((sum, it) => sum + it.meters, 0)),
    minutes: atLeastOne(parts.reduce((sum, it) => sum + it.minutes, 0)),
    steps: shown.map(it => ({
      along: atlas.streets[it.street_id]!.name,
      meters: Math.round(it.meters),
    })),
  };
}

const atLeastOne = (minutes: number) => Math.max(1, Math.round(minutes));

/** A walk to or from a stop; undefined where there is no way on foot. */
function walkBetween(atlas: Atlas, { departs }: Trip, from: Place, to: Place): Journey | undefined {
  if (from === to) return { meters: 0, minutes: 0, steps: [] };
  const trip: Trip = { from, to, mode: "walking", departs, avoids: undefined };
  const way = wayBetween(atlas, from, to, paceOf(atlas, trip));
  return way && describeJourney(atlas, trip, way);
}

/** Through a city whose streets the map does not have. */
function planJourney({ from, to, mode, departs }: Trip): Journey {
  const meters = Math.round(metersBetween(from, to) * detours[mode]);
  const speed =
    mode === "walking" || mode === "cycling"
      ? speeds[mode]
      : mode === "driving"
        ? 30 / (1 + 0.6 * rushAt(departs))
        : 20;
  return {
    meters,
    minutes: atLeastOne(meters / (speed / 0.06)) + (mode === "transit" ? 6 : 0),
    steps: [{ along: "city streets", meters }],
  };
}

/** From city to city: by road or rail, and by ferry where a sea lies between. */
function planBetweenCities(atlas: Atlas, trip: Trip): Journey {
  const [start, end] = [cityOf(atlas, trip.from), cityOf(atlas, trip.to)];
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
  const ferries = Object.values(atlas.ferries).flatMap(it => [
    it,
    { ...it, from_city: it.to_city, to_city: it.from_city },
  ]);
  const fitting = ferries.filter(
    it =>
      atlas.cities[it.from_city]!.land === start.land &&
      atlas.cities[it.to_city]!.land === end.land,
  );
  const sailing = fitting.filter(it => !it.suspended_until || it.suspended_until <= trip.departs);
  if (sailing.length === 0) {
    const until = fitting
      .map(it => `${it.name} is suspended until ${it.suspended_until}`)
      .join(", ");
    refuse(
      "precondition_failed",
      `no ferry sails from ${start.land} to ${end.land} at ${trip.departs}: ${until || "there is no line"}`,
      "choose a later departure",
    );
  }
  return sailing
    .map(it => planFerryTrip(atlas, trip, it))
    .reduce((best, it) => (it.minutes < best.minutes ? it : best));
}

function planFerryTrip(atlas: Atlas, trip: Trip, ferry: Ferry): Journey {
  const [port, landing] = [atlas.cities[ferry.from_city]!, atlas.cities[ferry.to_city]!];
  const [before, after] = [
    planOverland(trip, trip.from, port, `to ${port.name}`),
    planOverland(trip, landing, trip.to, `${landing.name} onward`),
  ];
  const arrives = addMinutes(trip.departs, before.minutes);
  const wait =
    (toMinutes(`1970-01-01T${ferry.departs}`) - toMinutes(`1970-01-01T${timeOf(arrives)}`) + 1440) %
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
  const by = mode === "transit" ? "train" : "road";
  return {
    meters,
    minutes: atLeastOne(meters / (speed / 0.06)) + (mode === "transit" ? 15 : 0),
    step: { along: `${by} ${along}`, meters },
  };
}

/** The trip that arguments ask for. A departure that has passed is refused. */
export function tripOf(
  atlas: Atlas,
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
    from: placeOf(atlas, args.from_place),
    to: placeOf(atlas, args.to_place),
    mode: args.mode,
    departs,
    avoids: args.avoid,
  };
}
