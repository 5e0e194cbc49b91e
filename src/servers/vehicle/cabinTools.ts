/** Tools for climate, headlights and wipers. */
import { z } from "zod";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { vehicleRow } from "./resultRows.ts";
import { computeRange } from "./motion.ts";
import {
  formatVehicle,
  lamps,
  requireRunningEngine,
  findDrivableVehicle,
  type Vehicle,
  VehicleState,
  wiperSpeeds,
} from "./state.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(VehicleState);

/** The climate settings that eco mode allows. */
export const ecoLimits = { coolest: 18, warmest: 23, fan: 3 };

export const isEcoClimate = ({ temperature, fan }: Vehicle["climate"]): boolean =>
  temperature >= ecoLimits.coolest && temperature <= ecoLimits.warmest && fan <= ecoLimits.fan;

const minClimateCharge = 20;

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
    returns: { ...vehicleRow, temperature: z.string(), fan: z.int(), range: z.int() },
    run(state, { vehicle_id, temperature, fan }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (temperature === undefined && fan === undefined)
        refuse("invalid_params", "nothing to set is given", "give temperature, fan or both");
      const charge = vehicle.battery
        ? Math.round((100 * vehicle.battery.level) / vehicle.battery.capacity)
        : 0;
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
        vehicle: vehicle.name,
        vehicle_id,
        temperature: `${next.temperature} °C`,
        fan: next.fan,
        range: computeRange(vehicle),
      };
    },
  }),
  set_headlights: tool({
    effect: "write",
    summary:
      "Set the headlights of a vehicle. Without the engine only parking lights burn; high beam is for the road.",
    requires: ["start_engine"],
    input: { vehicle_id: vehicleId, headlights: z.enum(lamps).describe("What to set them to") },
    returns: { ...vehicleRow, headlights: z.string(), was: z.string() },
    run(state, { vehicle_id, headlights }, { now }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
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
      ...vehicleRow,
      wipers: z.string(),
      was: z.string(),
      washer: z.int().describe("Percent of washer fluid that is left"),
    },
    run(state, { vehicle_id, wipers, wash }) {
      const vehicle = findDrivableVehicle(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
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
      return { vehicle: vehicle.name, vehicle_id, wipers, was, washer: vehicle.washer };
    },
  }),
};
