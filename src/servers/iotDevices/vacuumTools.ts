/**
 * The flat's vacuums: out from the dock into some rooms, and back. Charge and bin set the bounds.
 */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { chargeOf } from "./houseModel.ts";
import { vacuumId } from "./parameters.ts";
import { Home, placed, ready, roomOf } from "./state.ts";

const tool = createToolFactory(Home);

/** Percent of charge and of the bin that a room takes. */
const aRoom = { charge: 12, bin: 10 };
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
      const vacuum = ready(home, device_id, "vacuum");
      const what = placed(home, device_id, vacuum);
      const rooms = [...new Set(room_ids ?? [vacuum.room_id])];
      const names = rooms.map(it => roomOf(home, it).name);
      if (vacuum.activity === "cleaning")
        refuse(
          "conflict",
          `${what} is cleaning already`,
          "iot_devices_dock_vacuum calls it back first",
        );
      if (vacuum.activity === "stuck")
        refuse(
          "precondition_failed",
          `${what} is stuck and not on its dock`,
          "somebody has to put it back onto its dock; choose another vacuum meanwhile",
        );
      if (home.mode === "night")
        refuse(
          "precondition_failed",
          "the flat is in night mode: vacuums would be too loud",
          "activate a scene that sets home mode first",
        );
      const steps = rooms.find(it => home.rooms[it]!.threshold);
      if (steps)
        refuse(
          "precondition_failed",
          `no vacuum gets over the threshold of the ${home.rooms[steps]!.name} (${steps})`,
          "leave that room out",
        );
      const battery = chargeOf(vacuum, now);
      const needed = spareCharge + aRoom.charge * rooms.length;
      if (battery < needed)
        refuse(
          "precondition_failed",
          `the battery of ${what} is at ${battery} percent, and ${rooms.length} rooms need ${needed}`,
          "choose fewer rooms, another vacuum, or wait: it gains a percent a minute",
        );
      if (vacuum.bin + aRoom.bin * rooms.length > 100)
        refuse(
          "limit_exceeded",
          `the bin of ${what} is ${vacuum.bin} percent full, and each room adds ${aRoom.bin}`,
          "choose fewer rooms; the bin is emptied by hand",
        );
      Object.assign(vacuum, { activity: "cleaning", since: now, battery, rooms });
      return {
        name: vacuum.name,
        device_id,
        status: "cleaning",
        cleaning: names.join(", "),
        battery,
        minutes: aRoom.charge * rooms.length,
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
      const vacuum = ready(home, device_id, "vacuum");
      const what = placed(home, device_id, vacuum);
      if (vacuum.activity === "docked")
        refuse(
          "conflict",
          `${what} is on its dock already`,
          "iot_devices_start_vacuum sends it out",
        );
      if (vacuum.activity === "stuck")
        refuse(
          "precondition_failed",
          `${what} is stuck and cannot drive home`,
          "somebody has to free it",
        );
      const bin = Math.min(100, vacuum.bin + aRoom.bin * vacuum.rooms.length);
      const battery = chargeOf(vacuum, now);
      Object.assign(vacuum, { activity: "docked", since: now, battery, bin, rooms: [] });
      return { name: vacuum.name, device_id, status: "docked", battery, bin };
    },
  }),
};
