/**
 * The vehicles' tools around a drive: doors, climate, lights, wipers, and what goes into tank and
 * battery.
 */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { rangeOf, tenth } from "./motion.ts";
import { vehicleId } from "./words.ts";
import {
  called,
  doorNames,
  energies,
  Garage,
  lamps,
  placeOf,
  running,
  standing,
  steered,
  wiperSpeeds,
} from "./state.ts";

const tool = createToolFactory(Garage);

const about = { vehicle: label("vehicle"), vehicle_id: id("vehicle") };

const doors = {
  lock_doors: tool({
    effect: "write",
    summary: "Shut and lock all doors of a vehicle.",
    input: { vehicle_id: vehicleId },
    returns: { ...about, doors: z.string(), shut: z.int().describe("Doors that were open") },
    run(garage, { vehicle_id }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.locked && vehicle.open.length === 0)
        refuse("conflict", `${what} is locked already`);
      const { blocked } = vehicle;
      if (blocked && vehicle.open.includes(blocked.door))
        refuse(
          "precondition_failed",
          `the ${blocked.door} of ${what} does not shut: ${blocked.by} is in the way`,
          "somebody has to clear it by hand",
        );
      const shut = vehicle.open.length;
      vehicle.open = [];
      vehicle.locked = true;
      return { vehicle: vehicle.name, vehicle_id, doors: "locked", shut };
    },
  }),
  unlock_doors: tool({
    effect: "write",
    summary: "Unlock the doors of a vehicle that stands, or unlock them and open one.",
    input: {
      vehicle_id: vehicleId,
      door: z.enum(doorNames).optional().describe("Door to open; none is opened if not given"),
    },
    returns: { ...about, doors: z.string(), opened: z.string().optional() },
    run(garage, { vehicle_id, door }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      standing(vehicle, vehicle_id, "its doors stay locked");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${what} stands in ${vehicle.gear}: its doors are unlocked in park`,
          "vehicle_shift_gear puts it into park",
        );
      if (door === undefined && !vehicle.locked) refuse("conflict", `${what} is unlocked already`);
      if (door !== undefined && vehicle.open.includes(door))
        refuse("conflict", `the ${door} door of ${what} is open already`);
      if (door?.startsWith("rear") && vehicle.child_lock)
        refuse(
          "permission_denied",
          `the child lock keeps the ${door} door of ${what} shut`,
          "it opens from outside; choose another door",
        );
      vehicle.locked = false;
      if (door !== undefined) vehicle.open.push(door);
      return {
        vehicle: vehicle.name,
        vehicle_id,
        doors: "unlocked",
        ...(door === undefined ? {} : { opened: door === "tailgate" ? door : `${door} door` }),
      };
    },
  }),
};

/** What eco mode allows in the cabin. */
const thrift = { coolest: 18, warmest: 23, fan: 3 };
const leastCharge = 20;

const cabin = {
  set_climate: tool({
    effect: "write",
    summary:
      "Set the temperature in a vehicle, its fan, or both. It needs the engine, or a battery that is well charged; eco mode sets bounds.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      temperature: z
        .number()
        .min(16)
        .max(28)
        .multipleOf(0.5)
        .optional()
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: [17, 18, 18.5, 19, 19.5, 20, 20.5, 21, 21.5, 22, 22.5, 23, 24] }),
      fan: z
        .int()
        .min(0)
        .max(5)
        .optional()
        .describe("Speed of the fan, 0 turns it off; 2 if it was off and none is given")
        .meta({ examples: [0, 1, 2, 3, 4, 5] }),
    },
    returns: { ...about, temperature: z.string(), fan: z.int(), range: z.int() },
    run(garage, { vehicle_id, temperature, fan }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (temperature === undefined && fan === undefined)
        refuse("invalid_params", "nothing to set is given", "give temperature, fan or both");
      const charge = vehicle.battery
        ? Math.round((100 * vehicle.battery.level) / vehicle.battery.capacity)
        : 0;
      if (charge < leastCharge && fan !== 0)
        running(
          vehicle,
          vehicle_id,
          vehicle.battery
            ? `its battery is at ${charge} percent, and ${leastCharge} are needed without`
            : "its climate needs it",
        );
      const before = vehicle.climate;
      const after = {
        temperature: temperature ?? before.temperature,
        fan: fan ?? (before.fan === 0 ? 2 : before.fan),
      };
      if (after.temperature === before.temperature && after.fan === before.fan)
        refuse(
          "conflict",
          `the climate of ${what} is like that already: ${before.temperature} °C, fan ${before.fan}`,
        );
      if (
        vehicle.mode === "eco" &&
        (after.temperature < thrift.coolest ||
          after.temperature > thrift.warmest ||
          after.fan > thrift.fan)
      )
        refuse(
          "limit_exceeded",
          `${what} is in eco mode, which keeps the cabin between ${thrift.coolest} and ${thrift.warmest} °C and the fan at ${thrift.fan} or less`,
          "choose within, or vehicle_set_drive_mode",
        );
      vehicle.climate = after;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        temperature: `${after.temperature} °C`,
        fan: after.fan,
        range: rangeOf(vehicle),
      };
    },
  }),
  set_headlights: tool({
    effect: "write",
    summary:
      "Set the headlights of a vehicle. Without the engine only parking lights burn; high beam is for the road.",
    requires: ["start_engine"],
    input: { vehicle_id: vehicleId, headlights: z.enum(lamps).describe("What to set them to") },
    returns: { ...about, headlights: z.string(), was: z.string() },
    run(garage, { vehicle_id, headlights }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.lamps === headlights)
        refuse("conflict", `the headlights of ${what} are set to ${headlights} already`);
      if (headlights !== "off" && headlights !== "parking")
        running(vehicle, vehicle_id, "only its parking lights burn without");
      if (headlights === "high" && vehicle.speed === 0)
        refuse(
          "precondition_failed",
          `${what} stands, and high beam is for the road`,
          "choose low or auto",
        );
      const hour = Number(now.slice(11, 13));
      const needsLight = hour < 7 || hour >= 19 || garage.weather.rain !== "none";
      if ((headlights === "off" || headlights === "parking") && vehicle.speed > 0 && needsLight)
        refuse(
          "precondition_failed",
          `${what} is driving in ${garage.weather.rain === "none" ? "the dark" : "the rain"} and needs its lights`,
          "choose low or auto",
        );
      const was = vehicle.lamps;
      vehicle.lamps = headlights;
      return { vehicle: vehicle.name, vehicle_id, headlights, was };
    },
  }),
  set_wipers: tool({
    effect: "write",
    summary: "Set the wipers of a vehicle, or wash its windscreen first, which takes washer fluid.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      wipers: z.enum(wiperSpeeds).describe("How fast"),
      wash: z.boolean().optional().describe("True to wash the windscreen first"),
    },
    returns: {
      ...about,
      wipers: z.string(),
      was: z.string(),
      washer: z.int().describe("Percent of washer fluid that is left"),
    },
    run(garage, { vehicle_id, wipers, wash }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      running(vehicle, vehicle_id, "its wipers need it");
      if (vehicle.wipers === wipers && !wash)
        refuse("conflict", `the wipers of ${what} are set to ${wipers} already`);
      if (wipers === "off" && vehicle.speed > 0 && garage.weather.rain === "heavy")
        refuse(
          "precondition_failed",
          `${what} is driving in heavy rain and needs its wipers`,
          "choose slow or fast",
        );
      if (wash && vehicle.washer < 5)
        refuse(
          "precondition_failed",
          `${what} has ${vehicle.washer} percent of washer fluid left, and washing takes 5`,
          "leave wash out; the fluid is filled up by hand",
        );
      const was = vehicle.wipers;
      vehicle.wipers = wipers;
      if (wash) vehicle.washer -= 5;
      return { vehicle: vehicle.name, vehicle_id, wipers, was, washer: vehicle.washer };
    },
  }),
};

const units = { petrol: "l", diesel: "l", power: "kWh" };

const supply = {
  refuel: tool({
    effect: "write",
    summary:
      "Fill up or charge a vehicle that stands with its engine off at a station that sells what it takes.",
    input: {
      vehicle_id: vehicleId,
      energy: z.enum(energies).describe("What goes in; power charges the battery"),
      amount: z
        .number()
        .min(0.5)
        .max(200)
        .multipleOf(0.5)
        .describe("Litres, or kilowatt hours of power")
        .meta({ examples: [5, 8, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50] }),
    },
    returns: {
      ...about,
      level: z.string(),
      capacity: z.string(),
      cost: cents().describe("Euros"),
      range: z.int(),
    },
    run(garage, { vehicle_id, energy, amount }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      const store =
        energy === "power"
          ? vehicle.battery
          : vehicle.tank?.fuel === energy
            ? vehicle.tank
            : undefined;
      const takes = [
        ...(vehicle.tank ? [vehicle.tank.fuel] : []),
        ...(vehicle.battery ? ["power"] : []),
      ].join(" and ");
      if (!store)
        return refuse(
          "precondition_failed",
          `${what} takes ${takes}, not ${energy}`,
          `choose ${takes}`,
        );
      standing(vehicle, vehicle_id, "it cannot be filled up");
      if (vehicle.engine === "on")
        refuse("precondition_failed", `the engine of ${what} is on`, "vehicle_stop_engine first");
      const place = placeOf(garage, vehicle.place_id);
      const price = vehicle.away === 0 ? place.sells?.[energy] : undefined;
      if (price === undefined)
        return refuse(
          "precondition_failed",
          `${what} is ${vehicle.away === 0 ? "at" : "on the road from"} ${place.name}, which sells no ${energy}`,
          "drive to a station; vehicle_find_destinations finds some",
        );
      const free = tenth(store.capacity - store.level);
      if (amount > free)
        refuse(
          "limit_exceeded",
          `${what} holds ${store.capacity} ${units[energy]} and has ${tenth(store.level)} in it: ${amount} do not fit`,
          `${Math.floor(2 * free) / 2} at most`,
        );
      store.level = tenth(store.level + amount);
      return {
        vehicle: vehicle.name,
        vehicle_id,
        level: `${store.level} ${units[energy]}`,
        capacity: `${store.capacity} ${units[energy]}`,
        cost: Math.round(amount * price * 100) / 100,
        range: rangeOf(vehicle),
      };
    },
  }),
};

export const comfort = { ...doors, ...cabin, ...supply };
