/** The state of the vehicle server: vehicles with their settings, destinations, and past trips. */
import { z } from "zod";
import { label, minute } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { createTableFactory, getSchemas } from "../kit/table.ts";
import { minutesBetween } from "../../environment/time.ts";

export const gears = ["park", "reverse", "neutral", "drive"] as const;
export const modes = ["comfort", "eco", "sport", "electric"] as const;
export const lamps = ["off", "parking", "low", "high", "auto"] as const;
export const townSpeed = 50;
export const wiperSpeeds = ["off", "interval", "slow", "fast"] as const;
export const doorNames = ["driver", "passenger", "rear left", "rear right", "tailgate"] as const;
export const tireNames = ["front left", "front right", "rear left", "rear right"] as const;
export const energies = ["petrol", "diesel", "power"] as const;

const kilometres = z.number().min(0).max(1_000_000);
const bar = z.number().min(0).max(6);

/** A tank in litres, or a battery in kilowatt hours. */
const EnergyStore = z.strictObject({
  capacity: z.number().min(1).max(200),
  level: z.number().min(0).max(200),
  per_100: z.number().min(1).max(50),
});

const Vehicle = z.strictObject({
  name: z.string().min(1),
  model: z.string(),
  plate: z.string(),
  /** `view`: the user can see its position but not control it. */
  access: z.enum(["drive", "view"]),
  tank: EnergyStore.extend({ fuel: z.enum(["petrol", "diesel"]) }).optional(),
  battery: EnergyStore.optional(),
  modes: z.array(z.enum(modes)).min(1),
  mode: z.enum(modes),
  engine: z.enum(["on", "off"]),
  gear: z.enum(gears),
  brake: z.boolean(),
  /** In kilometres per hour, since the time `since`; 0 if it stands. */
  speed: z.int().min(0).max(200),
  since: minute().optional(),
  cruise: z.int().min(30).max(150).optional(),
  /** Its last place, and the kilometres it has driven since. */
  place_id: z.string(),
  away: kilometres,
  /** Its destination, the distance, and the minutes that traffic adds. */
  route: z
    .strictObject({ place_id: z.string(), km: kilometres, delay: z.int().min(0).max(60) })
    .optional(),
  /** The current trip, while the engine is on. */
  trip_id: z.string().optional(),
  /** The odometer before the first logged trip, and now. */
  odometer_first: kilometres,
  odometer: kilometres,
  open: z.array(z.enum(doorNames)),
  locked: z.boolean(),
  /** Whether the rear doors cannot be opened remotely. */
  child_lock: z.literal(true).optional(),
  /** What prevents a door from closing. */
  blocked: z.strictObject({ door: z.enum(doorNames), by: z.string() }).optional(),
  climate: z.strictObject({ temperature: z.number().min(16).max(28), fan: z.int().min(0).max(5) }),
  lamps: z.enum(lamps),
  wipers: z.enum(wiperSpeeds),
  /** The washer fluid, in percent. */
  washer: z.int().min(0).max(100),
  tires: z.record(z.enum(tireNames), bar),
  /** The pressure that its tires should have, in bar. */
  pressure: bar,
});
export type Vehicle = z.infer<typeof Vehicle>;

