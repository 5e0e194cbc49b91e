/** When events happen, who is busy then, and the rules on who may change them. */
import { refuse } from "../../environment/server.ts";
import {
  expandOccurrences,
  formatMinute,
  formatTime,
  type Occurrence,
  minutesPerDay,
  listAllOccurrences,
  formatDay,
  isWeekend,
  getMinuteOfDay,
} from "./recurrence.ts";
import { type Event, type CalendarState, events, calendars } from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import { toMinutes } from "../../environment/time.ts";

/** Whether the person is busy during the event: they organize it, or answered yes or maybe. */
function isBusyWith(event: Event, personId: string): boolean {
  if (event.free) return false;
  return event.organizer === personId || isAttending(event, personId);
}

const isAttending = ({ attendees }: Event, personId: string) =>
  Object.hasOwn(attendees, personId) &&
  (attendees[personId] === "accepted" || attendees[personId] === "tentative");

export interface EventOccurrence extends Occurrence {
  readonly event_id: string;
  readonly event: Event;
}

/** The occurrences in `[from, to)` of the events that match, sorted by start, then title. */
export function listOccurrences(
  state: CalendarState,
  from: number,
  to: number,
  matches: (event: Event, eventId: string) => boolean,
): EventOccurrence[] {
  const occurrences: EventOccurrence[] = [];
  for (const [event_id, event] of Object.entries(state.events)) {
    if (!matches(event, event_id)) continue;
    for (const it of expandOccurrences(event, from, to))
      occurrences.push({ ...it, event_id, event });
  }
  return occurrences.sort(
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
 * When the person is busy in `[from, to)`, as of before the call. The event `exceptId` is not
 * counted.
 */
export const listBusyTimes = (
  state: CalendarState,
  personId: string,
  from: number,
  to: number,
  exceptId?: string,
): EventOccurrence[] =>
  listOccurrences(
    getOriginal(state),
    from,
    to,
    (event, eventId) => eventId !== exceptId && isBusyWith(event, personId),
  );

export const overlaps = (
  a: Pick<Occurrence, "start" | "end">,
  b: Pick<Occurrence, "start" | "end">,
): boolean => a.start < b.end && b.start < a.end;

/**
 * Refuses if the user is busy at one of the times, with anything but the event `exceptId`, or but
 * its occurrence of the day `exceptDate`.
 */
export function refuseConflicts(
  state: CalendarState,
  times: readonly Pick<Occurrence, "start" | "end">[],
  exceptId?: string,
  exceptDate?: string,
): void {
  if (times.length === 0) return;
  const busy = listBusyTimes(
    state,
    state.user,
    times[0]!.start,
    Math.max(...times.map(it => it.end)),
    exceptDate === undefined ? exceptId : undefined,
  ).filter(it => it.event_id !== exceptId || it.date !== exceptDate);
  for (const time of times) {
    const clash = busy.find(it => overlaps(it, time));
    if (clash)
      refuse(
        "conflict",
        `${formatMinute(time.start)} clashes with ${clash.event.title} (${clash.event_id}), ${formatTime(clash.start)} to ${formatTime(clash.end)}`,
        "choose another time, or set allow_conflict to true",
      );
  }
}

/** The calendar, if the user may add events to it. */
export function findWritableCalendar(state: CalendarState, calendarId: string) {
  const calendar = calendars.find(state, calendarId);
  if (calendar.access === "read")
    refuse(
      "permission_denied",
      `calendar ${calendar.name} (${calendarId}) is read-only for you`,
      "use a calendar with owner or write access",
    );
  return calendar;
}

/** Refuses a time that has passed, is too far ahead, or is outside the calendar's hours. */
export function refuseUnbookableTime(
  state: CalendarState,
  calendarId: string,
  start: number,
  minutes: number,
  now: string,
): void {
  if (start < toMinutes(now))
    refuse(
      "precondition_failed",
      `${formatMinute(start)} has passed: it is ${now}`,
      "choose a later time",
    );
  if (start > toMinutes(now) + 730 * minutesPerDay)
    refuse(
      "limit_exceeded",
      "events can be planned at most two years ahead",
      `choose a day before ${formatDay(toMinutes(now) + 730 * minutesPerDay)}`,
    );
  refuseOutsideHours(state, calendarId, start, minutes);
}

/** Refuses a time outside the calendar's hours. */
export function refuseOutsideHours(
  state: CalendarState,
  calendarId: string,
  start: number,
  minutes: number,
): void {
  const { name, hours } = calendars.find(state, calendarId);
  if (!hours) return;
  const [from, to] = [hours.from, hours.to].map(it => toMinutes(`1970-01-01T${it}`)) as [
    number,
    number,
  ];
  if (isWeekend(start) || getMinuteOfDay(start) < from || getMinuteOfDay(start) + minutes > to)
    refuse(
      "precondition_failed",
      `${formatMinute(start)} for ${minutes} minutes does not fit: calendar ${name} takes events on weekdays from ${hours.from} to ${hours.to}`,
      "choose a time within, or another calendar",
    );
}

/**
 * The event, if the user may change it: the user organizes it, its calendar is writable, and it is
 * not over.
 */
export function findOwnEvent(state: CalendarState, eventId: string, now: string): Event {
  const event = events.find(state, eventId);
  findWritableCalendar(state, event.calendar_id);
  if (event.organizer !== state.user)
    refuse(
      "permission_denied",
      `only the organizer, ${state.people[event.organizer]!.name}, may change ${event.title} (${eventId})`,
      "answer it with calendar_respond_to_invite instead",
    );
  refusePastEvent(event, eventId, now);
  return event;
}

/** Refuses an event that is over. */
export function refusePastEvent(event: Event, eventId: string, now: string): void {
  if (findNextOccurrence(getOriginal(event), now) === undefined)
    refuse(
      "precondition_failed",
      `${event.title} (${eventId}) is over: it is ${now}`,
      "past events stay as they were",
    );
}

/** The current occurrence, or the next one. */
export const findNextOccurrence = (event: Event, now: string): Occurrence | undefined =>
  expandOccurrences(event, toMinutes(now), Infinity)[0];

/**
 * The current or next occurrence, or the last one if the event is over. Undefined if every
 * occurrence is cancelled.
 */
export const findCurrentOccurrence = (event: Event, now: string): Occurrence | undefined =>
  findNextOccurrence(event, now) ?? listAllOccurrences(event).at(-1);

/** The occurrence of a series on that day, if it has not begun. */
export function findOccurrenceOn(
  event: Event,
  eventId: string,
  date: string,
  now: string,
): Occurrence {
  if (!event.repeats)
    refuse(
      "precondition_failed",
      `${event.title} (${eventId}) does not repeat`,
      "leave the occurrence out, or use calendar_delete_event",
    );
  if (event.exceptions?.[date] === "cancelled")
    refuse("conflict", `${event.title} is already cancelled on ${date}`);
  const all = listAllOccurrences(getOriginal(event));
  const occurrence =
    all.find(it => it.date === date) ?? all.find(it => formatDay(it.start) === date);
  if (!occurrence) {
    const ahead = all.filter(it => it.start > toMinutes(now)).slice(0, 3);
    refuse(
      "not_found",
      `${event.title} (${eventId}) has no occurrence on ${date}`,
      ahead.length ? `the next are ${ahead.map(it => it.date).join(", ")}` : "the series is over",
    );
  }
  if (occurrence.start < toMinutes(now))
    refuse(
      "precondition_failed",
      `${event.title} on ${date} has begun or is over: it is ${now}`,
      "past occurrences stay as they were",
    );
  return occurrence;
}
