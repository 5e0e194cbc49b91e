/**
 * The state of the map: cities, the home city's streets as lines of points, places on them, tram
 * and bus lines, ferries between cities, incidents on the streets, and what the user has saved and
 * shared.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";
import { addMinutes, getWeekdayName } from "../../environment/time.ts";

export const categories = [
  "home",
  "office",
  "cafe",
  "bakery",
  "restaurant",
  "bar",
  "supermarket",
  "pharmacy",
  "shop",
  "hairdresser",
  "gym",
  "school",
  "library",
  "cinema",
  "theatre",
  "museum",
  "landmark",
  "viewpoint",
  "venue",
  "doctor",
  "hospital",
  "station",
  "airport",
  "ferry terminal",
  "garage",
  "fuel station",
  "charging station",
  "parking",
  "park",
  "beach",
  "bank",
  "post office",
  "hotel",
] as const;

export const modes = ["walking", "cycling", "driving", "transit"] as const;
export type Mode = (typeof modes)[number];

export const lists = ["favourites", "want to go", "work", "errands"] as const;

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const mode = z.enum(modes);

const City = z.strictObject({
  name: z.string(),
  country: z.string(),
  latitude,
  longitude,
  /** Metres above the sea. */
  elevation: z.int(),
  timezone: z.string(),
  /** Cities of the same land can be reached from each other without a ferry. */
  land: z.enum(["mainland", "Britain", "Ireland"]),
});

const Street = z.strictObject({
  name: z.string(),
  /** `path`: not for cars. `ferry`: takes everybody but cars, within its hours. */
  kind: z.enum(["main", "street", "lane", "country", "path", "ferry"]),
  /** How much traffic slows it in the rush hour: 0 not at all, 3 to half the speed. */
  busy: z.int().min(0).max(3),
  /** The highest house number. */
  numbers: z.int().min(0).max(400),
  /** The points, as latitude and longitude. Streets meet where they share a point. */
  line: z
    .array(z.tuple([latitude, longitude]))
    .min(2)
    .max(12),
  hours: z.strictObject({ from: clock, to: clock }).optional(),
});
export type Street = z.infer<typeof Street>;

const Place = z.strictObject({
  name: z.string(),
  category: z.enum(categories),
  city_id: z.string(),
  /** Only places in the home city have one. */
  street_id: z.string().optional(),
  /** House number and street. */
  address: z.string(),
  latitude,
  longitude,
  elevation: z.int(),
  phone: z.string().optional(),
  rating: z.number().min(1).max(5).optional(),
  hours: z
    .strictObject({
      opens: clock,
      closes: clock,
      closed_on: z.enum(["Sunday", "Monday"]).optional(),
    })
    .optional(),
  /** Closed for good. */
  gone: z.literal(true).optional(),
});
export type Place = z.infer<typeof Place>;

const Line = z.strictObject({
  name: z.string(),
  kind: z.enum(["tram", "bus"]),
  /** Places, in order; it runs both ways. */
  stops: z.array(z.string()).min(2).max(10),
  every: z.int().min(4).max(60),
  first: clock,
  last: clock,
});
export type Line = z.infer<typeof Line>;

const Ferry = z.strictObject({
  name: z.string(),
  from_city: z.string(),
  to_city: z.string(),
  /** Every day, both ways. */
  departs: clock,
  minutes: z.int().min(30).max(2880),
  suspended_until: minute().optional(),
});
export type Ferry = z.infer<typeof Ferry>;

const Incident = z.strictObject({
  street_id: z.string(),
  kind: z.enum(["closure", "roadworks", "accident"]),
  /** The modes that a closure blocks. */
  modes: z.array(mode).min(1).max(4),
  from: minute(),
  until: minute(),
});

const Saved = z.strictObject({
  place_id: z.string(),
  list: z.enum(lists),
  note: z.string().optional(),
  at: minute(),
});

const Shared = z.strictObject({
  from_place: z.string(),
  to_place: z.string(),
  mode,
  contact_id: z.string(),
  at: minute(),
  until: minute(),
});

export const references = {
  home_city: "cities",
  "places.*.city_id": "cities",
  "places.*.street_id": "streets",
  "lines.*.stops.*": "places",
  "ferries.*.from_city": "cities",
  "ferries.*.to_city": "cities",
  "incidents.*.street_id": "streets",
  "saved.*.place_id": "places",
  "shared.*.from_place": "places",
  "shared.*.to_place": "places",
  "shared.*.contact_id": "contacts",
} satisfies References;

export const MapsState = z.strictObject({
  user: z.string(),
  home_city: z.string(),
  cities: z.record(z.string(), City),
  streets: z.record(z.string(), Street),
  places: z.record(z.string(), Place),
  lines: z.record(z.string(), Line),
  ferries: z.record(z.string(), Ferry),
  incidents: z.record(z.string(), Incident),
  /** People with whom a route can be shared, unless they are `muted`. */
  contacts: z.record(
    z.string(),
    z.strictObject({ name: z.string(), email: z.string(), muted: z.literal(true).optional() }),
  ),
  saved: z.record(z.string(), Saved),
  shared: z.record(z.string(), Shared),
  /** The most places on a list, and the most routes shared at one time. */
  limits: z.strictObject({ per_list: z.int().min(1).max(100), shares: z.int().min(1).max(100) }),
});
export type MapsState = z.infer<typeof MapsState>;

const table = createTableFactory(MapsState);
export const places = table("places", { entity: "place", idsFrom: "maps_search_places" });
export const savedPlaces = table("saved", {
  entity: "saved_place",
  noun: "saved place",
  idsFrom: "maps_list_saved_places",
  description:
    "Id of the saved place, as maps_list_saved_places gives it; not that of the place itself",
});

