/**
 * The vehicles' tools that look: which there are, how each is, its tires, its route and its trips.
 * What follows from the time is the motion's affair.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  drivenSince,
  inKm,
  leftAfter,
  kmTo,
  minutesFor,
  rangeOf,
  softTires,
  tenth,
} from "./motion.ts";
import { vehicleId } from "./words.ts";
import { called, Garage, placeOf, purposes, tireNames, vehicleOf, type Vehicle } from "./state.ts";

const tool = createToolFactory(Garage);

/** The vehicle as it is at that time, if it has gone on since its last change. */
function at(vehicle: Vehicle, now: string): Vehicle {
  const km = drivenSince(vehicle, now);
  if (km === 0) return vehicle;
  const left = leftAfter(vehicle, km);
  return {
    ...vehicle,
    ...(vehicle.tank ? { tank: { ...vehicle.tank, level: left.tank } } : {}),
    ...(vehicle.battery ? { battery: { ...vehicle.battery, level: left.battery } } : {}),
    odometer: tenth(vehicle.odometer + km),
    away: tenth(vehicle.away + km),
    ...(vehicle.route ? { route: { ...vehicle.route, km: tenth(vehicle.route.km - km) } } : {}),
  };
}

const percent = (store: { level: number; capacity: number }) =>
  Math.round((100 * store.level) / store.capacity);

/** `at Harbor Studio`, `3.2 km from Harbor Studio` */
const whereIs = (garage: Garage, { place_id, away, speed }: Vehicle): string =>
  away === 0 && speed === 0
    ? `at ${garage.places[place_id]!.name}`
    : away === 0
      ? `leaving ${garage.places[place_id]!.name}`
      : `${away} km from ${garage.places[place_id]!.name}`;

const byName = <Row extends { name: string }>(
  a: readonly [string, Row],
  b: readonly [string, Row],
) => (a[1].name < b[1].name ? -1 : a[1].name > b[1].name ? 1 : a[0] < b[0] ? -1 : 1);

const vehicles = {
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
    run: (garage, { name }, { now }) => ({
      vehicles: Object.entries(garage.vehicles)
        .filter(([, it]) => !name || containsText(it.name, name))
        .sort(byName)
        .map(([vehicle_id, it]) => ({
          vehicle: it.name,
          vehicle_id,
          where: whereIs(garage, at(it, now)),
          range: rangeOf(at(it, now)),
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
    run(garage, { vehicle_id }, { now }) {
      const it = at(vehicleOf(garage, vehicle_id), now);
      return {
        vehicle: it.name,
        vehicle_id,
        model: it.model,
        where: whereIs(garage, it),
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
          ? { fuel: `${tenth(it.tank.level)} of ${it.tank.capacity} l of ${it.tank.fuel}` }
          : {}),
        ...(it.battery
          ? { charge: `${percent(it.battery)} percent of ${it.battery.capacity} kWh` }
          : {}),
        range: rangeOf(it),
        odometer: it.odometer,
        outside: garage.weather.outside,
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
    run(garage, { vehicle_id }) {
      const it = vehicleOf(garage, vehicle_id);
      return {
        vehicle: it.name,
        vehicle_id,
        tires: tireNames.map(name => ({ tire: name, pressure: `${it.tires[name]} bar` })),
        should_be: `${it.pressure} bar`,
        condition: softTires(it) ?? "all fine",
      };
    },
  }),
};

const journeys = {
  get_navigation: tool({
    effect: "read",
    summary: "Get where a vehicle's route leads, how far it still is and when it will be there.",
    input: { vehicle_id: vehicleId },
    returns: {
      vehicle: label("vehicle"),
      vehicle_id: id("vehicle"),
      destination: label("place"),
      place_id: id("place"),
      distance: z.string(),
      minutes: z.int(),
      arrival: minute().describe("If it goes on or sets off now"),
      range: z.int(),
    },
    run(garage, { vehicle_id }, { now }) {
      const it = at(vehicleOf(garage, vehicle_id), now);
      if (!it.route)
        refuse(
          "precondition_failed",
          `${called(it, vehicle_id)} has no destination`,
          "vehicle_set_navigation sets one",
        );
      const { place_id, km, delay } = it.route;
      const minutes = minutesFor(km) + delay;
      return {
        vehicle: it.name,
        vehicle_id,
        destination: placeOf(garage, place_id).name,
        place_id,
        distance: inKm(km),
        minutes,
        arrival: addMinutes(now, minutes),
        range: rangeOf(it),
      };
    },
  }),
  get_trip_log: tool({
    effect: "read",
    summary:
      "Get the trips that a vehicle has made, newest first, by day, purpose or driver, and how far all that fit come to.",
    input: {
      vehicle_id: vehicleId,
      from_date: day().optional().describe("First day"),
      to_date: day().optional().describe("Last day"),
      purpose: z.enum(purposes).optional().describe("Only trips of this purpose"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 5 if not given"),
    },
    returns: {
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
    run(garage, { vehicle_id, from_date, to_date, purpose, limit = 5 }) {
      vehicleOf(garage, vehicle_id);
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const found = Object.entries(garage.trips).filter(
        ([, it]) =>
          it.vehicle_id === vehicle_id &&
          it.minutes !== undefined &&
          (!from_date || it.start.slice(0, 10) >= from_date) &&
          (!to_date || it.start.slice(0, 10) <= to_date) &&
          (!purpose || it.purpose === purpose),
      );
      found.sort(([a, x], [b, y]) =>
        x.start < y.start ? 1 : x.start > y.start ? -1 : a < b ? -1 : 1,
      );
      const name = (place: string | undefined) =>
        place === undefined ? "on the road" : garage.places[place]!.name;
      return {
        trips: found.slice(0, limit).map(([trip_id, it]) => ({
          to: name(it.to),
          trip_id,
          from: name(it.from),
          start: it.start,
          distance: inKm(it.km),
          driver: it.driver,
        })),
        count: found.length,
        distance: inKm(found.reduce((sum, [, it]) => sum + it.km, 0)),
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
        .meta({
          examples: [
            "fuel station",
            "charging station",
            "restaurant",
            "supermarket",
            "doctor",
            "shop",
            "city",
            "hotel",
            "parking",
            "theatre",
          ],
        }),
      vehicle_id: vehicleId.optional().describe("Vehicle from which to count"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 25 if not given"),
    },
    returns: {
      places: z.array(
        z.object({
          place: label("place"),
          place_id: id("place"),
          category: z.string(),
          distance: z.string().optional(),
        }),
      ),
    },
    run(garage, { name, category, vehicle_id, limit = 25 }, { now }) {
      const vehicle = vehicle_id === undefined ? undefined : at(vehicleOf(garage, vehicle_id), now);
      const found = Object.entries(garage.places)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!category || containsText(it.category, category)),
        )
        .sort(byName);
      const rows = found.map(([place_id, it]) => ({
        place: it.name,
        place_id,
        category: it.category,
        km: vehicle && kmTo(garage, vehicle, place_id),
      }));
      if (vehicle) rows.sort((a, b) => a.km! - b.km!);
      return {
        places: rows
          .slice(0, limit)
          .map(({ km, ...it }) => ({ ...it, ...(km === undefined ? {} : { distance: inKm(km) }) })),
      };
    },
  }),
};

export const looking = { ...vehicles, ...journeys };
