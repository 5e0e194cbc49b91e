/** Tools used on the road: cruise control, drive mode and navigation. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { about, leastCharge, updateAfterDrive } from "./driveChecks.ts";
import { inKm, kmTo, minutesFor, rangeOf, softTires, tenth } from "./motion.ts";
import { called, modes, placeOf, steered, Garage } from "./state.ts";
import { placeId, vehicleId } from "./parameters.ts";

const tool = createToolFactory(Garage);

export const townSpeed = 50;

/** Kilometres an hour from which cruise control works, and what soft tires allow. */
const cruising = { least: 40, soft: 80 };

export const tripTools = {
  set_cruise_control: tool({
    effect: "write",
    summary: `Keep a vehicle that is driving at ${cruising.least} km/h or more at a set speed, until its brake is pressed.`,
    requires: ["release_brake"],
    input: {
      vehicle_id: vehicleId,
      speed: z
        .int()
        .min(30)
        .max(150)
        .describe("Kilometres an hour")
        .meta({ examples: [60, 70, 80, 90, 95, 100, 110, 115, 120, 130] }),
    },
    returns: { ...about, cruise: z.int(), was: z.int().describe("Speed before") },
    run(garage, { vehicle_id, speed }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.speed === 0 || vehicle.gear !== "drive")
        refuse(
          "precondition_failed",
          `${what} is not driving: it stands in ${vehicle.gear}`,
          "cruise control works on the move; vehicle_release_brake sets off in drive",
        );
      if (vehicle.speed < cruising.least)
        refuse(
          "precondition_failed",
          `${what} drives at ${vehicle.speed} km/h, and cruise control works from ${cruising.least} km/h`,
          "it has to get faster first",
        );
      if (vehicle.cruise === speed)
        refuse("conflict", `the cruise control of ${what} is set to ${speed} km/h already`);
      const soft = softTires(vehicle);
      if (soft !== undefined && speed > cruising.soft)
        refuse(
          "limit_exceeded",
          `the tires of ${what} are ${soft}: ${cruising.soft} km/h at most, not ${speed}`,
          `choose ${cruising.soft} or less`,
        );
      const most = { comfort: 150, sport: 150, eco: 120, electric: 110 }[vehicle.mode];
      if (speed > most)
        refuse(
          "limit_exceeded",
          `${what} goes ${most} km/h at most in ${vehicle.mode} mode, not ${speed}`,
          "choose a lower speed, or vehicle_set_drive_mode",
        );
      updateAfterDrive(garage, vehicle, now);
      const was = vehicle.speed;
      vehicle.speed = speed;
      vehicle.cruise = speed;
      return { vehicle: vehicle.name, vehicle_id, cruise: speed, was };
    },
  }),
  set_drive_mode: tool({
    effect: "write",
    summary: `Put a vehicle into another drive mode. Electric needs ${leastCharge} percent of charge, sport firm tires; not every vehicle has every mode.`,
    input: { vehicle_id: vehicleId, mode: z.enum(modes).describe("The mode") },
    returns: { ...about, mode: z.string(), range: z.int() },
    run(garage, { vehicle_id, mode }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (!vehicle.modes.includes(mode))
        refuse(
          "precondition_failed",
          `${what} has no ${mode} mode`,
          `it has ${vehicle.modes.join(", ")}`,
        );
      if (vehicle.mode === mode) refuse("conflict", `${what} is in ${mode} mode already`);
      const charge = vehicle.battery
        ? Math.round((100 * vehicle.battery.level) / vehicle.battery.capacity)
        : 0;
      if (mode === "electric" && charge < leastCharge)
        refuse(
          "precondition_failed",
          `the battery of ${what} is at ${charge} percent, and electric mode needs ${leastCharge}`,
          "charge it with vehicle_refuel, or choose eco",
        );
      const soft = softTires(vehicle);
      if (mode === "sport" && soft !== undefined)
        refuse(
          "precondition_failed",
          `the tires of ${what} are ${soft}, which sport mode does not allow`,
          "fill the tires first, or choose another mode",
        );
      if (mode === "eco" && vehicle.cruise !== undefined && vehicle.cruise > 120)
        refuse(
          "precondition_failed",
          `${what} is cruising at ${vehicle.cruise} km/h, and eco mode goes 120 at most`,
          "set a lower cruise speed first",
        );
      updateAfterDrive(garage, vehicle, now);
      vehicle.mode = mode;
      return { vehicle: vehicle.name, vehicle_id, mode, range: rangeOf(vehicle) };
    },
  }),
  set_navigation: tool({
    effect: "write",
    summary:
      "Set a vehicle's destination, if it gets there on what it holds; a destination that it had is replaced.",
    input: { vehicle_id: vehicleId, place_id: placeId },
    returns: {
      ...about,
      destination: label("place"),
      place_id: id("place"),
      distance: z.string(),
      minutes: z.int(),
      delay: z.int().describe("Minutes of them that traffic adds"),
      arrival: minute().describe("If it sets off now"),
    },
    run(garage, { vehicle_id, place_id }, { now, random }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      const { name } = placeOf(garage, place_id);
      if (vehicle.route?.place_id === place_id)
        refuse("conflict", `${name} is the destination of ${what} already`);
      if (vehicle.place_id === place_id && vehicle.away === 0 && vehicle.speed === 0)
        refuse("conflict", `${what} is at ${name}`, "choose another destination");
      updateAfterDrive(garage, vehicle, now);
      const km = Math.max(0.1, tenth(kmTo(garage, vehicle, place_id)));
      const range = rangeOf(vehicle);
      if (range < km)
        refuse(
          "precondition_failed",
          `${name} is ${km} km away, and ${what} gets ${range} km on what it holds`,
          "refuel first, choose a nearer place, or another vehicle",
        );
      const delay = Math.floor(random() * (km > 50 ? 25 : 7));
      const minutes = minutesFor(km) + delay;
      vehicle.route = { place_id, km, delay };
      return {
        vehicle: vehicle.name,
        vehicle_id,
        destination: name,
        place_id,
        distance: inKm(km),
        minutes,
        delay,
        arrival: addMinutes(now, minutes),
      };
    },
  }),
};
