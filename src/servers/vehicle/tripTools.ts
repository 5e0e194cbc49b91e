/**
 * Tools that show vehicles, past trips and destinations, set cruise control, drive mode and
 * navigation, and refuel.
 */
import { z } from "zod";
import {
  label,
  day,
  id,
  minute,
  rowLimit,
  rowTotal,
  cents,
} from "../../environment/fieldSchemas.ts";
import { ascending, contains, type RowContext, getSchemas } from "../kit/table.ts";
import {
  computePercent,
  computeRange,
  describeSoftTires,
  roundToTenth,
  describePosition,
  getVehicleAt,
  tireNames,
  vehicleRow,
  vehicles,
  type Vehicle,
  VehicleState,
  formatKm,
  computeKmTo,
  estimateMinutes,
  formatVehicle,
  places,
  purposes,
  control,
  minElectricCharge,
  updateAfterDrive,
  modes,
  energies,
  requireStandstill,
} from "./state.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { ecoLimits, isEcoClimate } from "./controlTools.ts";

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

const tool = createToolFactory(VehicleState);

export const tripQueries = {
  get_navigation: tool({
    effect: "read",
    summary: "Get where a vehicle's route leads, how far it still is and when it will be there.",
    input: { vehicle_id: vehicles.id },
    returns: {
      ...getSchemas(vehicleRow),
      destination: label("place"),
      place_id: id("place"),
      distance: z.string(),
      minutes: z.int(),
      arrival: minute().describe("If it goes on or sets off now"),
      range: z.int(),
    },
    run(state, { vehicle_id }, { now }) {
      const it = getVehicleAt(vehicles.find(state, vehicle_id), now);
      if (!it.route)
        refuse(
          "precondition_failed",
          `${formatVehicle(it, vehicle_id)} has no destination`,
          "vehicle_set_navigation sets one",
        );
      const { place_id, km, delay } = it.route;
      const minutes = estimateMinutes(km) + delay;
      return {
        vehicle: it.name,
        vehicle_id,
        destination: places.find(state, place_id).name,
        place_id,
        distance: formatKm(km),
        minutes,
        arrival: addMinutes(now, minutes),
        range: computeRange(it),
      };
    },
  }),
  get_trip_log: tool({
    effect: "read",
    summary:
      "Get the trips that a vehicle has made, newest first, by day, purpose or driver, and how far all that fit come to.",
    input: {
      vehicle_id: vehicles.id,
      from_date: day().optional().describe("First day"),
      to_date: day().optional().describe("Last day"),
      purpose: z.enum(purposes).optional().describe("Only trips of this purpose"),
      limit: rowLimit(5),
    },
    returns: {
      total: rowTotal("trips"),
      trips: z.array(
        z.object({
          to: z.string(),
          trip_id: id("trip"),
          from: z.string(),
          start: minute(),
          distance: z.string(),
          driver: z.string(),
        }),
      ),
      count: z.int().describe("Trips that fit, those left out included"),
      distance: z.string().describe("Of all that fit"),
    },
    run(state, { vehicle_id, from_date, to_date, purpose, limit = 5 }) {
      vehicles.find(state, vehicle_id);
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const matches = Object.entries(state.trips).filter(
        ([, it]) =>
          it.vehicle_id === vehicle_id &&
          it.minutes !== undefined &&
          (!from_date || it.start.slice(0, 10) >= from_date) &&
          (!to_date || it.start.slice(0, 10) <= to_date) &&
          (!purpose || it.purpose === purpose),
      );
      matches.sort(([a, x], [b, y]) =>
        x.start < y.start ? 1 : x.start > y.start ? -1 : a < b ? -1 : 1,
      );
      const name = (place: string | undefined) =>
        place === undefined ? "on the road" : state.places[place]!.name;
      return {
        total: matches.length,
        trips: matches.slice(0, limit).map(([trip_id, it]) => ({
          to: name(it.to),
          trip_id,
          from: name(it.from),
          start: it.start,
          distance: formatKm(it.km),
          driver: it.driver,
        })),
        count: matches.length,
        distance: formatKm(matches.reduce((sum, [, it]) => sum + it.km, 0)),
      };
    },
  }),
  find_destinations: tool({
    effect: "read",
    summary:
      "Find places to drive to by name or category, in town and beyond; with a vehicle, the nearest first and how far each is.",
    input: {
      name: label("place").optional().describe("Only places whose name contains this"),
      category: z
        .string()
        .min(2)
        .max(40)
        .optional()
        .describe(
          "Only places of this category, such as fuel station, charging station, restaurant, city",
        )
        .meta({ examples: vocabulary.categories }),
      vehicle_id: vehicles.id.optional().describe("Vehicle from which to count"),
      limit: rowLimit(25),
    },
    returns: {
      total: rowTotal("places"),
      places: z.array(
        z.object({
          place: label("place"),
          place_id: id("place"),
          category: z.string(),
          distance: z.string().optional(),
        }),
      ),
    },
    run(state, { name, category, vehicle_id, limit = 25 }, { now }) {
      const vehicle =
        vehicle_id === undefined ? undefined : getVehicleAt(vehicles.find(state, vehicle_id), now);
      const matches = Object.entries(state.places)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!category || containsText(it.category, category)),
        )
        .sort(([a, x], [b, y]) =>
          x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1,
        );
      const rows = matches.map(([place_id, it]) => ({
        place: it.name,
        place_id,
        category: it.category,
        km: vehicle && computeKmTo(state, vehicle, place_id),
      }));
      if (vehicle) rows.sort((a, b) => a.km! - b.km!);
      return {
        total: rows.length,
        places: rows.slice(0, limit).map(({ km, ...it }) => ({
          ...it,
          ...(km === undefined ? {} : { distance: formatKm(km) }),
        })),
      };
    },
  }),
};

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

