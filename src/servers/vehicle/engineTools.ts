/** Tools that start and stop the engine. */
import { z } from "zod";
import { id } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { minutesBetween } from "../../environment/time.ts";
import { requireClosedDoors } from "./driveChecks.ts";
import { vehicleRow } from "./resultRows.ts";
import { formatKm, estimateMinutes, computeRange, describeSoftTires } from "./motion.ts";
import {
  formatVehicle,
  purposes,
  requireStandstill,
  findDrivableVehicle,
  VehicleState,
} from "./state.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(VehicleState);

export const engineTools = {
  start_engine: tool({
    effect: "write",
    summary:
      "Start the engine of a vehicle. Its brake must be pressed, its gear in park and its doors shut.",
    requires: ["press_brake"],
    input: { vehicle_id: vehicleId },
    returns: {
      ...vehicleRow,
      engine: z.string(),
      trip_id: id("trip").describe("Id of the trip that begins"),
      range: z.int(),
      warning: z.string().optional(),
    },
    run(state, { vehicle_id }, { now, newId }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (vehicle.engine === "on") refuse("conflict", `the engine of ${description} is on already`);
      requireClosedDoors(vehicle, vehicle_id);
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} is in ${vehicle.gear}, and starts in park`,
          "vehicle_shift_gear puts it into park while the brake is pressed",
        );
      if (!vehicle.brake)
        refuse(
          "precondition_failed",
          `the brake of ${description} is not pressed`,
          "vehicle_press_brake first",
        );
      const range = computeRange(vehicle);
      if (range < 1)
        refuse(
          "precondition_failed",
          `${description} has nothing left to drive on`,
          "vehicle_refuel at a station that sells what it takes",
        );
      const trip_id = newId("trip");
      state.trips[trip_id] = {
        vehicle_id,
        driver: state.user,
        purpose: "private",
        from: vehicle.place_id,
        start: now,
        km: 0,
      };
      Object.assign(vehicle, { engine: "on", trip_id });
      const soft = describeSoftTires(vehicle);
      return {
        vehicle: vehicle.name,
        vehicle_id,
        engine: "on",
        trip_id,
        range,
        ...(soft === undefined ? {} : { warning: `the tires are ${soft}` }),
      };
    },
  }),
  stop_engine: tool({
    effect: "write",
    summary:
      "Stop the engine of a vehicle that stands in park, which ends its trip. A trip that led nowhere is not logged.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      purpose: z.enum(purposes).optional().describe("What the trip was for, private if not given"),
    },
    returns: {
      ...vehicleRow,
      engine: z.string(),
      trip_id: id("trip").optional(),
      distance: z.string().optional().describe("How far the trip went"),
    },
    run(state, { vehicle_id, purpose = "private" }, { now }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (vehicle.engine === "off")
        refuse("conflict", `the engine of ${description} is off already`);
      requireStandstill(vehicle, vehicle_id, "its engine cannot be stopped");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} is in ${vehicle.gear}: its engine stops in park`,
          "vehicle_shift_gear puts it into park",
        );
      const trip_id = vehicle.trip_id!;
      const trip = state.trips[trip_id]!;
      Object.assign(vehicle, {
        engine: "off",
        wipers: "off",
        climate: { ...vehicle.climate, fan: 0 },
      });
      if (vehicle.lamps !== "parking") vehicle.lamps = "off";
      delete vehicle.trip_id;
      const { start, km } = trip;
      if (km === 0) {
        delete state.trips[trip_id];
        return { vehicle: vehicle.name, vehicle_id, engine: "off" };
      }
      Object.assign(trip, {
        purpose,
        minutes: Math.max(estimateMinutes(km), minutesBetween(start, now)),
        ...(vehicle.away === 0 ? { to: vehicle.place_id } : {}),
      });
      return { vehicle: vehicle.name, vehicle_id, engine: "off", trip_id, distance: formatKm(km) };
    },
  }),
};
