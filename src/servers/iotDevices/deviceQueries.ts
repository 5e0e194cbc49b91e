/** Tools that list and show devices. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { computeCharge, computeDraw, formatDegrees } from "./houseModel.ts";
import { deviceKinds, devices, Home, listRows, rooms, type Device } from "./state.ts";

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
