/** Tools that create, change and delete events and series. */
import { z } from "zod";
import vocabulary from "./vocabulary.json" with { type: "json" };
import {
  type RecurrenceRule,
  listAllOccurrences,
  formatMinute,
  maxSeriesLength,
  recurrenceIntervals,
} from "./recurrence.ts";
import {
  CalendarState,
  findPersonId,
  type Event,
  people,
  title,
  deleteReminders,
  slot,
  calendars,
  events,
} from "./state.ts";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import {
  refuseUnbookableTime,
  findNextOccurrence,
  findOccurrenceOn,
  findOwnEvent,
  refuseOutsideHours,
  findWritableCalendar,
  refuseConflicts,
} from "./eventRules.ts";

const allowConflict = z
  .boolean()
  .optional()
  .describe("True to book although the user has something else at that time");
const attendees = people
  .optional()
  .describe("Full names or e-mail addresses of the people to invite");
const newTitle = title.describe("Title of the event").meta({ examples: vocabulary.titles });
const length = z
  .int()
  .min(5)
  .max(1440)
  .describe("Length in minutes, 30 if not given")
  .meta({ examples: vocabulary.lengths })
  .optional();
const newLocation = z
  .string()
  .min(1)
  .max(80)
  .optional()
  .describe("Place or room")
  .meta({ examples: vocabulary.locations });
const newNotes = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("What guests should know")
  .meta({ examples: vocabulary.notes });

interface EventRequest {
  calendar_id: string;
  title: string;
  start: string;
  minutes?: number | undefined;
  attendees?: readonly string[] | undefined;
  location?: string | undefined;
  notes?: string | undefined;
}

/** Creates an event that the user organizes, without adding it to the state. */
function createOwnEvent(
  state: CalendarState,
  { calendar_id, title, start, minutes = 30, attendees: names = [], location, notes }: EventRequest,
  repeats?: RecurrenceRule,
): Event {
  const guests = names.map(it => findPersonId(state, it));
  const invited = Object.fromEntries(
    guests.filter(it => it !== state.user).map(it => [it, "pending" as const]),
  );
  return {
    calendar_id,
    title,
    start,
    minutes,
    organizer: state.user,
    attendees: invited,
    ...(location === undefined ? {} : { location }),
    ...(notes === undefined ? {} : { notes }),
    ...(repeats ? { repeats } : {}),
  };
}

const tool = createToolFactory(CalendarState);

/** Resets all answers to pending and returns the number of guests. */
function resetResponses({ attendees }: Event): number {
  for (const personId of Object.keys(attendees)) attendees[personId] = "pending";
  return Object.keys(attendees).length;
}

