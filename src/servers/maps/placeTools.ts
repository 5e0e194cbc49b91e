/** Tools that find places and addresses. */
import { z } from "zod";
import { id, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { getWeekdayName } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import { isWithin, getTimeOfDay } from "./localTime.ts";
import { findNearestPoint, metersBetween, interpolateLine } from "./geometry.ts";
import {
  formatAddress,
  MapsState,
  categories,
  findCity,
  getCity,
  places,
  type Place,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
        places: nearby
          .sort((a, b) => a.meters - b.meters || (a.place_id < b.place_id ? -1 : 1))
          .slice(0, limit),
      };
    },
  }),
};
