/**
 * Computes what follows from the state of the flat at a time: temperature, light and power draw of
 * a room, sensor readings, battery charge. Reads frozen states and changes nothing.
 */
import { minutesBetween } from "../../environment/time.ts";
import { listRows, type Device, type Home, type OfKind, type Sensor } from "./state.ts";

/** Degrees per minute while heating, at an open window, and otherwise. */
const degreesPerMinute = { heating: 0.1, airing: 0.1, cooling: 0.02 };

const roundToTenth = (value: number) => Math.round(value * 10) / 10;

export const isWindowOpen = (home: Home, roomId: string): boolean =>
  Object.values(home.sensors).some(
    it => it.room_id === roomId && it.kind === "window" && it.tripped === true,
  );

/** The room's thermostat, if it has one. */
export function findThermostat(
  home: Home,
  roomId: string,
): readonly [string, OfKind<"thermostat">] | undefined {
  for (const [deviceId, it] of listRows(home.devices))
    if (it.kind === "thermostat" && it.room_id === roomId) return [deviceId, it];
  return undefined;
}

/** The temperature of a room, and whether its heating is running. */
export function computeClimate(
  home: Home,
  roomId: string,
  now: string,
): { temperature: number; heating: boolean } {
  const { temperature, at } = home.rooms[roomId]!.climate;
  const minutes = Math.max(0, minutesBetween(at, now));
  const thermostat = findThermostat(home, roomId)?.[1];
  const open = isWindowOpen(home, roomId);
  const isHeating = thermostat !== undefined && thermostat.is_on && !thermostat.offline && !open;
  const goal = open
    ? home.outside
    : isHeating
      ? thermostat.target
      : Math.min(temperature, home.outside + 6);
  const speed = open
    ? degreesPerMinute.airing
    : isHeating && goal > temperature
      ? degreesPerMinute.heating
      : degreesPerMinute.cooling;
  const change = Math.min(Math.abs(goal - temperature), speed * minutes);
  const current = roundToTenth(temperature + Math.sign(goal - temperature) * change);
  return { temperature: current, heating: isHeating && current < goal };
}

/** The power that a device draws, in whole watts. */
export function computeDraw(home: Home, device: Device, now: string): number {
  if (device.offline) return 0;
  switch (device.kind) {
    case "light":
      return device.is_on ? Math.round((device.watts * device.brightness) / 100) : 0;
    case "plug":
      return device.is_on ? device.watts : 0;
    case "fan":
      return device.watts * device.speed;
    case "thermostat":
      return computeClimate(home, device.room_id, now).heating ? device.watts : 0;
    case "vacuum":
      return device.activity === "docked" && computeCharge(device, now) < 100 ? 28 : 0;
    case "blinds":
    case "lock":
      return 0;
    default:
      return device satisfies never;
  }
}

/** The power that a room draws, in watts. */
export const computeRoomDraw = (home: Home, roomId: string, now: string): number =>
  Object.values(home.devices).reduce(
    (sum, it) => (it.room_id === roomId ? sum + computeDraw(home, it, now) : sum),
    0,
  );

/** A vacuum's charge: it gains one percent per minute on its dock and loses one while cleaning. */
export function computeCharge({ battery, since, activity }: OfKind<"vacuum">, now: string): number {
  const minutes = Math.max(0, minutesBetween(since, now));
  return activity === "docked"
    ? Math.min(100, battery + minutes)
    : activity === "cleaning"
      ? Math.max(0, battery - minutes)
      : battery;
}

/** Daylight from 0 to 1: between 07:00 and 19:00, with the maximum at 13:00. */
function computeSunlight(now: string): number {
  const minute = Number(now.slice(11, 13)) * 60 + Number(now.slice(14));
  return Math.max(0, Math.sin((Math.PI * (minute - 420)) / 720));
}

const lumensOfWatt = 20;

/** Lux in a room: daylight through its blinds, plus its lamps. */
export function computeLight(home: Home, roomId: string, now: string): number {
  const roomDevices = Object.values(home.devices).filter(it => it.room_id === roomId);
  const blinds = roomDevices.filter(it => it.kind === "blinds");
  const open =
    blinds.length === 0
      ? 1
      : blinds.reduce((sum, it) => sum + it.position, 0) / (100 * blinds.length);
  const lamps = roomDevices.reduce(
    (sum, it) => (it.kind === "light" ? sum + computeDraw(home, it, now) * lumensOfWatt : sum),
    0,
  );
  return Math.round(home.rooms[roomId]!.daylight * computeSunlight(now) * open + lamps);
}

/** `20.1 °C` */
export const formatDegrees = (temperature: number): string => `${temperature} °C`;

interface Reading {
  readonly value?: number;
  readonly unit?: string;
  readonly state?: string;
}

const stateWords = {
  motion: ["motion", "clear"],
  window: ["open", "closed"],
  leak: ["wet", "dry"],
  smoke: ["smoke", "clear"],
} as const;

/** The reduction per speed step of a fan: percent of humidity, ppm of CO2. */
const fanEffect = { humidity: 4, air: 60 };

/** The reading of a sensor. */
export function readSensor(home: Home, sensor: Sensor, now: string): Reading {
  const { kind, room_id, level = 0, tripped = false } = sensor;
  const applyFans = (by: number, least: number) => {
    const totalSpeed = Object.values(home.devices).reduce(
      (sum, it) =>
        it.kind === "fan" && it.room_id === room_id && !it.offline ? sum + it.speed : sum,
      0,
    );
    return Math.max(Math.min(least, level), level - by * totalSpeed);
  };
  switch (kind) {
    case "temperature":
      return { value: computeClimate(home, room_id, now).temperature, unit: "°C" };
    case "light":
      return { value: computeLight(home, room_id, now), unit: "lux" };
    case "power":
      return { value: computeRoomDraw(home, room_id, now), unit: "W" };
    case "humidity":
      return { value: applyFans(fanEffect.humidity, 35), unit: "%" };
    case "air":
      return { value: applyFans(fanEffect.air, 420), unit: "ppm CO2" };
    case "motion":
    case "window":
    case "leak":
    case "smoke":
      return { state: stateWords[kind][tripped ? 0 : 1] };
    default:
      return kind satisfies never;
  }
}
