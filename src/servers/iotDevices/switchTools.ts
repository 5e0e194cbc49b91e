/** Tools that switch devices on and off and set lights, blinds, thermostats and fans. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  computeClimate,
  isWindowOpen,
  Home,
  isOrAre,
  formatDevice,
  requireNoChildLock,
  type Device,
  computeRoomDraw,
  computeDraw,
  requireOnline,
  colors,
  devices,
  findReadyDevice,
  lightId,
  type OfKind,
  blindsId,
  formatDegrees,
  findThermostat,
  rooms,
  fanId,
} from "./state.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const watts = z.int().describe("What the whole room draws now, in watts");

/** Refuses a power draw that exceeds the room's circuit. */
export function requireCircuitCapacity(
  home: Home,
  roomId: string,
  extraDraw: number,
  currentDraw: number,
): void {
  const { name, circuit } = home.rooms[roomId]!;
  if (currentDraw + extraDraw > circuit)
    refuse(
      "limit_exceeded",
      `the circuit of the ${name} carries ${circuit} W: ${currentDraw} W are in use and ${extraDraw} W would come on top`,
      "turn something off in that room first; iot_devices_list_devices shows what is on",
    );
}

/** The power that the device would draw if it were on, in watts. */
function computeDrawWhenOn(home: Home, device: Device, now: string): number {
  switch (device.kind) {
    case "light":
      return Math.round((device.watts * device.brightness) / 100);
    case "plug":
    case "fan":
      return device.watts;
    case "thermostat":
      return device.target > computeClimate(home, device.room_id, now).temperature &&
        !isWindowOpen(home, device.room_id)
        ? device.watts
        : 0;
    default:
      return 0;
  }
}

/** Turns a device on, or refuses. Does nothing if it is on already. */
export function switchOn(home: Home, device_id: string, device: Device, now: string): void {
  const deviceText = formatDevice(home, device_id, device);
  switch (device.kind) {
    case "light":
      device.is_on = true;
      return;
    case "plug":
      requireNoChildLock(home, device_id, device);
      if (device.attended && home.mode === "away")
        refuse(
          "precondition_failed",
          `${deviceText} must not run while nobody is in: the flat is in away mode`,
          "activate a scene that sets home mode first",
        );
      device.is_on = true;
      return;
    case "fan":
      requireNoChildLock(home, device_id, device);
      device.speed = 1;
      return;
    case "thermostat":
      requireNoChildLock(home, device_id, device);
      requireHeatable(
        home,
        device.room_id,
        device.target,
        computeClimate(getOriginal(home), device.room_id, now).temperature,
      );
      settleClimate(home, device.room_id, now);
      device.is_on = true;
      return;
    case "blinds":
    case "lock":
    case "vacuum":
      return refuse(
        "precondition_failed",
        `${deviceText} ${isOrAre(device)} not turned on and off`,
        `use iot_devices_${{ blinds: "open_blinds or iot_devices_close_blinds", lock: "lock_door or iot_devices_unlock_door", vacuum: "start_vacuum or iot_devices_dock_vacuum" }[device.kind]}`,
      );
    default:
      return device satisfies never;
  }
}

/** Turns a device off, or refuses. */
export function switchOff(home: Home, device_id: string, device: Device, now: string): void {
  const deviceText = formatDevice(home, device_id, device);
  switch (device.kind) {
    case "light":
      device.is_on = false;
      return;
    case "plug":
      if (device.essential)
        refuse(
          "permission_denied",
          `${deviceText} has to stay on`,
          "it can only be unplugged by hand",
        );
      requireNoChildLock(home, device_id, device);
      device.is_on = false;
      return;
    case "fan":
      requireNoChildLock(home, device_id, device);
      device.speed = 0;
      return;
    case "thermostat":
      requireNoChildLock(home, device_id, device);
      settleClimate(home, device.room_id, now);
      device.is_on = false;
      return;
    default:
      switchOn(home, device_id, device, now);
  }
}

export const isOn = (device: Device): boolean =>
  "is_on" in device ? device.is_on : device.kind === "fan" ? device.speed > 0 : false;

/** Stores the current temperature of a room. Call it before the room's heating changes. */
export function settleClimate(home: Home, roomId: string, now: string): number {
  const { temperature } = computeClimate(getOriginal(home), roomId, now);
  home.rooms[roomId]!.climate = { temperature, at: now };
  return temperature;
}

/** Refuses heating at an open window, or above the limit of away mode. */
export function requireHeatable(
  home: Home,
  roomId: string,
  target: number,
  temperature: number,
): void {
  const { name } = home.rooms[roomId]!;
  if (target > temperature && isWindowOpen(getOriginal(home), roomId))
    refuse(
      "precondition_failed",
      `a window is open in the ${name}: heating from ${temperature} to ${target} °C would go out of it`,
      "close the window by hand first, or choose another room",
    );
  if (home.mode === "away" && target > maxAwayTemperature)
    refuse(
      "precondition_failed",
      `the flat is in away mode, which keeps rooms at ${maxAwayTemperature} °C at most: ${target} °C is too warm`,
      "activate a scene that sets home mode first, or choose a lower target",
    );
}

