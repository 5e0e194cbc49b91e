/** Tools that lock and unlock doors and show their log. */
import { z } from "zod";
import { day, id, label, minute, sensitive } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { minCharge } from "./blindTools.ts";
import { compareByName, describeState } from "./deviceQueries.ts";
import { Home, findReadyDevice, listRows, type OfKind } from "./state.ts";
import { lockId } from "./parameters.ts";

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
