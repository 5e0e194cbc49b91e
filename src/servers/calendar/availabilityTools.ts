/** Tools that find free time and conflicts. */
import { z } from "zod";
import { day, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { isWeekend, getMinuteOfDay, formatMinute } from "./recurrence.ts";
import { listBusyTimes, overlaps } from "./availability.ts";
import { CalendarState, findPersonId } from "./state.ts";
import { people, slot } from "./parameters.ts";
import { eventRows, createEventRow, parseDayRange } from "./eventRows.ts";

const tool = createToolFactory(CalendarState);

export const availabilityTools = {
  find_free_slots: tool({
    effect: "read",
    summary: "Find times within working hours when the user, and the people named, are all free.",
    input: {
      day: day().describe("Day to look at, or the first of several"),
      minutes: z
        .int()
        .min(15)
        .max(480)
        .describe("Length needed, in minutes")
        .meta({ examples: [30, 45, 60, 90, 120] }),
      until: day().optional().describe("Last day to look at, if more than one"),
      people: people
        .optional()
        .describe("Full names or e-mail addresses of others who must be free"),
      limit: rowLimit(3, 20),
    },
    returns: { slots: z.array(z.object({ start: slot(), end: minute() })) },
    run(state, { day: date, minutes, until, people = [], limit: maxSlots = 3 }, { now }) {
      const [from, to] = parseDayRange(date, until ?? date, 31);
      const everyone = [...new Set([state.user, ...people.map(it => findPersonId(state, it))])];
      const busy = everyone.flatMap(who => listBusyTimes(state, who, from, to));
      const [opens, closes] = [state.hours.from, state.hours.to].map(it =>
        toMinutes(`1970-01-01T${it}`),
      ) as [number, number];
      const slots: { start: string; end: string }[] = [];
      for (let at = from; at < to && slots.length < maxSlots;) {
        const time = { start: at, end: at + minutes };
        const isOpen =
          !isWeekend(at) && getMinuteOfDay(at) >= opens && getMinuteOfDay(at) + minutes <= closes;
        const isFree = isOpen && at >= toMinutes(now) && !busy.some(it => overlaps(it, time));
        if (isFree) slots.push({ start: formatMinute(at), end: formatMinute(at + minutes) });
        at = isFree ? Math.ceil((at + minutes) / 30) * 30 : at + 30;
      }
      return { slots };
    },
  }),
  check_conflicts: tool({
    effect: "read",
    summary:
      "Check whether the user, and the people named, are free at a time, and what stands in the way.",
    input: {
      start: minute().describe("Start of the time, YYYY-MM-DDTHH:MM"),
      minutes: z.int().min(5).max(1440).optional().describe("Length in minutes, 30 if not given"),
      people: people
        .optional()
        .describe("Full names or e-mail addresses of others to check as well"),
    },
    returns: {
      free: z.boolean(),
      start: slot().optional().describe("The time asked about, if it is free"),
      conflicts: eventRows.optional(),
    },
    run(state, { start, minutes = 30, people = [] }) {
      const from = toMinutes(start);
      const everyone = [...new Set([state.user, ...people.map(it => findPersonId(state, it))])];
      const conflictsById = new Map<string, ReturnType<typeof createEventRow>>(
        everyone
          .flatMap(who => listBusyTimes(state, who, from, from + minutes))
          .map(it => [`${it.event_id} ${it.date}`, createEventRow(it)]),
      );
      const conflicts = [...conflictsById.values()];
      return conflicts.length > 0 ? { free: false, conflicts } : { free: true, start };
    },
  }),
};
