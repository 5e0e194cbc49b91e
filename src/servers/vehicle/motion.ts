/**
 * How far things are by road, how far a vehicle gets on what it holds, and what a drive takes off
 * it. Draws no ids and refuses nothing.
 */
import { minutesBetween } from "../../environment/time.ts";
import type { Garage, Place, Vehicle } from "./state.ts";

export const tenth = (value: number): number => Math.round(value * 10) / 10;

/** `1.9 km` */
export const inKm = (km: number): string => `${tenth(km)} km`;

const earth = 6371;
/** Roads are longer than the straight line. */
const detour = 1.3;

/** Kilometres by road between two places. */
export function roadKm(
  a: Pick<Place, "latitude" | "longitude">,
  b: Pick<Place, "latitude" | "longitude">,
): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (angle: number) => Math.sin(radians(angle) / 2) ** 2;
  const h =
    half(b.latitude - a.latitude) +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * half(b.longitude - a.longitude);
  return tenth(detour * 2 * earth * Math.asin(Math.sqrt(h)));
}

/** Minutes that a drive takes: slow in town, faster beyond. */
export const minutesFor = (km: number): number =>
  Math.max(1, Math.round((Math.min(km, 10) / 30 + Math.max(0, km - 10) / 85) * 60));

/** What a mode does to consumption. */
const thirst = { comfort: 1, eco: 0.85, sport: 1.25, electric: 1 };

type Held = Pick<Vehicle, "tank" | "battery" | "mode">;

/** Kilometres that it gets on what it holds. */
export function rangeOf({ tank, battery, mode }: Held): number {
  const reach = (store: Vehicle["battery"]) =>
    store ? (100 * store.level) / (store.per_100 * thirst[mode]) : 0;
  return Math.floor(reach(tank) + reach(battery));
}

/**
 * What is left of tank and battery after a drive. In electric mode the battery goes first, else the
 * tank.
 */
export function leftAfter(
  { tank, battery, mode }: Held,
  km: number,
): { tank: number; battery: number } {
  const left = { tank: tank?.level ?? 0, battery: battery?.level ?? 0 };
  const order =
    mode === "electric" || !tank ? (["battery", "tank"] as const) : (["tank", "battery"] as const);
  let ahead = km;
  for (const key of order) {
    const store = key === "tank" ? tank : battery;
    if (!store) continue;
    const each = (store.per_100 * thirst[mode]) / 100;
    const driven = Math.min(ahead, left[key] / each);
    left[key] = Math.max(0, Math.round((left[key] - driven * each) * 100) / 100);
    ahead -= driven;
  }
  return left;
}

/** Kilometres that a vehicle on the move has come since it was last looked after. */
export function drivenSince(vehicle: Vehicle, now: string): number {
  if (vehicle.speed === 0 || vehicle.since === undefined) return 0;
  const minutes = Math.max(0, minutesBetween(vehicle.since, now));
  return Math.min(
    tenth((minutes * vehicle.speed) / 60),
    vehicle.route?.km ?? Infinity,
    rangeOf(vehicle),
  );
}

/**
 * Puts kilometres onto the vehicle: odometer, trip and route, tank and battery. At the end of its
 * route it is there.
 */
export function drive(garage: Garage, vehicle: Vehicle, km: number): void {
  const left = leftAfter(vehicle, km);
  if (vehicle.tank) vehicle.tank.level = left.tank;
  if (vehicle.battery) vehicle.battery.level = left.battery;
  vehicle.odometer = tenth(vehicle.odometer + km);
  vehicle.away = tenth(vehicle.away + km);
  const trip = vehicle.trip_id === undefined ? undefined : garage.trips[vehicle.trip_id];
  if (trip) trip.km = tenth(trip.km + km);
  if (!vehicle.route) return;
  vehicle.route.km = tenth(vehicle.route.km - km);
  if (vehicle.route.km > 0) return;
  vehicle.place_id = vehicle.route.place_id;
  vehicle.away = 0;
  delete vehicle.route;
}

/** Kilometres from where the vehicle is to a place. Off its places, it is the way back and on. */
export function kmTo(
  { places }: Pick<Garage, "places">,
  vehicle: Vehicle,
  placeId: string,
): number {
  if (vehicle.route?.place_id === placeId) return vehicle.route.km;
  return tenth(
    vehicle.away +
      (vehicle.place_id === placeId ? 0 : roadKm(places[vehicle.place_id]!, places[placeId]!)),
  );
}

/** Where tires have too little air: `low at the rear left`. */
export function softTires({
  tires,
  pressure,
}: Pick<Vehicle, "tires" | "pressure">): string | undefined {
  const soft = Object.entries(tires).flatMap(([name, it]) => (it < pressure - 0.3 ? [name] : []));
  return soft.length === 0 ? undefined : `low at the ${soft.join(" and ")}`;
}
