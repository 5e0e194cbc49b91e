/**
 * The state of the smart home: rooms, devices by kind, sensors, scenes, automations, and the log of
 * the locks.
 */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";

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
export type Sensor = z.infer<typeof Sensor>;

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
