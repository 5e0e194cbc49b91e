/** Tools that list and show devices. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { listed } from "./deviceLists.ts";
import { chargeOf, drawOf, inDegrees } from "./houseModel.ts";
import { inRoom } from "./deviceLists.ts";
import { deviceKinds, deviceOf, roomOf, Home, type Device } from "./state.ts";
import { deviceId, roomId } from "./parameters.ts";
import { stateOf } from "./deviceLists.ts";

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
