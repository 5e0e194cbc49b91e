/**
 * The flat's tools that look: rooms, devices, sensors, locks. What a reading is, is the physics'
 * affair; they change nothing.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  chargeOf,
  climateIn,
  drawIn,
  drawOf,
  inDegrees,
  isWindowOpen,
  lightIn,
  readingOf,
  thermostatIn,
} from "./physics.ts";
import { answeringSensor, deviceId, roomId } from "./words.ts";
import { deviceKinds, deviceOf, Home, roomOf, rowsOf, sensorKinds, type Device } from "./state.ts";

const tool = createToolFactory(Home);

/** A device's state in a word or two. */
function stateOf(device: Device): string {
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

const byName = <Row extends { name: string }>(
  a: readonly [string, Row],
  b: readonly [string, Row],
) => (a[1].name < b[1].name ? -1 : a[1].name > b[1].name ? 1 : a[0] < b[0] ? -1 : 1);

/** The devices of a room, by name. */
const inRoom = (home: Home, room_id: string) =>
  rowsOf(home.devices)
    .filter(([, it]) => it.room_id === room_id)
    .sort(byName);

const rooms = {
  list_rooms: tool({
    effect: "read",
    summary:
      "List the rooms of the flat with how many devices each has and what it draws now, all of them or only those whose name contains some words.",
    input: { name: label("room").optional().describe("Only rooms whose name contains this") },
    returns: {
      rooms: z.array(
        z.object({ room: label("room"), room_id: id("room"), devices: z.int(), watts: z.int() }),
      ),
      mode: z.string().describe("home, night, or away with the alarm armed"),
    },
    run: (home, { name }, { now }) => ({
      rooms: rowsOf(home.rooms)
        .filter(([, it]) => !name || containsText(it.name, name))
        .map(([room_id, it]) => ({
          room: it.name,
          room_id,
          devices: Object.values(home.devices).filter(device => device.room_id === room_id).length,
          watts: drawIn(home, room_id, now),
        })),
      mode: home.mode,
    }),
  }),
  get_room_state: tool({
    effect: "read",
    summary:
      "Get what a room is like right now: how warm and bright it is, what it draws, and its lights with brightness and color, and its fans with their speed.",
    input: { room_id: roomId },
    returns: {
      room: label("room"),
      room_id: id("room"),
      temperature: z.string(),
      lux: z.int(),
      watts: z.int(),
      window: z.string(),
      lights: z
        .array(
          z.object({
            light: label("light"),
            device_id: id("light"),
            state: z.string(),
            brightness: z.int(),
            color: z.string().optional(),
          }),
        )
        .optional(),
      fans: z
        .array(
          z.object({ fan: label("fan"), device_id: id("fan"), speed: z.int(), speeds: z.int() }),
        )
        .optional(),
    },
    run(home, { room_id }, { now }) {
      const { name } = roomOf(home, room_id);
      const own = inRoom(home, room_id);
      const lights = own.flatMap(([device_id, it]) =>
        it.kind === "light"
          ? [
              {
                light: it.name,
                device_id,
                state: stateOf(it),
                brightness: it.brightness,
                ...(it.color === undefined ? {} : { color: it.color }),
              },
            ]
          : [],
      );
      const fans = own.flatMap(([device_id, it]) =>
        it.kind === "fan" ? [{ fan: it.name, device_id, speed: it.speed, speeds: it.speeds }] : [],
      );
      return {
        room: name,
        room_id,
        temperature: inDegrees(climateIn(home, room_id, now).temperature),
        lux: lightIn(home, room_id, now),
        watts: drawIn(home, room_id, now),
        window: isWindowOpen(home, room_id) ? "open" : "closed",
        ...(lights.length > 0 ? { lights } : {}),
        ...(fans.length > 0 ? { fans } : {}),
      };
    },
  }),
  get_temperature: tool({
    effect: "read",
    summary: "Get how warm a room is, what its heating is set to and whether it is heating.",
    input: { room_id: roomId },
    returns: {
      room: label("room"),
      room_id: id("room"),
      temperature: z.string(),
      target: z.string().optional().describe("What its heating is set to"),
      heating: z.string(),
      outside: z.string(),
    },
    run(home, { room_id }, { now }) {
      const { name } = roomOf(home, room_id);
      const { temperature, heating } = climateIn(home, room_id, now);
      const thermostat = thermostatIn(home, room_id)?.[1];
      const state = !thermostat
        ? "none"
        : thermostat.offline
          ? "offline"
          : !thermostat.is_on
            ? "off"
            : isWindowOpen(home, room_id)
              ? "paused, a window is open"
              : heating
                ? "warming up"
                : "warm enough";
      return {
        room: name,
        room_id,
        temperature: inDegrees(temperature),
        ...(thermostat?.is_on ? { target: inDegrees(thermostat.target) } : {}),
        heating: state,
        outside: inDegrees(home.outside),
      };
    },
  }),
};

const listed = (entity: string) =>
  z.array(z.object({ name: label(entity), device_id: id(entity), state: z.string() })).optional();

const devices = {
  list_devices: tool({
    effect: "read",
    summary:
      "List a room's devices: those that are turned on and off (lights, plugs, fans, heating), and apart from them its blinds, locks and vacuums.",
    input: {
      room_id: roomId,
      kind: z.enum(deviceKinds).optional().describe("Only devices of this kind"),
      name: label("device").optional().describe("Only devices whose name contains this"),
    },
    returns: {
      devices: z.array(
        z.object({
          name: label("device"),
          device_id: id("device"),
          kind: z.string(),
          state: z.string(),
        }),
      ),
      blinds: listed("blinds"),
      locks: listed("lock"),
      vacuums: listed("vacuum"),
    },
    run(home, { room_id, kind, name }) {
      roomOf(home, room_id);
      const found = inRoom(home, room_id).filter(
        ([, it]) => (!kind || it.kind === kind) && (!name || containsText(it.name, name)),
      );
      const of = (wanted: Device["kind"]) =>
        found.flatMap(([device_id, it]) =>
          it.kind === wanted ? [{ name: it.name, device_id, state: stateOf(it) }] : [],
        );
      const [blinds, locks, vacuums] = [of("blinds"), of("lock"), of("vacuum")];
      return {
        devices: found.flatMap(([device_id, it]) =>
          it.kind === "blinds" || it.kind === "lock" || it.kind === "vacuum"
            ? []
            : [{ name: it.name, device_id, kind: it.kind, state: stateOf(it) }],
        ),
        ...(blinds.length > 0 ? { blinds } : {}),
        ...(locks.length > 0 ? { locks } : {}),
        ...(vacuums.length > 0 ? { vacuums } : {}),
      };
    },
  }),
  get_device: tool({
    effect: "read",
    summary:
      "Get one device in full: model, state, what it draws, its battery, child lock, and the scenes that use it.",
    input: { device_id: deviceId },
    returns: {
      name: label("device"),
      device_id: id("device"),
      kind: z.string(),
      room_name: label("room"),
      model: z.string(),
      state: z.string(),
      watts: z.int(),
      brightness: z.int().optional(),
      color: z.string().optional(),
      target: z.string().optional(),
      battery: z.int().optional(),
      bin: z.int().optional().describe("Percent of a vacuum's bin that is full"),
      child_lock: z.string().optional(),
      scenes: z.string().optional().describe("Names of the scenes that use it"),
    },
    run(home, { device_id }, { now }) {
      const device = deviceOf(home, device_id);
      const using = Object.values(home.scenes)
        .filter(it => it.actions.some(action => action.device_id === device_id))
        .map(it => it.name);
      return {
        name: device.name,
        device_id,
        kind: device.kind,
        room_name: home.rooms[device.room_id]!.name,
        model: device.model,
        state: stateOf(device),
        watts: drawOf(home, device, now),
        ...(device.kind === "light"
          ? {
              brightness: device.brightness,
              ...(device.color === undefined ? {} : { color: device.color }),
            }
          : {}),
        ...(device.kind === "thermostat" ? { target: inDegrees(device.target) } : {}),
        ...(device.kind === "vacuum"
          ? { battery: chargeOf(device, now), bin: device.bin }
          : "battery" in device
            ? { battery: device.battery }
            : {}),
        ...("child_lock" in device && device.child_lock ? { child_lock: "on" } : {}),
        ...(using.length > 0 ? { scenes: using.join(", ") } : {}),
      };
    },
  }),
};

const happening = z.object({ door: z.string(), at: minute(), action: z.string(), by: z.string() });

const locks = {
  get_lock_log: tool({
    effect: "read",
    summary:
      "List the doors with a lock, whether each is locked, and who locked or unlocked them lately, newest first.",
    input: {
      door: label("lock").optional().describe("Only doors whose name contains this"),
      since: day().optional().describe("Only what happened from this day on"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many entries of the log, 5 if not given"),
    },
    returns: {
      log: z.array(happening),
      locks: z.array(
        z.object({
          door: label("lock"),
          device_id: id("lock"),
          state: z.string(),
          battery: z.int(),
        }),
      ),
    },
    run(home, { door, since, limit = 5 }, { now }) {
      if (since && since > now.slice(0, 10))
        refuse("invalid_params", `since ${since} is after today, ${now.slice(0, 10)}`);
      const doors = new Map(
        rowsOf(home.devices)
          .filter(([, it]) => it.kind === "lock" && (!door || containsText(it.name, door)))
          .sort(byName),
      );
      const log = Object.values(home.log)
        .filter(it => doors.has(it.lock_id) && (!since || it.at.slice(0, 10) >= since))
        .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.lock_id < b.lock_id ? -1 : 1));
      return {
        log: log.slice(0, limit).map(({ lock_id, at, action, by }) => ({
          door: doors.get(lock_id)!.name,
          at,
          action,
          by,
        })),
        locks: [...doors].flatMap(([device_id, it]) =>
          it.kind === "lock"
            ? [{ door: it.name, device_id, state: stateOf(it), battery: it.battery }]
            : [],
        ),
      };
    },
  }),
};

