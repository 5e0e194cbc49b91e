/**
 * The calendar's world: people, calendars, events with their guests, reminders; who is busy when,
 * and who may change what.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import {
  aDay,
  allOccurrences,
  dateOf,
  Exceptions,
  isWeekend,
  minuteOfDay,
  occurrencesOf,
  Rule,
  textOf,
  timeOf,
  type Occurrence,
} from "./recurrence.ts";

export const responses = ["accepted", "tentative", "declined", "pending"] as const;

const Person = z.strictObject({ name: z.string().min(1), email: z.email() });

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

const Calendar = z.strictObject({
  name: z.string().min(1),
  owner: z.string(),
  /** What the user may do with it. */
  access: z.enum(["owner", "write", "read"]),
  /** It takes events on weekdays between these times only. */
  hours: z.strictObject({ from: clockTime, to: clockTime }).optional(),
});

const Event = z.strictObject({
  calendar_id: z.string(),
  title: z.string().min(1),
  start: minute(),
  minutes: z.int().min(5).max(1440),
  organizer: z.string(),
  attendees: z.record(z.string(), z.enum(responses)),
  location: z.string().optional(),
  notes: z.string().optional(),
  /** It blocks nobody's time: a holiday, a note to oneself. */
  free: z.literal(true).optional(),
  repeats: Rule.optional(),
  exceptions: Exceptions.optional(),
});
export type Event = z.infer<typeof Event>;

const Reminder = z.strictObject({
  event_id: z.string(),
  minutes_before: z.int().min(0).max(10_080),
});

export const Diary = z
  .strictObject({
    /** The person whose calendar this is. */
    user: z.string(),
    /** When the user and their colleagues work, Monday to Friday. */
    hours: z.strictObject({ from: clockTime, to: clockTime }),
    people: z.record(z.string(), Person),
    calendars: z.record(z.string(), Calendar),
    events: z.record(z.string(), Event),
    reminders: z.record(z.string(), Reminder),
  })
  .superRefine((diary, context) => {
    for (const [path, message] of danglingReferences(diary))
      context.addIssue({ code: "custom", path, message });
  });
export type Diary = z.infer<typeof Diary>;

type Shape = Pick<Diary, "user" | "people" | "calendars" | "events" | "reminders">;

/** Where a person, calendar or event is named that does not exist. */
function* danglingReferences({
  user,
  people,
  calendars,
  events,
  reminders,
}: Shape): Generator<[string[], string]> {
  const person = (key: string) => !Object.hasOwn(people, key);
  if (person(user)) yield [["user"], `there is no person ${user}`];
  for (const [key, it] of Object.entries(calendars))
    if (person(it.owner)) yield [["calendars", key, "owner"], `there is no person ${it.owner}`];
  for (const [key, it] of Object.entries(events)) {
    if (!Object.hasOwn(calendars, it.calendar_id))
      yield [["events", key, "calendar_id"], `there is no calendar ${it.calendar_id}`];
    for (const who of [it.organizer, ...Object.keys(it.attendees)])
      if (person(who)) yield [["events", key], `there is no person ${who}`];
  }
  for (const [key, it] of Object.entries(reminders))
    if (!Object.hasOwn(events, it.event_id))
      yield [["reminders", key, "event_id"], `there is no event ${it.event_id}`];
}

export const eventOf = (diary: Diary, eventId: string): Event =>
  findEntity(diary.events, eventId, "event", "calendar_search_events finds an event by its title");

export const calendarOf = (diary: Diary, calendarId: string) =>
  findEntity(diary.calendars, calendarId, "calendar", "calendar_list_calendars gives the ids");

/** The id of the person of that full name or e-mail address. */
export function personOf(diary: Diary, called: string): string {
  const wanted = called.trim().toLowerCase();
  const all = Object.entries(diary.people);
  const found = all.find(
    ([, it]) => it.name.toLowerCase() === wanted || it.email.toLowerCase() === wanted,
  );
  if (found) return found[0];
  const near = all.filter(([, it]) =>
    it.name
      .toLowerCase()
      .split(" ")
      .some(part => wanted.split(/[\s@.]+/).includes(part)),
  );
  return refuse(
    "not_found",
    `there is no person ${called}`,
    near.length
      ? `did you mean ${near.map(([, it]) => it.name).join(" or ")}`
      : "give a full name or an e-mail address",
  );
}

/** Whether the event takes up the person's time: they organise it, or said yes or maybe. */
export function blocks(event: Event, personId: string): boolean {
  if (event.free) return false;
  return event.organizer === personId || answersYes(event, personId);
}

const answersYes = ({ attendees }: Event, personId: string) =>
  Object.hasOwn(attendees, personId) &&
  (attendees[personId] === "accepted" || attendees[personId] === "tentative");

export interface Busy extends Occurrence {
  readonly event_id: string;
  readonly event: Event;
}

/** Every occurrence in `[from, to)` of the events that pass, by start, then title. */
export function occurrences(
  diary: Diary,
  from: number,
  to: number,
  passes: (event: Event, eventId: string) => boolean,
): Busy[] {
  const found: Busy[] = [];
  for (const [event_id, event] of Object.entries(diary.events)) {
    if (!passes(event, event_id)) continue;
    for (const it of occurrencesOf(event, from, to)) found.push({ ...it, event_id, event });
  }
  return found.sort(
    (a, b) =>
      a.start - b.start ||
      (a.event.title < b.event.title
        ? -1
        : a.event.title > b.event.title
          ? 1
          : a.event_id < b.event_id
            ? -1
            : 1),
  );
}

