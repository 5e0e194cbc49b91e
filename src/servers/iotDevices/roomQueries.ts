/** Tools that list rooms and show their state and temperature. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { describeState } from "./deviceLists.ts";
import {
  computeClimate,
  computeRoomDraw,
  formatDegrees,
  isWindowOpen,
  computeLight,
  findThermostat,
} from "./houseModel.ts";
import { Home, findRoom, listRows } from "./state.ts";
import { roomId } from "./parameters.ts";
import { listRoomDevices } from "./deviceLists.ts";

const tool = createToolFactory(Home);

export const roomQueries = {
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
      const { name } = findRoom(home, room_id);
      const roomDevices = listRoomDevices(home, room_id);
      const lights = roomDevices.flatMap(([device_id, it]) =>
        it.kind === "light"
          ? [
              {
                light: it.name,
                device_id,
                state: describeState(it),
                brightness: it.brightness,
                ...(it.color === undefined ? {} : { color: it.color }),
              },
            ]
          : [],
      );
      const fans = roomDevices.flatMap(([device_id, it]) =>
        it.kind === "fan" ? [{ fan: it.name, device_id, speed: it.speed, speeds: it.speeds }] : [],
      );
      return {
        room: name,
        room_id,
        temperature: formatDegrees(computeClimate(home, room_id, now).temperature),
        lux: computeLight(home, room_id, now),
        watts: computeRoomDraw(home, room_id, now),
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
      const { name } = findRoom(home, room_id);
      const { temperature, heating } = computeClimate(home, room_id, now);
      const thermostat = findThermostat(home, room_id)?.[1];
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
        temperature: formatDegrees(temperature),
        ...(thermostat?.is_on ? { target: formatDegrees(thermostat.target) } : {}),
        heating: state,
        outside: formatDegrees(home.outside),
      };
    },
  }),
};
