/** Tools that list and show devices, rooms and sensors. */
import { z } from "zod";
import { id, label, rowTotal } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  computeCharge,
  computeDraw,
  formatDegrees,
  deviceKinds,
  devices,
  Home,
  listRows,
  rooms,
  type Device,
  computeClimate,
  computeRoomDraw,
  isWindowOpen,
  computeLight,
  findThermostat,
  readSensor,
  sensorKinds,
  sensors,
} from "./state.ts";
import { ascending, getSchemas, contains, equals, meets, refersTo } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

export const compareByName = <Row extends { name: string }>(
  a: readonly [string, Row],
  b: readonly [string, Row],
) => (a[1].name < b[1].name ? -1 : a[1].name > b[1].name ? 1 : a[0] < b[0] ? -1 : 1);

const createListSchema = (entity: string) =>
  z.array(z.object({ name: label(entity), device_id: id(entity), state: z.string() })).optional();

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

export const deviceQueries = {
  list_devices: tool({
    effect: "read",
    summary:
      "List a room's devices: those that are turned on and off (lights, plugs, fans, heating), and apart from them its blinds, locks and vacuums.",
    input: {
      room_id: rooms.id,
      kind: z.enum(deviceKinds).optional().describe("Only devices of this kind"),
      name: label("device").optional().describe("Only devices whose name contains this"),
    },
    returns: {
      total: rowTotal("devices", "blinds", "locks", "vacuums"),
      devices: z.array(
        z.object({
          name: label("device"),
          device_id: id("device"),
          kind: z.string(),
          state: z.string(),
        }),
      ),
      blinds: createListSchema("blinds"),
      locks: createListSchema("lock"),
      vacuums: createListSchema("vacuum"),
    },
    run(home, { room_id, kind, name }) {
      rooms.find(home, room_id);
      const matches = listRows(home.devices)
        .filter(
          ([, it]) =>
            it.room_id === room_id &&
            (!kind || it.kind === kind) &&
            (!name || containsText(it.name, name)),
        )
        .sort(compareByName);
      const listByKind = (kind: Device["kind"]) =>
        matches.flatMap(([device_id, it]) =>
          it.kind === kind ? [{ name: it.name, device_id, state: describeState(it) }] : [],
        );
      const [blinds, locks, vacuums] = [
        listByKind("blinds"),
        listByKind("lock"),
        listByKind("vacuum"),
      ];
      return {
        total: matches.length,
        devices: matches.flatMap(([device_id, it]) =>
          it.kind === "blinds" || it.kind === "lock" || it.kind === "vacuum"
            ? []
            : [{ name: it.name, device_id, kind: it.kind, state: describeState(it) }],
        ),
        ...(blinds.length > 0 ? { blinds } : {}),
        ...(locks.length > 0 ? { locks } : {}),
        ...(vacuums.length > 0 ? { vacuums } : {}),
      };
    },
  }),
  get_device: devices.get({
    summary:
      "Get one device in full: model, state, what it draws, its battery, child lock, and the scenes that use it.",
    row: {
      name: label("device"),
      device_id: devices.idField,
      kind: z.string(),
      room_name: [label("room"), (it, { world }) => world.rooms[it.room_id]!.name],
      model: z.string(),
      state: [z.string(), describeState],
      watts: [z.int(), (it, { world, now }) => computeDraw(world, it, now)],
      brightness: z.int().optional(),
      color: z.string().optional(),
      target: [
        z.string().optional(),
        it => (it.kind === "thermostat" ? formatDegrees(it.target) : undefined),
      ],
      battery: [
        z.int().optional(),
        (it, { now }) =>
          it.kind === "vacuum" ? computeCharge(it, now) : "battery" in it ? it.battery : undefined,
      ],
      bin: z.int().optional().describe("Percent of a vacuum's bin that is full"),
      child_lock: [
        z.string().optional(),
        it => ("child_lock" in it && it.child_lock ? "on" : undefined),
      ],
      scenes: [
        z.string().optional().describe("Names of the scenes that use it"),
        (_, { id, world }) =>
          Object.values(world.scenes)
            .filter(it => it.actions.some(action => action.device_id === id))
            .map(it => it.name)
            .join(", ") || undefined,
      ],
    },
  }),
};

const roomRow = rooms.fields({
  room: [label("room"), it => it.name],
  room_id: rooms.idField,
});
const { temperature, watts } = rooms.fields({
  temperature: [
    z.string(),
    (_, { id, world, now }) => formatDegrees(computeClimate(world, id, now).temperature),
  ],
  watts: [z.int(), (_, { id, world, now }) => computeRoomDraw(world, id, now)],
});

