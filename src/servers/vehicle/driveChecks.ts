/** Checks before driving, and the update of a vehicle that has been driving. */
import { id, label } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { drive, drivenSince } from "./motion.ts";
import { type Garage, called, type Vehicle } from "./state.ts";

/** Percent of the battery that electric driving asks for. */
export const leastCharge = 20;

export const about = { vehicle: label("vehicle"), vehicle_id: id("vehicle") };

export const requireClosedDoors = (vehicle: Vehicle, vehicle_id: string): void => {
  if (vehicle.open.length > 0)
    refuse(
      "precondition_failed",
      `${called(vehicle, vehicle_id)} has a door open: ${vehicle.open.join(", ")}`,
      "vehicle_lock_doors shuts and locks them",
    );
};

/** Brings what a drive has changed up to date. */
export function updateAfterDrive(garage: Garage, vehicle: Vehicle, now: string): void {
  if (vehicle.speed === 0) return;
  drive(garage, vehicle, drivenSince(vehicle, now));
  vehicle.since = now;
}
