/** Generates the places, drivers and past trips of vehicles. */
import type { Random } from "../../environment/random.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import type { VehiclePlan } from "./generateValues.ts";
import { minutesFor, roadKm, tenth } from "./motion.ts";
import type { Garage, Place } from "./state.ts";

/** What stations sell, by the role of the place, in euros. */
const sold: Readonly<Record<string, NonNullable<Place["sells"]>>> = {
  fuel: { petrol: 1.62, diesel: 1.54 },
  supermarket: { petrol: 1.57, diesel: 1.49 },
  charger: { power: 0.49 },
  parking: { power: 0.58 },
  lodge: { power: 0.62 },
};

const fewRoles = [
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

const fewCities = ["Madrid", "Paris"];

/** No road leads there. */
const islands = new Set(["United Kingdom", "Ireland"]);

export interface Map {
  readonly places: Garage["places"];
  /** Ids by role. */
  readonly by: ReadonlyMap<string, string>;
}

export function mapOf({ cast, size, nextId }: GeneratorContext): Map {
  const places: Garage["places"] = {};
  const by = new Map<string, string>();
  for (const { role, name, category, address, latitude, longitude } of cast.places) {
    if (size === "small" && !fewRoles.includes(role)) continue;
    const key = nextId("plc");
    by.set(role, key);
    places[key] = {
      name,
      category,
      address,
      latitude,
      longitude,
      ...(sold[role] ? { sells: sold[role] } : {}),
    };
  }
  for (const { name, country, latitude, longitude } of cast.cities.slice(1))
    if (!islands.has(country) && (size === "full" || fewCities.includes(name)))
      places[nextId("plc")] = {
        name,
        category: "city",
        address: `${name}, ${country}`,
        latitude,
        longitude,
      };
  return { places, by };
}

const dayBefore = (days: number) => dayAfterStart(-days);

/** Who drives it, by whose it is. */
function driversOf(
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

/** Trips one after the other, the last one to where it stands now. */
export function tripsOf(
  plan: VehiclePlan,
  vehicle_id: string,
  map: Map,
  { cast, random, size }: GeneratorContext,
): Garage["trips"][string][] {
  const drivers = driversOf(plan.whose, cast);
  const goals = [...map.by.values()];
  const cities = Object.keys(map.places).filter(
    it =>
      map.places[it]!.category === "city" &&
      roadKm(map.places[it]!, map.places[map.by.get("home")!]!) < 900,
  );
  const goesFar = size === "full" && plan.whose !== "shared";
  const here = map.by.get(plan.at)!;
  const n = size === "small" ? plan.few! : 8 + random.integer(5);
  const trips: Garage["trips"][string][] = [];
  let from = random.pick(goals.filter(it => it !== here));
  for (let i = 0; i < n; i++) {
    const next = goesFar && i < n - 2 && random.boolean(0.12) ? cities : goals;
    const to =
      i === n - 1
        ? here
        : random.pick(next.filter(it => it !== from && (i < n - 2 || it !== here)));
    const km = tenth(
      Math.max(0.2, roadKm(map.places[from]!, map.places[to]!)) + random.integer(4) / 10,
    );
    const start = `${dayBefore(1 + (n - 1 - i) * 3 + random.integer(3))}T${timeOfDay(random)}`;
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
      minutes: minutesFor(km) + random.integer(6),
      km,
    });
    from = to;
  }
  return trips;
}

const timeOfDay = (random: Random) =>
  `${String(8 + random.integer(12)).padStart(2, "0")}:${random.pick(["00", "05", "15", "20", "30", "40", "45", "55"])}`;
