/**
 * The vehicles' tools that drive: engine, brake, gear, cruise control, drive mode and route. Each
 * asks for what a real one would ask for first.
 */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, minutesBetween } from "../../environment/time.ts";
import { drive, drivenSince, inKm, kmTo, minutesFor, rangeOf, softTires, tenth } from "./motion.ts";
import { placeId, vehicleId } from "./words.ts";
import {
  called,
  Garage,
  gears,
  modes,
  placeOf,
  purposes,
  running,
  standing,
  steered,
  type Vehicle,
} from "./state.ts";

const tool = createToolFactory(Garage);

const townSpeed = 50;
const reversing = 5;
/** Kilometres an hour from which cruise control works, and what soft tires allow. */
const cruising = { least: 40, soft: 80 };
/** Percent of the battery that electric driving asks for. */
const leastCharge = 20;

const about = { vehicle: label("vehicle"), vehicle_id: id("vehicle") };

const closed = (vehicle: Vehicle, vehicle_id: string): void => {
  if (vehicle.open.length > 0)
    refuse(
      "precondition_failed",
      `${called(vehicle, vehicle_id)} has a door open: ${vehicle.open.join(", ")}`,
      "vehicle_lock_doors shuts and locks them",
    );
};

/** Brings what a drive has changed up to date. */
function settle(garage: Garage, vehicle: Vehicle, now: string): void {
  if (vehicle.speed === 0) return;
  drive(garage, vehicle, drivenSince(vehicle, now));
  vehicle.since = now;
}

const engine = {
  start_engine: tool({
    effect: "write",
    summary:
      "Start the engine of a vehicle. Its brake must be pressed, its gear in park and its doors shut.",
    requires: ["press_brake"],
    input: { vehicle_id: vehicleId },
    returns: {
      ...about,
      engine: z.string(),
      trip_id: id("trip").describe("Id of the trip that begins"),
      range: z.int(),
      warning: z.string().optional(),
    },
    run(garage, { vehicle_id }, { now, newId }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.engine === "on") refuse("conflict", `the engine of ${what} is on already`);
      closed(vehicle, vehicle_id);
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${what} is in ${vehicle.gear}, and starts in park`,
          "vehicle_shift_gear puts it into park while the brake is pressed",
        );
      if (!vehicle.brake)
        refuse(
          "precondition_failed",
          `the brake of ${what} is not pressed`,
          "vehicle_press_brake first",
        );
      const range = rangeOf(vehicle);
      if (range < 1)
        refuse(
          "precondition_failed",
          `${what} has nothing left to drive on`,
          "vehicle_refuel at a station that sells what it takes",
        );
      const trip_id = newId("trip");
      garage.trips[trip_id] = {
        vehicle_id,
        driver: garage.user,
        purpose: "private",
        from: vehicle.place_id,
        start: now,
        km: 0,
      };
      Object.assign(vehicle, { engine: "on", trip_id });
      const soft = softTires(vehicle);
      return {
        vehicle: vehicle.name,
        vehicle_id,
        engine: "on",
        trip_id,
        range,
        ...(soft === undefined ? {} : { warning: `the tires are ${soft}` }),
      };
    },
  }),
  stop_engine: tool({
    effect: "write",
    summary:
      "Stop the engine of a vehicle that stands in park, which ends its trip. A trip that led nowhere is not logged.",
    requires: ["start_engine"],
    input: {
      vehicle_id: vehicleId,
      purpose: z.enum(purposes).optional().describe("What the trip was for, private if not given"),
    },
    returns: {
      ...about,
      engine: z.string(),
      trip_id: id("trip").optional(),
      distance: z.string().optional().describe("How far the trip went"),
    },
    run(garage, { vehicle_id, purpose = "private" }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.engine === "off") refuse("conflict", `the engine of ${what} is off already`);
      standing(vehicle, vehicle_id, "its engine cannot be stopped");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${what} is in ${vehicle.gear}: its engine stops in park`,
          "vehicle_shift_gear puts it into park",
        );
      const trip_id = vehicle.trip_id!;
      const trip = garage.trips[trip_id]!;
      Object.assign(vehicle, {
        engine: "off",
        wipers: "off",
        climate: { ...vehicle.climate, fan: 0 },
      });
      if (vehicle.lamps !== "parking") vehicle.lamps = "off";
      delete vehicle.trip_id;
      const { start, km } = trip;
      if (km === 0) {
        delete garage.trips[trip_id];
        return { vehicle: vehicle.name, vehicle_id, engine: "off" };
      }
      Object.assign(trip, {
        purpose,
        minutes: Math.max(minutesFor(km), minutesBetween(start, now)),
        ...(vehicle.away === 0 ? { to: vehicle.place_id } : {}),
      });
      return { vehicle: vehicle.name, vehicle_id, engine: "off", trip_id, distance: inKm(km) };
    },
  }),
};

