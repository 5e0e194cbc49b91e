/** Tools for climate, headlights and wipers. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { control } from "./control.ts";
import { computePercent, computeRange } from "./motion.ts";
import { lamps, requireRunningEngine, type Vehicle, wiperSpeeds } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** The climate settings that eco mode allows. */
export const ecoLimits = { coolest: 18, warmest: 23, fan: 3 };

export const isEcoClimate = ({ temperature, fan }: Vehicle["climate"]): boolean =>
  temperature >= ecoLimits.coolest && temperature <= ecoLimits.warmest && fan <= ecoLimits.fan;

const minClimateCharge = 20;

export const cabinTools = {
  set_climate: control({
    summary:
      "Set the temperature in a vehicle, its fan, or both. It needs the engine, or a battery that is well charged; eco mode sets bounds.",
    requires: ["start_engine"],
    input: {
      temperature: z
        .number()
        .min(16)
        .max(28)
        .multipleOf(0.5)
        .optional()
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: vocabulary.temperatures }),
      fan: z
        .int()
        .min(0)
        .max(5)
        .optional()
        .describe("Speed of the fan, 0 turns it off; 2 if it was off and none is given")
        .meta({ examples: vocabulary.fanSpeeds }),
    },
    returns: { temperature: z.string(), fan: z.int(), range: z.int() },
    run({ temperature, fan }, { vehicle, vehicle_id, description }) {
      if (temperature === undefined && fan === undefined)
        refuse("invalid_params", "nothing to set is given", "give temperature, fan or both");
      const charge = vehicle.battery ? computePercent(vehicle.battery) : 0;
      if (charge < minClimateCharge && fan !== 0)
        requireRunningEngine(
          vehicle,
          vehicle_id,
          vehicle.battery
            ? `its battery is at ${charge} percent, and ${minClimateCharge} are needed without`
            : "its climate needs it",
        );
      const current = vehicle.climate;
      const next = {
        temperature: temperature ?? current.temperature,
        fan: fan ?? (current.fan === 0 ? 2 : current.fan),
      };
      if (next.temperature === current.temperature && next.fan === current.fan)
        refuse(
          "conflict",
          `the climate of ${description} is like that already: ${current.temperature} °C, fan ${current.fan}`,
        );
      if (vehicle.mode === "eco" && !isEcoClimate(next))
        refuse(
          "limit_exceeded",
          `${description} is in eco mode, which keeps the cabin between ${ecoLimits.coolest} and ${ecoLimits.warmest} °C and the fan at ${ecoLimits.fan} or less`,
          "choose within, or vehicle_set_drive_mode",
        );
      vehicle.climate = next;
      return {
        temperature: `${next.temperature} °C`,
        fan: next.fan,
        range: computeRange(vehicle),
      };
    },
  }),
  set_headlights: control({
    summary:
      "Set the headlights of a vehicle. Without the engine only parking lights burn; high beam is for the road.",
    requires: ["start_engine"],
    input: { headlights: z.enum(lamps).describe("What to set them to") },
    returns: { headlights: z.string(), was: z.string() },
    run({ headlights }, { state, vehicle, vehicle_id, description, now }) {
      if (vehicle.lamps === headlights)
        refuse("conflict", `the headlights of ${description} are set to ${headlights} already`);
      if (headlights !== "off" && headlights !== "parking")
        requireRunningEngine(vehicle, vehicle_id, "only its parking lights burn without");
      if (headlights === "high" && vehicle.speed === 0)
        refuse(
          "precondition_failed",
          `${description} stands, and high beam is for the road`,
          "choose low or auto",
        );
      const hour = Number(now.slice(11, 13));
      const needsLight = hour < 7 || hour >= 19 || state.weather.rain !== "none";
      if ((headlights === "off" || headlights === "parking") && vehicle.speed > 0 && needsLight)
        refuse(
          "precondition_failed",
          `${description} is driving in ${state.weather.rain === "none" ? "the dark" : "the rain"} and needs its lights`,
          "choose low or auto",
        );
      const was = vehicle.lamps;
      vehicle.lamps = headlights;
      return { headlights, was };
    },
  }),
  set_wipers: control({
    summary: "Set the wipers of a vehicle, or wash its windscreen first, which takes washer fluid.",
    requires: ["start_engine"],
    input: {
      wipers: z.enum(wiperSpeeds).describe("How fast"),
      wash: z.boolean().optional().describe("True to wash the windscreen first"),
    },
    returns: {
      wipers: z.string(),
      was: z.string(),
      washer: z.int().describe("Percent of washer fluid that is left"),
    },
    run({ wipers, wash }, { state, vehicle, vehicle_id, description }) {
      requireRunningEngine(vehicle, vehicle_id, "its wipers need it");
      if (vehicle.wipers === wipers && !wash)
        refuse("conflict", `the wipers of ${description} are set to ${wipers} already`);
      if (wipers === "off" && vehicle.speed > 0 && state.weather.rain === "heavy")
        refuse(
          "precondition_failed",
          `${description} is driving in heavy rain and needs its wipers`,
          "choose slow or fast",
        );
      if (wash && vehicle.washer < 5)
        refuse(
          "precondition_failed",
          `${description} has ${vehicle.washer} percent of washer fluid left, and washing takes 5`,
          "leave wash out; the fluid is filled up by hand",
        );
      const was = vehicle.wipers;
      vehicle.wipers = wipers;
      if (wash) vehicle.washer -= 5;
      return { wipers, was, washer: vehicle.washer };
    },
  }),
};
