/** Tools for the brake and the gear. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import {
  control,
  requireClosedDoors,
  requirePressedBrake,
  requireRange,
  updateAfterDrive,
} from "./control.ts";
import { applyDrive, formatKm, computeRange } from "./motion.ts";
import { gears, places, requireRunningEngine, requireStandstill } from "./state.ts";
import { townSpeed } from "./tripTools.ts";

const reverseSpeed = 5;

export const pedalTools = {
  press_brake: control({
    summary:
      "Press the brake of a vehicle and keep it pressed; one that is driving stops, at once or when it has reached its destination.",
    input: {
      at_destination: z
        .boolean()
        .optional()
        .describe("True to drive on to the end of the route and stop there"),
    },
    returns: {
      brake: z.string(),
      stopped_after: z.string().optional().describe("How far this trip has gone"),
      where: z.string(),
    },
    run({ at_destination }, { state, vehicle, description, now }) {
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
            `${description} gets ${range} km on what it holds, and ${places.find(state, route.place_id).name} is ${route.km} km away`,
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
        brake: "pressed",
        ...(wasMoving ? { stopped_after: formatKm(state.trips[vehicle.trip_id!]!.km) } : {}),
        where: vehicle.away === 0 ? `at ${at}` : `${vehicle.away} km from ${at}`,
      };
    },
  }),
  release_brake: control({
    summary:
      "Release the brake. With the engine on and a gear in, the vehicle sets off, along its route if it has one.",
    requires: ["press_brake"],
    input: {},
    returns: {
      brake: z.string(),
      speed: z.int(),
      destination: label("place").optional(),
    },
    run(_, { state, vehicle, vehicle_id, description, now }) {
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
        requireRange(vehicle, description);
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
        brake: "released",
        speed: vehicle.speed,
        ...(startsMoving && vehicle.route
          ? { destination: places.find(state, vehicle.route.place_id).name }
          : {}),
      };
    },
  }),
  shift_gear: control({
    summary:
      "Put a standing vehicle into another gear while its brake is pressed. Out of park it needs the engine.",
    requires: ["start_engine", "press_brake"],
    input: { gear: z.enum(gears).describe("The gear") },
    returns: { gear: z.string(), was: z.string() },
    run({ gear }, { vehicle, vehicle_id, description }) {
      requireStandstill(vehicle, vehicle_id, `it cannot be put into ${gear}`);
      if (vehicle.gear === gear) refuse("conflict", `${description} is in ${gear} already`);
      requirePressedBrake(vehicle, description);
      if (gear !== "park")
        requireRunningEngine(vehicle, vehicle_id, `it leaves ${vehicle.gear} only with it on`);
      const was = vehicle.gear;
      vehicle.gear = gear;
      return { gear, was };
    },
  }),
};