const pedals = {
  press_brake: tool({
    effect: "write",
    summary:
      "Press the brake of a vehicle and keep it pressed; one that is driving stops, at once or when it has reached its destination.",
    input: {
      vehicle_id: vehicleId,
      at_destination: z
        .boolean()
        .optional()
        .describe("True to drive on to the end of the route and stop there"),
    },
    returns: {
      ...about,
      brake: z.string(),
      stopped_after: z.string().optional().describe("How far this trip has gone"),
      where: z.string(),
    },
    run(garage, { vehicle_id, at_destination }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.brake) refuse("conflict", `the brake of ${what} is pressed already`);
      if (at_destination) {
        if (vehicle.speed === 0)
          refuse(
            "precondition_failed",
            `${what} is not driving`,
            "leave at_destination out to press the brake as it stands",
          );
        const { route } = vehicle;
        if (!route)
          refuse(
            "precondition_failed",
            `${what} has no destination`,
            "vehicle_set_navigation sets one",
          );
        const range = rangeOf(vehicle);
        if (range < route.km)
          refuse(
            "precondition_failed",
            `${what} gets ${range} km on what it holds, and ${placeOf(garage, route.place_id).name} is ${route.km} km away`,
            "stop at once, or set a nearer destination",
          );
        drive(garage, vehicle, route.km);
      } else settle(garage, vehicle, now);
      const wasMoving = vehicle.speed > 0;
      vehicle.brake = true;
      vehicle.speed = 0;
      delete vehicle.since;
      delete vehicle.cruise;
      const at = garage.places[vehicle.place_id]!.name;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "pressed",
        ...(wasMoving ? { stopped_after: inKm(garage.trips[vehicle.trip_id!]!.km) } : {}),
        where: vehicle.away === 0 ? `at ${at}` : `${vehicle.away} km from ${at}`,
      };
    },
  }),
  release_brake: tool({
    effect: "write",
    summary:
      "Release the brake. With the engine on and a gear in, the vehicle sets off, along its route if it has one.",
    requires: ["press_brake"],
    input: { vehicle_id: vehicleId },
    returns: {
      ...about,
      brake: z.string(),
      speed: z.int(),
      destination: label("place").optional(),
    },
    run(garage, { vehicle_id }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (!vehicle.brake) refuse("conflict", `the brake of ${what} is not pressed`);
      if (vehicle.gear === "neutral")
        refuse(
          "precondition_failed",
          `${what} is in neutral and would roll away`,
          "vehicle_shift_gear puts it into park or drive",
        );
      const sets = vehicle.engine === "on" && vehicle.gear !== "park";
      if (sets) {
        closed(vehicle, vehicle_id);
        if (rangeOf(vehicle) < 1)
          refuse(
            "precondition_failed",
            `${what} has nothing left to drive on`,
            "vehicle_refuel at a station that sells what it takes",
          );
        vehicle.speed = vehicle.gear === "drive" ? townSpeed : reversing;
        vehicle.since = now;
      }
      vehicle.brake = false;
      return {
        vehicle: vehicle.name,
        vehicle_id,
        brake: "released",
        speed: vehicle.speed,
        ...(sets && vehicle.route
          ? { destination: placeOf(garage, vehicle.route.place_id).name }
          : {}),
      };
    },
  }),
  shift_gear: tool({
    effect: "write",
    summary:
      "Put a standing vehicle into another gear while its brake is pressed. Out of park it needs the engine.",
    requires: ["start_engine", "press_brake"],
    input: { vehicle_id: vehicleId, gear: z.enum(gears).describe("The gear") },
    returns: { ...about, gear: z.string(), was: z.string() },
    run(garage, { vehicle_id, gear }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      standing(vehicle, vehicle_id, `it cannot be put into ${gear}`);
      if (vehicle.gear === gear) refuse("conflict", `${what} is in ${gear} already`);
      if (!vehicle.brake)
        refuse(
          "precondition_failed",
          `the brake of ${what} is not pressed`,
          "vehicle_press_brake first",
        );
      if (gear !== "park")
        running(vehicle, vehicle_id, `it leaves ${vehicle.gear} only with it on`);
      const was = vehicle.gear;
      vehicle.gear = gear;
      return { vehicle: vehicle.name, vehicle_id, gear, was };
    },
  }),
};