/**
 * What takes up the person's time in `[from, to)`, other than one event, as it stood before the
 * call.
 */
export const busyTimes = (
  diary: Diary,
  personId: string,
  from: number,
  to: number,
  exceptId?: string,
): Busy[] =>
  occurrences(
    getOriginal(diary),
    from,
    to,
    (event, eventId) => eventId !== exceptId && blocks(event, personId),
  );

export const overlaps = (
  a: Pick<Occurrence, "start" | "end">,
  b: Pick<Occurrence, "start" | "end">,
): boolean => a.start < b.end && b.start < a.end;

/** Refuses if one of the times meets something in the user's own diary. */
export function notDoubleBooked(
  diary: Diary,
  times: readonly Pick<Occurrence, "start" | "end">[],
  exceptId?: string,
): void {
  if (times.length === 0) return;
  const busy = busyTimes(
    diary,
    diary.user,
    times[0]!.start,
    Math.max(...times.map(it => it.end)),
    exceptId,
  );
  for (const time of times) {
    const clash = busy.find(it => overlaps(it, time));
    if (clash)
      refuse(
        "conflict",
        `${textOf(time.start)} clashes with ${clash.event.title} (${clash.event_id}), ${timeOf(clash.start)} to ${timeOf(clash.end)}`,
        "choose another time, or set allow_conflict to true",
      );
  }
}

/** The calendar, if the user may put an event into it. */
export function writableCalendar(diary: Diary, calendarId: string) {
  const calendar = calendarOf(diary, calendarId);
  if (calendar.access === "read")
    refuse(
      "permission_denied",
      `calendar ${calendar.name} (${calendarId}) is read-only for you`,
      "use a calendar with owner or write access",
    );
  return calendar;
}

/** Refuses a time that has passed, lies too far ahead, or is outside the hours of the calendar. */
export function bookable(
  diary: Diary,
  calendarId: string,
  start: number,
  minutes: number,
  now: string,
): void {
  if (start < toMinutes(now))
    refuse(
      "precondition_failed",
      `${textOf(start)} has passed: it is ${now}`,
      "choose a later time",
    );
  if (start > toMinutes(now) + 730 * aDay)
    refuse(
      "limit_exceeded",
      "events can be planned at most two years ahead",
      `choose a day before ${dateOf(toMinutes(now) + 730 * aDay)}`,
    );
  withinHours(diary, calendarId, start, minutes);
}

/** Refuses a time outside the hours of the calendar. */
export function withinHours(
  diary: Diary,
  calendarId: string,
  start: number,
  minutes: number,
): void {
  const { name, hours } = calendarOf(diary, calendarId);
  if (!hours) return;
  const [from, to] = [hours.from, hours.to].map(it => toMinutes(`1970-01-01T${it}`)) as [
    number,
    number,
  ];
  if (isWeekend(start) || minuteOfDay(start) < from || minuteOfDay(start) + minutes > to)
    refuse(
      "precondition_failed",
      `${textOf(start)} for ${minutes} minutes does not fit: calendar ${name} takes events on weekdays from ${hours.from} to ${hours.to}`,
      "choose a time within, or another calendar",
    );
}

/**
 * The event, if the user may change it: it is the user's own, its calendar is writable, and it is
 * not over.
 */
export function ownEvent(diary: Diary, eventId: string, now: string): Event {
  const event = eventOf(diary, eventId);
  writableCalendar(diary, event.calendar_id);
  if (event.organizer !== diary.user)
    refuse(
      "permission_denied",
      `only the organizer, ${diary.people[event.organizer]!.name}, may change ${event.title} (${eventId})`,
      "answer it with calendar_respond_to_invite instead",
    );
  notOver(event, eventId, now);
  return event;
}

export function notOver(event: Event, eventId: string, now: string): void {
  if (nextOccurrence(getOriginal(event), now) === undefined)
    refuse(
      "precondition_failed",
      `${event.title} (${eventId}) is over: it is ${now}`,
      "past events stay as they were",
    );
}

/** The occurrence that is on or comes next. */
export const nextOccurrence = (event: Event, now: string): Occurrence | undefined =>
  occurrencesOf(event, toMinutes(now), Infinity)[0];

/**
 * The next occurrence, or the last one of an event that is over; none if every occurrence is
 * cancelled.
 */
export const currentOccurrence = (event: Event, now: string): Occurrence | undefined =>
  nextOccurrence(event, now) ?? allOccurrences(event).at(-1);

/** The occurrence of a series on that day, if it is still ahead. */
export function occurrenceOn(event: Event, eventId: string, date: string, now: string): Occurrence {
  if (!event.repeats)
    refuse(
      "precondition_failed",
      `${event.title} (${eventId}) does not repeat`,
      "leave the occurrence out, or use calendar_delete_event",
    );
  if (event.exceptions?.[date] === "cancelled")
    refuse("conflict", `${event.title} is already cancelled on ${date}`);
  const all = allOccurrences(getOriginal(event));
  const found = all.find(it => it.date === date) ?? all.find(it => dateOf(it.start) === date);
  if (!found) {
    const ahead = all.filter(it => it.start > toMinutes(now)).slice(0, 3);
    refuse(
      "not_found",
      `${event.title} (${eventId}) has no occurrence on ${date}`,
      ahead.length ? `the next are ${ahead.map(it => it.date).join(", ")}` : "the series is over",
    );
  }
  if (found.start < toMinutes(now))
    refuse(
      "precondition_failed",
      `${event.title} on ${date} has begun or is over: it is ${now}`,
      "past occurrences stay as they were",
    );
  return found;
}
