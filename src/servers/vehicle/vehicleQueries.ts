/** Tools that list vehicles and show their status and tires. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getVehicleAt, describePosition } from "./vehiclePosition.ts";
import { computeRange, describeSoftTires, roundToTenth } from "./motion.ts";
import { tireNames, VehicleState, findVehicle } from "./state.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(VehicleState);

const computePercent = (store: { level: number; capacity: number }) =>
  Math.round((100 * store.level) / store.capacity);

export const compareNames = <Row extends { name: string }>(
  a: readonly [string, Row],
  b: readonly [string, Row],
) => (a[1].name < b[1].name ? -1 : a[1].name > b[1].name ? 1 : a[0] < b[0] ? -1 : 1);

export const vehicleQueries = {
  list_vehicles: tool({
    effect: "read",
    summary:
      "List the vehicles that the user may drive or see, where each is and how far it gets on what it holds, all of them or only those whose name contains some words.",
    input: { name: label("vehicle").optional().describe("Only vehicles whose name contains this") },
    returns: {
      vehicles: z.array(
        z.object({
          vehicle: label("vehicle"),
          vehicle_id: id("vehicle"),
          where: z.string(),
          range: z.int().describe("Kilometres"),
          access: z.string(),
        }),
      ),
    },
    run: (state, { name }, { now }) => ({
      vehicles: Object.entries(state.vehicles)
        .filter(([, it]) => !name || containsText(it.name, name))
        .sort(compareNames)
        .map(([vehicle_id, it]) => ({
          vehicle: it.name,
          vehicle_id,
          where: describePosition(state, getVehicleAt(it, now)),
          range: computeRange(getVehicleAt(it, now)),
          access: it.access,
        })),
    }),
  }),
  get_vehicle_status: tool({
    effect: "read",
    summary:
      "Get how one vehicle is: engine, gear, brake, speed, drive mode, doors, climate, lights and wipers, fuel and charge.",
    input: { vehicle_id: vehicleId },
    returns: {
      vehicle: label("vehicle"),
      vehicle_id: id("vehicle"),
      model: z.string(),
      where: z.string(),
      engine: z.string(),
      gear: z.string(),
      brake: z.string(),
      speed: z.int(),
      cruise: z.int().optional(),
      mode: z.string(),
      doors: z.string(),
      climate: z.string(),
      headlights: z.string(),
      wipers: z.string(),
      fuel: z.string().optional(),
      charge: z.string().optional(),
      range: z.int().describe("Kilometres"),
      odometer: z.number(),
      outside: z.number().describe("Degrees outside"),
    },
    run(state, { vehicle_id }, { now }) {
      const it = getVehicleAt(findVehicle(state, vehicle_id), now);
      return {
        vehicle: it.name,
        vehicle_id,
        model: it.model,
        where: describePosition(state, it),
        engine: it.engine,
        gear: it.gear,
        brake: it.brake ? "pressed" : "released",
        speed: it.speed,
        ...(it.cruise === undefined ? {} : { cruise: it.cruise }),
        mode: it.mode,
        doors:
          it.open.length > 0 ? `${it.open.join(" and ")} open` : it.locked ? "locked" : "unlocked",
        climate:
          it.climate.fan === 0 ? "off" : `${it.climate.temperature} °C, fan ${it.climate.fan}`,
        headlights: it.lamps,
        wipers: it.wipers,
        ...(it.tank
          ? { fuel: `${roundToTenth(it.tank.level)} of ${it.tank.capacity} l of ${it.tank.fuel}` }
          : {}),
        ...(it.battery
          ? { charge: `${computePercent(it.battery)} percent of ${it.battery.capacity} kWh` }
          : {}),
        range: computeRange(it),
        odometer: it.odometer,
        outside: state.weather.outside,
      };
    },
  }),
  get_tire_pressure: tool({
    effect: "read",
    summary: "Get the pressure of each tire of a vehicle and which of them have too little.",
    input: { vehicle_id: vehicleId },
    returns: {
      vehicle: label("vehicle"),
      vehicle_id: id("vehicle"),
      tires: z.array(z.object({ tire: z.string(), pressure: z.string() })),
      should_be: z.string(),
      condition: z.string(),
    },
    run(state, { vehicle_id }) {
      const it = findVehicle(state, vehicle_id);
      return {
        vehicle: it.name,
        vehicle_id,
        tires: tireNames.map(name => ({ tire: name, pressure: `${it.tires[name]} bar` })),
        should_be: `${it.pressure} bar`,
        condition: describeSoftTires(it) ?? "all fine",
      };
    },
  }),
};