const units = { petrol: "l", diesel: "l", power: "kWh" };

export const refuelTools = {
  refuel: control({
    summary:
      "Fill up or charge a vehicle that stands with its engine off at a station that sells what it takes.",
    input: {
      energy: z.enum(energies).describe("What goes in; power charges the battery"),
      amount: z
        .number()
        .min(0.5)
        .max(200)
        .multipleOf(0.5)
        .describe("Litres, or kilowatt hours of power")
        .meta({ examples: vocabulary.amounts }),
    },
    returns: {
      level: z.string(),
      capacity: z.string(),
      cost: cents().describe("Euros"),
      range: z.int(),
    },
    run({ energy, amount }, { state, vehicle, vehicle_id, description }) {
      const store =
        energy === "power"
          ? vehicle.battery
          : vehicle.tank?.fuel === energy
            ? vehicle.tank
            : undefined;
      const energies = [
        ...(vehicle.tank ? [vehicle.tank.fuel] : []),
        ...(vehicle.battery ? ["power"] : []),
      ].join(" and ");
      if (!store)
        return refuse(
          "precondition_failed",
          `${description} takes ${energies}, not ${energy}`,
          `choose ${energies}`,
        );
      requireStandstill(vehicle, vehicle_id, "it cannot be filled up");
      if (vehicle.engine === "on")
        refuse(
          "precondition_failed",
          `the engine of ${description} is on`,
          "vehicle_stop_engine first",
        );
      const place = places.find(state, vehicle.place_id);
      const price = vehicle.away === 0 ? place.sells?.[energy] : undefined;
      if (price === undefined)
        return refuse(
          "precondition_failed",
          `${description} is ${vehicle.away === 0 ? "at" : "on the road from"} ${place.name}, which sells no ${energy}`,
          "drive to a station; vehicle_find_destinations finds some",
        );
      const freeCapacity = roundToTenth(store.capacity - store.level);
      if (amount > freeCapacity)
        refuse(
          "limit_exceeded",
          `${description} holds ${store.capacity} ${units[energy]} and has ${roundToTenth(store.level)} in it: ${amount} do not fit`,
          `${Math.floor(2 * freeCapacity) / 2} at most`,
        );
      store.level = Math.min(store.capacity, roundToTenth(store.level + amount));
      return {
        level: `${store.level} ${units[energy]}`,
        capacity: `${store.capacity} ${units[energy]}`,
        cost: Math.round(amount * price * 100) / 100,
        range: computeRange(vehicle),
      };
    },
  }),
};
