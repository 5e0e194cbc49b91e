/** Tools that list and read sensors. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { ascending, contains, equals, getSchemas, meets, refersTo } from "../kit/table.ts";
import { readSensor } from "./houseModel.ts";
import { Home, rooms, sensorKinds, sensors } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

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