export const getCity = (state: MapsState, place: Place) => state.cities[place.city_id]!;

export const formatAddress = (state: MapsState, place: Place): string =>
  `${place.address}, ${getCity(state, place).name}`;

/** The city with that name, whatever its case. */
export function findCity(state: MapsState, name: string) {
  const normalizedName = name.trim().toLowerCase();
  const match = Object.entries(state.cities).find(
    ([, it]) => it.name.toLowerCase() === normalizedName,
  );
  if (!match)
    return refuse(
      "not_found",
      `there is no city ${name} on this map`,
      `it has ${Object.values(state.cities)
        .map(it => it.name)
        .join(", ")}`,
    );
  return { city_id: match[0], ...match[1] };
}

/** The incidents at a time. */
export const listIncidentsAt = ({ incidents }: MapsState, at: string) =>
  Object.values(incidents).filter(it => it.from <= at && at < it.until);

export const getTimeOfDay = (at: string): string => at.slice(11);

/** The amount of traffic at a time, from 0 to 1 in the rush hour. */
export function getTrafficFactor(at: string): number {
  const time = getTimeOfDay(at);
  if (["Saturday", "Sunday"].includes(getWeekdayName(at)))
    return time >= "10:00" && time < "20:00" ? 0.4 : 0.1;
  if ((time >= "07:30" && time < "09:30") || (time >= "16:30" && time < "19:00")) return 1;
  return time >= "06:30" && time < "21:00" ? 0.5 : 0.1;
}

/** Whether a time of day lies within hours, which may go past midnight. */
export const isWithin = (time: string, from: string, to: string): boolean =>
  from <= to ? time >= from && time < to : time >= from || time < to;

/** Time zones at UTC+0 in winter; all others on the map are an hour ahead. */
const westernTimezones = ["Europe/Lisbon", "Europe/London", "Europe/Dublin"];

/**
 * Minutes ahead of UTC at a time in UTC. Summer time is from the last Sunday of March to the last
 * Sunday of October, 01:00 UTC.
 */
function getUtcOffset(timezone: string, utc: string): number {
  const year = utc.slice(0, 4);
  const isSummer = utc >= getLastSunday(year, "03") && utc < getLastSunday(year, "10");
  return (westernTimezones.includes(timezone) ? 0 : 60) + (isSummer ? 60 : 0);
}

function getLastSunday(year: string, month: "03" | "10"): string {
  const last = new Date(`${year}-${month}-31T00:00Z`);
  return `${year}-${month}-${31 - last.getUTCDay()}T01:00`;
}

/** Converts the time `at` in the time zone `from` to the time zone `to`. */
export function convertTime(
  at: string,
  from: string,
  to: string,
): { readonly local: string; readonly offset: string } {
  const standardTime = addMinutes(at, -getUtcOffset(from, at));
  const utc = addMinutes(at, -getUtcOffset(from, standardTime));
  const offset = getUtcOffset(to, utc);
  return { local: addMinutes(utc, offset), offset: `UTC+${offset / 60}` };
}

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const earthRadius = 6_371_000;
const toRadians = (degrees: number) => (degrees * Math.PI) / 180;

/** Metres between two points along the great circle (haversine formula). */
export function metersBetween(a: Point, b: Point): number {
  const [north, east] = [toRadians(b.latitude - a.latitude), toRadians(b.longitude - a.longitude)];
  const chord =
    Math.sin(north / 2) ** 2 +
    Math.cos(toRadians(a.latitude)) * Math.cos(toRadians(b.latitude)) * Math.sin(east / 2) ** 2;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(chord)));
}

interface NearestPoint {
  /** The segment runs from point number `at` of the line to the next. */
  readonly at: number;
  readonly point: Point;
  readonly meters: number;
}

/**
 * The point of a line that is nearest to a point. Segments are short enough to be treated as flat.
 */
export function findNearestPoint(
  line: readonly (readonly [number, number])[],
  point: Point,
): NearestPoint {
  const candidates = line.slice(1).map((end, at): NearestPoint => {
    const start = line[at]!;
    const longitudeScale = Math.cos(toRadians(point.latitude));
    const [along, across] = [end[0] - start[0], (end[1] - start[1]) * longitudeScale];
    const [pointAlong, pointAcross] = [
      point.latitude - start[0],
      (point.longitude - start[1]) * longitudeScale,
    ];
    const length = along ** 2 + across ** 2;
    const share =
      length === 0
        ? 0
        : Math.min(1, Math.max(0, (pointAlong * along + pointAcross * across) / length));
    const nearest = {
      latitude: start[0] + share * (end[0] - start[0]),
      longitude: start[1] + share * (end[1] - start[1]),
    };
    return { at, point: nearest, meters: metersBetween(point, nearest) };
  });
  return candidates.reduce((best, it) => (it.meters < best.meters ? it : best));
}

/** The point at a share of the whole length of a line. */
export function interpolateLine(
  line: readonly (readonly [number, number])[],
  share: number,
): Point {
  const points = line.map(([latitude, longitude]) => ({ latitude, longitude }));
  const lengths = points.slice(1).map((it, i) => metersBetween(points[i]!, it));
  let remaining = share * lengths.reduce((sum, it) => sum + it, 0);
  const at = Math.max(
    0,
    lengths.findIndex(it => (remaining -= it) <= 0),
  );
  const fraction = Math.min(1, 1 + remaining / Math.max(1, lengths[at]!));
  const [start, end] = [points[at]!, points[at + 1]!];
  return {
    latitude: roundDegrees(start.latitude + fraction * (end.latitude - start.latitude)),
    longitude: roundDegrees(start.longitude + fraction * (end.longitude - start.longitude)),
  };
}

/** Rounds to five decimals, about a metre. */
const roundDegrees = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
