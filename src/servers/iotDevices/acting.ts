/**
 * The flat's tools that move one device: switches, light, heating, air, blinds, locks and vacuums,
 * and what each of them refuses.
 */
import { z } from "zod";
import { id, label, sensitive } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { climateIn, drawIn, drawOf, inDegrees, isWindowOpen, thermostatIn } from "./physics.ts";
import { blindsId, deviceId, fanId, lightId, lockId, roomId } from "./words.ts";
import {
  answering,
  be,
  colors,
  deviceOf,
  Home,
  placed,
  ready,
  roomOf,
  unlockedForChildren,
  type Device,
  type OfKind,
} from "./state.ts";

const tool = createToolFactory(Home);

const watts = z.int().describe("What the whole room draws now, in watts");

/** While nobody is in, rooms are kept no warmer. */
const warmestAway = 18;

/** Draws that the circuit of the room cannot carry are refused. */
export function carried(home: Home, roomId: string, extra: number, already: number): void {
  const { name, circuit } = home.rooms[roomId]!;
  if (already + extra > circuit)
    refuse(
      "limit_exceeded",
      `the circuit of the ${name} carries ${circuit} W: ${already} W are in use and ${extra} W would come on top`,
      "turn something off in that room first; iot_devices_list_devices shows what is on",
    );
}

/** What the device would draw once it is on. */
function drawWhenOn(home: Home, device: Device, now: string): number {
  switch (device.kind) {
    case "light":
      return Math.round((device.watts * device.brightness) / 100);
    case "plug":
    case "fan":
      return device.watts;
    case "thermostat":
      return device.target > climateIn(home, device.room_id, now).temperature &&
        !isWindowOpen(home, device.room_id)
        ? device.watts
        : 0;
    default:
      return 0;
  }
}

/** Before the heating of a room changes, how warm it has become is written down. */
export function settleClimate(home: Home, roomId: string, now: string): number {
  const { temperature } = climateIn(getOriginal(home), roomId, now);
  home.rooms[roomId]!.climate = { temperature, at: now };
  return temperature;
}

/** Refuses heating that would go out of the window, or heat for nobody. */
function heatable(home: Home, roomId: string, target: number, temperature: number): void {
  const { name } = home.rooms[roomId]!;
  if (target > temperature && isWindowOpen(getOriginal(home), roomId))
    refuse(
      "precondition_failed",
      `a window is open in the ${name}: heating from ${temperature} to ${target} °C would go out of it`,
      "close the window by hand first, or choose another room",
    );
  if (home.mode === "away" && target > warmestAway)
    refuse(
      "precondition_failed",
      `the flat is in away mode, which keeps rooms at ${warmestAway} °C at most: ${target} °C is too warm`,
      "activate a scene that sets home mode first, or choose a lower target",
    );
}

/**
 * Turns a device on in the draft; refuses what stands in the way. Nothing happens where it is on
 * already.
 */
export function switchOn(home: Home, device_id: string, device: Device, now: string): void {
  const what = placed(home, device_id, device);
  switch (device.kind) {
    case "light":
      device.is_on = true;
      return;
    case "plug":
      unlockedForChildren(home, device_id, device);
      if (device.attended && home.mode === "away")
        refuse(
          "precondition_failed",
          `${what} must not run while nobody is in: the flat is in away mode`,
          "activate a scene that sets home mode first",
        );
      device.is_on = true;
      return;
    case "fan":
      unlockedForChildren(home, device_id, device);
      device.speed = 1;
      return;
    case "thermostat":
      unlockedForChildren(home, device_id, device);
      heatable(
        home,
        device.room_id,
        device.target,
        climateIn(getOriginal(home), device.room_id, now).temperature,
      );
      settleClimate(home, device.room_id, now);
      device.is_on = true;
      return;
    case "blinds":
    case "lock":
    case "vacuum":
      return refuse(
        "precondition_failed",
        `${what} ${be(device)} not turned on and off`,
        `use iot_devices_${{ blinds: "open_blinds or iot_devices_close_blinds", lock: "lock_door or iot_devices_unlock_door", vacuum: "start_vacuum or iot_devices_dock_vacuum" }[device.kind]}`,
      );
    default:
      return device satisfies never;
  }
}