const onTheRoad = {
  set_cruise_control: tool({
    effect: "write",
    summary: `Keep a vehicle that is driving at ${cruising.least} km/h or more at a set speed, until its brake is pressed.`,
    requires: ["release_brake"],
    input: {
      vehicle_id: vehicleId,
      speed: z
        .int()
        .min(30)
        .max(150)
        .describe("Kilometres an hour")
        .meta({ examples: [60, 70, 80, 90, 95, 100, 110, 115, 120, 130] }),
    },
    returns: { ...about, cruise: z.int(), was: z.int().describe("Speed before") },
    run(garage, { vehicle_id, speed }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (vehicle.speed === 0 || vehicle.gear !== "drive")
        refuse(
          "precondition_failed",
          `${what} is not driving: it stands in ${vehicle.gear}`,
          "cruise control works on the move; vehicle_release_brake sets off in drive",
        );
      if (vehicle.speed < cruising.least)
        refuse(
          "precondition_failed",
          `${what} drives at ${vehicle.speed} km/h, and cruise control works from ${cruising.least} km/h`,
          "it has to get faster first",
        );
      if (vehicle.cruise === speed)
        refuse("conflict", `the cruise control of ${what} is set to ${speed} km/h already`);
      const soft = softTires(vehicle);
      if (soft !== undefined && speed > cruising.soft)
        refuse(
          "limit_exceeded",
          `the tires of ${what} are ${soft}: ${cruising.soft} km/h at most, not ${speed}`,
          `choose ${cruising.soft} or less`,
        );
      const most = { comfort: 150, sport: 150, eco: 120, electric: 110 }[vehicle.mode];
      if (speed > most)
        refuse(
          "limit_exceeded",
          `${what} goes ${most} km/h at most in ${vehicle.mode} mode, not ${speed}`,
          "choose a lower speed, or vehicle_set_drive_mode",
        );
      settle(garage, vehicle, now);
      const was = vehicle.speed;
      vehicle.speed = speed;
      vehicle.cruise = speed;
      return { vehicle: vehicle.name, vehicle_id, cruise: speed, was };
    },
  }),
  set_drive_mode: tool({
    effect: "write",
    summary: `Put a vehicle into another drive mode. Electric needs ${leastCharge} percent of charge, sport firm tires; not every vehicle has every mode.`,
    input: { vehicle_id: vehicleId, mode: z.enum(modes).describe("The mode") },
    returns: { ...about, mode: z.string(), range: z.int() },
    run(garage, { vehicle_id, mode }, { now }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      if (!vehicle.modes.includes(mode))
        refuse(
          "precondition_failed",
          `${what} has no ${mode} mode`,
          `it has ${vehicle.modes.join(", ")}`,
        );
      if (vehicle.mode === mode) refuse("conflict", `${what} is in ${mode} mode already`);
      const charge = vehicle.battery
        ? Math.round((100 * vehicle.battery.level) / vehicle.battery.capacity)
        : 0;
      if (mode === "electric" && charge < leastCharge)
        refuse(
          "precondition_failed",
          `the battery of ${what} is at ${charge} percent, and electric mode needs ${leastCharge}`,
          "charge it with vehicle_refuel, or choose eco",
        );
      const soft = softTires(vehicle);
      if (mode === "sport" && soft !== undefined)
        refuse(
          "precondition_failed",
          `the tires of ${what} are ${soft}, which sport mode does not allow`,
          "fill the tires first, or choose another mode",
        );
      if (mode === "eco" && vehicle.cruise !== undefined && vehicle.cruise > 120)
        refuse(
          "precondition_failed",
          `${what} is cruising at ${vehicle.cruise} km/h, and eco mode goes 120 at most`,
          "set a lower cruise speed first",
        );
      settle(garage, vehicle, now);
      vehicle.mode = mode;
      return { vehicle: vehicle.name, vehicle_id, mode, range: rangeOf(vehicle) };
    },
  }),
  set_navigation: tool({
    effect: "write",
    summary:
      "Set a vehicle's destination, if it gets there on what it holds; a destination that it had is replaced.",
    input: { vehicle_id: vehicleId, place_id: placeId },
    returns: {
      ...about,
      destination: label("place"),
      place_id: id("place"),
      distance: z.string(),
      minutes: z.int(),
      delay: z.int().describe("Minutes of them that traffic adds"),
      arrival: minute().describe("If it sets off now"),
    },
    run(garage, { vehicle_id, place_id }, { now, random }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      const { name } = placeOf(garage, place_id);
      if (vehicle.route?.place_id === place_id)
        refuse("conflict", `${name} is the destination of ${what} already`);
      if (vehicle.place_id === place_id && vehicle.away === 0 && vehicle.speed === 0)
        refuse("conflict", `${what} is at ${name}`, "choose another destination");
      settle(garage, vehicle, now);
      const km = Math.max(0.1, tenth(kmTo(garage, vehicle, place_id)));
      const range = rangeOf(vehicle);
      if (range < km)
        refuse(
          "precondition_failed",
          `${name} is ${km} km away, and ${what} gets ${range} km on what it holds`,
          "refuel first, choose a nearer place, or another vehicle",
        );
      const delay = Math.floor(random() * (km > 50 ? 25 : 7));
      const minutes = minutesFor(km) + delay;
      vehicle.route = { place_id, km, delay };
      return {
        vehicle: vehicle.name,
        vehicle_id,
        destination: name,
        place_id,
        distance: inKm(km),
        minutes,
        delay,
        arrival: addMinutes(now, minutes),
      };
    },
  }),
};

export const driving = { ...engine, ...pedals, ...onTheRoad };
