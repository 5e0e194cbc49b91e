/** Tools that read calendars, events, series, the agenda and free times. */
import { z } from "zod";
import { containsAll } from "../kit/table.ts";
import { id, label, minute, day, rowLimit, rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  minutesPerDay,
  getStartOfDay,
  formatMinute,
  formatDay,
  formatTime,
  isWeekend,
  getMinuteOfDay,
} from "./recurrence.ts";
import {
  type EventOccurrence,
  listOccurrences,
  findCurrentOccurrence,
  findNextOccurrence,
  listBusyTimes,
  overlaps,
} from "./eventRules.ts";
import {
  type Event,
  calendars,
  CalendarState,
  events,
  findPersonId,
  personName,
  people,
  slot,
} from "./state.ts";
import { toMinutes } from "../../environment/time.ts";
import { containsWords } from "../../environment/textSearch.ts";

const eventRows = z.array(
  z.object({ title: label("event"), event_id: id("event"), start: minute() }),
);
const createEventRow = (it: EventOccurrence) => ({
  title: it.event.title,
  event_id: it.event_id,
  start: formatMinute(it.start),
});

/** The range from the start of one day to the end of another, or a refusal. */
function parseDayRange(from: string, to: string, mostDays: number): [number, number] {
  if (to < from) refuse("invalid_params", `to ${to} is before from ${from}`);
  const window: [number, number] = [getStartOfDay(from), getStartOfDay(to) + minutesPerDay];
  if (window[1] - window[0] > mostDays * minutesPerDay)
    refuse(
      "limit_exceeded",
      `${from} to ${to} is more than ${mostDays} days`,
      "ask for a shorter span",
    );
  return window;
}

const getResponse = (event: Event, personId: string) =>
  Object.hasOwn(event.attendees, personId) ? event.attendees[personId] : undefined;

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
  list_calendars: calendars.list({
    summary:
      "List the calendars the user sees with their ids and access, all of them or only those whose name contains some words.",
    filters: {
      name: containsAll(
        label("calendar"),
        "Only calendars whose name contains this",
        it => it.name,
      ),
    },
    row: { name: label("calendar"), calendar_id: calendars.idField, access: z.string() },
  }),
  list_events: tool({
    effect: "read",
    summary:
      "List the events of one calendar over some days, in order of time, and apart from them the series, each with its first occurrence in that time.",
    input: {
      calendar_id: calendars.id,
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
      total: rowTotal("events", "series"),
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
      calendars.find(state, calendar_id);
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
        total: firstMatches.length,
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
      calendar_id: calendars.id.optional().describe("Only events of this calendar"),
      limit,
    },
    returns: {
      total: rowTotal("events"),
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
      if (calendar_id) calendars.find(state, calendar_id);
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
        total: matches.length,
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
    input: { event_id: events.id },
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
      const event = events.find(state, event_id);
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
        calendar: calendars.find(state, calendar_id).name,
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

const maxInvitations = 10;

export const agendaTools = {
  get_agenda: tool({
    effect: "read",
    summary:
      "Get the user's own day: what they organize or said yes or maybe to, and the invitations that wait for an answer, whatever their day.",
    input: {
      day: day().optional().describe("The day, today if not given"),
      title: label("invitation")
        .optional()
        .describe("Only events and invitations whose title contains this"),
    },
    returns: {
      day: day(),
      total: rowTotal("events"),
      events: z.array(z.object({ title: label("event"), event_id: id("event"), time: z.string() })),
      invitations: z
        .array(
          z.object({ title: label("invitation"), event_id: id("invitation"), start: minute() }),
        )
        .optional(),
    },
    run(state, { day: date, title = "" }, { now }) {
      const today = date ?? now.slice(0, 10);
      const ownOccurrences = listOccurrences(
        state,
        ...parseDayRange(today, today, 1),
        it =>
          containsWords(it.title, title) &&
          (it.organizer === state.user ||
            ["accepted", "tentative"].includes(getResponse(it, state.user) ?? "")),
      );
      const openInvitations = Object.entries(state.events).flatMap(([event_id, it]) => {
        const next =
          getResponse(it, state.user) === "pending" && containsWords(it.title, title)
            ? findNextOccurrence(it, now)
            : undefined;
        return next ? [{ title: it.title, event_id, start: formatMinute(next.start) }] : [];
      });
      const invitations = openInvitations
        .sort((a, b) => (a.start < b.start || (a.start === b.start && a.title < b.title) ? -1 : 1))
        .slice(0, maxInvitations);
      return {
        day: today,
        total: ownOccurrences.length,
        events: ownOccurrences.map(({ event, event_id, start, end }) => ({
          title: event.title,
          event_id,
          time:
            formatDay(start) === today
              ? `${formatTime(start)}-${formatTime(end)}`
              : `until ${formatTime(end)}`,
        })),
        ...(invitations.length ? { invitations } : {}),
      };
    },
  }),
};

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
    returns: {
      total: rowTotal("slots"),
      slots: z.array(z.object({ start: slot(), end: minute() })),
    },
    run(state, { day: date, minutes, until, people = [], limit: maxSlots = 3 }, { now }) {
      const [from, to] = parseDayRange(date, until ?? date, 31);
      const everyone = [...new Set([state.user, ...people.map(it => findPersonId(state, it))])];
      const busy = everyone.flatMap(who => listBusyTimes(state, who, from, to));
      const [opens, closes] = [state.hours.from, state.hours.to].map(it =>
        toMinutes(`1970-01-01T${it}`),
      ) as [number, number];
      const slots: { start: string; end: string }[] = [];
      for (let at = from; at < to;) {
        const time = { start: at, end: at + minutes };
        const isOpen =
          !isWeekend(at) && getMinuteOfDay(at) >= opens && getMinuteOfDay(at) + minutes <= closes;
        const isFree = isOpen && at >= toMinutes(now) && !busy.some(it => overlaps(it, time));
        if (isFree) slots.push({ start: formatMinute(at), end: formatMinute(at + minutes) });
        at = isFree ? Math.ceil((at + minutes) / 30) * 30 : at + 30;
      }
      return { total: slots.length, slots: slots.slice(0, maxSlots) };
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
