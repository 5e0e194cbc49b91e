/** Tools for the brake and the gear. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { about, requireClosedDoors, updateAfterDrive } from "./driveChecks.ts";
import { drive, inKm, rangeOf } from "./motion.ts";
import { called, gears, placeOf, running, standing, steered, Garage } from "./state.ts";
import { townSpeed } from "./tripTools.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(Garage);

const reversing = 5;

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
      ...about,
      brake: z.string(),
      stopped_after: z.string().optional().describe("How far this trip has gone"),
      where: z.string(),
    },
    run(garage, { vehicle_id, at_destination }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.brake) refuse("conflict", `the brake of ${what} is pressed already`);
      if (at_destination) {
        if (vehicle.speed === 0)
          refuse(
            "precondition_failed",
            `${what} is not driving`,
            "leave at_destination out to press the brake as it stands",
          );
        const { route } = vehicle;
        if (!route)
          refuse(
            "precondition_failed",
            `${what} has no destination`,
            "vehicle_set_navigation sets one",
          );
        const range = rangeOf(vehicle);
        if (range < route.km)
          refuse(
            "precondition_failed",
            `${what} gets ${range} km on what it holds, and ${placeOf(garage, route.place_id).name} is ${route.km} km away`,
            "stop at once, or set a nearer destination",
          );
        drive(garage, vehicle, route.km);
      } else updateAfterDrive(garage, vehicle, now);
      const wasMoving = vehicle.speed > 0;
      vehicle.brake = true;
      vehicle.speed = 0;
      delete vehicle.since;
      delete vehicle.cruise;
      const at = garage.places[vehicle.place_id]!.name;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "pressed",
        ...(wasMoving ? { stopped_after: inKm(garage.trips[vehicle.trip_id!]!.km) } : {}),
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
      ...about,
      brake: z.string(),
      speed: z.int(),
      destination: label("place").optional(),
    },
    run(garage, { vehicle_id }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (!vehicle.brake) refuse("conflict", `the brake of ${what} is not pressed`);
      if (vehicle.gear === "neutral")
        refuse(
          "precondition_failed",
          `${what} is in neutral and would roll away`,
          "vehicle_shift_gear puts it into park or drive",
        );
      const sets = vehicle.engine === "on" && vehicle.gear !== "park";
      if (sets) {
        requireClosedDoors(vehicle, vehicle_id);
        if (rangeOf(vehicle) < 1)
          refuse(
            "precondition_failed",
            `${what} has nothing left to drive on`,
            "vehicle_refuel at a station that sells what it takes",
          );
        vehicle.speed = vehicle.gear === "drive" ? townSpeed : reversing;
        vehicle.since = now;
      }
      vehicle.brake = false;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "released",
        speed: vehicle.speed,
        ...(sets && vehicle.route
          ? { destination: placeOf(garage, vehicle.route.place_id).name }
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
    returns: { ...about, gear: z.string(), was: z.string() },
    run(garage, { vehicle_id, gear }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      standing(vehicle, vehicle_id, `it cannot be put into ${gear}`);
      if (vehicle.gear === gear) refuse("conflict", `${what} is in ${gear} already`);
      if (!vehicle.brake)
        refuse(
          "precondition_failed",
          `the brake of ${what} is not pressed`,
          "vehicle_press_brake first",
        );
      if (gear !== "park")
        running(vehicle, vehicle_id, `it leaves ${vehicle.gear} only with it on`);
      const was = vehicle.gear;
      vehicle.gear = gear;
      return { vehicle: vehicle.name, vehicle_id, gear, was };
    },
  }),
};
