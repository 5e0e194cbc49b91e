/** Generates the places with their hours and ratings, and the saved places. */
import type { CastPlace, SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { roundDegrees } from "./geometry.ts";
import { placesAbroad, placePlans, elevations } from "./placePlans.ts";
import { streetsByRole } from "./streetPlans.ts";
import type { MapsState } from "./state.ts";

const getStreetAddress = ({ address }: CastPlace) => address.slice(0, address.lastIndexOf(","));

export function offsetFromHome({ home }: SharedCast, north: number, east: number) {
  const perDegreeEast = metresPerDegree * Math.cos((home.latitude * Math.PI) / 180);
  return {
    latitude: roundDegrees(home.latitude + north / metresPerDegree),
    longitude: roundDegrees(home.longitude + east / perDegreeEast),
  };
}

export function generatePlaces(
  { cast, size, random, nextId }: GeneratorContext,
  cities: MapsState["cities"],
  streets: MapsState["streets"],
): MapsState["places"] {
  const cityId = (name: string) => Object.entries(cities).find(([, it]) => it.name === name)?.[0];
  const home = cityId(cast.home.name)!;
  const streetId = (name: string) => Object.entries(streets).find(([, it]) => it.name === name)![0];
  const places: Record<string, MapsState["places"][string]> = {};
  for (const it of cast.places) {
    if (size === "small" && !smallRoles.includes(it.role)) continue;
    const category = it.category as MapsState["places"][string]["category"];
    places[nextId("plc")] = {
      name: it.name,
      category,
      city_id: home,
      street_id: streetId(getStreetName(it)),
      address: getStreetAddress(it),
      latitude: it.latitude,
      longitude: it.longitude,
      elevation: elevations.get(it.role) ?? cast.home.elevation + random.integer(18),
      ...(category === "home" || size === "small" ? {} : { phone: it.phone }),
      ...createRating(category, random.integer(18)),
      ...createHours(category, random.integer(4)),
    };
  }
  for (const it of placePlans) {
    if (size === "small" && !it.inSmall) continue;
    const name = streetsByRole.has(it.street)
      ? getStreetName(cast.getPlace(streetsByRole.get(it.street)!.role))
      : it.street;
    places[nextId("plc")] = {
      name: it.name,
      category: it.category,
      city_id: home,
      street_id: streetId(name),
      address: `${it.house} ${name}`,
      ...offsetFromHome(cast, it.at[0], it.at[1]),
      elevation: it.elevation ?? cast.home.elevation + random.integer(18),
      ...createRating(it.category, random.integer(18)),
      ...createHours(it.category, random.integer(4)),
      ...(it.gone ? { gone: true as const } : {}),
    };
  }
  for (const { city, name, category, address, north, east } of placesAbroad) {
    const city_id = cityId(city);
    if (!city_id || (size === "small" && !smallAbroad.includes(name))) continue;
    const center = cities[city_id]!;
    const perDegreeEast = metresPerDegree * Math.cos((center.latitude * Math.PI) / 180);
    places[nextId("plc")] = {
      name,
      category,
      city_id,
      address,
      latitude: roundDegrees(center.latitude + north / metresPerDegree),
      longitude: roundDegrees(center.longitude + east / perDegreeEast),
      elevation: center.elevation + random.integer(12),
      ...createRating(category, random.integer(18)),
      ...createHours(category, random.integer(4)),
    };
  }
  return places;
}

const unratedCategories = new Set([
  "home",
  "office",
  "station",
  "airport",
  "ferry terminal",
  "parking",
  "fuel station",
  "charging station",
  "school",
]);

const createRating = (category: string, more: number) =>
  unratedCategories.has(category) ? {} : { rating: Math.round((3.2 + more / 10) * 10) / 10 };

function createHours(
  category: string,
  variant: number,
): Pick<MapsState["places"][string], "hours"> {
  const sunday = { closed_on: "Sunday" as const };
  switch (category) {
    case "cafe":
    case "bakery":
      return {
        hours: {
          opens: variant < 2 ? "07:30" : "08:00",
          closes: variant === 1 ? "17:00" : "18:30",
          ...(variant === 3 ? { closed_on: "Monday" } : {}),
        },
      };
    case "restaurant":
      return {
        hours: {
          opens: "12:00",
          closes: variant < 2 ? "23:00" : "22:30",
          ...(variant === 2 ? { closed_on: "Monday" } : {}),
        },
      };
    case "bar":
      return { hours: { opens: "18:00", closes: variant < 2 ? "01:00" : "02:00" } };
    case "supermarket":
      return { hours: { opens: "08:00", closes: "21:30", ...sunday } };
    case "shop":
    case "hairdresser":
    case "pharmacy":
    case "garage":
      return {
        hours: {
          opens: variant < 2 ? "09:00" : "10:00",
          closes: variant < 2 ? "18:30" : "20:00",
          ...sunday,
        },
      };
    case "bank":
    case "post office":
    case "doctor":
      return { hours: { opens: variant < 2 ? "08:30" : "09:30", closes: "15:00", ...sunday } };
    case "museum":
    case "library":
      return {
        hours: {
          opens: "10:00",
          closes: variant < 2 ? "18:00" : "19:00",
          closed_on: variant === 0 ? "Sunday" : "Monday",
        },
      };
    case "gym":
      return { hours: { opens: "06:30", closes: "22:00" } };
    case "cinema":
    case "theatre":
      return { hours: { opens: "16:00", closes: "23:30" } };
    default:
      return {};
  }
}

const notes = [
  "good coffee",
  "ask for the table by the window",
  "book ahead",
  "closed at lunch",
  "bring cash",
  "recommended by a friend",
  "for a client lunch",
  "parking behind the house",
  "great light for photos",
  "birthday idea",
];

/** Generates what the user has saved and shared: one list is nearly full and one is full. */
export function generateSavedPlaces(
  { size, random, nextId }: GeneratorContext,
  places: MapsState["places"],
  roleId: (role: string) => string | undefined,
  contacts: readonly string[],
): Pick<MapsState, "saved" | "shared" | "limits"> {
  const saved: Record<string, MapsState["saved"][string]> = {};
  const limits = size === "small" ? { per_list: 3, shares: 2 } : { per_list: 14, shares: 12 };
  const save = (place_id: string, list: MapsState["saved"][string]["list"], day: number) => {
    saved[nextId("sav")] = {
      place_id,
      list,
      ...(random.boolean(0.5) ? { note: random.pick(notes) } : {}),
      at: `2026-0${day > 28 ? 2 : 1}-${String(1 + (day % 27)).padStart(2, "0")}T${String(9 + random.integer(11)).padStart(2, "0")}:${random.pick(["05", "20", "35", "50"])}`,
    };
  };
  const open = Object.entries(places)
    .filter(([, it]) => !it.gone && it.category !== "home")
    .map(([place_id]) => place_id);
  const roles =
    size === "small"
      ? { favourites: ["cafe", "trattoria"], work: ["studio", "station", "library"] }
      : {
          favourites: ["cafe", "trattoria", "bakery", "park", "cinema", "curry"],
          work: ["studio", "printer", "customs", "station", "post", "paper"],
        };
  const listRoleIds = (roles: readonly string[]) => roles.flatMap(role => roleId(role) ?? []);
  const counts =
    size === "small" ? { "want to go": 0, errands: 1 } : { "want to go": 14, errands: 7 };
  for (const [i, it] of listRoleIds(roles.favourites).entries()) save(it, "favourites", 3 * i);
  for (const [i, it] of listRoleIds(roles.work).entries()) save(it, "work", 4 + 3 * i);
  for (const [i, it] of random.shuffle(open).slice(0, counts["want to go"]).entries())
    save(it, "want to go", 30 + i);
  for (const [i, it] of random.shuffle(open).slice(0, counts.errands).entries())
    save(it, "errands", 2 * i);
  const shared: Record<string, MapsState["shared"][string]> = {};
  const trips =
    size === "small"
      ? ([["home", "studio", "cycling"]] as const)
      : ([
          ["home", "studio", "cycling"],
          ["studio", "airport", "driving"],
          ["station", "museum", "walking"],
          ["home", "aunt", "driving"],
          ["studio", "trattoria", "walking"],
          ["home", "hospital", "transit"],
          ["station", "studio", "walking"],
        ] as const);
  for (const [i, [from, to, mode]] of trips.entries()) {
    const isOver = i === 2;
    shared[nextId("shr")] = {
      from_place: roleId(from)!,
      to_place: roleId(to)!,
      mode,
      contact_id: contacts[(2 * i) % contacts.length]!,
      at: isOver ? "2026-03-06T15:00" : "2026-03-09T08:10",
      until: isOver
        ? "2026-03-06T19:00"
        : `2026-03-${i % 2 ? "10" : "09"}T${String(12 + i).padStart(2, "0")}:10`,
    };
  }
  return { saved, shared, limits };
}

export const metresPerDegree = 111_320;

/** The roles of the places in the small fixture: those that connect the town, and a few others. */
export const smallRoles = [
  "home",
  "studio",
  "cafe",
  "trattoria",
  "library",
  "station",
  "airport",
  "ferry",
  "lodge",
];

export const smallAbroad = ["Lisbon Airport", "British Museum"];

/** The street of an address: `Quay Street` of `14 Quay Street, Port Alder`. */
export const getStreetName = ({ address }: CastPlace) =>
  address.slice(address.indexOf(" ") + 1, address.lastIndexOf(","));
