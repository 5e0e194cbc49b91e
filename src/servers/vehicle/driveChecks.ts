/** Checks before driving, and the update of a vehicle that has been driving. */
import { refuse } from "../../environment/server.ts";
import { applyDrive, computeKmSince } from "./motion.ts";
import { type VehicleState, formatVehicle, type Vehicle } from "./state.ts";

/** The charge that electric mode requires, in percent. */
export const minElectricCharge = 20;

export const requireClosedDoors = (vehicle: Vehicle, vehicle_id: string): void => {
  if (vehicle.open.length > 0)
    refuse(
      "precondition_failed",
      `${formatVehicle(vehicle, vehicle_id)} has a door open: ${vehicle.open.join(", ")}`,
      "vehicle_lock_doors shuts and locks them",
    );
};

/** Applies the distance driven since the last change of the vehicle. */
export function updateAfterDrive(state: VehicleState, vehicle: Vehicle, now: string): void {
  if (vehicle.speed === 0) return;
  applyDrive(state, vehicle, computeKmSince(vehicle, now));
  vehicle.since = now;
}
