/**
 * The flat's world: rooms, devices by kind, sensors, scenes, automations, and what happened at the
 * locks.
 */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";

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
/** Room temperatures, in tenths. */
const degrees = z.number().min(-20).max(45);

const Room = z.strictObject({
  name: z.string().min(1),
  /** Watts that its circuit carries. */
  circuit: watts,
  /** Lux at noon with the blinds up. */
  daylight: z.int().min(0).max(2000),
  /** How warm it was at that time; what it is now follows. */
  climate: z.strictObject({ temperature: degrees, at: minute() }),
  /** No vacuum gets there. */
  threshold: z.literal(true).optional(),
});

/** `offline`: it does not answer. */
const any = {
  name: z.string().min(1),
  room_id: z.string(),
  model: z.string(),
  offline: z.literal(true).optional(),
};
const childLock = z.literal(true).optional();

const Light = z.strictObject({
  ...any,
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
  ...any,
  kind: z.literal("plug"),
  is_on: z.boolean(),
  watts,
  child_lock: childLock,
  /** Nobody may leave it on alone: an oven, an iron. */
  attended: z.literal(true).optional(),
  /** It has to stay on: a router, a fridge. */
  essential: z.literal(true).optional(),
});

const Fan = z.strictObject({
  ...any,
  kind: z.literal("fan"),
  speed: z.int().min(0).max(5),
  speeds: z.int().min(2).max(5),
  watts,
  child_lock: childLock,
});

const Thermostat = z.strictObject({
  ...any,
  kind: z.literal("thermostat"),
  is_on: z.boolean(),
  target: degrees,
  watts,
  child_lock: childLock,
});

/** Position 0 is down, 100 is all the way up. */
const Blinds = z.strictObject({
  ...any,
  kind: z.literal("blinds"),
  position: percent,
  battery: percent,
});

const Lock = z.strictObject({
  ...any,
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
  ...any,
  kind: z.literal("vacuum"),
  activity: z.enum(["docked", "cleaning", "stuck"]),
  /** When it began what it is doing, with what charge and how full a bin. */
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
export type Kind = Device["kind"];
export type OfKind<K extends Kind> = Extract<Device, { kind: K }>;

const Sensor = z.strictObject({
  name: z.string().min(1),
  room_id: z.string(),
  kind: z.enum(sensorKinds),
  offline: z.literal(true).optional(),
  battery: percent,
  /** Of humidity and air: what it measures with every fan of the room at rest. */
  level: z.number().min(0).max(5000).optional(),
  /** Of motion, window, leak and smoke: whether there is any, or it is open. */
  tripped: z.boolean().optional(),
});
export type Sensor = z.infer<typeof Sensor>;

const Action = z.strictObject({
  device_id: z.string(),
  do: z.enum(["on", "off", "open", "close", "lock", "set"]),
  /** Brightness of a light, degrees of a thermostat, speed of a fan. */
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

const Happening = z.strictObject({
  lock_id: z.string(),
  at: minute(),
  action: z.enum(["locked", "unlocked", "wrong code"]),
  by: z.string(),
});

export const Home = z.strictObject({
  owner: z.string(),
  address: z.string(),
  /** `away` arms the alarm. */
  mode: z.enum(modes),
  /** Degrees outside. */
  outside: degrees,
  rooms: z.record(z.string(), Room),
  devices: z.record(z.string(), Device),
  /** Devices that are gone, by the id that scenes may still name. */
  removed: z.record(
    z.string(),
    z.strictObject({ name: z.string(), room_id: z.string(), on: day() }),
  ),
  sensors: z.record(z.string(), Sensor),
  scenes: z.record(z.string(), Scene),
  automations: z.record(z.string(), Automation),
  log: z.record(z.string(), Happening),
});
export type Home = z.infer<typeof Home>;

export const roomOf = (home: Home, roomId: string) =>
  findEntity(home.rooms, roomId, "room", "iot_devices_list_rooms gives the ids");

export const deviceOf = (home: Home, deviceId: string): Device =>
  findEntity(home.devices, deviceId, "device", "iot_devices_list_devices gives the ids of a room");

const article = (noun: string) => (noun === "blinds" ? noun : `a ${noun}`);

/** The device, if it is of that kind and answers. */
export function ready<K extends Kind>(home: Home, deviceId: string, kind: K): OfKind<K> {
  const device = deviceOf(home, deviceId);
  if (device.kind !== kind)
    refuse(
      "precondition_failed",
      `${deviceId} (${device.name}) is ${article(device.kind)}, not ${article(kind)}`,
      "iot_devices_list_devices groups a room's devices by what they take",
    );
  answering(home, deviceId, device);
  return device as OfKind<K>;
}

/** Refuses a device that is off the network. */
export function answering(home: Home, deviceId: string, device: Device): void {
  if (device.offline)
    refuse(
      "precondition_failed",
      `${placed(home, deviceId, device)} ${be(device)} offline`,
      "somebody has to look after it; choose another device meanwhile",
    );
}

/** What several things in one device are called. */
export const be = ({ name }: Pick<Device, "name">): "is" | "are" =>
  /(lights|blinds)$/.test(name) ? "are" : "is";

/** `the ceiling light in the kitchen (dev_101)`; a vacuum goes by its proper name. */
export const placed = (
  home: Home,
  deviceId: string,
  { name, room_id }: Pick<Device, "name" | "room_id">,
): string =>
  `${/^[A-Z]/.test(name) ? "" : "the "}${name} in the ${home.rooms[room_id]!.name} (${deviceId})`;

/** Refuses what small hands are kept from. */
export function unlockedForChildren(
  home: Home,
  deviceId: string,
  device: OfKind<"plug" | "fan" | "thermostat">,
): void {
  if (device.child_lock)
    refuse(
      "permission_denied",
      `${placed(home, deviceId, device)} has its child lock on`,
      "the lock is released at the device itself",
    );
}

/** Rows of a table with their ids. */
export const rowsOf = <Row>(table: Readonly<Record<string, Row>>): (readonly [string, Row])[] =>
  Object.entries(table);