const sensors = {
  list_sensors: tool({
    effect: "read",
    summary:
      "List sensors with their kind, of the whole flat or of one room, by kind, by name, or those whose battery is low.",
    input: {
      name: label("sensor").optional().describe("Only sensors whose name contains this"),
      room_id: roomId.optional().describe("Only sensors of this room"),
      kind: z.enum(sensorKinds).optional().describe("Only sensors of this kind"),
      battery_below: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("Only sensors with less charge than this, in percent")
        .meta({ examples: [10, 15, 20, 25, 30, 40, 50] }),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 30 if not given"),
    },
    returns: {
      sensors: z.array(
        z.object({
          sensor: label("sensor"),
          sensor_id: id("sensor"),
          kind: z.string(),
          battery: z.int(),
        }),
      ),
    },
    run(home, { name, room_id, kind, battery_below, limit = 30 }) {
      if (room_id) roomOf(home, room_id);
      const found = rowsOf(home.sensors).filter(
        ([, it]) =>
          (!name || containsText(it.name, name)) &&
          (!room_id || it.room_id === room_id) &&
          (!kind || it.kind === kind) &&
          (battery_below === undefined || it.battery < battery_below),
      );
      return {
        sensors: found
          .sort(byName)
          .slice(0, limit)
          .map(([sensor_id, it]) => ({
            sensor: it.name,
            sensor_id,
            kind: it.kind,
            battery: it.battery,
          })),
      };
    },
  }),
  read_sensor: tool({
    effect: "read",
    summary:
      "Read what a sensor measures right now: degrees, humidity, lux, watts, air, or whether there is motion, an open window, water or smoke.",
    input: { sensor_id: id("sensor").describe("Sensor id, as iot_devices_list_sensors gives it") },
    returns: {
      sensor: label("sensor"),
      sensor_id: id("sensor"),
      room_name: label("room"),
      reading: z.string().describe("What it reads, with its unit"),
      value: z.number().optional(),
      battery: z.int(),
    },
    run(home, { sensor_id }, { now }) {
      const sensor = findEntity(
        home.sensors,
        sensor_id,
        "sensor",
        "iot_devices_list_sensors gives the ids",
      );
      answeringSensor(sensor_id, sensor);
      const { value, unit, state } = readingOf(home, sensor, now);
      return {
        sensor: sensor.name,
        sensor_id,
        room_name: home.rooms[sensor.room_id]!.name,
        reading: state ?? `${value}${unit === "%" ? "" : " "}${unit}`,
        ...(value === undefined ? {} : { value }),
        battery: sensor.battery,
      };
    },
  }),
};

export const looking = { ...rooms, ...devices, ...locks, ...sensors };
