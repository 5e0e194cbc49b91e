/**
 * The world of some vehicles: the vehicles with all that can be set on them, the places they drive
 * to, and the trips they have made.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";

export const gears = ["park", "reverse", "neutral", "drive"] as const;
export const modes = ["comfort", "eco", "sport", "electric"] as const;
export const lamps = ["off", "parking", "low", "high", "auto"] as const;
export const wiperSpeeds = ["off", "interval", "slow", "fast"] as const;
export const doorNames = ["driver", "passenger", "rear left", "rear right", "tailgate"] as const;
export const tireNames = ["front left", "front right", "rear left", "rear right"] as const;
export const energies = ["petrol", "diesel", "power"] as const;

const kilometres = z.number().min(0).max(1_000_000);
const bar = z.number().min(0).max(6);

/** What it drives on: litres of fuel, or kilowatt hours. */
const Store = z.strictObject({
  capacity: z.number().min(1).max(200),
  level: z.number().min(0).max(200),
  per_100: z.number().min(1).max(50),
});

const Vehicle = z.strictObject({
  name: z.string().min(1),
  model: z.string(),
  plate: z.string(),
  /** `view`: the user sees where it is and may not steer it. */
  access: z.enum(["drive", "view"]),
  tank: Store.extend({ fuel: z.enum(["petrol", "diesel"]) }).optional(),
  battery: Store.optional(),
  modes: z.array(z.enum(modes)).min(1),
  mode: z.enum(modes),
  engine: z.enum(["on", "off"]),
  gear: z.enum(gears),
  brake: z.boolean(),
  /** Kilometres an hour; it is on the move where this is not 0, since the given time. */
  speed: z.int().min(0).max(200),
  since: minute().optional(),
  cruise: z.int().min(30).max(150).optional(),
  /** The last place where it was, and how far it has come from there. */
  place_id: z.string(),
  away: kilometres,
  /** Where it is bound for, how far that is, and what traffic adds, in minutes. */
  route: z
    .strictObject({ place_id: z.string(), km: kilometres, delay: z.int().min(0).max(60) })
    .optional(),
  /** The trip that it is on, as long as its engine is. */
  trip_id: z.string().optional(),
  /** Before the first trip of the log, and now. */
  odometer_first: kilometres,
  odometer: kilometres,
  open: z.array(z.enum(doorNames)),
  locked: z.boolean(),
  /** The rear doors do not open from afar. */
  child_lock: z.literal(true).optional(),
  /** What keeps a door from shutting. */
  blocked: z.strictObject({ door: z.enum(doorNames), by: z.string() }).optional(),
  climate: z.strictObject({ temperature: z.number().min(16).max(28), fan: z.int().min(0).max(5) }),
  lamps: z.enum(lamps),
  wipers: z.enum(wiperSpeeds),
  /** Percent of the washer fluid. */
  washer: z.int().min(0).max(100),
  tires: z.record(z.enum(tireNames), bar),
  /** Bar that its tires should have. */
  pressure: bar,
});
export type Vehicle = z.infer<typeof Vehicle>;

const Place = z.strictObject({
  name: z.string().min(1),
  category: z.string(),
  address: z.string(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  /** Euros for a litre or a kilowatt hour, of what it sells. */
  sells: z.partialRecord(z.enum(energies), z.number().min(0.01).max(10)).optional(),
});
export type Place = z.infer<typeof Place>;

export const purposes = ["private", "business"] as const;

const Trip = z.strictObject({
  vehicle_id: z.string(),
  driver: z.string(),
  purpose: z.enum(purposes),
  from: z.string(),
  /** Absent where it ended on the road, and as long as it lasts. */
  to: z.string().optional(),
  start: minute(),
  /** Absent as long as it lasts. */
  minutes: z.int().min(1).max(2000).optional(),
  km: kilometres,
});
export type Trip = z.infer<typeof Trip>;

export const Garage = z.strictObject({
  user: z.string(),
  weather: z.strictObject({
    outside: z.number().min(-30).max(45),
    rain: z.enum(["none", "light", "heavy"]),
  }),
  vehicles: z.record(z.string(), Vehicle),
  places: z.record(z.string(), Place),
  trips: z.record(z.string(), Trip),
});
export type Garage = z.infer<typeof Garage>;

export const vehicleOf = (garage: Garage, vehicleId: string): Vehicle =>
  findEntity(garage.vehicles, vehicleId, "vehicle", "vehicle_list_vehicles gives the ids");

export const placeOf = (garage: Garage, placeId: string): Place =>
  findEntity(garage.places, placeId, "place", "vehicle_find_destinations gives the ids");

/** `the studio van (veh_104)` */
export const called = ({ name }: Pick<Vehicle, "name">, vehicleId: string): string =>
  `the ${name} (${vehicleId})`;

/** The vehicle, if the user may steer it. */
export function steered(garage: Garage, vehicleId: string): Vehicle {
  const vehicle = vehicleOf(garage, vehicleId);
  if (vehicle.access === "view")
    refuse(
      "permission_denied",
      `you may see where ${called(vehicle, vehicleId)} is, and not steer it`,
      "choose another vehicle; vehicle_list_vehicles says which may be driven",
    );
  return vehicle;
}

/** Refuses what needs the engine. */
export function running(vehicle: Vehicle, vehicleId: string, what: string): void {
  if (vehicle.engine === "off")
    refuse(
      "precondition_failed",
      `the engine of ${called(vehicle, vehicleId)} is off, and ${what}`,
      "vehicle_start_engine starts it",
    );
}

/** Refuses what must not happen on the move. */
export function standing(vehicle: Vehicle, vehicleId: string, what: string): void {
  if (vehicle.speed > 0)
    refuse(
      "precondition_failed",
      `${called(vehicle, vehicleId)} is driving at ${vehicle.speed} km/h: ${what}`,
      "vehicle_press_brake stops it",
    );
}
