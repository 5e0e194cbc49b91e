/** Tools that find and save places, and give the elevation, time zone and traffic at a place. */
import { z } from "zod";
import { id, label, rowLimit, rowTotal, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { getWeekdayName } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import {
  isWithin,
  getTimeOfDay,
  findNearestPoint,
  metersBetween,
  interpolateLine,
  formatAddress,
  MapsState,
  categories,
  findCity,
  getCity,
  places,
  type Place,
  convertTime,
  listIncidentsAt,
  lists,
  savedPlaces,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { getSlowness } from "./journey.ts";
import { getOriginal } from "../../environment/draft.ts";

const tool = createToolFactory(MapsState);

const category = z.enum(categories).optional().describe("Only places of this category");
const openNow = z.boolean().optional().describe("True for places that are open at this time only");
const limit = rowLimit(10).meta({ examples: vocabulary.limits });
const degrees = (most: number, what: string, examples: number[]) =>
  z.number().min(-most).max(most).describe(what).meta({ examples });
/** Whether a place is open, if its hours are known. */
function isOpen({ hours, gone }: Place, now: string): boolean | undefined {
  if (gone) return false;
  if (!hours) return undefined;
  return (
    getWeekdayName(now) !== hours.closed_on &&
    isWithin(getTimeOfDay(now), hours.opens, hours.closes)
  );
}

const placeRow = places.fields({
  name: label("place"),
  place_id: places.idField,
  category: z.string(),
});

function describeHours({ hours, gone }: Place): string {
  if (gone) return "closed for good";
  if (!hours) return "not listed";
  return `${hours.opens} to ${hours.closes}${hours.closed_on ? `, closed on ${hours.closed_on}` : ""}`;
}

/**
 * The farthest that a point may be from a place, a street or a city to count as there, in metres.
 */
const maxDistances = { place: 40, street: 400, city: 12_000 };

export const placeTools = {
  geocode: tool({
    effect: "read",
    summary:
      "Turn a street address or a city's name into coordinates, and say which place is there.",
    input: {
      address: label("address").describe("House number, street and city, or a city's name alone"),
    },
    returns: {
      address: label("address"),
      latitude: z.number(),
      longitude: z.number(),
      precision: z.enum(["place", "street", "city"]).describe("How exact the point is"),
      places: z
        .array(z.object({ name: label("place"), place_id: id("place") }))
        .optional()
        .describe("What is at that address"),
    },
    run(state, { address }) {
      const [firstPart = "", cityName = ""] = address.split(",").map(it => it.trim());
      const city = Object.values(state.cities).find(
        it => it.name.toLowerCase() === firstPart.toLowerCase() && !cityName,
      );
      if (city)
        return {
          address: city.name,
          latitude: city.latitude,
          longitude: city.longitude,
          precision: "city",
        };
      const cityId = cityName ? findCity(state, cityName).city_id : undefined;
      const matches = Object.entries(state.places).filter(
        ([, it]) =>
          it.address.toLowerCase() === firstPart.toLowerCase() &&
          (!cityId || it.city_id === cityId),
      );
      const [firstMatch] = matches;
      if (firstMatch) {
        const { latitude, longitude } = firstMatch[1];
        return {
          address: formatAddress(state, firstMatch[1]),
          latitude,
          longitude,
          precision: "place",
          places: matches.map(([place_id, it]) => ({ name: it.name, place_id })),
        };
      }
      const home = state.cities[state.home_city]!.name;
      const [, houseNumber = "", streetName = firstPart] = /^(\d{1,3}) (.+)$/.exec(firstPart) ?? [];
      const street = Object.values(state.streets).find(
        it => it.name.toLowerCase() === streetName.toLowerCase() && it.kind !== "ferry",
      );
      if (!street || (cityId && cityId !== state.home_city))
        return refuse(
          "not_found",
          `there is no address ${address} on this map`,
          "write it as number, street and city, or look for a place with maps_search_places",
        );
      if (houseNumber && Number(houseNumber) > street.numbers)
        refuse(
          "not_found",
          `${street.name} has house numbers up to ${street.numbers}, not ${houseNumber}`,
        );
      const point = interpolateLine(
        street.line,
        houseNumber ? Number(houseNumber) / street.numbers : 0.5,
      );
      return {
        address: `${houseNumber ? `${houseNumber} ` : ""}${street.name}, ${home}`,
        ...point,
        precision: "street",
      };
    },
  }),
  reverse_geocode: tool({
    effect: "read",
    summary:
      "Say what is at a point given by its coordinates: the nearest place with its address, the street, or the city.",
    input: {
      latitude: degrees(90, "Degrees north", vocabulary.latitudes),
      longitude: degrees(180, "Degrees east; west is negative", vocabulary.longitudes),
    },
    returns: {
      address: label("address").optional(),
      street: label("street").optional(),
      city: label("city"),
      place: label("place").optional(),
      place_id: id("place").optional(),
      meters: z.int().describe("How far it is from the point"),
    },
    run(state, point) {
      const city = Object.values(state.cities).reduce((best, it) =>
        metersBetween(point, it) < metersBetween(point, best) ? it : best,
      );
      const [place_id, place] = Object.entries(state.places).reduce((best, it) =>
        metersBetween(point, it[1]) < metersBetween(point, best[1]) ? it : best,
      );
      const toPlace = metersBetween(point, place);
      if (toPlace <= maxDistances.place)
        return {
          address: formatAddress(state, place),
          city: getCity(state, place).name,
          place: place.name,
          place_id,
          meters: Math.round(toPlace),
        };
      const streets = Object.values(state.streets)
        .filter(it => it.kind !== "ferry")
        .map(it => ({ name: it.name, meters: findNearestPoint(it.line, point).meters }));
      const street = streets.reduce((best, it) => (it.meters < best.meters ? it : best));
      if (street.meters <= maxDistances.street)
        return {
          street: street.name,
          city: state.cities[state.home_city]!.name,
          place: place.name,
          place_id,
          meters: Math.round(street.meters),
        };
      const toCity = metersBetween(point, city);
      if (toCity > maxDistances.city)
        refuse(
          "not_found",
          `there is nothing at ${point.latitude}, ${point.longitude}: the nearest city, ${city.name}, is ${Math.round(toCity / 1000)} km away`,
          "check the signs: west and south are negative",
        );
      return { city: city.name, meters: Math.round(toCity) };
    },
  }),
  search_places: tool({
    effect: "read",
    summary:
      "Find places by words of their name, by category or city, in the order of their names. For what is close to somewhere use maps_nearby_places.",
    input: {
      name: label("place").optional().describe("Only places whose name contains these words"),
      category,
      city: label("city").optional().describe("Only places of this city"),
      open_now: openNow,
      limit,
    },
    returns: {
      total: rowTotal("places"),
      places: z.array(z.object(getSchemas(placeRow))),
      more: z.int().optional().describe("How many were left out"),
    },
    run(state, { name, category, city, open_now, limit = 10 }, { now }) {
      const cityId = city === undefined ? undefined : findCity(state, city).city_id;
      const matches = Object.entries(state.places).filter(
        ([, it]) =>
          (!it.gone || name !== undefined) &&
          (!name || containsWords(it.name, name)) &&
          (!category || it.category === category) &&
          (!cityId || it.city_id === cityId) &&
          (!open_now || isOpen(it, now) === true),
      );
      const exact = name?.trim().toLowerCase();
      const sorted = matches.sort(
        ([a, x], [b, y]) =>
          Number(y.name.toLowerCase() === exact) - Number(x.name.toLowerCase() === exact) ||
          (x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1),
      );
      return {
        total: matches.length,
        places: sorted
          .slice(0, limit)
          .map(([place_id, { name, category }]) => ({ name, place_id, category })),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
  get_place: places.get({
    summary:
      "Get one place in full: address, coordinates, phone, rating, opening hours and whether it is open now.",
    row: {
      ...placeRow,
      address: [label("address"), (it, { world }) => formatAddress(world, it)],
      city: [label("city"), (it, { world }) => getCity(world, it).name],
      latitude: z.number(),
      longitude: z.number(),
      phone: [z.string(), it => it.phone ?? "not listed"],
      rating: [
        z.string().describe("Of 5"),
        it => (it.rating === undefined ? "not rated" : `${it.rating} of 5`),
      ],
      hours: [z.string(), describeHours],
      open: [
        z.boolean().optional().describe("Whether it is open at this time"),
        (it, { now }) => isOpen(it, now),
      ],
      closed_for_good: [z.boolean().optional(), it => it.gone],
    },
  }),
  nearby_places: tool({
    effect: "read",
    summary:
      "List the places around a place, nearest first, with how far they are as the crow flies.",
    input: {
      place_id: places.id.describe("Place in the middle, as maps_search_places gives it"),
      category,
      radius: z
        .int()
        .min(50)
        .max(20_000)
        .optional()
        .describe("How far around, in metres, 500 if not given")
        .meta({ examples: vocabulary.radii }),
      open_now: openNow,
      limit,
    },
    returns: {
      total: rowTotal("places"),
      places: z.array(z.object({ ...getSchemas(placeRow), meters: z.int() })),
    },
    run(state, { place_id, category, radius = 500, open_now, limit = 8 }, { now }) {
      const center = places.find(state, place_id);
      const nearby = Object.entries(state.places)
        .filter(
          ([other, it]) =>
            other !== place_id &&
            !it.gone &&
            (!category || it.category === category) &&
            (!open_now || isOpen(it, now) === true),
        )
        .map(([place_id, it]) => ({
          name: it.name,
          place_id,
          category: it.category,
          meters: Math.round(metersBetween(center, it)),
        }))
        .filter(it => it.meters <= radius);
      return {
        total: nearby.length,
        places: nearby
          .sort((a, b) => a.meters - b.meters || (a.place_id < b.place_id ? -1 : 1))
          .slice(0, limit),
      };
    },
  }),
};

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
      total: rowTotal("streets"),
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
      return { total: rows.length, streets: rows.slice(0, limit).map(it => it.row) };
    },
  }),
};

const list = z.enum(lists);

export const savedPlaceTools = {
  save_place: tool({
    effect: "write",
    summary:
      "Keep a place on one of the user's lists, with a note if there is something to remember. A place stands on a list once.",
    input: {
      place_id: places.id,
      list: list.describe("List to keep it on"),
      note: z.string().min(1).max(200).optional().describe("What to remember about it").meta({
        examples: vocabulary.notes,
      }),
    },
    returns: {
      saved_id: id("saved_place"),
      name: label("saved_place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(state, { place_id, list, note }, { now, newId }) {
      const original = getOriginal(state);
      const place = places.find(original, place_id);
      if (place.gone)
        refuse(
          "precondition_failed",
          `${place.name} has closed for good`,
          "maps_nearby_places finds something like it",
        );
      const placesOnList = Object.values(original.saved).filter(it => it.list === list);
      if (placesOnList.some(it => it.place_id === place_id))
        refuse("conflict", `${place.name} is on the list ${list} already`);
      if (placesOnList.length >= original.limits.per_list)
        refuse(
          "limit_exceeded",
          `the list ${list} is full: it holds ${original.limits.per_list} places`,
          `keep it on another list (${lists.filter(it => it !== list).join(", ")}), or make room with maps_remove_saved_place`,
        );
      const saved_id = newId("sav");
      state.saved[saved_id] = {
        place_id,
        list,
        ...(note === undefined ? {} : { note }),
        at: now,
      };
      return { saved_id, name: place.name, list, on_list: placesOnList.length + 1 };
    },
  }),
  remove_saved_place: tool({
    effect: "write",
    summary: "Take a place off the list on which the user has saved it, which makes room there.",
    destructive: true,
    input: { saved_id: savedPlaces.id },
    returns: {
      removed: z.string().describe("Name of the place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(state, { saved_id }) {
      const original = getOriginal(state);
      const { place_id, list } = savedPlaces.find(original, saved_id);
      delete state.saved[saved_id];
      return {
        removed: original.places[place_id]!.name,
        list,
        on_list: Object.values(original.saved).filter(it => it.list === list).length - 1,
      };
    },
  }),
  list_saved_places: tool({
    effect: "read",
    summary:
      "List the places that the user has saved, newest first, all of them or one list's; without a filter the routes shared with others at this time as well.",
    input: {
      list: list.optional().describe("Only places of this list"),
      name: label("saved_place").optional().describe("Only places whose name contains this"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many places, 10 if not given")
        .meta({ examples: [3, 4, 5, 6] }),
    },
    returns: {
      total: rowTotal("places"),
      places: z.array(
        z.object({
          name: label("saved_place"),
          saved_id: id("saved_place"),
          place_id: id("place"),
          list: z.string(),
          note: z.string().optional(),
        }),
      ),
      shared: z
        .array(
          z.object({
            to: z.string(),
            shared_id: id("shared_route"),
            contact: label("contact"),
            mode: z.string(),
            until: minute(),
          }),
        )
        .optional(),
    },
    run(state, { list, name, limit }, { now }) {
      const matches = Object.entries(state.saved).filter(
        ([, it]) =>
          (!list || it.list === list) &&
          (!name || containsWords(state.places[it.place_id]!.name, name)),
      );
      const sorted = matches.sort(([a, x], [b, y]) =>
        x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? 1 : -1,
      );
      const shared = Object.entries(state.shared)
        .filter(([, it]) => it.until > now)
        .map(([shared_id, it]) => ({
          to: state.places[it.to_place]!.name,
          shared_id,
          contact: state.contacts[it.contact_id]!.name,
          mode: it.mode,
          until: it.until,
        }));
      return {
        total: matches.length,
        places: sorted.slice(0, limit ?? 10).map(([saved_id, it]) => ({
          name: state.places[it.place_id]!.name,
          saved_id,
          place_id: it.place_id,
          list: it.list,
          ...(it.note === undefined ? {} : { note: it.note }),
        })),
        ...(list === undefined && name === undefined && limit === undefined ? { shared } : {}),
      };
    },
  }),
};
