/** A vehicle's position and levels at a time. */
import { drivenSince, leftAfter, tenth } from "./motion.ts";
import { type Garage, type Vehicle } from "./state.ts";

/** The vehicle as it is at that time, if it has gone on since its last change. */
export function vehicleAt(vehicle: Vehicle, now: string): Vehicle {
  const km = drivenSince(vehicle, now);
  if (km === 0) return vehicle;
  const left = leftAfter(vehicle, km);
  return {
    ...vehicle,
    ...(vehicle.tank ? { tank: { ...vehicle.tank, level: left.tank } } : {}),
    ...(vehicle.battery ? { battery: { ...vehicle.battery, level: left.battery } } : {}),
    odometer: tenth(vehicle.odometer + km),
    away: tenth(vehicle.away + km),
    ...(vehicle.route ? { route: { ...vehicle.route, km: tenth(vehicle.route.km - km) } } : {}),
  };
}

/** `at Harbor Studio`, `3.2 km from Harbor Studio` */
export const whereIs = (garage: Garage, { place_id, away, speed }: Vehicle): string =>
  away === 0 && speed === 0
    ? `at ${garage.places[place_id]!.name}`
    : away === 0
      ? `leaving ${garage.places[place_id]!.name}`
      : `${away} km from ${garage.places[place_id]!.name}`;
