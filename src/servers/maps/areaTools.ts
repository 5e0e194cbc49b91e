/** Tools for elevation, time zone and traffic at a place. */
import { z } from "zod";
import { id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { convertTime } from "./localTime.ts";
import { metersBetween } from "./geometry.ts";
import { getSlowness } from "./journey.ts";
import { findCity, listIncidentsAt, places, MapsState } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(MapsState);

/** The speed of a car on an empty street, in kilometres per hour. */
const freeFlowSpeeds = { main: 42, street: 28, lane: 18, country: 65 } as const;

const getTrafficLevel = (slowness: number): "free" | "moderate" | "heavy" =>
  slowness < 1.3 ? "free" : slowness < 1.8 ? "moderate" : "heavy";

export const areaTools = {
  get_elevation: tool({
    effect: "read",
    summary:
      "Get how high a place lies above the sea, and from another place the climb and how steep it is on average.",
    input: {
      place_id: places.id,
      from_place: places.id.optional().describe("Place from which to climb"),
    },
    returns: {
      name: label("place"),
      place_id: id("place"),
      elevation: z.int().describe("Metres above the sea"),
      climb: z.int().optional().describe("Metres up, or down if negative"),
      percent: z.int().optional().describe("How steep it is on average"),
    },
    run(state, { place_id, from_place }) {
      const place = places.find(state, place_id);
      const own = { name: place.name, place_id, elevation: place.elevation };
      if (from_place === undefined) return own;
      if (from_place === place_id)
        refuse(
          "invalid_params",
          `both places are ${place.name}`,
          "give two different places, or leave out from_place",
        );
      const from = places.find(state, from_place);
      const climb = place.elevation - from.elevation;
      return {
        ...own,
        climb,
        // the sum is 0 where rounding gives -0
        percent: 0 + Math.round((100 * climb) / Math.max(1, metersBetween(from, place))),
      };
    },
  }),
  get_timezone: tool({
    effect: "read",
    summary:
      "Get a city's time zone and what time it is there, now or when it is a given time at home.",
    input: {
      city: label("city").describe("Name of the city"),
      at: minute().optional().describe("Time at home, YYYY-MM-DDTHH:MM, now if not given"),
    },
    returns: {
      city: label("city"),
      timezone: z.string(),
      offset: z.string(),
      local_time: minute(),
    },
    run(state, { city, at }, { now }) {
      const cityRow = findCity(state, city);
      const { local, offset } = convertTime(
        at ?? now,
        state.cities[state.home_city]!.timezone,
        cityRow.timezone,
      );
      return { city: cityRow.name, timezone: cityRow.timezone, offset, local_time: local };
    },
  }),
  get_traffic: tool({
    effect: "read",
    summary:
      "Get the traffic on the home city's streets, slowest first, with closures and roadworks; now or at a coming time, of all streets or one.",
    input: {
      street: label("street").optional().describe("Only this street, by its name"),
      at: minute().optional().describe("Time to look at, YYYY-MM-DDTHH:MM, now if not given"),
      limit: rowLimit(6, 20).meta({ examples: vocabulary.streetLimits }),
    },
    returns: {
      streets: z.array(
        z.object({
          street: label("street"),
          traffic: z.enum(["free", "moderate", "heavy", "closed"]),
          speed: z.int().describe("Kilometres an hour"),
          because: z.string().optional(),
        }),
      ),
    },
    run(state, { street, at: requestedTime, limit = 6 }, { now }) {
      const at = requestedTime ?? now;
      if (at < now)
        refuse(
          "precondition_failed",
          `${at} has passed: it is ${now}`,
          "leave at out for the traffic now",
        );
      const streetName = street?.trim().toLowerCase();
      const matches = Object.entries(state.streets).filter(
        ([, it]) => streetName === undefined || it.name.toLowerCase() === streetName,
      );
      if (matches.length === 0)
        refuse(
          "not_found",
          `there is no street ${street} in ${state.cities[state.home_city]!.name}`,
          "leave street out to see which there are",
        );
      const driveable = matches.flatMap(([street_id, it]) =>
        it.kind === "path" || it.kind === "ferry"
          ? []
          : [{ street_id, name: it.name, speed: freeFlowSpeeds[it.kind] }],
      );
      if (driveable.length === 0)
        refuse("precondition_failed", `${matches[0]![1].name} has no traffic: no cars may use it`);
      const rows = driveable.map(it => {
        const incident = listIncidentsAt(state, at).find(other => other.street_id === it.street_id);
        const isClosed = incident?.kind === "closure" && incident.modes.includes("driving");
        const slowness = isClosed ? Infinity : getSlowness(state, it.street_id, at);
        const because = incident
          ? { because: `${incident.kind} until ${incident.until.replace("T", " ")}` }
          : {};
        return {
          slowness,
          row: {
            street: it.name,
            traffic: isClosed ? ("closed" as const) : getTrafficLevel(slowness),
            speed: Math.round(it.speed / slowness),
            ...because,
          },
        };
      });
      rows.sort((a, b) =>
        a.slowness === b.slowness
          ? a.row.street < b.row.street
            ? -1
            : 1
          : b.slowness > a.slowness
            ? 1
            : -1,
      );
      return { streets: rows.slice(0, limit).map(it => it.row) };
    },
  }),
};
