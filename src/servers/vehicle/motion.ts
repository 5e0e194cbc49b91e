/** Distances by road, ranges, and where a vehicle is and what it holds after a drive. */
import { minutesBetween } from "../../environment/time.ts";
import type { VehicleState, Destination, Vehicle } from "./state.ts";

export const roundToTenth = (value: number): number => Math.round(value * 10) / 10;

/** The level of a tank or battery in percent of what it holds. */
export const computePercent = (store: { level: number; capacity: number }): number =>
  Math.round((100 * store.level) / store.capacity);

/** `1.9 km` */
export const formatKm = (km: number): string => `${roundToTenth(km)} km`;

const earthRadiusKm = 6371;
/** The length of a road relative to the straight line. */
const detourFactor = 1.3;

/** Kilometres by road between two places. */
function computeRoadKm(
  a: Pick<Destination, "latitude" | "longitude">,
  b: Pick<Destination, "latitude" | "longitude">,
): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const haversine = (angle: number) => Math.sin(radians(angle) / 2) ** 2;
  const h =
    haversine(b.latitude - a.latitude) +
    Math.cos(radians(a.latitude)) *
      Math.cos(radians(b.latitude)) *
      haversine(b.longitude - a.longitude);
  return roundToTenth(detourFactor * 2 * earthRadiusKm * Math.asin(Math.sqrt(h)));
}

/** The minutes of a drive: the first 10 km at 30 km/h, the rest at 85 km/h. */
export const estimateMinutes = (km: number): number =>
  Math.max(1, Math.round((Math.min(km, 10) / 30 + Math.max(0, km - 10) / 85) * 60));

/** The effect of a drive mode on consumption. */
const consumptionFactors = { comfort: 1, eco: 0.85, sport: 1.25, electric: 1 };

type EnergyState = Pick<Vehicle, "tank" | "battery" | "mode">;

/** The range on the current fuel and charge, in whole kilometres. */
export function computeRange({ tank, battery, mode }: EnergyState): number {
  const computeStoreRange = (store: Vehicle["battery"]) =>
    store ? (100 * store.level) / (store.per_100 * consumptionFactors[mode]) : 0;
  return Math.floor(computeStoreRange(tank) + computeStoreRange(battery));
}

/** The levels of tank and battery after a drive. Electric mode uses the battery first. */
function computeLevelsAfter(
  { tank, battery, mode }: EnergyState,
  km: number,
): { tank: number; battery: number } {
  const levels = { tank: tank?.level ?? 0, battery: battery?.level ?? 0 };
  const order =
    mode === "electric" || !tank ? (["battery", "tank"] as const) : (["tank", "battery"] as const);
  let remainingKm = km;
  for (const key of order) {
    const store = key === "tank" ? tank : battery;
    if (!store) continue;
    const perKm = (store.per_100 * consumptionFactors[mode]) / 100;
    const coveredKm = Math.min(remainingKm, levels[key] / perKm);
    levels[key] = Math.max(0, Math.round((levels[key] - coveredKm * perKm) * 100) / 100);
    remainingKm -= coveredKm;
  }
  return levels;
}

/** Kilometres that a moving vehicle has driven since its last change. */
export function computeKmSince(vehicle: Vehicle, now: string): number {
  if (vehicle.speed === 0 || vehicle.since === undefined) return 0;
  const minutes = Math.max(0, minutesBetween(vehicle.since, now));
  return Math.min(
    roundToTenth((minutes * vehicle.speed) / 60),
    vehicle.route?.km ?? Infinity,
    computeRange(vehicle),
  );
}

/**
 * Adds kilometres to the vehicle's odometer, trip and route and consumes energy. At the end of the
 * route, the vehicle is at its destination.
 */
export function applyDrive(state: VehicleState, vehicle: Vehicle, km: number): void {
  const levels = computeLevelsAfter(vehicle, km);
  if (vehicle.tank) vehicle.tank.level = levels.tank;
  if (vehicle.battery) vehicle.battery.level = levels.battery;
  vehicle.odometer = roundToTenth(vehicle.odometer + km);
  vehicle.away = roundToTenth(vehicle.away + km);
  const trip = vehicle.trip_id === undefined ? undefined : state.trips[vehicle.trip_id];
  if (trip) trip.km = roundToTenth(trip.km + km);
  if (!vehicle.route) return;
  vehicle.route.km = roundToTenth(vehicle.route.km - km);
  if (vehicle.route.km > 0) return;
  vehicle.place_id = vehicle.route.place_id;
  vehicle.away = 0;
  delete vehicle.route;
}

/**
 * Kilometres from the vehicle to a place. On the road, this is the distance back to its last place
 * and from there to the place.
 */
export function computeKmTo(
  { places }: Pick<VehicleState, "places">,
  vehicle: Vehicle,
  placeId: string,
): number {
  if (vehicle.route?.place_id === placeId) return vehicle.route.km;
  return roundToTenth(
    vehicle.away +
      (vehicle.place_id === placeId
        ? 0
        : computeRoadKm(places[vehicle.place_id]!, places[placeId]!)),
  );
}

/** The tires with low pressure as text, `low at the rear left`, or undefined without any. */
export function describeSoftTires({
  tires,
  pressure,
}: Pick<Vehicle, "tires" | "pressure">): string | undefined {
  const softTires = Object.entries(tires).flatMap(([name, it]) =>
    it < pressure - 0.3 ? [name] : [],
  );
  return softTires.length === 0 ? undefined : `low at the ${softTires.join(" and ")}`;
}

/** The vehicle at that time, including what it has driven since its last change. */
export function getVehicleAt(vehicle: Vehicle, now: string): Vehicle {
  const km = computeKmSince(vehicle, now);
  if (km === 0) return vehicle;
  const levels = computeLevelsAfter(vehicle, km);
  return {
    ...vehicle,
    ...(vehicle.tank ? { tank: { ...vehicle.tank, level: levels.tank } } : {}),
    ...(vehicle.battery ? { battery: { ...vehicle.battery, level: levels.battery } } : {}),
    odometer: roundToTenth(vehicle.odometer + km),
    away: roundToTenth(vehicle.away + km),
    ...(vehicle.route
      ? { route: { ...vehicle.route, km: roundToTenth(vehicle.route.km - km) } }
      : {}),
  };
}

/** `at Harbor Studio`, `3.2 km from Harbor Studio` */
export const describePosition = (
  state: VehicleState,
  { place_id, away, speed }: Vehicle,
): string =>
  away === 0 && speed === 0
    ? `at ${state.places[place_id]!.name}`
    : away === 0
      ? `leaving ${state.places[place_id]!.name}`
      : `${away} km from ${state.places[place_id]!.name}`;
