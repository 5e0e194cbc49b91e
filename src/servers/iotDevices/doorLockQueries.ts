/** The tool that shows the log of a lock. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { describeState } from "./deviceLists.ts";
import { compareByName } from "./deviceLists.ts";
import { listRows, Home } from "./state.ts";

const tool = createToolFactory(Home);

const happening = z.object({ door: z.string(), at: minute(), action: z.string(), by: z.string() });

export const doorLockQueries = {
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
