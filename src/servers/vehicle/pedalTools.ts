/** Tools for the brake and the gear. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { requireClosedDoors, updateAfterDrive } from "./driveChecks.ts";
import { vehicleRow } from "./resultRows.ts";
import { applyDrive, formatKm, computeRange } from "./motion.ts";
import {
  formatVehicle,
  gears,
  findPlace,
  requireRunningEngine,
  requireStandstill,
  findDrivableVehicle,
  VehicleState,
} from "./state.ts";
import { townSpeed } from "./tripTools.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(VehicleState);

const reverseSpeed = 5;

export const pedalTools = {
  press_brake: tool({
    effect: "write",
    summary:
      "Press the brake of a vehicle and keep it pressed; one that is driving stops, at once or when it has reached its destination.",
    input: {
      vehicle_id: vehicleId,
      at_destination: z
        .boolean()
        .optional()
        .describe("True to drive on to the end of the route and stop there"),
    },
    returns: {
      ...vehicleRow,
      brake: z.string(),
      stopped_after: z.string().optional().describe("How far this trip has gone"),
      where: z.string(),
    },
    run(state, { vehicle_id, at_destination }, { now }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (vehicle.brake) refuse("conflict", `the brake of ${description} is pressed already`);
      if (at_destination) {
        if (vehicle.speed === 0)
          refuse(
            "precondition_failed",
            `${description} is not driving`,
            "leave at_destination out to press the brake as it stands",
          );
        if (vehicle.gear === "reverse")
          refuse(
            "precondition_failed",
            `${description} is in reverse, which does not lead to a destination`,
            "leave at_destination out to press the brake, then vehicle_shift_gear puts it into drive",
          );
        const { route } = vehicle;
        if (!route)
          refuse(
            "precondition_failed",
            `${description} has no destination`,
            "vehicle_set_navigation sets one",
          );
        const range = computeRange(vehicle);
        if (range < route.km)
          refuse(
            "precondition_failed",
            `${description} gets ${range} km on what it holds, and ${findPlace(state, route.place_id).name} is ${route.km} km away`,
            "stop at once, or set a nearer destination",
          );
        applyDrive(state, vehicle, route.km);
      } else updateAfterDrive(state, vehicle, now);
      const wasMoving = vehicle.speed > 0;
      vehicle.brake = true;
      vehicle.speed = 0;
      delete vehicle.since;
      delete vehicle.cruise;
      const at = state.places[vehicle.place_id]!.name;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "pressed",
        ...(wasMoving ? { stopped_after: formatKm(state.trips[vehicle.trip_id!]!.km) } : {}),
        where: vehicle.away === 0 ? `at ${at}` : `${vehicle.away} km from ${at}`,
      };
    },
  }),
  release_brake: tool({
    effect: "write",
    summary:
      "Release the brake. With the engine on and a gear in, the vehicle sets off, along its route if it has one.",
    requires: ["press_brake"],
    input: { vehicle_id: vehicleId },
    returns: {
      ...vehicleRow,
      brake: z.string(),
      speed: z.int(),
      destination: label("place").optional(),
    },
    run(state, { vehicle_id }, { now }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (!vehicle.brake) refuse("conflict", `the brake of ${description} is not pressed`);
      if (vehicle.gear === "neutral")
        refuse(
          "precondition_failed",
          `${description} is in neutral and would roll away`,
          "vehicle_shift_gear puts it into park or drive",
        );
      const startsMoving = vehicle.engine === "on" && vehicle.gear !== "park";
      if (startsMoving) {
        requireClosedDoors(vehicle, vehicle_id);
        if (computeRange(vehicle) < 1)
          refuse(
            "precondition_failed",
            `${description} has nothing left to drive on`,
            "vehicle_refuel at a station that sells what it takes",
          );
        if (state.weather.rain === "heavy" && vehicle.wipers === "off")
          refuse(
            "precondition_failed",
            `it rains heavily, and the wipers of ${description} are off`,
            "vehicle_set_wipers with slow or fast first",
          );
        vehicle.speed = vehicle.gear === "drive" ? townSpeed : reverseSpeed;
        vehicle.since = now;
      }
      vehicle.brake = false;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "released",
        speed: vehicle.speed,
        ...(startsMoving && vehicle.route
          ? { destination: findPlace(state, vehicle.route.place_id).name }
          : {}),
      };
    },
  }),
  shift_gear: tool({
    effect: "write",
    summary:
      "Put a standing vehicle into another gear while its brake is pressed. Out of park it needs the engine.",
    requires: ["start_engine", "press_brake"],
    input: { vehicle_id: vehicleId, gear: z.enum(gears).describe("The gear") },
    returns: { ...vehicleRow, gear: z.string(), was: z.string() },
    run(state, { vehicle_id, gear }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      requireStandstill(vehicle, vehicle_id, `it cannot be put into ${gear}`);
      if (vehicle.gear === gear) refuse("conflict", `${description} is in ${gear} already`);
      if (!vehicle.brake)
        refuse(
          "precondition_failed",
          `the brake of ${description} is not pressed`,
          "vehicle_press_brake first",
        );
      if (gear !== "park")
        requireRunningEngine(vehicle, vehicle_id, `it leaves ${vehicle.gear} only with it on`);
      const was = vehicle.gear;
      vehicle.gear = gear;
      return { vehicle: vehicle.name, vehicle_id, gear, was };
    },
  }),
};