const Destination = z.strictObject({
  name: z.string().min(1),
  category: z.string(),
  address: z.string(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  /** The price per litre or kilowatt hour of each energy that it sells, in euros. */
  sells: z.partialRecord(z.enum(energies), z.number().min(0.01).max(10)).optional(),
});
type Destination = z.infer<typeof Destination>;

export const purposes = ["private", "business"] as const;

const Trip = z.strictObject({
  vehicle_id: z.string(),
  driver: z.string(),
  purpose: z.enum(purposes),
  from: z.string(),
  /** Absent for a trip that ended on the road or has not ended. */
  to: z.string().optional(),
  start: minute(),
  /** Absent for a trip that has not ended. */
  minutes: z.int().min(1).max(2000).optional(),
  km: kilometres,
});
type Trip = z.infer<typeof Trip>;

export const references = {
  "vehicles.*.place_id": "places",
  "vehicles.*.route.place_id": "places",
  "vehicles.*.trip_id": "trips",
  "trips.*.vehicle_id": "vehicles",
  "trips.*.from": "places",
  "trips.*.to": "places",
} satisfies References;

export const VehicleState = z.strictObject({
  user: z.string(),
  weather: z.strictObject({
    outside: z.number().min(-30).max(45),
    rain: z.enum(["none", "light", "heavy"]),
  }),
  vehicles: z.record(z.string(), Vehicle),
  places: z.record(z.string(), Destination),
  trips: z.record(z.string(), Trip),
});
export type VehicleState = z.infer<typeof VehicleState>;

const table = createTableFactory(VehicleState);
export const vehicles = table("vehicles", { entity: "vehicle", idsFrom: "vehicle_list_vehicles" });
export const places = table("places", { entity: "place", idsFrom: "vehicle_find_destinations" });

/** The fields that identify a vehicle in results. */
export const vehicleRow = vehicles.fields({
  vehicle: [label("vehicle"), it => it.name],
  vehicle_id: vehicles.idField,
});

/** `the studio van (veh_104)` */
export const formatVehicle = ({ name }: Pick<Vehicle, "name">, vehicleId: string): string =>
  `the ${name} (${vehicleId})`;

/** Refuses the call if the engine is off. */
export function requireRunningEngine(
  vehicle: Vehicle,
  vehicleId: string,
  consequence: string,
): void {
  if (vehicle.engine === "off")
    refuse(
      "precondition_failed",
      `the engine of ${formatVehicle(vehicle, vehicleId)} is off, and ${consequence}`,
      "vehicle_start_engine starts it",
    );
}

/** Refuses the call if the vehicle is moving. */
export function requireStandstill(vehicle: Vehicle, vehicleId: string, consequence: string): void {
  if (vehicle.speed > 0)
    refuse(
      "precondition_failed",
      `${formatVehicle(vehicle, vehicleId)} is driving at ${vehicle.speed} km/h: ${consequence}`,
      "vehicle_press_brake stops it",
    );
}

const tool = createToolFactory(VehicleState);

/** What a control acts on. */
interface Target extends ToolContext {
  readonly state: VehicleState;
  readonly vehicle: Vehicle;
  readonly vehicle_id: string;
  /** The vehicle in texts. */
  readonly description: string;
}

type Shape = Readonly<Record<string, z.ZodType>>;

interface Control<Input extends Shape, Returns extends Shape> {
  readonly summary: string;
  readonly requires?: readonly string[];
  /** The parameters besides the vehicle. */
  readonly input: Input;
  /** The fields of the result after those of the vehicle. */
  readonly returns: Returns;
  readonly run: (
    args: z.output<z.ZodObject<Input>>,
    target: Target,
  ) => z.input<z.ZodObject<Returns>>;
}

/** A tool that controls one vehicle. It refuses a vehicle that the user may only see. */
export function control<const Input extends Shape, const Returns extends Shape>({
  input,
  returns,
  run,
  ...definition
}: Control<Input, Returns>) {
  const parameters: Shape = { vehicle_id: vehicles.id, ...input };
  return tool({
    ...definition,
    effect: "write",
    input: parameters,
    returns: { ...getSchemas(vehicleRow), ...returns },
    run(state, { vehicle_id: id, ...args }, context) {
      const vehicle_id = id as string;
      const vehicle = vehicles.find(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (vehicle.access === "view")
        refuse(
          "permission_denied",
          `you may see where ${description} is, and not steer it`,
          "choose another vehicle; vehicle_list_vehicles says which may be driven",
        );
      const target = { ...context, state, vehicle, vehicle_id, description };
      const result = run(args as z.output<z.ZodObject<Input>>, target);
      return { vehicle: vehicle.name, vehicle_id, ...result };
    },
  });
}

/** The charge that electric mode requires, in percent. */
export const minElectricCharge = 20;

export const requireClosedDoors = (vehicle: Vehicle, vehicle_id: string): void => {
  if (vehicle.open.length > 0)
    refuse(
      "precondition_failed",
      `${formatVehicle(vehicle, vehicle_id)} has a door open: ${vehicle.open.join(", ")}`,
      "vehicle_lock_doors shuts and locks them",
    );
};

export function requirePressedBrake({ brake }: Vehicle, description: string): void {
  if (!brake)
    refuse(
      "precondition_failed",
      `the brake of ${description} is not pressed`,
      "vehicle_press_brake first",
    );
}

/** The range of the vehicle, or a refusal if it has none. */
export function requireRange(vehicle: Vehicle, description: string): number {
  const range = computeRange(vehicle);
  if (range < 1)
    refuse(
      "precondition_failed",
      `${description} has nothing left to drive on`,
      "vehicle_refuel at a station that sells what it takes",
    );
  return range;
}

/** Applies the distance driven since the last change of the vehicle. */
export function updateAfterDrive(state: VehicleState, vehicle: Vehicle, now: string): void {
  if (vehicle.speed === 0) return;
  applyDrive(state, vehicle, computeKmSince(vehicle, now));
  vehicle.since = now;
}

export const roundToTenth = (value: number): number => Math.round(value * 10) / 10;

/** The level of a tank or battery in percent of what it holds. */
export const computePercent = (store: { level: number; capacity: number }): number =>
  Math.round((100 * store.level) / store.capacity);

/** `1.9 km` */
export const formatKm = (km: number): string => `${roundToTenth(km)} km`;

const earthRadiusKm = 6371;
/** The length of a road relative to the straight line. */
const detourFactor = 1.3;

/** Kilometres by road between two places. */
function computeRoadKm(
  a: Pick<Destination, "latitude" | "longitude">,
  b: Pick<Destination, "latitude" | "longitude">,
): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const haversine = (angle: number) => Math.sin(radians(angle) / 2) ** 2;
  const h =
    haversine(b.latitude - a.latitude) +
    Math.cos(radians(a.latitude)) *
      Math.cos(radians(b.latitude)) *
      haversine(b.longitude - a.longitude);
  return roundToTenth(detourFactor * 2 * earthRadiusKm * Math.asin(Math.sqrt(h)));
}

/** The minutes of a drive: the first 10 km at 30 km/h, the rest at 85 km/h. */
export const estimateMinutes = (km: number): number =>
  Math.max(1, Math.round((Math.min(km, 10) / 30 + Math.max(0, km - 10) / 85) * 60));

/** The effect of a drive mode on consumption. */
const consumptionFactors = { comfort: 1, eco: 0.85, sport: 1.25, electric: 1 };

type EnergyState = Pick<Vehicle, "tank" | "battery" | "mode">;

/** The range on the current fuel and charge, in whole kilometres. */
export function computeRange({ tank, battery, mode }: EnergyState): number {
  const computeStoreRange = (store: Vehicle["battery"]) =>
    store ? (100 * store.level) / (store.per_100 * consumptionFactors[mode]) : 0;
  return Math.floor(computeStoreRange(tank) + computeStoreRange(battery));
}

/** The levels of tank and battery after a drive. Electric mode uses the battery first. */
function computeLevelsAfter(
  { tank, battery, mode }: EnergyState,
  km: number,
): { tank: number; battery: number } {
  const levels = { tank: tank?.level ?? 0, battery: battery?.level ?? 0 };
  const order =
    mode === "electric" || !tank ? (["battery", "tank"] as const) : (["tank", "battery"] as const);
  let remainingKm = km;
  for (const key of order) {
    const store = key === "tank" ? tank : battery;
    if (!store) continue;
    const perKm = (store.per_100 * consumptionFactors[mode]) / 100;
    const coveredKm = Math.min(remainingKm, levels[key] / perKm);
    levels[key] = Math.max(0, Math.round((levels[key] - coveredKm * perKm) * 100) / 100);
    remainingKm -= coveredKm;
  }
  return levels;
}

/** Kilometres that a moving vehicle has driven since its last change. */
function computeKmSince(vehicle: Vehicle, now: string): number {
  if (vehicle.speed === 0 || vehicle.since === undefined) return 0;
  const minutes = Math.max(0, minutesBetween(vehicle.since, now));
  return Math.min(
    roundToTenth((minutes * vehicle.speed) / 60),
    vehicle.route?.km ?? Infinity,
    computeRange(vehicle),
  );
}

/**
 * Adds kilometres to the vehicle's odometer, trip and route and consumes energy. At the end of the
 * route, the vehicle is at its destination.
 */
export function applyDrive(state: VehicleState, vehicle: Vehicle, km: number): void {
  const levels = computeLevelsAfter(vehicle, km);
  if (vehicle.tank) vehicle.tank.level = levels.tank;
  if (vehicle.battery) vehicle.battery.level = levels.battery;
  vehicle.odometer = roundToTenth(vehicle.odometer + km);
  vehicle.away = roundToTenth(vehicle.away + km);
  const trip = vehicle.trip_id === undefined ? undefined : state.trips[vehicle.trip_id];
  if (trip) trip.km = roundToTenth(trip.km + km);
  if (!vehicle.route) return;
  vehicle.route.km = roundToTenth(vehicle.route.km - km);
  if (vehicle.route.km > 0) return;
  vehicle.place_id = vehicle.route.place_id;
  vehicle.away = 0;
  delete vehicle.route;
}

/**
 * Kilometres from the vehicle to a place. On the road, this is the distance back to its last place
 * and from there to the place.
 */
export function computeKmTo(
  { places }: Pick<VehicleState, "places">,
  vehicle: Vehicle,
  placeId: string,
): number {
  if (vehicle.route?.place_id === placeId) return vehicle.route.km;
  return roundToTenth(
    vehicle.away +
      (vehicle.place_id === placeId
        ? 0
        : computeRoadKm(places[vehicle.place_id]!, places[placeId]!)),
  );
}

/** The tires with low pressure as text, `low at the rear left`, or undefined without any. */
export function describeSoftTires({
  tires,
  pressure,
}: Pick<Vehicle, "tires" | "pressure">): string | undefined {
  const softTires = Object.entries(tires).flatMap(([name, it]) =>
    it < pressure - 0.3 ? [name] : [],
  );
  return softTires.length === 0 ? undefined : `low at the ${softTires.join(" and ")}`;
}

/** The vehicle at that time, including what it has driven since its last change. */
export function getVehicleAt(vehicle: Vehicle, now: string): Vehicle {
  const km = computeKmSince(vehicle, now);
  if (km === 0) return vehicle;
  const levels = computeLevelsAfter(vehicle, km);
  return {
    ...vehicle,
    ...(vehicle.tank ? { tank: { ...vehicle.tank, level: levels.tank } } : {}),
    ...(vehicle.battery ? { battery: { ...vehicle.battery, level: levels.battery } } : {}),
    odometer: roundToTenth(vehicle.odometer + km),
    away: roundToTenth(vehicle.away + km),
    ...(vehicle.route
      ? { route: { ...vehicle.route, km: roundToTenth(vehicle.route.km - km) } }
      : {}),
  };
}

/** `at Harbor Studio`, `3.2 km from Harbor Studio` */
export const describePosition = (
  state: VehicleState,
  { place_id, away, speed }: Vehicle,
): string =>
  away === 0 && speed === 0
    ? `at ${state.places[place_id]!.name}`
    : away === 0
      ? `leaving ${state.places[place_id]!.name}`
      : `${away} km from ${state.places[place_id]!.name}`;
