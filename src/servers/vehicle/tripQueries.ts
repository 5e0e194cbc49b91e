/** Tools that show navigation, past trips and destinations. */
import { z } from "zod";
import { day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getSchemas } from "../kit/table.ts";
import { formatKm, computeKmTo, estimateMinutes, computeRange, getVehicleAt } from "./motion.ts";
import { formatVehicle, places, purposes, vehicleRow, vehicles, VehicleState } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
        places: rows.slice(0, limit).map(({ km, ...it }) => ({
          ...it,
          ...(km === undefined ? {} : { distance: formatKm(km) }),
        })),
      };
    },
  }),
};
