/**
 * What follows from the state of the flat at a time: how warm and bright a room is, what it draws,
 * what a sensor reads and how full a battery is. Reads frozen states only and changes nothing.
 */
import { minutesBetween } from "../../environment/time.ts";
import { rowsOf, type Device, type Home, type OfKind, type Sensor } from "./state.ts";

/** Degrees a minute: under heating, at an open window, and left alone. */
const pace = { heating: 0.1, airing: 0.1, cooling: 0.02 };

const tenth = (value: number) => Math.round(value * 10) / 10;

export const isWindowOpen = (home: Home, roomId: string): boolean =>
  Object.values(home.sensors).some(
    it => it.room_id === roomId && it.kind === "window" && it.tripped === true,
  );

/** The room's thermostat, if it has one. */
export function thermostatIn(
  home: Home,
  roomId: string,
): readonly [string, OfKind<"thermostat">] | undefined {
  for (const [deviceId, it] of rowsOf(home.devices))
    if (it.kind === "thermostat" && it.room_id === roomId) return [deviceId, it];
  return undefined;
}

/** How warm it is in a room, and whether its heating is at work. */
export function climateIn(
  home: Home,
  roomId: string,
  now: string,
): { temperature: number; heating: boolean } {
  const { temperature, at } = home.rooms[roomId]!.climate;
  const minutes = Math.max(0, minutesBetween(at, now));
  const thermostat = thermostatIn(home, roomId)?.[1];
  const open = isWindowOpen(home, roomId);
  const works = thermostat !== undefined && thermostat.is_on && !thermostat.offline && !open;
  const goal = open
    ? home.outside
    : works
      ? thermostat.target
      : Math.min(temperature, home.outside + 6);
  const speed = open ? pace.airing : works && goal > temperature ? pace.heating : pace.cooling;
  const moved = Math.min(Math.abs(goal - temperature), speed * minutes);
  const warm = tenth(temperature + Math.sign(goal - temperature) * moved);
  return { temperature: warm, heating: works && warm < goal };
}

/** What a device draws at that time, in whole watts. */
export function drawOf(home: Home, device: Device, now: string): number {
  if (device.offline) return 0;
  switch (device.kind) {
    case "light":
      return device.is_on ? Math.round((device.watts * device.brightness) / 100) : 0;
    case "plug":
      return device.is_on ? device.watts : 0;
    case "fan":
      return device.watts * device.speed;
    case "thermostat":
      return climateIn(home, device.room_id, now).heating ? device.watts : 0;
    case "vacuum":
      return device.activity === "docked" && chargeOf(device, now) < 100 ? 28 : 0;
    case "blinds":
    case "lock":
      return 0;
    default:
      return device satisfies never;
  }
}

/** What a room draws, in watts. */
export const drawIn = (home: Home, roomId: string, now: string): number =>
  Object.values(home.devices).reduce(
    (sum, it) => (it.room_id === roomId ? sum + drawOf(home, it, now) : sum),
    0,
  );

/** A vacuum's charge: it gains a percent a minute on its dock and loses one on its way. */
export function chargeOf({ battery, since, activity }: OfKind<"vacuum">, now: string): number {
  const minutes = Math.max(0, minutesBetween(since, now));
  return activity === "docked"
    ? Math.min(100, battery + minutes)
    : activity === "cleaning"
      ? Math.max(0, battery - minutes)
      : battery;
}

/** From seven to nineteen, most at one o'clock. */
function sunAt(now: string): number {
  const minute = Number(now.slice(11, 13)) * 60 + Number(now.slice(14));
  return Math.max(0, Math.sin((Math.PI * (minute - 420)) / 720));
}

const lumensOfWatt = 20;

/** Lux in a room: daylight as far as the blinds let it in, and its lamps. */
export function lightIn(home: Home, roomId: string, now: string): number {
  const own = Object.values(home.devices).filter(it => it.room_id === roomId);
  const blinds = own.filter(it => it.kind === "blinds");
  const open =
    blinds.length === 0
      ? 1
      : blinds.reduce((sum, it) => sum + it.position, 0) / (100 * blinds.length);
  const lamps = own.reduce(
    (sum, it) => (it.kind === "light" ? sum + drawOf(home, it, now) * lumensOfWatt : sum),
    0,
  );
  return Math.round(home.rooms[roomId]!.daylight * sunAt(now) * open + lamps);
}

/** `20.1 °C` */
export const inDegrees = (temperature: number): string => `${temperature} °C`;

export interface Reading {
  readonly value?: number;
  readonly unit?: string;
  readonly state?: string;
}

const words = {
  motion: ["motion", "clear"],
  window: ["open", "closed"],
  leak: ["wet", "dry"],
  smoke: ["smoke", "clear"],
} as const;

/** What a fan at one speed takes off: percent of humidity, parts per million of stale air. */
const freshening = { humidity: 4, air: 60 };

/** What a sensor reads at that time. */
export function readingOf(home: Home, sensor: Sensor, now: string): Reading {
  const { kind, room_id, level = 0, tripped = false } = sensor;
  const freshened = (by: number, least: number) => {
    const speeds = Object.values(home.devices).reduce(
      (sum, it) =>
        it.kind === "fan" && it.room_id === room_id && !it.offline ? sum + it.speed : sum,
      0,
    );
    return Math.max(Math.min(least, level), level - by * speeds);
  };
  switch (kind) {
    case "temperature":
      return { value: climateIn(home, room_id, now).temperature, unit: "°C" };
    case "light":
      return { value: lightIn(home, room_id, now), unit: "lux" };
    case "power":
      return { value: drawIn(home, room_id, now), unit: "W" };
    case "humidity":
      return { value: freshened(freshening.humidity, 35), unit: "%" };
    case "air":
      return { value: freshened(freshening.air, 420), unit: "ppm CO2" };
    case "motion":
    case "window":
    case "leak":
    case "smoke":
      return { state: words[kind][tripped ? 0 : 1] };
    default:
      return kind satisfies never;
  }
}
