/**
 * The state of the smart home: rooms, devices by kind, sensors, scenes, automations, and the log of
 * the locks.
 */
import { z } from "zod";
import { day, minute, id, phrase } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";
import { minutesBetween } from "../../environment/time.ts";

export const colors = [
  "warm white",
  "cool white",
  "red",
  "orange",
  "yellow",
  "green",
  "blue",
  "purple",
  "pink",
] as const;
export const rhythms = ["daily", "weekdays", "weekends"] as const;
export const sensorKinds = [
  "temperature",
  "humidity",
  "light",
  "power",
  "air",
  "motion",
  "window",
  "leak",
  "smoke",
] as const;
export const deviceKinds = [
  "light",
  "plug",
  "fan",
  "thermostat",
  "blinds",
  "lock",
  "vacuum",
] as const;
export const modes = ["home", "away", "night"] as const;

export const clockTime = () =>
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day, HH:MM");

const percent = z.int().min(0).max(100);
const watts = z.number().min(0).max(10_000);
/** Degrees Celsius. */
const degrees = z.number().min(-20).max(45);

const Room = z.strictObject({
  name: z.string().min(1),
  /** The most watts that its circuit carries. */
  circuit: watts,
  /** Lux at noon with the blinds up. */
  daylight: z.int().min(0).max(2000),
  /** The temperature at that time, from which the current one is computed. */
  climate: z.strictObject({ temperature: degrees, at: minute() }),
  /** Vacuums cannot get over the threshold. */
  threshold: z.literal(true).optional(),
});

/** `offline`: it does not answer. */
const commonFields = {
  name: z.string().min(1),
  room_id: z.string(),
  model: z.string(),
  offline: z.literal(true).optional(),
};
const childLock = z.literal(true).optional();

const Light = z.strictObject({
  ...commonFields,
  kind: z.literal("light"),
  is_on: z.boolean(),
  brightness: z.int().min(1).max(100),
  watts,
  /** Absent where it cannot be dimmed. */
  dims: z.literal(true).optional(),
  /** Absent where it has one white only. */
  color: z.enum(colors).optional(),
});

const Plug = z.strictObject({
  ...commonFields,
  kind: z.literal("plug"),
  is_on: z.boolean(),
  watts,
  child_lock: childLock,
  /** It must not run unattended, like an oven or an iron. */
  attended: z.literal(true).optional(),
  /** It must stay on, like a router or a fridge. */
  essential: z.literal(true).optional(),
});

const Fan = z.strictObject({
  ...commonFields,
  kind: z.literal("fan"),
  speed: z.int().min(0).max(5),
  speeds: z.int().min(2).max(5),
  watts,
  child_lock: childLock,
});

const Thermostat = z.strictObject({
  ...commonFields,
  kind: z.literal("thermostat"),
  is_on: z.boolean(),
  target: degrees,
  watts,
  child_lock: childLock,
});

/** Position 0 is down, 100 is all the way up. */
const Blinds = z.strictObject({
  ...commonFields,
  kind: z.literal("blinds"),
  position: percent,
  battery: percent,
});

const Lock = z.strictObject({
  ...commonFields,
  kind: z.literal("lock"),
  is_locked: z.boolean(),
  /** The door is not shut. */
  ajar: z.literal(true).optional(),
  battery: percent,
  codes: z.array(
    z.strictObject({
      pin: z.string().regex(/^\d{4}$/),
      holder: z.string(),
      until: day().optional(),
    }),
  ),
});

const Vacuum = z.strictObject({
  ...commonFields,
  kind: z.literal("vacuum"),
  activity: z.enum(["docked", "cleaning", "stuck"]),
  /** When its current activity began. `battery` and `bin` are the values at that time. */
  since: minute(),
  battery: percent,
  bin: percent,
  /** Rooms that it is cleaning. */
  rooms: z.array(z.string()),
});

export const Device = z.discriminatedUnion("kind", [
  Light,
  Plug,
  Fan,
  Thermostat,
  Blinds,
  Lock,
  Vacuum,
]);
export type Device = z.infer<typeof Device>;
type Kind = Device["kind"];
export type OfKind<K extends Kind> = Extract<Device, { kind: K }>;

const Sensor = z.strictObject({
  name: z.string().min(1),
  room_id: z.string(),
  kind: z.enum(sensorKinds),
  offline: z.literal(true).optional(),
  battery: percent,
  /** Humidity and air sensors: the reading while all fans of the room are off. */
  level: z.number().min(0).max(5000).optional(),
  /** Motion, leak and smoke sensors: whether there is any. Window sensors: whether it is open. */
  tripped: z.boolean().optional(),
});
type Sensor = z.infer<typeof Sensor>;

const Action = z.strictObject({
  device_id: z.string(),
  do: z.enum(["on", "off", "open", "close", "lock", "set"]),
  /** Brightness of a light, degrees of a thermostat, position of blinds, or speed of a fan. */
  level: z.number().min(1).max(100).optional(),
});
export type Action = z.infer<typeof Action>;

const Scene = z.strictObject({
  name: z.string().min(1),
  actions: z.array(Action).min(1),
  mode: z.enum(modes).optional(),
  last: minute().optional(),
});
export type Scene = z.infer<typeof Scene>;