/** The highest temperature in away mode. */
export const maxAwayTemperature = 18;

const tool = createToolFactory(Home);

const isSwitched = (device: Device): boolean => "is_on" in device || device.kind === "fan";

export const switchTools = {
  turn_on: tool({
    effect: "write",
    summary:
      "Turn on a light, plug, fan or heating. A light comes back with its last brightness, a fan at its lowest speed.",
    input: { device_id: devices.id },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = devices.find(home, device_id);
      requireOnline(home, device_id, device);
      if (isSwitched(device) && isOn(device))
        refuse(
          "conflict",
          `${formatDevice(home, device_id, device)} ${isOrAre(device)} already on`,
        );
      const currentDraw = computeRoomDraw(getOriginal(home), device.room_id, now);
      const extraDraw = computeDrawWhenOn(getOriginal(home), device, now);
      requireCircuitCapacity(home, device.room_id, extraDraw, currentDraw);
      switchOn(home, device_id, device, now);
      return { name: device.name, device_id, state: "on", watts: currentDraw + extraDraw };
    },
  }),
  turn_off: tool({
    effect: "write",
    summary:
      "Turn off a light, plug, fan or heating. What has to stay on, such as a fridge, is refused.",
    input: { device_id: devices.id },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = devices.find(home, device_id);
      requireOnline(home, device_id, device);
      if (isSwitched(device) && !isOn(device))
        refuse(
          "conflict",
          `${formatDevice(home, device_id, device)} ${isOrAre(device)} already off`,
        );
      const remainingDraw =
        computeRoomDraw(getOriginal(home), device.room_id, now) -
        computeDraw(getOriginal(home), getOriginal(home).devices[device_id]!, now);
      switchOff(home, device_id, device, now);
      return { name: device.name, device_id, state: "off", watts: remainingDraw };
    },
  }),
  set_brightness: tool({
    effect: "write",
    summary: "Dim a light or make it brighter, in percent; a light that is off comes on.",
    input: {
      device_id: lightId,
      brightness: z
        .int()
        .min(1)
        .max(100)
        .describe("Brightness in percent")
        .meta({ examples: vocabulary.brightness }),
    },
    returns: { name: label("light"), device_id: id("light"), brightness: z.int(), was: z.string() },
    run(home, { device_id, brightness }, { now }) {
      const light = findReadyDevice(home, device_id, "light");
      const deviceText = formatDevice(home, device_id, light);
      if (!light.dims)
        refuse(
          "precondition_failed",
          `${deviceText} cannot be dimmed`,
          "it can only be turned on and off",
        );
      if (light.is_on && light.brightness === brightness)
        refuse("conflict", `${deviceText} ${isOrAre(light)} already at ${brightness} percent`);
      const brighter = { ...getOriginal(light), brightness, is_on: true };
      const extraDraw =
        computeDraw(home, brighter, now) - computeDraw(home, getOriginal(light), now);
      if (extraDraw > 0)
        requireCircuitCapacity(
          home,
          light.room_id,
          extraDraw,
          computeRoomDraw(getOriginal(home), light.room_id, now),
        );
      const previousValue = light.is_on ? `${light.brightness} percent` : "off";
      light.brightness = brightness;
      light.is_on = true;
      return { name: light.name, device_id, brightness, was: previousValue };
    },
  }),
  set_color: tool({
    effect: "write",
    summary: "Give a light another color. It must be on, and be one that has colors.",
    input: { device_id: lightId, color: z.enum(colors).describe("The color") },
    returns: { name: label("light"), device_id: id("light"), color: z.string(), was: z.string() },
    run(home, { device_id, color }) {
      const light = findReadyDevice(home, device_id, "light");
      const deviceText = formatDevice(home, device_id, light);
      const previousValue =
        light.color ??
        refuse(
          "precondition_failed",
          `${deviceText} ${isOrAre(light)} of one white only`,
          "iot_devices_get_room_state shows which lights have a color",
        );
      if (!light.is_on)
        refuse(
          "precondition_failed",
          `${deviceText} ${isOrAre(light)} off`,
          "iot_devices_turn_on or iot_devices_set_brightness turns it on",
        );
      if (previousValue === color)
        refuse("conflict", `${deviceText} ${isOrAre(light)} already ${color}`);
      light.color = color;
      return { name: light.name, device_id, color, was: previousValue };
    },
  }),
};

/** The charge, in percent, below which a motor does not move. */
export const minCharge = { blinds: 10, lock: 5 };

