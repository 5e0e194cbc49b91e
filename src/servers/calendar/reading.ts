/**
 * The calendar's tools that look: calendars, events, agenda, clashes and free time. They expand
 * series and change nothing.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { aDay, dateOf, isWeekend, minuteOfDay, startOfDay, textOf, timeOf } from "./recurrence.ts";
import {
  busyTimes,
  calendarOf,
  currentOccurrence,
  Diary,
  eventOf,
  nextOccurrence,
  occurrences,
  overlaps,
  personOf,
  type Busy,
  type Event,
} from "./state.ts";
import { calendarId, eventId, name, people, slot } from "./words.ts";

const tool = createToolFactory(Diary);

const mostInvitations = 10;

const limit = z.int().min(1).max(50).optional().describe("At most this many, 10 if not given");

const listed = z.array(z.object({ title: label("event"), event_id: id("event"), start: minute() }));
const row = (it: Busy) => ({
  title: it.event.title,
  event_id: it.event_id,
  start: textOf(it.start),
});

/** From the start of one day to the end of another. */
function span(from: string, to: string, mostDays: number): [number, number] {
  if (to < from) refuse("invalid_params", `to ${to} is before from ${from}`);
  const window: [number, number] = [startOfDay(from), startOfDay(to) + aDay];
  if (window[1] - window[0] > mostDays * aDay)
    refuse(
      "limit_exceeded",
      `${from} to ${to} is more than ${mostDays} days`,
      "ask for a shorter span",
    );
  return window;
}

const responseOf = (event: Event, personId: string) =>
  Object.hasOwn(event.attendees, personId) ? event.attendees[personId] : undefined;

