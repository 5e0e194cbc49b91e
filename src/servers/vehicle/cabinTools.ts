/** Tools for climate, headlights and wipers. */
import { z } from "zod";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { about } from "./resultRows.ts";
import { rangeOf } from "./motion.ts";
import { called, lamps, running, steered, Garage, wiperSpeeds } from "./state.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(Garage);

/** What eco mode allows in the cabin. */
const thrift = { coolest: 18, warmest: 23, fan: 3 };

const leastCharge = 20;

export const cabinTools = {
  set_climate: tool({
    effect: "write",
    summary:
      "Set the temperature in a vehicle, its fan, or both. It needs the engine, or a battery that is well charged; eco mode sets bounds.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      temperature: z
        .number()
        .min(16)
        .max(28)
        .multipleOf(0.5)
        .optional()
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: [17, 18, 18.5, 19, 19.5, 20, 20.5, 21, 21.5, 22, 22.5, 23, 24] }),
      fan: z
        .int()
        .min(0)
        .max(5)
        .optional()
        .describe("Speed of the fan, 0 turns it off; 2 if it was off and none is given")
        .meta({ examples: [0, 1, 2, 3, 4, 5] }),
    },
    returns: { ...about, temperature: z.string(), fan: z.int(), range: z.int() },
    run(garage, { vehicle_id, temperature, fan }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (temperature === undefined && fan === undefined)
        refuse("invalid_params", "nothing to set is given", "give temperature, fan or both");
      const charge = vehicle.battery
        ? Math.round((100 * vehicle.battery.level) / vehicle.battery.capacity)
        : 0;
      if (charge < leastCharge && fan !== 0)
        running(
          vehicle,
          vehicle_id,
          vehicle.battery
            ? `its battery is at ${charge} percent, and ${leastCharge} are needed without`
            : "its climate needs it",
        );
      const before = vehicle.climate;
      const after = {
        temperature: temperature ?? before.temperature,
        fan: fan ?? (before.fan === 0 ? 2 : before.fan),
      };
      if (after.temperature === before.temperature && after.fan === before.fan)
        refuse(
          "conflict",
          `the climate of ${what} is like that already: ${before.temperature} °C, fan ${before.fan}`,
        );
      if (
        vehicle.mode === "eco" &&
        (after.temperature < thrift.coolest ||
          after.temperature > thrift.warmest ||
          after.fan > thrift.fan)
      )
        refuse(
          "limit_exceeded",
          `${what} is in eco mode, which keeps the cabin between ${thrift.coolest} and ${thrift.warmest} °C and the fan at ${thrift.fan} or less`,
          "choose within, or vehicle_set_drive_mode",
        );
      vehicle.climate = after;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        temperature: `${after.temperature} °C`,
        fan: after.fan,
        range: rangeOf(vehicle),
      };
    },
  }),
  set_headlights: tool({
    effect: "write",
    summary:
      "Set the headlights of a vehicle. Without the engine only parking lights burn; high beam is for the road.",
    requires: ["start_engine"],
    input: { vehicle_id: vehicleId, headlights: z.enum(lamps).describe("What to set them to") },
    returns: { ...about, headlights: z.string(), was: z.string() },
    run(garage, { vehicle_id, headlights }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.lamps === headlights)
        refuse("conflict", `the headlights of ${what} are set to ${headlights} already`);
      if (headlights !== "off" && headlights !== "parking")
        running(vehicle, vehicle_id, "only its parking lights burn without");
      if (headlights === "high" && vehicle.speed === 0)
        refuse(
          "precondition_failed",
          `${what} stands, and high beam is for the road`,
          "choose low or auto",
        );
      const hour = Number(now.slice(11, 13));
      const needsLight = hour < 7 || hour >= 19 || garage.weather.rain !== "none";
      if ((headlights === "off" || headlights === "parking") && vehicle.speed > 0 && needsLight)
        refuse(
          "precondition_failed",
          `${what} is driving in ${garage.weather.rain === "none" ? "the dark" : "the rain"} and needs its lights`,
          "choose low or auto",
        );
      const was = vehicle.lamps;
      vehicle.lamps = headlights;
      return { vehicle: vehicle.name, vehicle_id, headlights, was };
    },
  }),
  set_wipers: tool({
    effect: "write",
    summary: "Set the wipers of a vehicle, or wash its windscreen first, which takes washer fluid.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      wipers: z.enum(wiperSpeeds).describe("How fast"),
      wash: z.boolean().optional().describe("True to wash the windscreen first"),
    },
    returns: {
      ...about,
      wipers: z.string(),
      was: z.string(),
      washer: z.int().describe("Percent of washer fluid that is left"),
    },
    run(garage, { vehicle_id, wipers, wash }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      running(vehicle, vehicle_id, "its wipers need it");
      if (vehicle.wipers === wipers && !wash)
        refuse("conflict", `the wipers of ${what} are set to ${wipers} already`);
      if (wipers === "off" && vehicle.speed > 0 && garage.weather.rain === "heavy")
        refuse(
          "precondition_failed",
          `${what} is driving in heavy rain and needs its wipers`,
          "choose slow or fast",
        );
      if (wash && vehicle.washer < 5)
        refuse(
          "precondition_failed",
          `${what} has ${vehicle.washer} percent of washer fluid left, and washing takes 5`,
          "leave wash out; the fluid is filled up by hand",
        );
      const was = vehicle.wipers;
      vehicle.wipers = wipers;
      if (wash) vehicle.washer -= 5;
      return { vehicle: vehicle.name, vehicle_id, wipers, was, washer: vehicle.washer };
    },
  }),
};