/** Turns a device off in the draft; refuses what stands in the way. */
export function switchOff(home: Home, device_id: string, device: Device, now: string): void {
  const what = placed(home, device_id, device);
  switch (device.kind) {
    case "light":
      device.is_on = false;
      return;
    case "plug":
      if (device.essential)
        refuse("permission_denied", `${what} has to stay on`, "it can only be unplugged by hand");
      unlockedForChildren(home, device_id, device);
      device.is_on = false;
      return;
    case "fan":
      unlockedForChildren(home, device_id, device);
      device.speed = 0;
      return;
    case "thermostat":
      unlockedForChildren(home, device_id, device);
      settleClimate(home, device.room_id, now);
      device.is_on = false;
      return;
    default:
      switchOn(home, device_id, device, now);
  }
}

export const isOn = (device: Device): boolean =>
  "is_on" in device ? device.is_on : device.kind === "fan" ? device.speed > 0 : false;
const isSwitched = (device: Device): boolean => "is_on" in device || device.kind === "fan";

const switches = {
  turn_on: tool({
    effect: "write",
    summary:
      "Turn on a light, plug, fan or heating. A light comes back with its last brightness, a fan at its lowest speed.",
    input: { device_id: deviceId },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = deviceOf(home, device_id);
      answering(home, device_id, device);
      if (isSwitched(device) && isOn(device))
        refuse("conflict", `${placed(home, device_id, device)} ${be(device)} already on`);
      const already = drawIn(getOriginal(home), device.room_id, now);
      const extra = drawWhenOn(getOriginal(home), device, now);
      carried(home, device.room_id, extra, already);
      switchOn(home, device_id, device, now);
      return { name: device.name, device_id, state: "on", watts: already + extra };
    },
  }),
  turn_off: tool({
    effect: "write",
    summary:
      "Turn off a light, plug, fan or heating. What has to stay on, such as a fridge, is refused.",
    input: { device_id: deviceId },
    returns: { name: label("device"), device_id: id("device"), state: z.string(), watts },
    run(home, { device_id }, { now }) {
      const device = deviceOf(home, device_id);
      answering(home, device_id, device);
      if (isSwitched(device) && !isOn(device))
        refuse("conflict", `${placed(home, device_id, device)} ${be(device)} already off`);
      const left =
        drawIn(getOriginal(home), device.room_id, now) -
        drawOf(getOriginal(home), getOriginal(home).devices[device_id]!, now);
      switchOff(home, device_id, device, now);
      return { name: device.name, device_id, state: "off", watts: left };
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
        .meta({ examples: [5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100] }),
    },
    returns: { name: label("light"), device_id: id("light"), brightness: z.int(), was: z.string() },
    run(home, { device_id, brightness }) {
      const light = ready(home, device_id, "light");
      const what = placed(home, device_id, light);
      if (!light.dims)
        refuse(
          "precondition_failed",
          `${what} cannot be dimmed`,
          "it can only be turned on and off",
        );
      if (light.is_on && light.brightness === brightness)
        refuse("conflict", `${what} ${be(light)} already at ${brightness} percent`);
      const was = light.is_on ? `${light.brightness} percent` : "off";
      light.brightness = brightness;
      light.is_on = true;
      return { name: light.name, device_id, brightness, was };
    },
  }),
  set_color: tool({
    effect: "write",
    summary: "Give a light another color. It must be on, and be one that has colors.",
    input: { device_id: lightId, color: z.enum(colors).describe("The color") },
    returns: { name: label("light"), device_id: id("light"), color: z.string(), was: z.string() },
    run(home, { device_id, color }) {
      const light = ready(home, device_id, "light");
      const what = placed(home, device_id, light);
      const was =
        light.color ??
        refuse(
          "precondition_failed",
          `${what} ${be(light)} of one white only`,
          "iot_devices_get_room_state shows which lights have a color",
        );
      if (!light.is_on)
        refuse(
          "precondition_failed",
          `${what} ${be(light)} off`,
          "iot_devices_turn_on or iot_devices_set_brightness turns it on",
        );
      if (was === color) refuse("conflict", `${what} ${be(light)} already ${color}`);
      light.color = color;
      return { name: light.name, device_id, color, was };
    },
  }),
};

