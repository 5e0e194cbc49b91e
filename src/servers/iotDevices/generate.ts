/**
 * Generates the smart home of the cast's user: rooms with devices and sensors, door codes, scenes,
 * automations and the log of the locks.
 */
import type { Random } from "../../environment/random.ts";
import { findInconsistencies } from "./inconsistencies.ts";
import { server } from "./server.ts";
import type { Action, Device, Home, OfKind, Sensor } from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";
import {
  automationPlans,
  scenePlans,
  type AutomationPlan,
  type Move,
  type ScenePlan,
} from "./scenePlans.ts";
import { models } from "./generateValues.ts";
import { roomPlans, type Fitting } from "./roomPlans.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";

const smallCounts = { scenes: 4, automations: 3, log: 3 };

/** Devices that are offline, as room/name. */
const offlineDevices = new Set([
  "kitchen/toaster",
  "living room/stereo",
  "guest room/tower fan",
  "dressing room/heating",
  "dining room/candle lights",
  "sunroom/side blinds",
  "pantry/shelf light",
  "bathroom/window shade",
]);
const silentSensors = new Set([
  "kitchen smoke alarm",
  "guest room temperature",
  "pantry humidity",
  "hallway light meter",
]);

/** The door codes, with their holders and doors. */
const createCodes = (cast: SharedCast) => [
  {
    pin: "4071",
    holder: cast.user.name,
    doors: [
      "front door",
      "building entrance",
      "balcony door",
      "mailbox",
      "garden gate",
      "bike room door",
    ],
  },
  { pin: "2958", holder: cast.friends[1]!.name, doors: ["front door", "building entrance"] },
  {
    pin: "6127",
    holder: cast.user.name,
    doors: ["cellar door", "desk drawer", "medicine cabinet", "bike room door"],
  },
  {
    pin: "8340",
    holder: "the cleaner",
    until: "2026-02-28",
    doors: ["front door", "building entrance", "cellar door", "balcony door"],
  },
  {
    pin: "3394",
    holder: cast.friends[0]!.name,
    doors: [
      "balcony door",
      "desk drawer",
      "medicine cabinet",
      "cellar door",
      "bike room door",
      "garden gate",
    ],
  },
];

function createDevice(
  fitting: Fitting,
  room: { id: string; name: string },
  { cast, random, size }: GeneratorContext,
): Device {
  const { name, ...rest } = fitting;
  const isOffline =
    offlineDevices.has(`${room.name}/${name}`) && (size === "full" || name === "stereo");
  const placed = {
    name,
    room_id: room.id,
    model: random.pick(models[fitting.kind]),
    ...(isOffline ? { offline: true as const } : {}),
  };
  const device = { ...placed, ...rest } as Device;
  switch (device.kind) {
    case "lock":
      return {
        ...device,
        codes: createCodes(cast)
          .filter(it => it.doors.includes(name))
          .map(({ pin, holder, until }) => ({ pin, holder, ...(until ? { until } : {}) })),
      };
    case "vacuum":
      return {
        ...device,
        since: device.activity === "cleaning" ? "2026-03-09T08:52" : cast.now,
        rooms: device.activity === "cleaning" ? [room.id] : [],
      };
    case "light":
      return {
        ...device,
        ...(size === "full" && device.dims
          ? {
              brightness: random.pick([20, 30, 40, 50, 60, 70, 80, 100]),
              is_on: random.boolean(0.15) !== device.is_on,
            }
          : {}),
      };
    default:
      return device;
  }
}

const sensorWords: Readonly<Record<Sensor["kind"], string>> = {
  temperature: "temperature",
  humidity: "humidity",
  light: "light meter",
  power: "power meter",
  air: "air monitor",
  motion: "motion detector",
  window: "window contact",
  leak: "leak detector",
  smoke: "smoke alarm",
};

function createSensor(
  kind: Sensor["kind"],
  level: number | boolean | undefined,
  room: { id: string; name: string },
  { random, size }: GeneratorContext,
): Sensor {
  const name = `${room.name} ${sensorWords[kind]}`;
  const isOffline = silentSensors.has(name) && (size === "full" || kind === "smoke");
  const battery = isOffline
    ? 3
    : random.pick([9, 14, 22, 35, 41, 48, 56, 63, 67, 72, 78, 81, 85, 90, 94, 97, 100]);
  return {
    name,
    room_id: room.id,
    kind,
    ...(isOffline ? { offline: true as const } : {}),
    battery,
    ...(typeof level === "number" ? { level } : {}),
    ...(typeof level === "boolean" ? { tripped: level } : {}),
  };
}

interface Furnishing {
  /** Room ids by name. */
  readonly rooms: ReadonlyMap<string, string>;
  readonly devices: Record<string, Device>;
}

/** The actions of a move: on the device with that name, else on the devices of that kind. */
function createActions(
  { rooms, devices }: Furnishing,
  { room, what, do: act, level }: Move,
): Action[] {
  const roomDevices = Object.entries(devices).filter(([, it]) => it.room_id === rooms.get(room));
  const namedDevices = roomDevices.filter(([, it]) => it.name === what);
  const targets =
    namedDevices.length > 0
      ? namedDevices
      : roomDevices.filter(([, it]) => it.kind === what && !it.offline);
  return targets.slice(0, 4).map(([device_id, it]) => {
    const verb = act === "set" && it.kind === "light" && !it.dims ? "on" : act;
    return { device_id, do: verb, ...(level === undefined || verb === "on" ? {} : { level }) };
  });
}

