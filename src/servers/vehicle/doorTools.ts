/** Tools that lock and unlock the doors. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { control } from "./control.ts";
import { doorNames, requireStandstill } from "./state.ts";

export const doorTools = {
  lock_doors: control({
    summary: "Shut and lock all doors of a vehicle.",
    input: {},
    returns: { doors: z.string(), shut: z.int().describe("Doors that were open") },
    run(_, { vehicle, description }) {
      if (vehicle.locked && vehicle.open.length === 0)
        refuse("conflict", `${description} is locked already`);
      const { blocked } = vehicle;
      if (blocked && vehicle.open.includes(blocked.door))
        refuse(
          "precondition_failed",
          `the ${blocked.door} of ${description} does not shut: ${blocked.by} is in the way`,
          "somebody has to clear it by hand",
        );
      const closedCount = vehicle.open.length;
      vehicle.open = [];
      vehicle.locked = true;
      return { doors: "locked", shut: closedCount };
    },
  }),
  unlock_doors: control({
    summary: "Unlock the doors of a vehicle that stands, or unlock them and open one.",
    input: {
      door: z.enum(doorNames).optional().describe("Door to open; none is opened if not given"),
    },
    returns: { doors: z.string(), opened: z.string().optional() },
    run({ door }, { vehicle, vehicle_id, description }) {
      requireStandstill(vehicle, vehicle_id, "its doors stay locked");
      if (vehicle.gear !== "park")
        refuse(
          "precondition_failed",
          `${description} stands in ${vehicle.gear}: its doors are unlocked in park`,
          "vehicle_shift_gear puts it into park",
        );
      if (door === undefined && !vehicle.locked)
        refuse("conflict", `${description} is unlocked already`);
      if (door !== undefined && vehicle.open.includes(door))
        refuse("conflict", `the ${door} door of ${description} is open already`);
      if (door?.startsWith("rear") && vehicle.child_lock)
        refuse(
          "permission_denied",
          `the child lock keeps the ${door} door of ${description} shut`,
          "it opens from outside; choose another door",
        );
      vehicle.locked = false;
      if (door !== undefined) vehicle.open.push(door);
      return {
        doors: "unlocked",
        ...(door === undefined ? {} : { opened: door === "tailgate" ? door : `${door} door` }),
      };
    },
  }),
};
