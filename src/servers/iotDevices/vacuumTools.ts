/** Tools that start and dock vacuums. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { computeCharge } from "./houseModel.ts";
import { vacuumId } from "./parameters.ts";
import { Home, formatDevice, findReadyDevice, rooms } from "./state.ts";

const tool = createToolFactory(Home);

/** The charge and the space in the bin that a room takes, in percent. */
const roomCost = { charge: 12, bin: 10 };
const spareCharge = 10;

export const vacuumTools = {
  start_vacuum: tool({
    effect: "write",
    summary:
      "Send a docked vacuum out to clean some rooms, or the room of its dock. It needs charge and space in its bin for each room.",
    input: {
      device_id: vacuumId,
      room_ids: z
        .array(id("room"))
        .min(1)
        .max(6)
        .optional()
        .describe(
          "Rooms to clean, by id as iot_devices_list_rooms gives it; the room of its dock if not given",
        ),
    },
    returns: {
      name: label("vacuum"),
      device_id: id("vacuum"),
      status: z.string(),
      cleaning: z.string(),
      battery: z.int(),
      minutes: z.int(),
    },
    run(home, { device_id, room_ids }, { now }) {
      const vacuum = findReadyDevice(home, device_id, "vacuum");
      const deviceText = formatDevice(home, device_id, vacuum);
      const roomIds = [...new Set(room_ids ?? [vacuum.room_id])];
      const names = roomIds.map(it => rooms.find(home, it).name);
      if (vacuum.activity === "cleaning")
        refuse(
          "conflict",
          `${deviceText} is cleaning already`,
          "iot_devices_dock_vacuum calls it back first",
        );
      if (vacuum.activity === "stuck")
        refuse(
          "precondition_failed",
          `${deviceText} is stuck and not on its dock`,
          "somebody has to put it back onto its dock; choose another vacuum meanwhile",
        );
      if (home.mode === "night")
        refuse(
          "precondition_failed",
          "the flat is in night mode: vacuums would be too loud",
          "activate a scene that sets home mode first",
        );
      const thresholdRoom = roomIds.find(it => home.rooms[it]!.threshold);
      if (thresholdRoom)
        refuse(
          "precondition_failed",
          `no vacuum gets over the threshold of the ${home.rooms[thresholdRoom]!.name} (${thresholdRoom})`,
          "leave that room out",
        );
      const battery = computeCharge(vacuum, now);
      const requiredCharge = spareCharge + roomCost.charge * roomIds.length;
      if (battery < requiredCharge)
        refuse(
          "precondition_failed",
          `the battery of ${deviceText} is at ${battery} percent, and ${roomIds.length} rooms need ${requiredCharge}`,
          "choose fewer rooms, another vacuum, or wait: it gains a percent a minute",
        );
      if (vacuum.bin + roomCost.bin * roomIds.length > 100)
        refuse(
          "limit_exceeded",
          `the bin of ${deviceText} is ${vacuum.bin} percent full, and each room adds ${roomCost.bin}`,
          "choose fewer rooms; the bin is emptied by hand",
        );
      Object.assign(vacuum, { activity: "cleaning", since: now, battery, rooms: roomIds });
      return {
        name: vacuum.name,
        device_id,
        status: "cleaning",
        cleaning: names.join(", "),
        battery,
        minutes: roomCost.charge * roomIds.length,
      };
    },
  }),
  dock_vacuum: tool({
    effect: "write",
    summary:
      "Call a vacuum that is cleaning back to its dock, where it charges; what it picked up stays in its bin.",
    requires: ["start_vacuum"],
    input: { device_id: vacuumId },
    returns: {
      name: label("vacuum"),
      device_id: id("vacuum"),
      status: z.string(),
      battery: z.int(),
      bin: z.int(),
    },
    run(home, { device_id }, { now }) {
      const vacuum = findReadyDevice(home, device_id, "vacuum");
      const deviceText = formatDevice(home, device_id, vacuum);
      if (vacuum.activity === "docked")
        refuse(
          "conflict",
          `${deviceText} is on its dock already`,
          "iot_devices_start_vacuum sends it out",
        );
      if (vacuum.activity === "stuck")
        refuse(
          "precondition_failed",
          `${deviceText} is stuck and cannot drive home`,
          "somebody has to free it",
        );
      const bin = Math.min(100, vacuum.bin + roomCost.bin * vacuum.rooms.length);
      const battery = computeCharge(vacuum, now);
      Object.assign(vacuum, { activity: "docked", since: now, battery, bin, rooms: [] });
      return { name: vacuum.name, device_id, status: "docked", battery, bin };
    },
  }),
};
