/**
 * The vehicles of all fixtures and their condition: one is parked, one is on the road, one is at a
 * fuel station, one has a blocked door.
 */
import type { Vehicle } from "./state.ts";

/** What differs from a vehicle that is parked and locked. */
type VehicleDetails = Pick<Vehicle, "name" | "model" | "plate"> &
  Partial<Omit<Vehicle, "place_id" | "route" | "trip_id" | "odometer" | "odometer_first">> & {
    /** Kilometres before the first trip of the log. */
    readonly first: number;
    /** The role of its destination. */
    readonly goal?: string;
    /** The start of its current trip. */
    readonly trip?: string;
  };

export interface VehiclePlan {
  readonly whose: "user" | "studio" | "brother" | "aunt" | "shared";
  /** The role of the place where it is, or was last. */
  readonly at: string;
  /** The number of its trips in the small fixture, if it is in that. */
  readonly few?: number;
  readonly as: VehicleDetails;
}

const tires = (
  frontLeft: number,
  frontRight: number,
  rearLeft: number,
  rearRight: number,
): Vehicle["tires"] => ({
  "front left": frontLeft,
  "front right": frontRight,
  "rear left": rearLeft,
  "rear right": rearRight,
});

export const vehiclePlans: readonly VehiclePlan[] = [
  {
    whose: "user",
    at: "home",
    few: 2,
    as: {
      name: "Corva",
      model: "Corva Hybrid 1.6",
      plate: "4471 KLM",
      first: 18204.3,
      tank: { fuel: "petrol", capacity: 43, level: 22.4, per_100: 5.4 },
      battery: { capacity: 12, level: 7.8, per_100: 16 },
      modes: ["comfort", "eco", "sport", "electric"],
      tires: tires(2.4, 2.3, 2.4, 2.4),
    },
  },
  {
    whose: "studio",
    at: "studio",
    few: 2,
    as: {
      name: "studio van",
      model: "Hauler 2.0 D",
      plate: "9028 HRB",
      first: 64110.8,
      tank: { fuel: "diesel", capacity: 70, level: 41.5, per_100: 7.9 },
      brake: true,
      locked: false,
      tires: tires(3.2, 3.2, 2.6, 3.3),
      pressure: 3.2,
      washer: 3,
    },
  },
  {
    whose: "shared",
    at: "fuel",
    few: 1,
    as: {
      name: "Kiwi share car",
      model: "Pico 1.0",
      plate: "1180 SHR",
      first: 30551.2,
      tank: { fuel: "petrol", capacity: 38, level: 5.2, per_100: 5.1 },
      open: ["driver"],
      locked: false,
      child_lock: true,
      mode: "eco",
    },
  },
  {
    whose: "brother",
    at: "beach",
    few: 1,
    as: {
      name: "roadster",
      model: "Sprinta RS",
      plate: "7702 PRZ",
      first: 41877.5,
      access: "view",
      tank: { fuel: "petrol", capacity: 50, level: 33, per_100: 8.4 },
      modes: ["comfort", "sport"],
      mode: "sport",
    },
  },
  {
    whose: "studio",
    at: "studio",
    few: 1,
    as: {
      name: "studio runabout",
      model: "Citra E",
      plate: "3345 HRB",
      first: 12090.4,
      battery: { capacity: 40, level: 23.6, per_100: 15 },
      modes: ["comfort", "eco", "sport"],
      engine: "on",
      gear: "drive",
      speed: 50,
      since: "2026-03-09T09:00",
      away: 0.6,
      trip: "2026-03-09T08:58",
      goal: "printer",
      lamps: "low",
      climate: { temperature: 21, fan: 2 },
    },
  },
  {
    whose: "aunt",
    at: "aunt",
    few: 1,
    as: {
      name: "old estate",
      model: "Comodo Estate",
      plate: "2210 RRZ",
      first: 151008.9,
      tank: { fuel: "petrol", capacity: 60, level: 28.1, per_100: 8.8 },
      modes: ["comfort", "eco", "sport"],
      engine: "on",
      trip: "2026-03-09T08:59",
      brake: true,
      locked: false,
      tires: tires(2.4, 2.4, 1.7, 2.3),
      climate: { temperature: 22, fan: 3 },
    },
  },
  {
    whose: "shared",
    at: "charger",
    as: {
      name: "Plum share car",
      model: "Pico E",
      plate: "1184 SHR",
      first: 22743.7,
      battery: { capacity: 36, level: 6.1, per_100: 14 },
      modes: ["comfort", "eco"],
      mode: "eco",
      brake: true,
      locked: false,
    },
  },
  {
    whose: "shared",
    at: "home",
    as: {
      name: "Lime share car",
      model: "Duo Hybrid",
      plate: "1191 SHR",
      first: 27330.1,
      tank: { fuel: "petrol", capacity: 40, level: 31.2, per_100: 4.9 },
      battery: { capacity: 9, level: 1.1, per_100: 15 },
      modes: ["comfort", "eco", "electric"],
      open: ["tailgate"],
      locked: false,
      blocked: { door: "tailgate", by: "a folded ladder" },
    },
  },
  {
    whose: "user",
    at: "lodge",
    as: {
      name: "camper",
      model: "Nomada 4",
      plate: "6620 KLM",
      first: 77410.6,
      tank: { fuel: "diesel", capacity: 80, level: 52.7, per_100: 10.2 },
      engine: "on",
      gear: "drive",
      brake: true,
      away: 2.3,
      trip: "2026-03-09T08:51",
      goal: "aunt",
      lamps: "low",
      wipers: "slow",
      washer: 2,
      climate: { temperature: 19.5, fan: 1 },
    },
  },
  {
    whose: "studio",
    at: "supermarket",
    as: {
      name: "studio wagon",
      model: "Largo 1.9 D",
      plate: "5518 HRB",
      first: 98322.0,
      tank: { fuel: "diesel", capacity: 58, level: 11.3, per_100: 6.1 },
      brake: true,
      locked: false,
      mode: "eco",
      lamps: "parking",
    },
  },
  {
    whose: "shared",
    at: "station",
    as: {
      name: "Fern share car",
      model: "Pico 1.0",
      plate: "1197 SHR",
      first: 19087.3,
      tank: { fuel: "petrol", capacity: 38, level: 24.4, per_100: 5.1 },
      engine: "on",
      gear: "drive",
      speed: 30,
      since: "2026-03-09T09:00",
      away: 0.4,
      trip: "2026-03-09T08:59",
      lamps: "auto",
      wipers: "interval",
    },
  },
  {
    whose: "studio",
    at: "parking",
    as: {
      name: "cargo van",
      model: "Hauler E",
      plate: "9031 HRB",
      first: 8841.9,
      battery: { capacity: 64, level: 60.2, per_100: 24 },
      modes: ["comfort", "eco"],
      engine: "on",
      trip: "2026-03-09T08:55",
      brake: true,
      locked: false,
      pressure: 3.4,
      tires: tires(3.4, 3.4, 3.4, 3.5),
    },
  },
  {
    whose: "user",
    at: "cinema",
    as: {
      name: "Bruna",
      model: "Corva Hybrid 2.0",
      plate: "4472 KLM",
      first: 5230.5,
      tank: { fuel: "petrol", capacity: 45, level: 36.8, per_100: 6 },
      battery: { capacity: 14, level: 10.4, per_100: 17 },
      modes: ["comfort", "eco", "sport", "electric"],
      engine: "on",
      gear: "drive",
      speed: 60,
      since: "2026-03-09T09:00",
      away: 1.1,
      trip: "2026-03-09T08:57",
      goal: "airport",
      lamps: "auto",
      wipers: "slow",
      climate: { temperature: 20.5, fan: 2 },
    },
  },
  {
    whose: "aunt",
    at: "grocery",
    as: {
      name: "little red one",
      model: "Pico Classic",
      plate: "0419 RRZ",
      first: 120955.4,
      tank: { fuel: "petrol", capacity: 35, level: 0.3, per_100: 7.2 },
      brake: true,
      locked: false,
      modes: ["comfort"],
    },
  },
];
