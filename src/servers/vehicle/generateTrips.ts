/** Generates the places, drivers and past trips of vehicles. */
import type { Random } from "../../environment/random.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import type { VehiclePlan } from "./generateValues.ts";
import { estimateMinutes, computeRoadKm, roundToTenth } from "./motion.ts";
import type { VehicleState, Destination } from "./state.ts";

/** Prices at stations in euros, by the role of the place. */
const energyPrices: Readonly<Record<string, NonNullable<Destination["sells"]>>> = {
  fuel: { petrol: 1.62, diesel: 1.54 },
  supermarket: { petrol: 1.57, diesel: 1.49 },
  charger: { power: 0.49 },
  parking: { power: 0.58 },
  lodge: { power: 0.62 },
};

const smallRoles = [
  "home",
  "studio",
  "cafe",
  "grocery",
  "printer",
  "fuel",
  "charger",
  "aunt",
  "station",
  "beach",
];

const smallCities = ["Madrid", "Paris"];

/** Countries that cannot be reached by road. */
const islands = new Set(["United Kingdom", "Ireland"]);

export interface VehicleMap {
  readonly places: VehicleState["places"];
  /** Place ids by role. */
  readonly by: ReadonlyMap<string, string>;
}

export function createMap({ cast, size, nextId }: GeneratorContext): VehicleMap {
  const places: VehicleState["places"] = {};
  const placeIds = new Map<string, string>();
  for (const { role, name, category, address, latitude, longitude } of cast.places) {
    if (size === "small" && !smallRoles.includes(role)) continue;
    const key = nextId("plc");
    placeIds.set(role, key);
    places[key] = {
      name,
      category,
      address,
      latitude,
      longitude,
      ...(energyPrices[role] ? { sells: energyPrices[role] } : {}),
    };
  }
  for (const { name, country, latitude, longitude } of cast.cities.slice(1))
    if (!islands.has(country) && (size === "full" || smallCities.includes(name)))
      places[nextId("plc")] = {
        name,
        category: "city",
        address: `${name}, ${country}`,
        latitude,
        longitude,
      };
  return { places, by: placeIds };
}

const getDayBefore = (days: number) => dayAfterStart(-days);

/** The drivers of a vehicle, by its owner. */
function listDrivers(
  whose: VehiclePlan["whose"],
  { user, colleagues, friends }: SharedCast,
): readonly string[] {
  switch (whose) {
    case "user":
    case "shared":
      return [user.name];
    case "studio":
      return [user.name, ...colleagues.slice(0, 6).map(it => it.name)];
    case "brother":
      return [friends[0]!.name];
    case "aunt":
      return [friends[1]!.name, user.name];
    default:
      return whose satisfies never;
  }
}

/** Generates consecutive trips, of which the last one ends at the vehicle's current place. */
export function generateTrips(
  plan: VehiclePlan,
  vehicle_id: string,
  map: VehicleMap,
  { cast, random, size }: GeneratorContext,
): VehicleState["trips"][string][] {
  const drivers = listDrivers(plan.whose, cast);
  const destinations = [...map.by.values()];
  const cities = Object.keys(map.places).filter(
    it =>
      map.places[it]!.category === "city" &&
      computeRoadKm(map.places[it]!, map.places[map.by.get("home")!]!) < 900,
  );
  const visitsCities = size === "full" && plan.whose !== "shared";
  const currentPlace = map.by.get(plan.at)!;
  const n = size === "small" ? plan.few! : 8 + random.integer(5);
  const trips: VehicleState["trips"][string][] = [];
  let from = random.pick(destinations.filter(it => it !== currentPlace));
  for (let i = 0; i < n; i++) {
    const candidates = visitsCities && i < n - 2 && random.boolean(0.12) ? cities : destinations;
    const to =
      i === n - 1
        ? currentPlace
        : random.pick(candidates.filter(it => it !== from && (i < n - 2 || it !== currentPlace)));
    const km = roundToTenth(
      Math.max(0.2, computeRoadKm(map.places[from]!, map.places[to]!)) + random.integer(4) / 10,
    );
    const start = `${getDayBefore(1 + (n - 1 - i) * 3 + random.integer(3))}T${pickTime(random)}`;
    const purpose =
      plan.whose === "studio"
        ? random.boolean(0.8)
          ? "business"
          : "private"
        : random.boolean(0.15)
          ? "business"
          : "private";
    trips.push({
      vehicle_id,
      driver: random.pick(drivers),
      purpose,
      from,
      to,
      start,
      minutes: estimateMinutes(km) + random.integer(6),
      km,
    });
    from = to;
  }
  return trips;
}

const pickTime = (random: Random) =>
  `${String(8 + random.integer(12)).padStart(2, "0")}:${random.pick(["00", "05", "15", "20", "30", "40", "45", "55"])}`;
