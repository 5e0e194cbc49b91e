/**
 * The vehicles that the canon's user may drive: where they stand, how they are, and the trips that
 * brought them there.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratedStates } from "../shared/generator.ts";
import { mapOf, tripsOf, type Map } from "./generateTrips.ts";
import { vehiclePlans, type VehiclePlan } from "./generateValues.ts";
import { kmTo, roadKm, tenth } from "./motion.ts";
import { server } from "./server.ts";
import type { Garage, Place, Vehicle } from "./state.ts";

function vehicleOf(
  plan: VehiclePlan,
  map: Map,
  driven: number,
  trip_id: string | undefined,
): Vehicle {
  const { name, model, plate, goal, trip: _, away = 0, first, tank, battery, ...rest } = plan.as;
  const place_id = map.by.get(plan.at)!;
  const made: Vehicle = {
    name,
    model,
    plate,
    access: "drive",
    ...(tank ? { tank } : {}),
    ...(battery ? { battery } : {}),
    modes: ["comfort", "eco"],
    mode: "comfort",
    engine: "off",
    gear: "park",
    brake: false,
    speed: 0,
    open: [],
    locked: true,
    climate: { temperature: 20, fan: 0 },
    lamps: "off",
    wipers: "off",
    washer: 70,
    place_id,
    away,
    ...(trip_id === undefined ? {} : { trip_id }),
    odometer_first: first,
    odometer: tenth(first + driven + away),
    tires: { "front left": 2.4, "front right": 2.4, "rear left": 2.4, "rear right": 2.4 },
    pressure: 2.4,
    ...rest,
  };
  if (goal !== undefined)
    made.route = {
      place_id: map.by.get(goal)!,
      km: tenth(
        Math.max(0.4, roadKm(map.places[place_id]!, map.places[map.by.get(goal)!]!) - away),
      ),
      delay: 2,
    };
  return made;
}

export const generator = defineGenerator<Garage>({
  server,
  generate(context) {
    const { cast, size, nextId } = context;
    const map = mapOf(context);
    const vehicles: Garage["vehicles"] = {};
    const trips: Garage["trips"] = {};
    for (const plan of vehiclePlans.filter(it => size === "full" || it.few)) {
      const vehicle_id = nextId("veh");
      const own = tripsOf(plan, vehicle_id, map, context);
      for (const it of own) trips[nextId("trip")] = it;
      const { trip: start, away = 0 } = plan.as;
      const under = start === undefined ? undefined : nextId("trip");
      if (under !== undefined)
        trips[under] = {
          vehicle_id,
          driver: own.at(-1)!.driver,
          purpose: "private",
          from: map.by.get(plan.at)!,
          start: start!,
          km: away,
        };
      vehicles[vehicle_id] = vehicleOf(
        plan,
        map,
        tenth(own.reduce((sum, it) => sum + it.km, 0)),
        under,
      );
    }
    return {
      user: cast.user.name,
      weather: { outside: 9, rain: "light" },
      vehicles,
      places: map.places,
      trips,
    };
  },
  findInconsistencies(garage, states, cast) {
    return [
      ...(garage.user === cast.user.name
        ? []
        : [`the user ${garage.user} is not ${cast.user.name}`]),
      ...findDanglingReferences(garage),
      ...findWrongSums(garage),
      ...findMisplacedPlaces(garage, states, cast),
    ];
  },
});

function findDanglingReferences({ vehicles, places, trips }: Garage): string[] {
  const lost: string[] = [];
  const expect = (table: object, key: string | undefined, whose: string) =>
    void (
      key === undefined ||
      Object.hasOwn(table, key) ||
      lost.push(`${whose} names ${key}, which is not there`)
    );
  for (const it of Object.values(vehicles))
    for (const key of [it.place_id, it.route?.place_id]) expect(places, key, it.name);
  for (const it of Object.values(vehicles)) expect(trips, it.trip_id, it.name);
  for (const [key, it] of Object.entries(trips)) {
    expect(vehicles, it.vehicle_id, key);
    for (const place of [it.from, it.to]) expect(places, place, key);
  }
  return lost;
}

/**
 * Odometers are what they were plus all trips, stores hold no more than they can, and what moves
 * knows since when.
 */
function findWrongSums(garage: Garage): string[] {
  return Object.entries(garage.vehicles).flatMap(([key, it]) => {
    const km = Object.values(garage.trips).reduce(
      (sum, trip) => (trip.vehicle_id === key ? sum + trip.km : sum),
      0,
    );
    return [
      ...(Math.abs(it.odometer_first + km - it.odometer) < 0.05
        ? []
        : [
            `the odometer of ${it.name} shows ${it.odometer}, and its trips come to ${tenth(it.odometer_first + km)}`,
          ]),
      ...[it.tank, it.battery].flatMap(store =>
        store && store.level > store.capacity ? [`${it.name} holds more than it can`] : [],
      ),
      ...((it.engine === "on") === (it.trip_id !== undefined) &&
      (it.trip_id === undefined || garage.trips[it.trip_id]?.minutes === undefined)
        ? []
        : [`${it.name} is on no trip that goes on`]),
      ...(it.speed > 0 === (it.since !== undefined) &&
      (it.speed === 0 || (it.engine === "on" && !it.brake))
        ? []
        : [`${it.name} moves and does not`]),
      ...(it.route && kmTo(garage, it, it.route.place_id) > 2000
        ? [`${it.name} is bound for the end of the world`]
        : []),
    ];
  });
}

/** Places lie where the canon has them, and the map too. */
function findMisplacedPlaces(
  { places }: Garage,
  states: GeneratedStates,
  cast: SharedCast,
): string[] {
  const all = new Map<string, Omit<Place, "name" | "category">>();
  for (const it of cast.places) all.set(it.name, it);
  for (const it of cast.cities) all.set(it.name, { ...it, address: `${it.name}, ${it.country}` });
  const mapped = states.get("maps") as
    | Readonly<Record<"places" | "cities", Readonly<Record<string, { readonly name: string }>>>>
    | undefined;
  const onMap =
    mapped &&
    new Set([...Object.values(mapped.places), ...Object.values(mapped.cities)].map(it => it.name));
  return Object.values(places).flatMap(it => {
    const known = all.get(it.name);
    const lies =
      known?.address === it.address &&
      known.latitude === it.latitude &&
      known.longitude === it.longitude;
    return [
      ...(lies ? [] : [`${it.name} is not at ${it.address}`]),
      ...(!onMap || onMap.size < 60 || onMap.has(it.name) ? [] : [`${it.name} is not on the map`]),
    ];
  });
}
