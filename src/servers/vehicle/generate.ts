/**
 * The vehicles that the canon's user may drive: where they stand, how they are, and the trips that
 * brought them there.
 */
import type { Random } from "../../environment/random.ts";
import { kmTo, minutesFor, roadKm, tenth } from "./motion.ts";
import { server } from "./server.ts";
import type { Garage, Place, Vehicle } from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";
import { vehiclePlans, type VehiclePlan } from "./generateValues.ts";
import { dayAfterStart } from "../shared/startTime.ts";

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

interface Map {
  readonly places: Garage["places"];
  /** Ids by role. */
  readonly by: ReadonlyMap<string, string>;
}

function mapOf({ cast, size, nextId }: GeneratorContext): Map {
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
function tripsOf(
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

function vehicleOf(
  plan: VehiclePlan,
  map: Map,
  driven: number,
  trip_id: string | undefined,
): Vehicle {
  const { name, model, plate, goal, trip: _, away = 0, first, tank, battery, ...rest } = plan.as;
  const place_id = map.by.get(plan.at)!;
  const made: Vehicle = {
    name,
    model,
    plate,
    access: "drive",
    ...(tank ? { tank } : {}),
    ...(battery ? { battery } : {}),
    modes: ["comfort", "eco"],
    mode: "comfort",
    engine: "off",
    gear: "park",
    brake: false,
    speed: 0,
    open: [],
    locked: true,
    climate: { temperature: 20, fan: 0 },
    lamps: "off",
    wipers: "off",
    washer: 70,
    place_id,
    away,
    ...(trip_id === undefined ? {} : { trip_id }),
    odometer_first: first,
    odometer: tenth(first + driven + away),
    tires: { "front left": 2.4, "front right": 2.4, "rear left": 2.4, "rear right": 2.4 },
    pressure: 2.4,
    ...rest,
  };
  if (goal !== undefined)
    made.route = {
      place_id: map.by.get(goal)!,
      km: tenth(
        Math.max(0.4, roadKm(map.places[place_id]!, map.places[map.by.get(goal)!]!) - away),
      ),
      delay: 2,
    };
  return made;
}

export const generator = defineGenerator<Garage>({
  server,
  generate(context) {
    const { cast, size, nextId } = context;
    const map = mapOf(context);
    const vehicles: Garage["vehicles"] = {};
    const trips: Garage["trips"] = {};
    for (const plan of vehiclePlans.filter(it => size === "full" || it.few)) {
      const vehicle_id = nextId("veh");
      const own = tripsOf(plan, vehicle_id, map, context);
      for (const it of own) trips[nextId("trip")] = it;
      const { trip: start, away = 0 } = plan.as;
      const under = start === undefined ? undefined : nextId("trip");
      if (under !== undefined)
        trips[under] = {
          vehicle_id,
          driver: own.at(-1)!.driver,
          purpose: "private",
          from: map.by.get(plan.at)!,
          start: start!,
          km: away,
        };
      vehicles[vehicle_id] = vehicleOf(
        plan,
        map,
        tenth(own.reduce((sum, it) => sum + it.km, 0)),
        under,
      );
    }
    return {
      user: cast.user.name,
      weather: { outside: 9, rain: "light" },
      vehicles,
      places: map.places,
      trips,
    };
  },
  findInconsistencies(garage, states, cast) {
    return [
      ...(garage.user === cast.user.name
        ? []
        : [`the user ${garage.user} is not ${cast.user.name}`]),
      ...dangling(garage),
      ...sums(garage),
      ...misplaced(garage, states, cast),
    ];
  },
});

function dangling({ vehicles, places, trips }: Garage): string[] {
  const lost: string[] = [];
  const expect = (table: object, key: string | undefined, whose: string) =>
    void (
      key === undefined ||
      Object.hasOwn(table, key) ||
      lost.push(`${whose} names ${key}, which is not there`)
    );
  for (const it of Object.values(vehicles))
    for (const key of [it.place_id, it.route?.place_id]) expect(places, key, it.name);
  for (const it of Object.values(vehicles)) expect(trips, it.trip_id, it.name);
  for (const [key, it] of Object.entries(trips)) {
    expect(vehicles, it.vehicle_id, key);
    for (const place of [it.from, it.to]) expect(places, place, key);
  }
  return lost;
}

/**
 * Odometers are what they were plus all trips, stores hold no more than they can, and what moves
 * knows since when.
 */
function sums(garage: Garage): string[] {
  return Object.entries(garage.vehicles).flatMap(([key, it]) => {
    const km = Object.values(garage.trips).reduce(
      (sum, trip) => (trip.vehicle_id === key ? sum + trip.km : sum),
      0,
    );
    return [
      ...(Math.abs(it.odometer_first + km - it.odometer) < 0.05
        ? []
        : [
            `the odometer of ${it.name} shows ${it.odometer}, and its trips come to ${tenth(it.odometer_first + km)}`,
          ]),
      ...[it.tank, it.battery].flatMap(store =>
        store && store.level > store.capacity ? [`${it.name} holds more than it can`] : [],
      ),
      ...((it.engine === "on") === (it.trip_id !== undefined) &&
      (it.trip_id === undefined || garage.trips[it.trip_id]?.minutes === undefined)
        ? []
        : [`${it.name} is on no trip that goes on`]),
      ...(it.speed > 0 === (it.since !== undefined) &&
      (it.speed === 0 || (it.engine === "on" && !it.brake))
        ? []
        : [`${it.name} moves and does not`]),
      ...(it.route && kmTo(garage, it, it.route.place_id) > 2000
        ? [`${it.name} is bound for the end of the world`]
        : []),
    ];
  });
}

/** Places lie where the canon has them, and the map too. */
function misplaced({ places }: Garage, states: GeneratedStates, cast: SharedCast): string[] {
  const all = new Map<string, Omit<Place, "name" | "category">>();
  for (const it of cast.places) all.set(it.name, it);
  for (const it of cast.cities) all.set(it.name, { ...it, address: `${it.name}, ${it.country}` });
  const mapped = states.get("maps") as
    | Readonly<Record<"places" | "cities", Readonly<Record<string, { readonly name: string }>>>>
    | undefined;
  const onMap =
    mapped &&
    new Set([...Object.values(mapped.places), ...Object.values(mapped.cities)].map(it => it.name));
  return Object.values(places).flatMap(it => {
    const known = all.get(it.name);
    const lies =
      known?.address === it.address &&
      known.latitude === it.latitude &&
      known.longitude === it.longitude;
    return [
      ...(lies ? [] : [`${it.name} is not at ${it.address}`]),
      ...(!onMap || onMap.size < 60 || onMap.has(it.name) ? [] : [`${it.name} is not on the map`]),
    ];
  });
}
