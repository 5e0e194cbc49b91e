/** Tools for the doors, the engine, the brake and the gear, climate, headlights and wipers. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import {
  control,
  doorNames,
  requireStandstill,
  requireClosedDoors,
  requirePressedBrake,
  requireRange,
  formatKm,
  estimateMinutes,
  describeSoftTires,
  purposes,
  updateAfterDrive,
  applyDrive,
  computeRange,
  gears,
  places,
  requireRunningEngine,
  computePercent,
  lamps,
  type Vehicle,
  wiperSpeeds,
  townSpeed,
} from "./state.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import { minutesBetween } from "../../environment/time.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const doorTools = {
  lock_doors: control({
    summary: "Shut and lock all doors of a vehicle.",
    input: {},
    returns: { doors: z.string(), shut: z.int().describe("Doors that were open") },
    run(_, { vehicle, description }) {
      if (vehicle.locked && vehicle.open.length === 0)
        refuse("conflict", `${description} is locked already`);
      const { blocked } = vehicle;
      if (blocked && vehicle.open.includes(blocked.door))
        refuse(
          "precondition_failed",
          `the ${blocked.door} of ${description} does not shut: ${blocked.by} is in the way`,
          "somebody has to clear it by hand",
        );
      const closedCount = vehicle.open.length;
      vehicle.open = [];
      vehicle.locked = true;
      return { doors: "locked", shut: closedCount };
    },
  }),
  unlock_doors: control({
    summary: "Unlock the doors of a vehicle that stands, or unlock them and open one.",
    input: {
      door: z.enum(doorNames).optional().describe("Door to open; none is opened if not given"),
    },
    returns: { doors: z.string(), opened: z.string().optional() },
    run({ door }, { vehicle, vehicle_id, description }) {
      requireStandstill(vehicle, vehicle_id, "its doors stay locked");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} stands in ${vehicle.gear}: its doors are unlocked in park`,
          "vehicle_shift_gear puts it into park",
        );
      if (door === undefined && !vehicle.locked)
        refuse("conflict", `${description} is unlocked already`);
      if (door !== undefined && vehicle.open.includes(door))
        refuse("conflict", `the ${door} door of ${description} is open already`);
      if (door?.startsWith("rear") && vehicle.child_lock)
        refuse(
          "permission_denied",
          `the child lock keeps the ${door} door of ${description} shut`,
          "it opens from outside; choose another door",
        );
      vehicle.locked = false;
      if (door !== undefined) vehicle.open.push(door);
      return {
        doors: "unlocked",
        ...(door === undefined ? {} : { opened: door === "tailgate" ? door : `${door} door` }),
      };
    },
  }),
};

export const engineTools = {
  start_engine: control({
    summary:
      "Start the engine of a vehicle. Its brake must be pressed, its gear in park and its doors shut.",
    requires: ["press_brake"],
    input: {},
    returns: {
      engine: z.string(),
      trip_id: id("trip").describe("Id of the trip that begins"),
      range: z.int(),
      warning: z.string().optional(),
    },
    run(_, { state, vehicle, vehicle_id, description, now, newId }) {
      if (vehicle.engine === "on") refuse("conflict", `the engine of ${description} is on already`);
      requireClosedDoors(vehicle, vehicle_id);
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} is in ${vehicle.gear}, and starts in park`,
          "vehicle_shift_gear puts it into park while the brake is pressed",
        );
      requirePressedBrake(vehicle, description);
      const range = requireRange(vehicle, description);
      const trip_id = newId("trip");
      state.trips[trip_id] = {
        vehicle_id,
        driver: state.user,
        purpose: "private",
        from: vehicle.place_id,
        start: now,
        km: 0,
      };
      Object.assign(vehicle, { engine: "on", trip_id });
      const soft = describeSoftTires(vehicle);
      return {
        engine: "on",
        trip_id,
        range,
        ...(soft === undefined ? {} : { warning: `the tires are ${soft}` }),
      };
    },
  }),
  stop_engine: control({
    summary:
      "Stop the engine of a vehicle that stands in park, which ends its trip. A trip that led nowhere is not logged.",
    requires: ["start_engine"],
    input: {
      purpose: z.enum(purposes).optional().describe("What the trip was for, private if not given"),
    },
    returns: {
      engine: z.string(),
      trip_id: id("trip").optional(),
      distance: z.string().optional().describe("How far the trip went"),
    },
    run({ purpose = "private" }, { state, vehicle, vehicle_id, description, now }) {
      if (vehicle.engine === "off")
        refuse("conflict", `the engine of ${description} is off already`);
      requireStandstill(vehicle, vehicle_id, "its engine cannot be stopped");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} is in ${vehicle.gear}: its engine stops in park`,
          "vehicle_shift_gear puts it into park",
        );
      const trip_id = vehicle.trip_id!;
      const trip = state.trips[trip_id]!;
      Object.assign(vehicle, {
        engine: "off",
        wipers: "off",
        climate: { ...vehicle.climate, fan: 0 },
      });
      if (vehicle.lamps !== "parking") vehicle.lamps = "off";
      delete vehicle.trip_id;
      const { start, km } = trip;
      if (km === 0) {
        delete state.trips[trip_id];
        return { engine: "off" };
      }
      Object.assign(trip, {
        purpose,
        minutes: Math.max(estimateMinutes(km), minutesBetween(start, now)),
        ...(vehicle.away === 0 ? { to: vehicle.place_id } : {}),
      });
      return { engine: "off", trip_id, distance: formatKm(km) };
    },
  }),
};

const reverseSpeed = 5;

export const pedalTools = {
  press_brake: control({
    summary:
      "Press the brake of a vehicle and keep it pressed; one that is driving stops, at once or when it has reached its destination.",
    input: {
      at_destination: z
        .boolean()
        .optional()
        .describe("True to drive on to the end of the route and stop there"),
    },
    returns: {
      brake: z.string(),
      stopped_after: z.string().optional().describe("How far this trip has gone"),
      where: z.string(),
    },
    run({ at_destination }, { state, vehicle, description, now }) {
      if (vehicle.brake) refuse("conflict", `the brake of ${description} is pressed already`);
      if (at_destination) {
        if (vehicle.speed === 0)
          refuse(
            "precondition_failed",
            `${description} is not driving`,
            "leave at_destination out to press the brake as it stands",
          );
        if (vehicle.gear === "reverse")
          refuse(
            "precondition_failed",
            `${description} is in reverse, which does not lead to a destination`,
            "leave at_destination out to press the brake, then vehicle_shift_gear puts it into drive",
          );
        const { route } = vehicle;
        if (!route)
          refuse(
            "precondition_failed",
            `${description} has no destination`,
            "vehicle_set_navigation sets one",
          );
        const range = computeRange(vehicle);
        if (range < route.km)
          refuse(
            "precondition_failed",
            `${description} gets ${range} km on what it holds, and ${places.find(state, route.place_id).name} is ${route.km} km away`,
            "stop at once, or set a nearer destination",
          );
        applyDrive(state, vehicle, route.km);
      } else updateAfterDrive(state, vehicle, now);
      const wasMoving = vehicle.speed > 0;
      vehicle.brake = true;
      vehicle.speed = 0;
      delete vehicle.since;
      delete vehicle.cruise;
      const at = state.places[vehicle.place_id]!.name;
      return {
        brake: "pressed",
        ...(wasMoving ? { stopped_after: formatKm(state.trips[vehicle.trip_id!]!.km) } : {}),
        where: vehicle.away === 0 ? `at ${at}` : `${vehicle.away} km from ${at}`,
      };
    },
  }),
  release_brake: control({
    summary:
      "Release the brake. With the engine on and a gear in, the vehicle sets off, along its route if it has one.",
    requires: ["press_brake"],
    input: {},
    returns: {
      brake: z.string(),
      speed: z.int(),
      destination: label("place").optional(),
    },
    run(_, { state, vehicle, vehicle_id, description, now }) {
      if (!vehicle.brake) refuse("conflict", `the brake of ${description} is not pressed`);
      if (vehicle.gear === "neutral")
        refuse(
          "precondition_failed",
          `${description} is in neutral and would roll away`,
          "vehicle_shift_gear puts it into park or drive",
        );
      const startsMoving = vehicle.engine === "on" && vehicle.gear !== "park";
      if (startsMoving) {
        requireClosedDoors(vehicle, vehicle_id);
        requireRange(vehicle, description);
        if (state.weather.rain === "heavy" && vehicle.wipers === "off")
          refuse(
            "precondition_failed",
            `it rains heavily, and the wipers of ${description} are off`,
            "vehicle_set_wipers with slow or fast first",
          );
        vehicle.speed = vehicle.gear === "drive" ? townSpeed : reverseSpeed;
        vehicle.since = now;
      }
      vehicle.brake = false;
      return {
        brake: "released",
        speed: vehicle.speed,
        ...(startsMoving && vehicle.route
          ? { destination: places.find(state, vehicle.route.place_id).name }
          : {}),
      };
    },
  }),
  shift_gear: control({
    summary:
      "Put a standing vehicle into another gear while its brake is pressed. Out of park it needs the engine.",
    requires: ["start_engine", "press_brake"],
    input: { gear: z.enum(gears).describe("The gear") },
    returns: { gear: z.string(), was: z.string() },
    run({ gear }, { vehicle, vehicle_id, description }) {
      requireStandstill(vehicle, vehicle_id, `it cannot be put into ${gear}`);
      if (vehicle.gear === gear) refuse("conflict", `${description} is in ${gear} already`);
      requirePressedBrake(vehicle, description);
      if (gear !== "park")
        requireRunningEngine(vehicle, vehicle_id, `it leaves ${vehicle.gear} only with it on`);
      const was = vehicle.gear;
      vehicle.gear = gear;
      return { gear, was };
    },
  }),
};

/** The climate settings that eco mode allows. */
export const ecoLimits = { coolest: 18, warmest: 23, fan: 3 };