function createScenes(
  plans: readonly ScenePlan[],
  furnishing: Furnishing,
  removed: Home["removed"],
  { nextId, random }: GeneratorContext,
): Home["scenes"] {
  const result: Home["scenes"] = {};
  for (const { name, mode, moves, lost } of plans) {
    const actions = moves
      .flatMap(it => createActions(furnishing, it))
      .filter((it, i, all) => all.findIndex(other => other.device_id === it.device_id) === i);
    if (lost) {
      const removedId = nextId("dev");
      removed[removedId] = {
        name: lost,
        room_id: furnishing.rooms.get(moves[0]!.room)!,
        on: random.pick(["2025-11-23", "2026-01-17", "2026-02-14"]),
      };
      actions.push({ device_id: removedId, do: "on" });
    }
    if (actions.length === 0) continue;
    result[nextId("scn")] = {
      name,
      actions,
      ...(mode ? { mode } : {}),
      ...(random.boolean(0.5)
        ? {
            last: `2026-03-0${2 + random.integer(6)}T${10 + random.integer(12)}:${random.pick(["05", "20", "40", "55"])}`,
          }
        : {}),
    };
  }
  return result;
}

const findIdByName = (table: Readonly<Record<string, { readonly name: string }>>, name: string) =>
  Object.keys(table).find(it => table[it]!.name === name);

function createAutomations(
  plans: readonly AutomationPlan[],
  scenes: Home["scenes"],
  sensors: Home["sensors"],
  id: GeneratorContext["nextId"],
): Home["automations"] {
  const result: Home["automations"] = {};
  for (const { name, scene, when, enabled = true } of plans) {
    const scene_id = findIdByName(scenes, scene);
    if ("kind" in when) {
      if (scene_id) result[id("aut")] = { name, scene_id, when, enabled };
      continue;
    }
    const { sensor, ...bound } = when;
    const sensor_id = findIdByName(sensors, sensor);
    if (scene_id && sensor_id)
      result[id("aut")] = {
        name,
        scene_id,
        when: { kind: "sensor", sensor_id, ...bound },
        enabled,
      };
  }
  return result;
}

/** Log entries of a lock, the oldest first. The last one matches the lock's current state. */
function createLog(
  lock: OfKind<"lock">,
  n: number,
  random: Random,
): Omit<Home["log"][string], "lock_id">[] {
  const entries: Omit<Home["log"][string], "lock_id">[] = [];
  for (let i = n; i > 0; i--) {
    const locks = (i % 2 === 1) === lock.is_locked;
    const at = `2026-03-0${9 - i > 0 ? 9 - i : 1}T${String(locks ? 19 + random.integer(4) : 8 + random.integer(8)).padStart(2, "0")}:${random.pick(["03", "12", "27", "38", "44", "51"])}`;
    entries.push({
      at,
      action: locks ? "locked" : "unlocked",
      by: random.pick(lock.codes.filter(it => !it.until)).holder,
    });
  }
  if (n > 4) entries.splice(2, 0, { at: entries[1]!.at, action: "wrong code", by: "unknown" });
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Creates the rooms with their devices and sensors. */
function createRooms(context: GeneratorContext): Pick<Home, "rooms" | "devices" | "sensors"> {
  const { cast, size, nextId } = context;
  const isSmall = size === "small";
  const rooms: Home["rooms"] = {};
  const devices: Home["devices"] = {};
  const sensors: Home["sensors"] = {};
  for (const plan of isSmall ? roomPlans.filter(it => it.few) : roomPlans) {
    const { name, circuit, daylight, temperature, threshold, few } = plan;
    const room = { id: nextId("room"), name };
    rooms[room.id] = {
      name,
      circuit,
      daylight,
      climate: { temperature, at: cast.now },
      ...(threshold ? { threshold } : {}),
    };
    for (const it of plan.fittings)
      if (!isSmall || few!.fittings.includes(it.name))
        devices[nextId("dev")] = createDevice(it, room, context);
    for (const [kind, level] of isSmall ? plan.sensors.slice(0, few!.sensors) : plan.sensors)
      sensors[nextId("sen")] = createSensor(kind, level, room, context);
  }
  return { rooms, devices, sensors };
}

function generate(context: GeneratorContext): Home {
  const { cast, size, random, nextId } = context;
  const isSmall = size === "small";
  const { rooms, devices, sensors } = createRooms(context);
  const roomIds = new Map(Object.entries(rooms).map(([roomId, it]) => [it.name, roomId]));
  const removed: Home["removed"] = {};
  const scenes = createScenes(
    isSmall ? scenePlans.slice(0, smallCounts.scenes) : scenePlans,
    { rooms: roomIds, devices },
    removed,
    context,
  );
  const automations = createAutomations(
    isSmall ? automationPlans.slice(0, smallCounts.automations) : automationPlans,
    scenes,
    sensors,
    nextId,
  );
  const log: Home["log"] = {};
  for (const [lock_id, it] of Object.entries(devices))
    if (it.kind === "lock" && it.codes.length > 0)
      for (const entry of createLog(it, isSmall ? smallCounts.log : 7, random))
        log[nextId("log")] = { lock_id, ...entry };
  return {
    owner: cast.user.name,
    address: cast.getPlace("home").address,
    mode: "home",
    outside: 9,
    rooms,
    devices,
    removed,
    sensors,
    scenes,
    automations,
    log,
  };
}

export const generator = defineGenerator<Home>({
  server,
  generate,
  findInconsistencies: (home, _states, cast) => findInconsistencies(home, cast),
});
