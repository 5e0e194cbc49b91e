/** Tools that start and stop the engine. */
import { z } from "zod";
import { id } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { minutesBetween } from "../../environment/time.ts";
import { control, requireClosedDoors, requirePressedBrake, requireRange } from "./control.ts";
import { formatKm, estimateMinutes, describeSoftTires } from "./motion.ts";
import { purposes, requireStandstill } from "./state.ts";

export const engineTools = {
  start_engine: control({
    summary:
      "Start the engine of a vehicle. Its brake must be pressed, its gear in park and its doors shut.",
    requires: ["press_brake"],
    input: {},
    returns: {
      engine: z.string(),
      trip_id: id("trip").describe("Id of the trip that begins"),
      range: z.int(),
      warning: z.string().optional(),
    },
    run(_, { state, vehicle, vehicle_id, description, now, newId }) {
      if (vehicle.engine === "on") refuse("conflict", `the engine of ${description} is on already`);
      requireClosedDoors(vehicle, vehicle_id);
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} is in ${vehicle.gear}, and starts in park`,
          "vehicle_shift_gear puts it into park while the brake is pressed",
        );
      requirePressedBrake(vehicle, description);
      const range = requireRange(vehicle, description);
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
        engine: "on",
        trip_id,
        range,
        ...(soft === undefined ? {} : { warning: `the tires are ${soft}` }),
      };
    },
  }),
  stop_engine: control({
    summary:
      "Stop the engine of a vehicle that stands in park, which ends its trip. A trip that led nowhere is not logged.",
    requires: ["start_engine"],
    input: {
      purpose: z.enum(purposes).optional().describe("What the trip was for, private if not given"),
    },
    returns: {
      engine: z.string(),
      trip_id: id("trip").optional(),
      distance: z.string().optional().describe("How far the trip went"),
    },
    run({ purpose = "private" }, { state, vehicle, vehicle_id, description, now }) {
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
        return { engine: "off" };
      }
      Object.assign(trip, {
        purpose,
        minutes: Math.max(estimateMinutes(km), minutesBetween(start, now)),
        ...(vehicle.away === 0 ? { to: vehicle.place_id } : {}),
      });
      return { engine: "off", trip_id, distance: formatKm(km) };
    },
  }),
};