export const isEcoClimate = ({ temperature, fan }: Vehicle["climate"]): boolean =>
  temperature >= ecoLimits.coolest && temperature <= ecoLimits.warmest && fan <= ecoLimits.fan;

const minClimateCharge = 20;

export const cabinTools = {
  set_climate: control({
    summary:
      "Set the temperature in a vehicle, its fan, or both. It needs the engine, or a battery that is well charged; eco mode sets bounds.",
    requires: ["start_engine"],
    input: {
      temperature: z
        .number()
        .min(16)
        .max(28)
        .multipleOf(0.5)
        .optional()
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: vocabulary.temperatures }),
      fan: z
        .int()
        .min(0)
        .max(5)
        .optional()
        .describe("Speed of the fan, 0 turns it off; 2 if it was off and none is given")
        .meta({ examples: vocabulary.fanSpeeds }),
    },
    returns: { temperature: z.string(), fan: z.int(), range: z.int() },
    run({ temperature, fan }, { vehicle, vehicle_id, description }) {
      if (temperature === undefined && fan === undefined)
        refuse("invalid_params", "nothing to set is given", "give temperature, fan or both");
      const charge = vehicle.battery ? computePercent(vehicle.battery) : 0;
      if (charge < minClimateCharge && fan !== 0)
        requireRunningEngine(
          vehicle,
          vehicle_id,
          vehicle.battery
            ? `its battery is at ${charge} percent, and ${minClimateCharge} are needed without`
            : "its climate needs it",
        );
      const current = vehicle.climate;
      const next = {
        temperature: temperature ?? current.temperature,
        fan: fan ?? (current.fan === 0 ? 2 : current.fan),
      };
      if (next.temperature === current.temperature && next.fan === current.fan)
        refuse(
          "conflict",
          `the climate of ${description} is like that already: ${current.temperature} °C, fan ${current.fan}`,
        );
      if (vehicle.mode === "eco" && !isEcoClimate(next))
        refuse(
          "limit_exceeded",
          `${description} is in eco mode, which keeps the cabin between ${ecoLimits.coolest} and ${ecoLimits.warmest} °C and the fan at ${ecoLimits.fan} or less`,
          "choose within, or vehicle_set_drive_mode",
        );
      vehicle.climate = next;
      return {
        temperature: `${next.temperature} °C`,
        fan: next.fan,
        range: computeRange(vehicle),
      };
    },
  }),
  set_headlights: control({
    summary:
      "Set the headlights of a vehicle. Without the engine only parking lights burn; high beam is for the road.",
    requires: ["start_engine"],
    input: { headlights: z.enum(lamps).describe("What to set them to") },
    returns: { headlights: z.string(), was: z.string() },
    run({ headlights }, { state, vehicle, vehicle_id, description, now }) {
      if (vehicle.lamps === headlights)
        refuse("conflict", `the headlights of ${description} are set to ${headlights} already`);
      if (headlights !== "off" && headlights !== "parking")
        requireRunningEngine(vehicle, vehicle_id, "only its parking lights burn without");
      if (headlights === "high" && vehicle.speed === 0)
        refuse(
          "precondition_failed",
          `${description} stands, and high beam is for the road`,
          "choose low or auto",
        );
      const hour = Number(now.slice(11, 13));
      const needsLight = hour < 7 || hour >= 19 || state.weather.rain !== "none";
      if ((headlights === "off" || headlights === "parking") && vehicle.speed > 0 && needsLight)
        refuse(
          "precondition_failed",
          `${description} is driving in ${state.weather.rain === "none" ? "the dark" : "the rain"} and needs its lights`,
          "choose low or auto",
        );
      const was = vehicle.lamps;
      vehicle.lamps = headlights;
      return { headlights, was };
    },
  }),
  set_wipers: control({
    summary: "Set the wipers of a vehicle, or wash its windscreen first, which takes washer fluid.",
    requires: ["start_engine"],
    input: {
      wipers: z.enum(wiperSpeeds).describe("How fast"),
      wash: z.boolean().optional().describe("True to wash the windscreen first"),
    },
    returns: {
      wipers: z.string(),
      was: z.string(),
      washer: z.int().describe("Percent of washer fluid that is left"),
    },
    run({ wipers, wash }, { state, vehicle, vehicle_id, description }) {
      requireRunningEngine(vehicle, vehicle_id, "its wipers need it");
      if (vehicle.wipers === wipers && !wash)
        refuse("conflict", `the wipers of ${description} are set to ${wipers} already`);
      if (wipers === "off" && vehicle.speed > 0 && state.weather.rain === "heavy")
        refuse(
          "precondition_failed",
          `${description} is driving in heavy rain and needs its wipers`,
          "choose slow or fast",
        );
      if (wash && vehicle.washer < 5)
        refuse(
          "precondition_failed",
          `${description} has ${vehicle.washer} percent of washer fluid left, and washing takes 5`,
          "leave wash out; the fluid is filled up by hand",
        );
      const was = vehicle.wipers;
      vehicle.wipers = wipers;
      if (wash) vehicle.washer -= 5;
      return { wipers, was, washer: vehicle.washer };
    },
  }),
};