const air = {
  set_thermostat: tool({
    effect: "write",
    summary:
      "Set how warm a room should become, which also turns its heating on. Refused at an open window.",
    input: {
      room_id: roomId,
      target: z
        .number()
        .min(5)
        .max(28)
        .multipleOf(0.5)
        .describe("Degrees Celsius, in steps of a half")
        .meta({ examples: [16, 17, 18, 18.5, 19, 19.5, 20, 20.5, 21, 21.5, 22, 22.5, 23, 24] }),
    },
    returns: {
      room: label("room"),
      room_id: id("room"),
      target: z.string(),
      temperature: z.string().describe("How warm it is now"),
      heating: z.string(),
    },
    run(home, { room_id, target }, { now }) {
      const { name } = roomOf(home, room_id);
      const found =
        thermostatIn(getOriginal(home), room_id) ??
        refuse(
          "precondition_failed",
          `the ${name} (${room_id}) has no heating of its own`,
          "choose another room",
        );
      const thermostat = ready(home, found[0], "thermostat");
      unlockedForChildren(home, found[0], thermostat);
      if (thermostat.is_on && thermostat.target === target)
        refuse("conflict", `the heating in the ${name} is already set to ${target} °C`);
      const { temperature, heating } = climateIn(getOriginal(home), room_id, now);
      heatable(home, room_id, target, temperature);
      if (target > temperature && !heating)
        carried(home, room_id, thermostat.watts, drawIn(getOriginal(home), room_id, now));
      settleClimate(home, room_id, now);
      thermostat.is_on = true;
      thermostat.target = target;
      return {
        room: name,
        room_id,
        target: inDegrees(target),
        temperature: inDegrees(temperature),
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
      const fan = ready(home, device_id, "fan");
      const what = placed(home, device_id, fan);
      unlockedForChildren(home, device_id, fan);
      if (speed > fan.speeds)
        refuse(
          "limit_exceeded",
          `${what} has speeds 1 to ${fan.speeds}, not ${speed}`,
          `choose at most ${fan.speeds}`,
        );
      if (speed === fan.speed) refuse("conflict", `${what} already runs at speed ${speed}`);
      carried(
        home,
        fan.room_id,
        fan.watts * (speed - fan.speed),
        drawIn(getOriginal(home), fan.room_id, now),
      );
      const was = fan.speed;
      fan.speed = speed;
      return { name: fan.name, device_id, speed, was };
    },
  }),
};

/** Under so much charge a motor is not to be trusted. */
const leastCharge = { blinds: 10, lock: 5 };

/** The blinds, if their motor can move them to that position. */
export function movable(home: Home, device_id: string, position: number): OfKind<"blinds"> {
  const blinds = ready(home, device_id, "blinds");
  const what = placed(home, device_id, blinds);
  if (blinds.battery < leastCharge.blinds)
    refuse(
      "precondition_failed",
      `the battery of ${what} is at ${blinds.battery} percent, and its motor needs ${leastCharge.blinds}`,
      "it has to be charged by hand",
    );
  if (blinds.position === position)
    refuse(
      "conflict",
      `${what} ${be(blinds)} already ${position === 0 ? "closed" : position === 100 ? "open" : `${position} percent open`}`,
    );
  return blinds;
}

const blinds = {
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
        .meta({ examples: [20, 25, 30, 40, 50, 60, 70, 75, 80, 90] }),
    },
    returns: { name: label("blinds"), device_id: id("blinds"), position: z.int(), was: z.int() },
    run(home, { device_id, position = 100 }) {
      const moved = movable(home, device_id, position);
      if (home.mode === "away")
        refuse(
          "precondition_failed",
          `${placed(home, device_id, moved)} ${be(moved)} not opened in away mode`,
          "activate a scene that sets home mode first",
        );
      const was = moved.position;
      moved.position = position;
      return { name: moved.name, device_id, position, was };
    },
  }),
  close_blinds: tool({
    effect: "write",
    summary: "Close blinds all the way.",
    input: { device_id: blindsId },
    returns: { name: label("blinds"), device_id: id("blinds"), position: z.int(), was: z.int() },
    run(home, { device_id }) {
      const moved = movable(home, device_id, 0);
      const was = moved.position;
      moved.position = 0;
      return { name: moved.name, device_id, position: 0, was };
    },
  }),
};

