/** Tools for door locks and vacuums. */
import { z } from "zod";
import { day, id, label, minute, sensitive, rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { minCharge } from "./switchTools.ts";
import { compareByName, describeState } from "./deviceQueries.ts";
import {
  Home,
  findReadyDevice,
  listRows,
  type OfKind,
  lockId,
  computeCharge,
  vacuumId,
  formatDevice,
  rooms,
} from "./state.ts";

const tool = createToolFactory(Home);

const happening = z.object({ door: z.string(), at: minute(), action: z.string(), by: z.string() });

/** The lock, or a refusal if it is locked already or its door is not shut. */
export function requireLockableDoor(home: Home, device_id: string): OfKind<"lock"> {
  const lock = requireTurnableLock(home, device_id);
  if (lock.is_locked) refuse("conflict", `the ${lock.name} (${device_id}) is already locked`);
  if (lock.ajar)
    refuse(
      "precondition_failed",
      `the ${lock.name} (${device_id}) is not shut`,
      "somebody has to shut it first",
    );
  return lock;
}

/** The lock, or a refusal if its battery is too low to turn. */
function requireTurnableLock(home: Home, device_id: string): OfKind<"lock"> {
  const lock = findReadyDevice(home, device_id, "lock");
  if (lock.battery < minCharge.lock)
    refuse(
      "precondition_failed",
      `the battery of the ${lock.name} lock (${device_id}) is at ${lock.battery} percent, and it needs ${minCharge.lock} to turn`,
      "its battery has to be changed; the key still works",
    );
  return lock;
}

/** Turns the bolt and logs who did it. */
export function turnBolt(
  home: Home,
  device_id: string,
  lock: OfKind<"lock">,
  isLocked: boolean,
  by: string,
  { now, newId }: Pick<ToolContext, "now" | "newId">,
): void {
  lock.is_locked = isLocked;
  home.log[newId("log")] = {
    lock_id: device_id,
    at: now,
    action: isLocked ? "locked" : "unlocked",
    by,
  };
}

export const doorLockTools = {
  lock_door: tool({
    effect: "write",
    summary: "Lock a door. It must be shut.",
    input: { device_id: lockId },
    returns: { door: label("lock"), device_id: id("lock"), state: z.string(), battery: z.int() },
    run(home, { device_id }, context) {
      const lock = requireLockableDoor(home, device_id);
      turnBolt(home, device_id, lock, true, home.owner, context);
      return { door: lock.name, device_id, state: "locked", battery: lock.battery };
    },
  }),
  unlock_door: tool({
    effect: "write",
    summary:
      "Unlock a door with a four-digit code that the user gives. Refused while the alarm is armed in away mode.",
    input: {
      device_id: lockId,
      pin: sensitive(z.string().regex(/^\d{4}$/)).describe(
        "Four-digit code of the door; ask the user for it",
      ),
    },
    returns: {
      door: label("lock"),
      device_id: id("lock"),
      state: z.string(),
      opened_for: z.string(),
    },
    run(home, { device_id, pin }, context) {
      const lock = requireTurnableLock(home, device_id);
      if (!lock.is_locked) refuse("conflict", `the ${lock.name} (${device_id}) is not locked`);
      const code =
        lock.codes.find(it => it.pin === pin) ??
        refuse(
          "permission_denied",
          `that code does not open the ${lock.name} (${device_id})`,
          "ask the user for the code of this door",
        );
      if (code.until && code.until < context.now.slice(0, 10))
        refuse(
          "permission_denied",
          `that code of ${code.holder} for the ${lock.name} (${device_id}) ended on ${code.until}`,
          "ask the user for another code",
        );
      if (home.mode === "away")
        refuse(
          "precondition_failed",
          `the alarm is armed in away mode: unlocking the ${lock.name} (${device_id}) would set it off`,
          "activate a scene that sets home mode first",
        );
      turnBolt(home, device_id, lock, false, code.holder, context);
      return { door: lock.name, device_id, state: "unlocked", opened_for: code.holder };
    },
  }),
  get_lock_log: tool({
    effect: "read",
    summary:
      "List the doors with a lock, whether each is locked, and who locked or unlocked them lately, newest first.",
    input: {
      door: label("lock").optional().describe("Only doors whose name contains this"),
      since: day().optional().describe("Only what happened from this day on"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many entries of the log, 5 if not given"),
    },
    returns: {
      total: rowTotal("log"),
      log: z.array(happening),
      locks: z.array(
        z.object({
          door: label("lock"),
          device_id: id("lock"),
          state: z.string(),
          battery: z.int(),
        }),
      ),
    },
    run(home, { door, since, limit = 5 }, { now }) {
      if (since && since > now.slice(0, 10))
        refuse("invalid_params", `since ${since} is after today, ${now.slice(0, 10)}`);
      const doors = new Map(
        listRows(home.devices)
          .filter(([, it]) => it.kind === "lock" && (!door || containsText(it.name, door)))
          .sort(compareByName),
      );
      const log = Object.values(home.log)
        .filter(it => doors.has(it.lock_id) && (!since || it.at.slice(0, 10) >= since))
        .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.lock_id < b.lock_id ? -1 : 1));
      return {
        total: log.length,
        log: log.slice(0, limit).map(({ lock_id, at, action, by }) => ({
          door: doors.get(lock_id)!.name,
          at,
          action,
          by,
        })),
        locks: [...doors].flatMap(([device_id, it]) =>
          it.kind === "lock"
            ? [{ door: it.name, device_id, state: describeState(it), battery: it.battery }]
            : [],
        ),
      };
    },
  }),
};

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
