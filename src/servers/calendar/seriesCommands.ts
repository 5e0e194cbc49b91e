/** Tools for series: create one, cancel an occurrence. */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { listAllOccurrences, maxSeriesLength, recurrenceIntervals } from "./recurrence.ts";
import {
  refuseUnbookableTime,
  findNextOccurrence,
  findOccurrenceOn,
  findOwnEvent,
  findWritableCalendar,
} from "./eventRules.ts";
import { refuseConflicts } from "./availability.ts";
import { CalendarState, type Event } from "./state.ts";
import { calendarId, slot } from "./parameters.ts";
import {
  allowConflict,
  attendees,
  newTitle,
  length,
  newLocation,
  createOwnEvent,
} from "./newEvents.ts";

const tool = createToolFactory(CalendarState);

/**
 * The day of the next occurrence that has not begun; during the last occurrence, the day of that
 * one.
 */
const findNextStartDay = (event: Event, now: string): string =>
  (
    listAllOccurrences(event).find(it => it.start >= toMinutes(now)) ??
    findNextOccurrence(event, now)!
  ).date;

export const seriesCommands = {
  create_recurring_event: tool({
    effect: "write",
    summary:
      "Create an event of the user's own that repeats, and invite people to it. A monthly one on a day that a month lacks falls on that month's last day.",
    input: {
      calendar_id: calendarId,
      title: newTitle,
      start: slot().describe("Start of the first occurrence, YYYY-MM-DDTHH:MM"),
      every: z.enum(recurrenceIntervals).describe("How it repeats"),
      count: z
        .int()
        .min(2)
        .max(100)
        .optional()
        .describe("How many occurrences, 10 if neither count nor until is given")
        .meta({ examples: [3, 4, 5, 6, 8, 10, 12] }),
      until: day().optional().describe("Last day on which it may occur"),
      minutes: length,
      location: newLocation,
      attendees,
      allow_conflict: allowConflict,
    },
    returns: {
      title: label("event"),
      event_id: id("event"),
      occurrences: z.int(),
      first: day(),
      last: day(),
    },
    run(state, { allow_conflict, every, count, until, ...wanted }, { now, newId }) {
      findWritableCalendar(state, wanted.calendar_id);
      const ends = until !== undefined ? { until } : {};
      const counted = count !== undefined ? { count } : until === undefined ? { count: 10 } : {};
      const event = createOwnEvent(state, wanted, { every, ...counted, ...ends });
      const times = listAllOccurrences(event);
      if (times.length < 2)
        refuse(
          "invalid_params",
          `until ${until} leaves ${times.length} occurrences from ${wanted.start} on`,
          "choose a later last day, or calendar_create_event for a single event",
        );
      if (count === undefined && times.length === maxSeriesLength)
        refuse(
          "limit_exceeded",
          `a series has fewer than ${maxSeriesLength} occurrences`,
          "choose an earlier last day",
        );
      for (const it of times)
        refuseUnbookableTime(state, wanted.calendar_id, it.start, event.minutes, now);
      if (!allow_conflict) refuseConflicts(state, times);
      const event_id = newId("evt");
      state.events[event_id] = event;
      return {
        title: event.title,
        event_id,
        occurrences: times.length,
        first: times[0]!.date,
        last: times.at(-1)!.date,
      };
    },
  }),
  cancel_occurrence: tool({
    effect: "write",
    summary: "Cancel one occurrence of a series that the user organizes; the others stay.",
    destructive: true,
    input: {
      event_id: id("series").describe("Id of the series, as calendar_list_events gives it"),
      occurrence: day()
        .optional()
        .describe("Day of the occurrence to cancel, the next one if not given"),
    },
    returns: {
      title: label("event"),
      event_id: id("event"),
      cancelled: day(),
      next: day().optional(),
    },
    run(state, { event_id, occurrence: date }, { now }) {
      const event = findOwnEvent(state, event_id, now);
      const { date: cancelled } = findOccurrenceOn(
        event,
        event_id,
        date ?? findNextStartDay(event, now),
        now,
      );
      (event.exceptions ??= {})[cancelled] = "cancelled";
      const next = findNextOccurrence(event, now);
      return { title: event.title, event_id, cancelled, ...(next ? { next: next.date } : {}) };
    },
  }),
};