export const listing = {
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
      person: name()
        .optional()
        .describe(
          "Only events that this person, by full name or e-mail address, organizes or is invited to",
        ),
      limit,
    },
    returns: {
      events: listed.optional(),
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
    run(diary, { calendar_id, from, to, title, person, limit: most = 10 }, { now }) {
      const first = from ?? now.slice(0, 10);
      const window =
        to === undefined
          ? ([startOfDay(first), startOfDay(first) + 28 * aDay] as const)
          : span(first, to, 92);
      calendarOf(diary, calendar_id);
      const who = person && personOf(diary, person);
      const found = occurrences(
        diary,
        ...window,
        it =>
          it.calendar_id === calendar_id &&
          (!title || containsWords(it.title, title)) &&
          (!who || it.organizer === who || responseOf(it, who) !== undefined),
      );
      const once = found.filter(
        (it, i) => found.findIndex(other => other.event_id === it.event_id) === i,
      );
      const shown = once.slice(0, most);
      const events = shown.filter(it => !it.event.repeats).map(row);
      const series = shown.flatMap(it =>
        it.event.repeats
          ? [
              {
                title: it.event.title,
                event_id: it.event_id,
                next: textOf(it.start),
                repeats: it.event.repeats.every,
              },
            ]
          : [],
      );
      return {
        ...(events.length > 0 || series.length === 0 ? { events } : {}),
        ...(series.length > 0 ? { series } : {}),
        ...(once.length > most ? { more: once.length - most } : {}),
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
    run(diary, { query, calendar_id, limit: most = 10 }, { now }) {
      if (calendar_id) calendarOf(diary, calendar_id);
      const exact = query.trim().toLowerCase();
      const found = Object.entries(diary.events)
        .filter(
          ([, it]) =>
            containsWords(it.title, query) && (!calendar_id || it.calendar_id === calendar_id),
        )
        .map(([event_id, event]) => ({
          event_id,
          event,
          isExact: event.title.toLowerCase() === exact,
          ...when(event, now),
        }));
      // exact titles first, then what is ahead, soonest first, then what is over, latest first
      found.sort(
        (a, b) =>
          Number(b.isExact) - Number(a.isExact) ||
          Number(b.isAhead) - Number(a.isAhead) ||
          (a.isAhead ? a.start - b.start : b.start - a.start) ||
          (a.event_id < b.event_id ? -1 : 1),
      );
      return {
        events: found.slice(0, most).map(({ event_id, event: { title, repeats }, start }) => ({
          title,
          event_id,
          start: textOf(start),
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
      organizer: name().optional().describe("Who organizes it, if not the user"),
      response: z.string().optional().describe("The user's own answer"),
      attendees: z
        .array(z.object({ name: name(), response: z.string() }))
        .optional()
        .describe("The other guests"),
      reminders: z.string().optional(),
      notes: z.string().optional(),
    },
    run(diary, { event_id }, { now }) {
      const event = eventOf(diary, event_id);
      const { title, calendar_id, repeats, location, notes } = event;
      const current = currentOccurrence(event, now);
      const start = current?.start ?? toMinutes(event.start);
      const reminders = Object.values(diary.reminders)
        .filter(it => it.event_id === event_id)
        .map(it => it.minutes_before);
      const attendees = Object.entries(event.attendees)
        .filter(([who]) => who !== diary.user)
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const response = responseOf(event, diary.user);
      return {
        title,
        event_id,
        calendar: calendarOf(diary, calendar_id).name,
        start: textOf(start),
        end: textOf(start + event.minutes),
        ...(repeats ? { repeats: repeats.every } : {}),
        ...(repeats && current && current.end > toMinutes(now) ? { next: current.date } : {}),
        ...(location === undefined ? {} : { location }),
        ...(event.organizer === diary.user
          ? {}
          : { organizer: diary.people[event.organizer]!.name }),
        ...(response === undefined ? {} : { response }),
        ...(attendees.length
          ? {
              attendees: attendees.map(([who, response]) => ({
                name: diary.people[who]!.name,
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

/** When the event is on, comes next, or was last. */
function when(event: Event, now: string): { start: number; isAhead: boolean } {
  const current = currentOccurrence(event, now);
  return {
    start: current?.start ?? toMinutes(event.start),
    isAhead: current !== undefined && current.end > toMinutes(now),
  };
}

export const planning = {
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
      limit: z.int().min(1).max(20).optional().describe("At most this many, 3 if not given"),
    },
    returns: { slots: z.array(z.object({ start: slot(), end: minute() })) },
    run(diary, { day: date, minutes, until, people: others = [], limit: most = 3 }, { now }) {
      const [from, to] = span(date, until ?? date, 31);
      const everyone = [...new Set([diary.user, ...others.map(it => personOf(diary, it))])];
      const busy = everyone.flatMap(who => busyTimes(diary, who, from, to));
      const [opens, closes] = [diary.hours.from, diary.hours.to].map(it =>
        toMinutes(`1970-01-01T${it}`),
      ) as [number, number];
      const slots: { start: string; end: string }[] = [];
      for (let at = from; at < to && slots.length < most;) {
        const time = { start: at, end: at + minutes };
        const isOpen =
          !isWeekend(at) && minuteOfDay(at) >= opens && minuteOfDay(at) + minutes <= closes;
        const isFree = isOpen && at >= toMinutes(now) && !busy.some(it => overlaps(it, time));
        if (isFree) slots.push({ start: textOf(at), end: textOf(at + minutes) });
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
      conflicts: listed.optional(),
    },
    run(diary, { start, minutes = 30, people: others = [] }) {
      const from = toMinutes(start);
      const everyone = [...new Set([diary.user, ...others.map(it => personOf(diary, it))])];
      const found = new Map<string, ReturnType<typeof row>>(
        everyone
          .flatMap(who => busyTimes(diary, who, from, from + minutes))
          .map(it => [`${it.event_id} ${it.date}`, row(it)]),
      );
      const conflicts = [...found.values()];
      return conflicts.length > 0 ? { free: false, conflicts } : { free: true, start };
    },
  }),
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
      events: z.array(z.object({ title: label("event"), event_id: id("event"), time: z.string() })),
      invitations: z
        .array(
          z.object({ title: label("invitation"), event_id: id("invitation"), start: minute() }),
        )
        .optional(),
    },
    run(diary, { day: date, title = "" }, { now }) {
      const today = date ?? now.slice(0, 10);
      const mine = occurrences(
        diary,
        ...span(today, today, 1),
        it =>
          containsWords(it.title, title) &&
          (it.organizer === diary.user ||
            ["accepted", "tentative"].includes(responseOf(it, diary.user) ?? "")),
      );
      const open = Object.entries(diary.events).flatMap(([event_id, it]) => {
        const next =
          responseOf(it, diary.user) === "pending" && containsWords(it.title, title)
            ? nextOccurrence(it, now)
            : undefined;
        return next ? [{ title: it.title, event_id, start: textOf(next.start) }] : [];
      });
      const invitations = open
        .sort((a, b) => (a.start < b.start || (a.start === b.start && a.title < b.title) ? -1 : 1))
        .slice(0, mostInvitations);
      return {
        day: today,
        events: mine.map(({ event, event_id, start, end }) => ({
          title: event.title,
          event_id,
          time:
            dateOf(start) === today ? `${timeOf(start)}-${timeOf(end)}` : `until ${timeOf(end)}`,
        })),
        ...(invitations.length ? { invitations } : {}),
      };
    },
  }),
};
