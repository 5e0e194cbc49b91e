/** A vehicle's position and levels at a time. */
import { computeKmSince, computeLevelsAfter, roundToTenth } from "./motion.ts";
import { type VehicleState, type Vehicle } from "./state.ts";

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
