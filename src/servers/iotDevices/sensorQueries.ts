/** Tools that list and read sensors. */
import { z } from "zod";
import { id, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { findEntity, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { compareByName } from "./deviceLists.ts";
import { readSensor } from "./houseModel.ts";
import { findRoom, listRows, sensorKinds, Home } from "./state.ts";
import { requireOnlineSensor, roomId } from "./parameters.ts";

const tool = createToolFactory(Home);

export const sensorQueries = {
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
      limit: rowLimit(30),
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
      if (room_id) findRoom(home, room_id);
      const matches = listRows(home.sensors).filter(
        ([, it]) =>
          (!name || containsText(it.name, name)) &&
          (!room_id || it.room_id === room_id) &&
          (!kind || it.kind === kind) &&
          (battery_below === undefined || it.battery < battery_below),
      );
      return {
        sensors: matches
          .sort(compareByName)
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
      requireOnlineSensor(sensor_id, sensor);
      const { value, unit, state } = readSensor(home, sensor, now);
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
