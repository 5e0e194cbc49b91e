/** Tools that list rooms and show their state and temperature. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { ascending, getSchemas } from "../kit/table.ts";
import { describeState } from "./deviceQueries.ts";
import {
  computeClimate,
  computeRoomDraw,
  formatDegrees,
  isWindowOpen,
  computeLight,
  findThermostat,
} from "./houseModel.ts";
import { devices, Home, listRows, rooms } from "./state.ts";

const tool = createToolFactory(Home);

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
      rooms: z.array(z.object(getSchemas({ ...roomRow, devices: z.int(), watts }))),
      mode: z.string().describe("home, night, or away with the alarm armed"),
    },
    run: (home, { name }, { now }) => ({
      rooms: listRows(home.rooms)
        .filter(([, it]) => !name || containsText(it.name, name))
        .map(([room_id, it]) => ({
          room: it.name,
          room_id,
          devices: Object.values(home.devices).filter(device => device.room_id === room_id).length,
          watts: computeRoomDraw(home, room_id, now),
        })),
      mode: home.mode,
    }),
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
