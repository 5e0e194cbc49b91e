/** Tools that create, change, move and delete events. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { listAllOccurrences, formatMinute } from "./recurrence.ts";
import {
  refuseUnbookableTime,
  findNextOccurrence,
  findOccurrenceOn,
  findOwnEvent,
  refuseOutsideHours,
  findWritableCalendar,
} from "./eventRules.ts";
import { refuseConflicts } from "./availability.ts";
import { CalendarState, deleteReminders, type Event } from "./state.ts";
import { calendarId, eventId, slot } from "./parameters.ts";
import {
  allowConflict,
  attendees,
  newTitle,
  length,
  newLocation,
  newNotes,
  createOwnEvent,
} from "./newEvents.ts";

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
      calendar_id: calendarId,
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
      event_id: eventId,
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
      event_id: eventId,
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
    input: { event_id: eventId },
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