/** The blinds, or a refusal if their motor cannot move them to that position. */
export function requireMovableBlinds(
  home: Home,
  device_id: string,
  position: number,
): OfKind<"blinds"> {
  const blinds = findReadyDevice(home, device_id, "blinds");
  const deviceText = formatDevice(home, device_id, blinds);
  if (blinds.battery < minCharge.blinds)
    refuse(
      "precondition_failed",
      `the battery of ${deviceText} is at ${blinds.battery} percent, and its motor needs ${minCharge.blinds}`,
      "it has to be charged by hand",
    );
  if (blinds.position === position)
    refuse(
      "conflict",
      `${deviceText} ${isOrAre(blinds)} already ${position === 0 ? "closed" : position === 100 ? "open" : `${position} percent open`}`,
    );
  return blinds;
}

/** The blinds, or a refusal if they cannot be opened to that position now. */
export function requireOpenableBlinds(
  home: Home,
  device_id: string,
  position: number,
): OfKind<"blinds"> {
  const blinds = requireMovableBlinds(home, device_id, position);
  if (home.mode === "away")
    refuse(
      "precondition_failed",
      `${formatDevice(home, device_id, blinds)} ${isOrAre(blinds)} not opened in away mode`,
      "activate a scene that sets home mode first",
    );
  return blinds;
}

const returns = {
  name: label("blinds"),
  device_id: id("blinds"),
  position: z.int(),
  was: z.int(),
};

/** Moves the blinds to a position and describes that. */
function move(blinds: OfKind<"blinds">, device_id: string, position: number) {
  const was = blinds.position;
  blinds.position = position;
  return { name: blinds.name, device_id, position, was };
}

export const blindTools = {
  open_blinds: tool({
    effect: "write",
    summary: "Open blinds, all the way or to some percent. In away mode they stay as they are.",
    input: {
      device_id: blindsId,
      position: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("Percent open, 100 if not given")
        .meta({ examples: vocabulary.positions }),
    },
    returns,
    run(home, { device_id, position = 100 }) {
      return move(requireOpenableBlinds(home, device_id, position), device_id, position);
    },
  }),
  close_blinds: tool({
    effect: "write",
    summary: "Close blinds all the way.",
    input: { device_id: blindsId },
    returns,
    run(home, { device_id }) {
      return move(requireMovableBlinds(home, device_id, 0), device_id, 0);
    },
  }),
};

export const climateTools = {
  set_thermostat: tool({
    effect: "write",
    summary:
      "Set how warm a room should become, which also turns its heating on. Refused at an open window.",
    input: {
      room_id: rooms.id,
      target: z
        .number()
        .min(5)
        .max(28)
        .multipleOf(0.5)
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: vocabulary.targets }),
    },
    returns: {
      room: label("room"),
      room_id: id("room"),
      target: z.string(),
      temperature: z.string().describe("How warm it is now"),
      heating: z.string(),
    },
    run(home, { room_id, target }, { now }) {
      const { name } = rooms.find(home, room_id);
      const thermostatEntry =
        findThermostat(getOriginal(home), room_id) ??
        refuse(
          "precondition_failed",
          `the ${name} (${room_id}) has no heating of its own`,
          "choose another room",
        );
      const thermostat = findReadyDevice(home, thermostatEntry[0], "thermostat");
      requireNoChildLock(home, thermostatEntry[0], thermostat);
      if (thermostat.is_on && thermostat.target === target)
        refuse("conflict", `the heating in the ${name} is already set to ${target} °C`);
      const { temperature, heating } = computeClimate(getOriginal(home), room_id, now);
      requireHeatable(home, room_id, target, temperature);
      if (target > temperature && !heating)
        requireCircuitCapacity(
          home,
          room_id,
          thermostat.watts,
          computeRoomDraw(getOriginal(home), room_id, now),
        );
      settleClimate(home, room_id, now);
      thermostat.is_on = true;
      thermostat.target = target;
      return {
        room: name,
        room_id,
        target: formatDegrees(target),
        temperature: formatDegrees(temperature),
        heating: target > temperature ? "warming up" : "warm enough",
      };
    },
  }),
  set_fan_speed: tool({
    effect: "write",
    summary: "Set the speed of a fan, from 1 to as many as it has; a fan that is off starts.",
    input: { device_id: fanId, speed: z.int().min(1).max(5).describe("Speed, 1 is the lowest") },
    returns: { name: label("fan"), device_id: id("fan"), speed: z.int(), was: z.int() },
    run(home, { device_id, speed }, { now }) {
      const fan = findReadyDevice(home, device_id, "fan");
      const deviceText = formatDevice(home, device_id, fan);
      requireNoChildLock(home, device_id, fan);
      if (speed > fan.speeds)
        refuse(
          "limit_exceeded",
          `${deviceText} has speeds 1 to ${fan.speeds}, not ${speed}`,
          `choose at most ${fan.speeds}`,
        );
      if (speed === fan.speed) refuse("conflict", `${deviceText} already runs at speed ${speed}`);
      requireCircuitCapacity(
        home,
        fan.room_id,
        fan.watts * (speed - fan.speed),
        computeRoomDraw(getOriginal(home), fan.room_id, now),
      );
      const previousSpeed = fan.speed;
      fan.speed = speed;
      return { name: fan.name, device_id, speed, was: previousSpeed };
    },
  }),
};