export const eventCommands = {
  create_event: tool({
    effect: "write",
    summary:
      "Create a single event of the user's own, and invite people to it. Refused if the user is busy then.",
    input: {
      calendar_id: calendars.id,
      title: newTitle,
      start: slot().describe("Start, YYYY-MM-DDTHH:MM"),
      minutes: length,
      location: newLocation,
      attendees,
      notes: newNotes,
      allow_conflict: allowConflict,
    },
    returns: {
      title: label("event"),
      event_id: id("event"),
      start: minute(),
      end: minute(),
      invited: z.int().optional(),
    },
    run(state, { allow_conflict, ...wanted }, { now, newId }) {
      findWritableCalendar(state, wanted.calendar_id);
      const event = createOwnEvent(state, wanted);
      const time = { start: toMinutes(event.start), end: toMinutes(event.start) + event.minutes };
      refuseUnbookableTime(state, wanted.calendar_id, time.start, event.minutes, now);
      if (!allow_conflict) refuseConflicts(state, [time]);
      const event_id = newId("evt");
      state.events[event_id] = event;
      const invited = Object.keys(event.attendees).length;
      return {
        title: event.title,
        event_id,
        start: event.start,
        end: formatMinute(time.end),
        ...(invited ? { invited } : {}),
      };
    },
  }),
  update_event: tool({
    effect: "write",
    summary:
      "Change the title, place, notes or length of an event that the user organizes; calendar_move_event changes its time.",
    input: {
      event_id: events.id,
      title: newTitle.optional().describe("New title"),
      location: newLocation.describe("New place or room"),
      notes: newNotes.describe("New notes, instead of the old ones"),
      minutes: length.describe("New length in minutes"),
      allow_conflict: allowConflict,
    },
    returns: { title: label("event"), event_id: id("event"), changed: z.array(z.string()) },
    run(state, { event_id, minutes, allow_conflict, ...texts }, { now }) {
      const event = findOwnEvent(state, event_id, now);
      if (minutes === undefined && Object.keys(texts).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a title, location, notes or minutes",
        );
      const changed: string[] = [];
      if (minutes !== undefined && minutes !== event.minutes) {
        const ahead = listAllOccurrences({ ...event, minutes }).filter(
          it => it.end > toMinutes(now),
        );
        for (const it of ahead) refuseOutsideHours(state, event.calendar_id, it.start, minutes);
        if (minutes > event.minutes && !allow_conflict) refuseConflicts(state, ahead, event_id);
        event.minutes = minutes;
        changed.push("minutes");
      }
      for (const key of ["title", "location", "notes"] as const) {
        const text = texts[key];
        if (text === undefined || text === event[key]) continue;
        event[key] = text;
        changed.push(key);
      }
      if (changed.length === 0)
        refuse("conflict", `${event.title} (${event_id}) is like that already`);
      return { title: event.title, event_id, changed };
    },
  }),
  move_event: tool({
    effect: "write",
    summary:
      "Move an event that the user organizes to another time; of a series, one occurrence. Guests of a single event are asked again.",
    input: {
      event_id: events.id,
      start: slot().describe("New start, YYYY-MM-DDTHH:MM"),
      occurrence: day().optional().describe("Of a series, the day of the occurrence to move"),
      allow_conflict: allowConflict,
    },
    returns: {
      title: label("event"),
      event_id: id("event"),
      start: minute(),
      end: minute(),
      asked_again: z.int().optional(),
    },
    run(state, { event_id, start, occurrence: date, allow_conflict }, { now }) {
      const event = findOwnEvent(state, event_id, now);
      const next = findNextOccurrence(event, now)!;
      if (event.repeats && date === undefined)
        refuse(
          "precondition_failed",
          `${event.title} (${event_id}) repeats ${event.repeats.every}`,
          `say which occurrence to move; the next is ${next.date}`,
        );
      const moved = date === undefined ? next : findOccurrenceOn(event, event_id, date, now);
      if (moved.start < toMinutes(now))
        refuse(
          "precondition_failed",
          `${event.title} (${event_id}) has begun`,
          "only its length can still change",
        );
      if (moved.start === toMinutes(start))
        refuse("conflict", `${event.title} (${event_id}) is already at ${start}`);
      const time = { start: toMinutes(start), end: toMinutes(start) + event.minutes };
      refuseUnbookableTime(state, event.calendar_id, time.start, event.minutes, now);
      if (!allow_conflict) refuseConflicts(state, [time], event_id, moved.date);
      const end = formatMinute(time.end);
      if (date !== undefined) {
        (event.exceptions ??= {})[moved.date] = start;
        return { title: event.title, event_id, start, end };
      }
      event.start = start;
      const asked_again = resetResponses(event);
      return { title: event.title, event_id, start, end, ...(asked_again ? { asked_again } : {}) };
    },
  }),
  delete_event: tool({
    effect: "write",
    summary:
      "Delete an event that the user organizes, with its reminders; of a series, every occurrence.",
    destructive: true,
    input: { event_id: events.id },
    returns: {
      deleted: z.string().describe("Title of the event that is gone"),
      notified: z.int().describe("Guests who are told"),
    },
    run(state, { event_id }, { now }) {
      const { title: deleted, attendees: guests } = findOwnEvent(state, event_id, now);
      const notified = Object.keys(guests).length;
      deleteReminders(state, event_id);
      delete state.events[event_id];
      return { deleted, notified };
    },
  }),
};

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
      calendar_id: calendars.id,
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
