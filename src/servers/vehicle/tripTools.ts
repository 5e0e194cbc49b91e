/** Tools used on the road: cruise control, drive mode and navigation. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { control, minElectricCharge, updateAfterDrive } from "./control.ts";
import { ecoLimits, isEcoClimate } from "./cabinTools.ts";
import {
  computePercent,
  formatKm,
  computeKmTo,
  estimateMinutes,
  computeRange,
  describeSoftTires,
  roundToTenth,
} from "./motion.ts";
import { modes, places } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const townSpeed = 50;

/** The lowest speed for cruise control, and the highest one with soft tires, in km/h. */
export const cruiseLimits = { least: 40, soft: 80 };

/** The highest speed for cruise control by drive mode, in km/h. */
export const modeSpeedLimits = { comfort: 150, sport: 150, eco: 120, electric: 110 } as const;

export const tripTools = {
  set_cruise_control: control({
    summary: `Keep a vehicle that is driving at ${cruiseLimits.least} km/h or more at a set speed, until its brake is pressed.`,
    requires: ["release_brake"],
    input: {
      speed: z
        .int()
        .min(30)
        .max(150)
        .describe("Kilometres an hour")
        .meta({ examples: vocabulary.cruiseSpeeds }),
    },
    returns: { cruise: z.int(), was: z.int().describe("Speed before") },
    run({ speed }, { state, vehicle, description, now }) {
      if (vehicle.speed === 0 || vehicle.gear !== "drive")
        refuse(
          "precondition_failed",
          `${description} is not driving: it stands in ${vehicle.gear}`,
          "cruise control works on the move; vehicle_release_brake sets off in drive",
        );
      if (vehicle.speed < cruiseLimits.least)
        refuse(
          "precondition_failed",
          `${description} drives at ${vehicle.speed} km/h, and cruise control works from ${cruiseLimits.least} km/h`,
          "it has to get faster first",
        );
      if (vehicle.cruise === speed)
        refuse("conflict", `the cruise control of ${description} is set to ${speed} km/h already`);
      const softTires = describeSoftTires(vehicle);
      if (softTires !== undefined && speed > cruiseLimits.soft)
        refuse(
          "limit_exceeded",
          `the tires of ${description} are ${softTires}: ${cruiseLimits.soft} km/h at most, not ${speed}`,
          `choose ${cruiseLimits.soft} or less`,
        );
      const limit = modeSpeedLimits[vehicle.mode];
      if (speed > limit)
        refuse(
          "limit_exceeded",
          `${description} goes ${limit} km/h at most in ${vehicle.mode} mode, not ${speed}`,
          "choose a lower speed, or vehicle_set_drive_mode",
        );
      updateAfterDrive(state, vehicle, now);
      const was = vehicle.speed;
      vehicle.speed = speed;
      vehicle.cruise = speed;
      return { cruise: speed, was };
    },
  }),
  set_drive_mode: control({
    summary: `Put a vehicle into another drive mode. Electric needs ${minElectricCharge} percent of charge, sport firm tires; not every vehicle has every mode.`,
    input: { mode: z.enum(modes).describe("The mode") },
    returns: { mode: z.string(), range: z.int() },
    run({ mode }, { state, vehicle, description, now }) {
      if (!vehicle.modes.includes(mode))
        refuse(
          "precondition_failed",
          `${description} has no ${mode} mode`,
          `it has ${vehicle.modes.join(", ")}`,
        );
      if (vehicle.mode === mode) refuse("conflict", `${description} is in ${mode} mode already`);
      updateAfterDrive(state, vehicle, now);
      const charge = vehicle.battery ? computePercent(vehicle.battery) : 0;
      if (mode === "electric" && charge < minElectricCharge)
        refuse(
          "precondition_failed",
          `the battery of ${description} is at ${charge} percent, and electric mode needs ${minElectricCharge}`,
          "charge it with vehicle_refuel, or choose eco",
        );
      const softTires = describeSoftTires(vehicle);
      if (mode === "sport" && softTires !== undefined)
        refuse(
          "precondition_failed",
          `the tires of ${description} are ${softTires}, which sport mode does not allow`,
          "fill the tires first, or choose another mode",
        );
      const limit = modeSpeedLimits[mode];
      if (vehicle.cruise !== undefined && vehicle.cruise > limit)
        refuse(
          "precondition_failed",
          `${description} is cruising at ${vehicle.cruise} km/h, and ${mode} mode goes ${limit} at most`,
          "set a lower cruise speed first",
        );
      const { temperature, fan } = vehicle.climate;
      if (mode === "eco" && fan > 0 && !isEcoClimate(vehicle.climate))
        refuse(
          "precondition_failed",
          `the climate of ${description} is at ${temperature} °C, fan ${fan}, and eco mode keeps the cabin between ${ecoLimits.coolest} and ${ecoLimits.warmest} °C and the fan at ${ecoLimits.fan} or less`,
          "vehicle_set_climate first",
        );
      vehicle.mode = mode;
      return { mode, range: computeRange(vehicle) };
    },
  }),
  set_navigation: control({
    summary:
      "Set a vehicle's destination, if it gets there on what it holds; a destination that it had is replaced.",
    input: { place_id: places.id },
    returns: {
      destination: label("place"),
      place_id: id("place"),
      distance: z.string(),
      minutes: z.int(),
      delay: z.int().describe("Minutes of them that traffic adds"),
      arrival: minute().describe("If it sets off now"),
    },
    run({ place_id }, { state, vehicle, description, now, random }) {
      const { name } = places.find(state, place_id);
      if (vehicle.route?.place_id === place_id)
        refuse("conflict", `${name} is the destination of ${description} already`);
      if (vehicle.place_id === place_id && vehicle.away === 0 && vehicle.speed === 0)
        refuse("conflict", `${description} is at ${name}`, "choose another destination");
      updateAfterDrive(state, vehicle, now);
      const km = Math.max(0.1, roundToTenth(computeKmTo(state, vehicle, place_id)));
      const range = computeRange(vehicle);
      if (range < km)
        refuse(
          "precondition_failed",
          `${name} is ${km} km away, and ${description} gets ${range} km on what it holds`,
          "refuel first, choose a nearer place, or another vehicle",
        );
      const delay = Math.floor(random() * (km > 50 ? 25 : 7));
      const minutes = estimateMinutes(km) + delay;
      vehicle.route = { place_id, km, delay };
      return {
        destination: name,
        place_id,
        distance: formatKm(km),
        minutes,
        delay,
        arrival: addMinutes(now, minutes),
      };
    },
  }),
};
