/** Tools that list vehicles and show their status and tires. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { ascending, contains, type RowContext } from "../kit/table.ts";
import {
  computePercent,
  computeRange,
  describeSoftTires,
  roundToTenth,
  describePosition,
  getVehicleAt,
} from "./motion.ts";
import { tireNames, vehicleRow, vehicles, type Vehicle, type VehicleState } from "./state.ts";

const where = (it: Vehicle, { world, now }: RowContext<VehicleState>) =>
  describePosition(world, getVehicleAt(it, now));
const range = (it: Vehicle, { now }: RowContext<VehicleState>) =>
  computeRange(getVehicleAt(it, now));

export const vehicleQueries = {
  list_vehicles: vehicles.list({
    summary:
      "List the vehicles that the user may drive or see, where each is and how far it gets on what it holds, all of them or only those whose name contains some words.",
    filters: {
      name: contains(label("vehicle"), "Only vehicles whose name contains this", it => it.name),
    },
    order: ascending(it => it.name),
    row: {
      ...vehicleRow,
      where: [z.string(), where],
      range: [z.int().describe("Kilometres"), range],
      access: z.string(),
    },
  }),
  get_vehicle_status: vehicles.get({
    summary:
      "Get how one vehicle is: engine, gear, brake, speed, drive mode, doors, climate, lights and wipers, fuel and charge.",
    row: {
      ...vehicleRow,
      model: z.string(),
      where: [z.string(), where],
      engine: z.string(),
      gear: z.string(),
      brake: [z.string(), it => (it.brake ? "pressed" : "released")],
      speed: z.int(),
      cruise: z.int().optional(),
      mode: z.string(),
      doors: [
        z.string(),
        ({ open, locked }) =>
          open.length > 0 ? `${open.join(" and ")} open` : locked ? "locked" : "unlocked",
      ],
      climate: [
        z.string(),
        ({ climate: { fan, temperature } }) =>
          fan === 0 ? "off" : `${temperature} °C, fan ${fan}`,
      ],
      headlights: [z.string(), it => it.lamps],
      wipers: z.string(),
      fuel: [
        z.string().optional(),
        (it, { now }) => {
          const { tank } = getVehicleAt(it, now);
          return tank && `${roundToTenth(tank.level)} of ${tank.capacity} l of ${tank.fuel}`;
        },
      ],
      charge: [
        z.string().optional(),
        (it, { now }) => {
          const { battery } = getVehicleAt(it, now);
          return battery && `${computePercent(battery)} percent of ${battery.capacity} kWh`;
        },
      ],
      range: [z.int().describe("Kilometres"), range],
      odometer: [z.number(), (it, { now }) => getVehicleAt(it, now).odometer],
      outside: [z.number().describe("Degrees outside"), (_, { world }) => world.weather.outside],
    },
  }),
  get_tire_pressure: vehicles.get({
    summary: "Get the pressure of each tire of a vehicle and which of them have too little.",
    row: {
      ...vehicleRow,
      tires: [
        z.array(z.object({ tire: z.string(), pressure: z.string() })),
        it => tireNames.map(name => ({ tire: name, pressure: `${it.tires[name]} bar` })),
      ],
      should_be: [z.string(), it => `${it.pressure} bar`],
      condition: [z.string(), it => describeSoftTires(it) ?? "all fine"],
    },
  }),
};
