/** Lists of devices in results. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import type { Home } from "./state.ts";
import { listRows } from "./state.ts";
import type { Device } from "./state.ts";

export const compareByName = <Row extends { name: string }>(
  a: readonly [string, Row],
  b: readonly [string, Row],
) => (a[1].name < b[1].name ? -1 : a[1].name > b[1].name ? 1 : a[0] < b[0] ? -1 : 1);

export const createListSchema = (entity: string) =>
  z.array(z.object({ name: label(entity), device_id: id(entity), state: z.string() })).optional();

/** The devices of a room, by name. */
export const listRoomDevices = (home: Home, room_id: string) =>
  listRows(home.devices)
    .filter(([, it]) => it.room_id === room_id)
    .sort(compareByName);

/** A device's state in a word or two. */
export function describeState(device: Device): string {
  if (device.offline) return "offline";
  switch (device.kind) {
    case "light":
    case "plug":
    case "thermostat":
      return device.is_on ? "on" : "off";
    case "fan":
      return device.speed > 0 ? `on at speed ${device.speed}` : "off";
    case "blinds":
      return device.position === 0
        ? "closed"
        : device.position === 100
          ? "open"
          : `${device.position} percent open`;
    case "lock":
      return device.ajar ? "open" : device.is_locked ? "locked" : "unlocked";
    case "vacuum":
      return device.activity;
    default:
      return device satisfies never;
  }
}
