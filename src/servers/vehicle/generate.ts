/** Generates the vehicles of the user: their positions, settings and past trips. */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratedStates } from "../shared/generator.ts";
import { createMap, generateTrips, type VehicleMap } from "./generateTrips.ts";
import { vehiclePlans, type VehiclePlan } from "./generateValues.ts";
import { computeKmTo, computeRoadKm, roundToTenth } from "./motion.ts";
import { server } from "./server.ts";
import type { VehicleState, Destination, Vehicle } from "./state.ts";

function createVehicle(
  plan: VehiclePlan,
  map: VehicleMap,
  drivenKm: number,
  trip_id: string | undefined,
): Vehicle {
  const { name, model, plate, goal, trip: _, away = 0, first, tank, battery, ...rest } = plan.as;
  const place_id = map.by.get(plan.at)!;
  const vehicle: Vehicle = {
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
    odometer: roundToTenth(first + drivenKm + away),
    tires: { "front left": 2.4, "front right": 2.4, "rear left": 2.4, "rear right": 2.4 },
    pressure: 2.4,
    ...rest,
  };
  if (goal !== undefined)
    vehicle.route = {
      place_id: map.by.get(goal)!,
      km: roundToTenth(
        Math.max(0.4, computeRoadKm(map.places[place_id]!, map.places[map.by.get(goal)!]!) - away),
      ),
      delay: 2,
    };
  return vehicle;
}

export const generator = defineGenerator<VehicleState>({
  server,
  generate(context) {
    const { cast, size, nextId } = context;
    const map = createMap(context);
    const vehicles: VehicleState["vehicles"] = {};
    const trips: VehicleState["trips"] = {};
    for (const plan of vehiclePlans.filter(it => size === "full" || it.few)) {
      const vehicle_id = nextId("veh");
      const ownTrips = generateTrips(plan, vehicle_id, map, context);
      for (const it of ownTrips) trips[nextId("trip")] = it;
      const { trip: start, away = 0 } = plan.as;
      const currentTripId = start === undefined ? undefined : nextId("trip");
      if (currentTripId !== undefined)
        trips[currentTripId] = {
          vehicle_id,
          driver: ownTrips.at(-1)!.driver,
          purpose: "private",
          from: map.by.get(plan.at)!,
          start: start!,
          km: away,
        };
      vehicles[vehicle_id] = createVehicle(
        plan,
        map,
        roundToTenth(ownTrips.reduce((sum, it) => sum + it.km, 0)),
        currentTripId,
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
  findInconsistencies(state, states, cast) {
    return [
      ...(state.user === cast.user.name ? [] : [`the user ${state.user} is not ${cast.user.name}`]),
      ...findDanglingReferences(state),
      ...findWrongSums(state),
      ...findMisplacedPlaces(state, states, cast),
    ];
  },
});

function findDanglingReferences({ vehicles, places, trips }: VehicleState): string[] {
  const missing: string[] = [];
  const requireKey = (table: object, key: string | undefined, owner: string) =>
    void (
      key === undefined ||
      Object.hasOwn(table, key) ||
      missing.push(`${owner} names ${key}, which does not exist`)
    );
  for (const it of Object.values(vehicles))
    for (const key of [it.place_id, it.route?.place_id]) requireKey(places, key, it.name);
  for (const it of Object.values(vehicles)) requireKey(trips, it.trip_id, it.name);
  for (const [key, it] of Object.entries(trips)) {
    requireKey(vehicles, it.vehicle_id, key);
    for (const place of [it.from, it.to]) requireKey(places, place, key);
  }
  return missing;
}

/**
 * Finds odometers that differ from the sum of the trips, levels above the capacity, and moving
 * vehicles without a start time.
 */
function findWrongSums(state: VehicleState): string[] {
  return Object.entries(state.vehicles).flatMap(([key, it]) => {
    const km = Object.values(state.trips).reduce(
      (sum, trip) => (trip.vehicle_id === key ? sum + trip.km : sum),
      0,
    );
    return [
      ...(Math.abs(it.odometer_first + km - it.odometer) < 0.05
        ? []
        : [
            `the odometer of ${it.name} shows ${it.odometer}, and its trips come to ${roundToTenth(it.odometer_first + km)}`,
          ]),
      ...[it.tank, it.battery].flatMap(store =>
        store && store.level > store.capacity ? [`${it.name} holds more than it can`] : [],
      ),
      ...((it.engine === "on") === (it.trip_id !== undefined) &&
      (it.trip_id === undefined || state.trips[it.trip_id]?.minutes === undefined)
        ? []
        : [`${it.name} has no trip in progress`]),
      ...(it.speed > 0 === (it.since !== undefined) &&
      (it.speed === 0 || (it.engine === "on" && !it.brake))
        ? []
        : [`the speed of ${it.name} contradicts its engine, brake or start time`]),
      ...(it.route && computeKmTo(state, it, it.route.place_id) > 2000
        ? [`the route of ${it.name} is longer than 2000 km`]
        : []),
    ];
  });
}

/** Finds places that differ from the shared cast or are not on the map. */
function findMisplacedPlaces(
  { places }: VehicleState,
  states: GeneratedStates,
  cast: SharedCast,
): string[] {
  const expectedPlaces = new Map<string, Omit<Destination, "name" | "category">>();
  for (const it of cast.places) expectedPlaces.set(it.name, it);
  for (const it of cast.cities)
    expectedPlaces.set(it.name, { ...it, address: `${it.name}, ${it.country}` });
  const mapState = states.get("maps") as
    | Readonly<Record<"places" | "cities", Readonly<Record<string, { readonly name: string }>>>>
    | undefined;
  const namesOnMap =
    mapState &&
    new Set(
      [...Object.values(mapState.places), ...Object.values(mapState.cities)].map(it => it.name),
    );
  return Object.values(places).flatMap(it => {
    const expected = expectedPlaces.get(it.name);
    const isAtItsPlace =
      expected?.address === it.address &&
      expected.latitude === it.latitude &&
      expected.longitude === it.longitude;
    return [
      ...(isAtItsPlace ? [] : [`${it.name} is not at ${it.address}`]),
      ...(!namesOnMap || namesOnMap.size < 60 || namesOnMap.has(it.name)
        ? []
        : [`${it.name} is not on the map`]),
    ];
  });
}
