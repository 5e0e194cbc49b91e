/** Switches devices on and off, and refuses what the circuits or child locks do not allow. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";

import { computeClimate, isWindowOpen } from "./houseModel.ts";
import { type Home, isOrAre, formatDevice, requireNoChildLock, type Device } from "./state.ts";

export const watts = z.int().describe("What the whole room draws now, in watts");

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
export function computeDrawWhenOn(home: Home, device: Device, now: string): number {
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
