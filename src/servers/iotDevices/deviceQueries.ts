/** Tools that list and show devices. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { createListSchema } from "./deviceLists.ts";
import { computeCharge, computeDraw, formatDegrees } from "./houseModel.ts";
import { listRoomDevices } from "./deviceLists.ts";
import { deviceKinds, findDevice, findRoom, Home, type Device } from "./state.ts";
import { deviceId, roomId } from "./parameters.ts";
import { describeState } from "./deviceLists.ts";

const tool = createToolFactory(Home);

export const deviceQueries = {
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
      blinds: createListSchema("blinds"),
      locks: createListSchema("lock"),
      vacuums: createListSchema("vacuum"),
    },
    run(home, { room_id, kind, name }) {
      findRoom(home, room_id);
      const matches = listRoomDevices(home, room_id).filter(
        ([, it]) => (!kind || it.kind === kind) && (!name || containsText(it.name, name)),
      );
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
      const device = findDevice(home, device_id);
      const sceneNames = Object.values(home.scenes)
        .filter(it => it.actions.some(action => action.device_id === device_id))
        .map(it => it.name);
      return {
        name: device.name,
        device_id,
        kind: device.kind,
        room_name: home.rooms[device.room_id]!.name,
        model: device.model,
        state: describeState(device),
        watts: computeDraw(home, device, now),
        ...(device.kind === "light"
          ? {
              brightness: device.brightness,
              ...(device.color === undefined ? {} : { color: device.color }),
            }
          : {}),
        ...(device.kind === "thermostat" ? { target: formatDegrees(device.target) } : {}),
        ...(device.kind === "vacuum"
          ? { battery: computeCharge(device, now), bin: device.bin }
          : "battery" in device
            ? { battery: device.battery }
            : {}),
        ...("child_lock" in device && device.child_lock ? { child_lock: "on" } : {}),
        ...(sceneNames.length > 0 ? { scenes: sceneNames.join(", ") } : {}),
      };
    },
  }),
};
