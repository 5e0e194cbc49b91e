/**
 * The flat of the canon's user as a smart home: devices in its rooms, who has a code, what happened
 * at the doors. Knows the pools by shape, not by content.
 */
import type { Random } from "../../environment/random.ts";
import { drawIn } from "./houseModel.ts";
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

const small = { scenes: 4, automations: 3, log: 3 };

/** Off the network, by room and name. */
const offline = new Set([
  "kitchen/toaster",
  "living room/stereo",
  "guest room/tower fan",
  "dressing room/heating",
  "dining room/candle lights",
  "sunroom/side blinds",
  "pantry/shelf light",
  "bathroom/window shade",
]);
const silent = new Set([
  "kitchen smoke alarm",
  "guest room temperature",
  "pantry humidity",
  "hallway light meter",
]);

/** Codes that people know by heart; which doors each opens. */
const codesOf = (cast: SharedCast) => [
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

function deviceOf(
  fitting: Fitting,
  room: { id: string; name: string },
  { cast, random, size }: GeneratorContext,
): Device {
  const { name, ...rest } = fitting;
  const isSilent = offline.has(`${room.name}/${name}`) && (size === "full" || name === "stereo");
  const placed = {
    name,
    room_id: room.id,
    model: random.pick(models[fitting.kind]),
    ...(isSilent ? { offline: true as const } : {}),
  };
  const device = { ...placed, ...rest } as Device;
  switch (device.kind) {
    case "lock":
      return {
        ...device,
        codes: codesOf(cast)
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

function sensorOf(
  kind: Sensor["kind"],
  level: number | boolean | undefined,
  room: { id: string; name: string },
  { random, size }: GeneratorContext,
): Sensor {
  const name = `${room.name} ${sensorWords[kind]}`;
  const isSilent = silent.has(name) && (size === "full" || kind === "smoke");
  const battery = isSilent
    ? 3
    : random.pick([9, 14, 22, 35, 41, 48, 56, 63, 67, 72, 78, 81, 85, 90, 94, 97, 100]);
  return {
    name,
    room_id: room.id,
    kind,
    ...(isSilent ? { offline: true as const } : {}),
    battery,
    ...(typeof level === "number" ? { level } : {}),
    ...(typeof level === "boolean" ? { tripped: level } : {}),
  };
}

interface Fitted {
  readonly rooms: ReadonlyMap<string, string>;
  readonly devices: Record<string, Device>;
}

/** What a move does, on each device that it means and that can do it. */
function actionsOf({ rooms, devices }: Fitted, { room, what, do: act, level }: Move): Action[] {
  const own = Object.entries(devices).filter(([, it]) => it.room_id === rooms.get(room));
  const named = own.filter(([, it]) => it.name === what);
  const meant = named.length > 0 ? named : own.filter(([, it]) => it.kind === what && !it.offline);
  return meant.slice(0, 4).map(([device_id, it]) => {
    const does = act === "set" && it.kind === "light" && !it.dims ? "on" : act;
    return { device_id, do: does, ...(level === undefined || does === "on" ? {} : { level }) };
  });
}

function scenesOf(
  plans: readonly ScenePlan[],
  fitted: Fitted,
  removed: Home["removed"],
  { nextId, random }: GeneratorContext,
): Home["scenes"] {
  const made: Home["scenes"] = {};
  for (const { name, mode, moves, lost } of plans) {
    const actions = moves
      .flatMap(it => actionsOf(fitted, it))
      .filter((it, i, all) => all.findIndex(other => other.device_id === it.device_id) === i);
    if (lost) {
      const gone = nextId("dev");
      removed[gone] = {
        name: lost,
        room_id: fitted.rooms.get(moves[0]!.room)!,
        on: random.pick(["2025-11-23", "2026-01-17", "2026-02-14"]),
      };
      actions.push({ device_id: gone, do: "on" });
    }
    if (actions.length === 0) continue;
    made[nextId("scn")] = {
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
  return made;
}

const idOfName = (table: Readonly<Record<string, { readonly name: string }>>, name: string) =>
  Object.keys(table).find(it => table[it]!.name === name);

function automationsOf(
  plans: readonly AutomationPlan[],
  scenes: Home["scenes"],
  sensors: Home["sensors"],
  id: GeneratorContext["nextId"],
): Home["automations"] {
  const made: Home["automations"] = {};
  for (const { name, scene, when, enabled = true } of plans) {
    const scene_id = idOfName(scenes, scene);
    if ("kind" in when) {
      if (scene_id) made[id("aut")] = { name, scene_id, when, enabled };
      continue;
    }
    const { sensor, ...bound } = when;
    const sensor_id = idOfName(sensors, sensor);
    if (scene_id && sensor_id)
      made[id("aut")] = { name, scene_id, when: { kind: "sensor", sensor_id, ...bound }, enabled };
  }
  return made;
}

/** A lock's entries, oldest first, so that the last one leaves it as it is. */
function logOf(
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

export const generator = defineGenerator<Home>({
  server,
  generate(context) {
    const { cast, size, random, nextId } = context;
    const few = size === "small";
    const rooms: Home["rooms"] = {};
    const devices: Home["devices"] = {};
    const sensors: Home["sensors"] = {};
    const named = new Map<string, string>();
    for (const {
      name,
      circuit,
      daylight,
      temperature,
      threshold,
      few: some,
      fittings,
      sensors: own,
    } of few ? roomPlans.filter(it => it.few) : roomPlans) {
      const room = { id: nextId("room"), name };
      named.set(name, room.id);
      rooms[room.id] = {
        name,
        circuit,
        daylight,
        climate: { temperature, at: cast.now },
        ...(threshold ? { threshold } : {}),
      };
      for (const it of few
        ? fittings.filter(fitting => some!.fittings.includes(fitting.name))
        : fittings)
        devices[nextId("dev")] = deviceOf(it, room, context);
      for (const [kind, level] of few ? own.slice(0, some!.sensors) : own)
        sensors[nextId("sen")] = sensorOf(kind, level, room, context);
    }
    const removed: Home["removed"] = {};
    const scenes = scenesOf(
      few ? scenePlans.slice(0, small.scenes) : scenePlans,
      { rooms: named, devices },
      removed,
      context,
    );
    const automations = automationsOf(
      few ? automationPlans.slice(0, small.automations) : automationPlans,
      scenes,
      sensors,
      nextId,
    );
    const log: Home["log"] = {};
    for (const [lock_id, it] of Object.entries(devices))
      if (it.kind === "lock" && it.codes.length > 0)
        for (const entry of logOf(it, few ? small.log : 7, random))
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
  },
  findInconsistencies(home, _world, cast) {
    return [
      ...(home.owner === cast.user.name
        ? []
        : [`the owner ${home.owner} is not ${cast.user.name}`]),
      ...(home.address === cast.getPlace("home").address
        ? []
        : [`the flat is at ${home.address}, not at ${cast.getPlace("home").address}`]),
      ...dangling(home),
      ...twice(home),
      ...Object.entries(home.rooms).flatMap(([key, it]) =>
        drawIn(home, key, cast.now) <= it.circuit
          ? []
          : [`the ${it.name} draws more than its circuit carries`],
      ),
      ...Object.entries(home.devices).flatMap(([key, it]) =>
        it.kind === "lock" && !agrees(home, key, it)
          ? [`the log leaves the ${it.name} otherwise than it is`]
          : [],
      ),
    ];
  },
});

/** Whether the last turn of the bolt in the log is how the lock stands. */
function agrees(home: Home, lockId: string, { is_locked }: OfKind<"lock">): boolean {
  const turns = Object.values(home.log)
    .filter(it => it.lock_id === lockId && it.action !== "wrong code")
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const last = turns.at(-1);
  return last === undefined || (last.action === "locked") === is_locked;
}

function dangling({ rooms, devices, removed, sensors, scenes, automations, log }: Home): string[] {
  const lost: string[] = [];
  const expect = (table: object, key: string, whose: string) =>
    void (Object.hasOwn(table, key) || lost.push(`${whose} names ${key}, which is not there`));
  for (const it of [
    ...Object.values(devices),
    ...Object.values(sensors),
    ...Object.values(removed),
  ])
    expect(rooms, it.room_id, it.name);
  for (const it of Object.values(devices))
    if (it.kind === "vacuum") for (const room of it.rooms) expect(rooms, room, it.name);
  for (const it of Object.values(scenes))
    for (const { device_id } of it.actions)
      expect({ ...devices, ...removed }, device_id, `scene ${it.name}`);
  for (const it of Object.values(automations)) {
    expect(scenes, it.scene_id, `automation ${it.name}`);
    if (it.when.kind === "sensor") expect(sensors, it.when.sensor_id, `automation ${it.name}`);
  }
  for (const [key, it] of Object.entries(log)) expect(devices, it.lock_id, key);
  return lost;
}

/** Names that a person could not tell apart. */
function twice({ rooms, devices, sensors, scenes, automations }: Home): string[] {
  const names = [rooms, sensors, scenes, automations].flatMap((table, i) =>
    Object.values(table).map(it => `${i} ${it.name}`),
  );
  const all = [
    ...names,
    ...Object.values(devices).map(it => `${it.name} in the ${rooms[it.room_id]!.name}`),
  ];
  const heated = Object.values(devices).flatMap(it =>
    it.kind === "thermostat" ? [`heating of ${it.room_id}`] : [],
  );
  return [...all, ...heated]
    .filter((it, i, list) => list.indexOf(it) !== i)
    .map(it => `${it} is there twice`);
}