export const roomQueries = {
  list_rooms: tool({
    effect: "read",
    summary:
      "List the rooms of the flat with how many devices each has and what it draws now, all of them or only those whose name contains some words.",
    input: { name: label("room").optional().describe("Only rooms whose name contains this") },
    returns: {
      total: rowTotal("rooms"),
      rooms: z.array(z.object(getSchemas({ ...roomRow, devices: z.int(), watts }))),
      mode: z.string().describe("home, night, or away with the alarm armed"),
    },
    run(home, { name }, { now }) {
      const matches = listRows(home.rooms).filter(([, it]) => !name || containsText(it.name, name));
      return {
        total: matches.length,
        rooms: matches.map(([room_id, it]) => ({
          room: it.name,
          room_id,
          devices: Object.values(home.devices).filter(device => device.room_id === room_id).length,
          watts: computeRoomDraw(home, room_id, now),
        })),
        mode: home.mode,
      };
    },
  }),
  get_room_state: rooms.get({
    summary:
      "Get what a room is like right now: how warm and bright it is, what it draws, and its lights with brightness and color, and its fans with their speed.",
    row: {
      ...roomRow,
      temperature,
      lux: [z.int(), (_, { id, world, now }) => computeLight(world, id, now)],
      watts,
      window: [z.string(), (_, { id, world }) => (isWindowOpen(world, id) ? "open" : "closed")],
      lights: devices.related({
        row: {
          light: [label("light"), it => it.name],
          device_id: [id("light"), (_, light) => light.id],
          state: [z.string(), describeState],
          brightness: z.int(),
          color: z.string().optional(),
        },
        where: (it, room) => it.room_id === room.id && it.kind === "light",
        order: ascending(it => it.name),
      }),
      fans: devices.related({
        row: {
          fan: [label("fan"), it => it.name],
          device_id: [id("fan"), (_, fan) => fan.id],
          speed: z.int(),
          speeds: z.int(),
        },
        where: (it, room) => it.room_id === room.id && it.kind === "fan",
        order: ascending(it => it.name),
      }),
    },
  }),
  get_temperature: rooms.get({
    summary: "Get how warm a room is, what its heating is set to and whether it is heating.",
    row: {
      ...roomRow,
      temperature,
      target: [
        z.string().optional().describe("What its heating is set to"),
        (_, { id, world }) => {
          const thermostat = findThermostat(world, id)?.[1];
          return thermostat?.is_on ? formatDegrees(thermostat.target) : undefined;
        },
      ],
      heating: [z.string(), (_, { id, world, now }) => describeHeating(world, id, now)],
      outside: [z.string(), (_, { world }) => formatDegrees(world.outside)],
    },
  }),
};

function describeHeating(home: Home, roomId: string, now: string): string {
  const thermostat = findThermostat(home, roomId)?.[1];
  if (!thermostat) return "none";
  if (thermostat.offline) return "offline";
  if (!thermostat.is_on) return "off";
  if (isWindowOpen(home, roomId)) return "paused, a window is open";
  return computeClimate(home, roomId, now).heating ? "warming up" : "warm enough";
}

const sensorRow = sensors.fields({
  sensor: [label("sensor"), it => it.name],
  sensor_id: sensors.idField,
});

export const sensorQueries = {
  list_sensors: sensors.list({
    summary:
      "List sensors with their kind, of the whole flat or of one room, by kind, by name, or those whose battery is low.",
    filters: {
      name: contains(label("sensor"), "Only sensors whose name contains this", it => it.name),
      room_id: refersTo(rooms, "Only sensors of this room", it => it.room_id),
      kind: equals(z.enum(sensorKinds), "Only sensors of this kind", it => it.kind),
      battery_below: meets(
        z.int().min(1).max(100).optional().meta({ examples: vocabulary.charges }),
        "Only sensors with less charge than this, in percent",
        (it, charge) => it.battery < charge,
      ),
    },
    order: ascending(it => it.name),
    limit: 30,
    row: { ...sensorRow, kind: z.string(), battery: z.int() },
  }),
  read_sensor: tool({
    effect: "read",
    summary:
      "Read what a sensor measures right now: degrees, humidity, lux, watts, air, or whether there is motion, an open window, water or smoke.",
    input: { sensor_id: sensors.id },
    returns: {
      ...getSchemas(sensorRow),
      room_name: label("room"),
      reading: z.string().describe("What it reads, with its unit"),
      value: z.number().optional(),
      battery: z.int(),
    },
    run(home, { sensor_id }, { now }) {
      const sensor = sensors.find(home, sensor_id);
      const { name, offline, battery } = sensor;
      if (offline)
        refuse(
          "precondition_failed",
          `sensor ${sensor_id} (${name}) is offline with ${battery} percent of battery`,
          "its battery may have to be changed; iot_devices_get_room_state shows what the others in the room say",
        );
      const { value, unit, state } = readSensor(home, sensor, now);
      return {
        sensor: name,
        sensor_id,
        room_name: home.rooms[sensor.room_id]!.name,
        reading: state ?? `${value}${unit === "%" ? "" : " "}${unit}`,
        ...(value === undefined ? {} : { value }),
        battery,
      };
    },
  }),
};
