/** The state of the vehicle server: vehicles with their settings, destinations, and past trips. */
import { z } from "zod";
import { label, minute } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";

export const gears = ["park", "reverse", "neutral", "drive"] as const;
export const modes = ["comfort", "eco", "sport", "electric"] as const;
export const lamps = ["off", "parking", "low", "high", "auto"] as const;
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
export type Destination = z.infer<typeof Destination>;

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