/** The lock, if it has the charge to turn. */
function turnable(home: Home, device_id: string): OfKind<"lock"> {
  const lock = ready(home, device_id, "lock");
  if (lock.battery < leastCharge.lock)
    refuse(
      "precondition_failed",
      `the battery of the ${lock.name} lock (${device_id}) is at ${lock.battery} percent, and it needs ${leastCharge.lock} to turn`,
      "its battery has to be changed; the key still works",
    );
  return lock;
}

/** Turns the bolt, and writes down who did. */
export function turnBolt(
  home: Home,
  device_id: string,
  lock: OfKind<"lock">,
  isLocked: boolean,
  by: string,
  { now, newId }: Pick<ToolContext, "now" | "newId">,
): void {
  lock.is_locked = isLocked;
  home.log[newId("log")] = {
    lock_id: device_id,
    at: now,
    action: isLocked ? "locked" : "unlocked",
    by,
  };
}

const doors = {
  lock_door: tool({
    effect: "write",
    summary: "Lock a door. It must be shut.",
    input: { device_id: lockId },
    returns: { door: label("lock"), device_id: id("lock"), state: z.string(), battery: z.int() },
    run(home, { device_id }, context) {
      const lock = turnable(home, device_id);
      if (lock.is_locked) refuse("conflict", `the ${lock.name} (${device_id}) is already locked`);
      if (lock.ajar)
        refuse(
          "precondition_failed",
          `the ${lock.name} (${device_id}) is not shut`,
          "somebody has to shut it first",
        );
      turnBolt(home, device_id, lock, true, home.owner, context);
      return { door: lock.name, device_id, state: "locked", battery: lock.battery };
    },
  }),
  unlock_door: tool({
    effect: "write",
    summary:
      "Unlock a door with a four-digit code that the user gives. Refused while the alarm is armed in away mode.",
    input: {
      device_id: lockId,
      pin: sensitive(z.string().regex(/^\d{4}$/)).describe(
        "Four-digit code of the door; ask the user for it",
      ),
    },
    returns: {
      door: label("lock"),
      device_id: id("lock"),
      state: z.string(),
      opened_for: z.string(),
    },
    run(home, { device_id, pin }, context) {
      const lock = turnable(home, device_id);
      if (!lock.is_locked) refuse("conflict", `the ${lock.name} (${device_id}) is not locked`);
      const code =
        lock.codes.find(it => it.pin === pin) ??
        refuse(
          "permission_denied",
          `that code does not open the ${lock.name} (${device_id})`,
          "ask the user for the code of this door",
        );
      if (code.until && code.until < context.now.slice(0, 10))
        refuse(
          "permission_denied",
          `that code of ${code.holder} for the ${lock.name} (${device_id}) ended on ${code.until}`,
          "ask the user for another code",
        );
      if (home.mode === "away")
        refuse(
          "precondition_failed",
          `the alarm is armed in away mode: unlocking the ${lock.name} (${device_id}) would set it off`,
          "activate a scene that sets home mode first",
        );
      turnBolt(home, device_id, lock, false, code.holder, context);
      return { door: lock.name, device_id, state: "unlocked", opened_for: code.holder };
    },
  }),
};

export const acting = { ...switches, ...air, ...blinds, ...doors };