const Trigger = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("time"), at: clockTime(), days: z.enum(rhythms) }),
  z.strictObject({
    kind: z.literal("sensor"),
    sensor_id: z.string(),
    above: z.number().optional(),
    below: z.number().optional(),
  }),
]);
export type Trigger = z.infer<typeof Trigger>;

const Automation = z.strictObject({
  name: z.string().min(1),
  scene_id: z.string(),
  when: Trigger,
  enabled: z.boolean(),
});

const LogEntry = z.strictObject({
  lock_id: z.string(),
  at: minute(),
  action: z.enum(["locked", "unlocked", "wrong code"]),
  by: z.string(),
});

export const references = {
  "devices.*.room_id": "rooms",
  "devices.*.rooms.*": "rooms",
  "removed.*.room_id": "rooms",
  "sensors.*.room_id": "rooms",
  "scenes.*.actions.*.device_id": "devices|removed",
  "automations.*.scene_id": "scenes",
  "automations.*.when.sensor_id": "sensors",
  "log.*.lock_id": "devices|removed",
} satisfies References;

export const Home = z.strictObject({
  owner: z.string(),
  address: z.string(),
  /** `away` arms the alarm. */
  mode: z.enum(modes),
  /** Degrees outside. */
  outside: degrees,
  rooms: z.record(z.string(), Room),
  devices: z.record(z.string(), Device),
  /** Removed devices, by the id that scenes may still use. */
  removed: z.record(
    z.string(),
    z.strictObject({ name: z.string(), room_id: z.string(), on: day() }),
  ),
  sensors: z.record(z.string(), Sensor),
  scenes: z.record(z.string(), Scene),
  automations: z.record(z.string(), Automation),
  log: z.record(z.string(), LogEntry),
});
export type Home = z.infer<typeof Home>;

/** Whether a scene that sets this mode disarms the alarm, which only away mode arms. */
export const disarms = (mode: Scene["mode"]): boolean => mode !== undefined && mode !== "away";

const table = createTableFactory(Home);
export const rooms = table("rooms", { entity: "room", idsFrom: "iot_devices_list_rooms" });
export const devices = table("devices", {
  entity: "device",
  idsFrom: "iot_devices_list_devices",
  hint: "iot_devices_list_devices gives the ids of a room",
});
export const sensors = table("sensors", { entity: "sensor", idsFrom: "iot_devices_list_sensors" });
export const scenes = table("scenes", { entity: "scene", idsFrom: "iot_devices_list_scenes" });
export const automations = table("automations", {
  entity: "automation",
  idsFrom: "iot_devices_list_automations",
});

const article = (noun: string) => (noun === "blinds" ? noun : `a ${noun}`);

/** The device, or a refusal if it is of another kind or offline. */
export function findReadyDevice<K extends Kind>(home: Home, deviceId: string, kind: K): OfKind<K> {
  const device = devices.find(home, deviceId);
  if (device.kind !== kind)
    refuse(
      "precondition_failed",
      `${deviceId} (${device.name}) is ${article(device.kind)}, not ${article(kind)}`,
      "iot_devices_list_devices groups a room's devices by what they take",
    );
  requireOnline(home, deviceId, device);
  return device as OfKind<K>;
}

/** Refuses a device that is offline. */
export function requireOnline(home: Home, deviceId: string, device: Device): void {
  if (device.offline)
    refuse(
      "precondition_failed",
      `${formatDevice(home, deviceId, device)} ${isOrAre(device)} offline`,
      "somebody has to look after it; choose another device meanwhile",
    );
}

/** The verb for a device: a name such as `side blinds` is plural. */
export const isOrAre = ({ name }: Pick<Device, "name">): "is" | "are" =>
  /(lights|blinds)$/.test(name) ? "are" : "is";

/**
 * `the ceiling light in the kitchen (dev_101)`. A proper name, such as a vacuum's, has no article.
 */
export const formatDevice = (
  home: Home,
  deviceId: string,
  { name, room_id }: Pick<Device, "name" | "room_id">,
): string =>
  `${/^[A-Z]/.test(name) ? "" : "the "}${name} in the ${home.rooms[room_id]!.name} (${deviceId})`;

/** Refuses a device whose child lock is on. */
export function requireNoChildLock(
  home: Home,
  deviceId: string,
  device: OfKind<"plug" | "fan" | "thermostat">,
): void {
  if (device.child_lock)
    refuse(
      "permission_denied",
      `${formatDevice(home, deviceId, device)} has its child lock on`,
      "the lock is released at the device itself",
    );
}

/** Rows of a table with their ids. */
export const listRows = <Row>(table: Readonly<Record<string, Row>>): (readonly [string, Row])[] =>
  Object.entries(table);

const createDeviceId = (kind: string, source: string) =>
  id(kind).describe(`Device id of the ${kind}, as iot_devices_${source}`);
export const lightId = createDeviceId("light", "get_room_state gives it");
export const fanId = createDeviceId("fan", "get_room_state gives it");
export const blindsId = createDeviceId("blinds", "list_devices gives it");
export const lockId = createDeviceId("lock", "get_lock_log gives it");
export const vacuumId = createDeviceId("vacuum", "list_devices gives it in the room of its dock");

export const title = phrase(2, 40);

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
