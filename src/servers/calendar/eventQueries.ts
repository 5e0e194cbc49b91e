/** Tools that read calendars, events and series. */
import { z } from "zod";
import { day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { minutesPerDay, getStartOfDay, formatMinute } from "./recurrence.ts";
import { listOccurrences } from "./availability.ts";
import { findCalendar, CalendarState, findEvent, findPersonId, type Event } from "./state.ts";
import { findCurrentOccurrence } from "./eventRules.ts";
import { calendarId, eventId, personName } from "./parameters.ts";
import { eventRows, createEventRow, parseDayRange, getResponse } from "./eventRows.ts";
import { containsWords } from "../../environment/textSearch.ts";

const tool = createToolFactory(CalendarState);

const limit = rowLimit(10);

/** The start of the current, next or last occurrence. */
function findRelevantStart(event: Event, now: string): { start: number; isAhead: boolean } {
  const current = findCurrentOccurrence(event, now);
  return {
    start: current?.start ?? toMinutes(event.start),
    isAhead: current !== undefined && current.end > toMinutes(now),
  };
}

export const eventQueries = {
  list_calendars: tool({
    effect: "read",
    summary:
      "List the calendars the user sees with their ids and access, all of them or only those whose name contains some words.",
    input: {
      name: label("calendar").optional().describe("Only calendars whose name contains this"),
    },
    returns: {
      calendars: z.array(
        z.object({ name: label("calendar"), calendar_id: id("calendar"), access: z.string() }),
      ),
    },
    run: ({ calendars }, { name }) => ({
      calendars: Object.entries(calendars)
        .filter(([, it]) => !name || containsWords(it.name, name))
        .map(([calendar_id, it]) => ({ name: it.name, calendar_id, access: it.access })),
    }),
  }),
  list_events: tool({
    effect: "read",
    summary:
      "List the events of one calendar over some days, in order of time, and apart from them the series, each with its first occurrence in that time.",
    input: {
      calendar_id: calendarId,
      from: day().optional().describe("First day, today if not given"),
      to: day().optional().describe("Last day, four weeks after the first if not given"),
      title: label("series")
        .optional()
        .describe("Only events and series whose title contains this"),
      person: personName()
        .optional()
        .describe(
          "Only events that this person, by full name or e-mail address, organizes or is invited to",
        ),
      limit,
    },
    returns: {
      events: eventRows.optional(),
      series: z
        .array(
          z.object({
            title: label("series"),
            event_id: id("series"),
            next: minute(),
            repeats: z.string(),
          }),
        )
        .optional(),
      more: z.int().optional().describe("How many were left out"),
    },
    run(state, { calendar_id, from, to, title, person, limit: maxRows = 10 }, { now }) {
      const first = from ?? now.slice(0, 10);
      const window =
        to === undefined
          ? ([getStartOfDay(first), getStartOfDay(first) + 28 * minutesPerDay] as const)
          : parseDayRange(first, to, 92);
      findCalendar(state, calendar_id);
      const personId = person && findPersonId(state, person);
      const matches = listOccurrences(
        state,
        ...window,
        it =>
          it.calendar_id === calendar_id &&
          (!title || containsWords(it.title, title)) &&
          (!personId || it.organizer === personId || getResponse(it, personId) !== undefined),
      );
      const firstMatches = matches.filter(
        (it, i) => matches.findIndex(other => other.event_id === it.event_id) === i,
      );
      const selectedMatches = firstMatches.slice(0, maxRows);
      const events = selectedMatches.filter(it => !it.event.repeats).map(createEventRow);
      const series = selectedMatches.flatMap(it =>
        it.event.repeats
          ? [
              {
                title: it.event.title,
                event_id: it.event_id,
                next: formatMinute(it.start),
                repeats: it.event.repeats.every,
              },
            ]
          : [],
      );
      return {
        ...(events.length > 0 || series.length === 0 ? { events } : {}),
        ...(series.length > 0 ? { series } : {}),
        ...(firstMatches.length > maxRows ? { more: firstMatches.length - maxRows } : {}),
      };
    },
  }),
  search_events: tool({
    effect: "read",
    summary:
      "Find events by words of their title. A series is one event, given with its next occurrence.",
    input: {
      query: label("event").describe("Words of the title"),
      calendar_id: calendarId.optional().describe("Only events of this calendar"),
      limit,
    },
    returns: {
      events: z.array(
        z.object({
          title: label("event"),
          event_id: id("event"),
          start: minute(),
          repeats: z.string().optional(),
        }),
      ),
    },
    run(state, { query, calendar_id, limit: maxRows = 10 }, { now }) {
      if (calendar_id) findCalendar(state, calendar_id);
      const exact = query.trim().toLowerCase();
      const matches = Object.entries(state.events)
        .filter(
          ([, it]) =>
            containsWords(it.title, query) && (!calendar_id || it.calendar_id === calendar_id),
        )
        .map(([event_id, event]) => ({
          event_id,
          event,
          isExact: event.title.toLowerCase() === exact,
          ...findRelevantStart(event, now),
        }));
      // exact titles first, then upcoming events by start, then past events, the latest first
      matches.sort(
        (a, b) =>
          Number(b.isExact) - Number(a.isExact) ||
          Number(b.isAhead) - Number(a.isAhead) ||
          (a.isAhead ? a.start - b.start : b.start - a.start) ||
          (a.event_id < b.event_id ? -1 : 1),
      );
      return {
        events: matches.slice(0, maxRows).map(({ event_id, event: { title, repeats }, start }) => ({
          title,
          event_id,
          start: formatMinute(start),
          ...(repeats ? { repeats: repeats.every } : {}),
        })),
      };
    },
  }),
  get_event: tool({
    effect: "read",
    summary:
      "Get one event in full: time, place, organizer, guests and their answers, reminders, and for a series its rhythm and next occurrence.",
    input: { event_id: eventId },
    returns: {
      title: label("event"),
      event_id: id("event"),
      calendar: label("calendar"),
      start: minute(),
      end: minute(),
      repeats: z.string().optional(),
      next: day().optional().describe("Day of the next occurrence"),
      location: z.string().optional(),
      organizer: personName().optional().describe("Who organizes it, if not the user"),
      response: z.string().optional().describe("The user's own answer"),
      attendees: z
        .array(z.object({ name: personName(), response: z.string() }))
        .optional()
        .describe("The other guests"),
      reminders: z.string().optional(),
      notes: z.string().optional(),
    },
    run(state, { event_id }, { now }) {
      const event = findEvent(state, event_id);
      const { title, calendar_id, repeats, location, notes } = event;
      const current = findCurrentOccurrence(event, now);
      const start = current?.start ?? toMinutes(event.start);
      const reminders = Object.values(state.reminders)
        .filter(it => it.event_id === event_id)
        .map(it => it.minutes_before);
      const attendees = Object.entries(event.attendees)
        .filter(([who]) => who !== state.user)
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const response = getResponse(event, state.user);
      return {
        title,
        event_id,
        calendar: findCalendar(state, calendar_id).name,
        start: formatMinute(start),
        end: formatMinute(start + event.minutes),
        ...(repeats ? { repeats: repeats.every } : {}),
        ...(repeats && current && current.end > toMinutes(now) ? { next: current.date } : {}),
        ...(location === undefined ? {} : { location }),
        ...(event.organizer === state.user
          ? {}
          : { organizer: state.people[event.organizer]!.name }),
        ...(response === undefined ? {} : { response }),
        ...(attendees.length
          ? {
              attendees: attendees.map(([who, response]) => ({
                name: state.people[who]!.name,
                response,
              })),
            }
          : {}),
        ...(reminders.length
          ? { reminders: `${reminders.sort((a, b) => a - b).join(" and ")} minutes before` }
          : {}),
        ...(notes === undefined ? {} : { notes }),
      };
    },
  }),
};
