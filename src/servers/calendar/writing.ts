/**
 * The calendar's tools that change things: events and series, guests and answers, reminders. What
 * stands in the way is the world's affair.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { allOccurrences, longestSeries, rhythms, textOf, type Rule } from "./recurrence.ts";
import {
  bookable,
  busyTimes,
  currentOccurrence,
  Diary,
  eventOf,
  nextOccurrence,
  notDoubleBooked,
  notOver,
  occurrenceOn,
  overlaps,
  ownEvent,
  personOf,
  withinHours,
  writableCalendar,
  type Event,
} from "./state.ts";
import {
  calendarId,
  eventId,
  lengths,
  name,
  people,
  places,
  remarks,
  slot,
  title,
  titles,
} from "./words.ts";

const tool = createToolFactory(Diary);

const mostGuests = 20;
const mostReminders = 5;

const allowConflict = z
  .boolean()
  .optional()
  .describe("True to book although the user has something else at that time");
const attendees = people
  .optional()
  .describe("Full names or e-mail addresses of the people to invite");
const newTitle = title.describe("Title of the event").meta({ examples: titles });
const length = z
  .int()
  .min(5)
  .max(1440)
  .describe("Length in minutes, 30 if not given")
  .meta({ examples: lengths })
  .optional();
const newLocation = z
  .string()
  .min(1)
  .max(80)
  .optional()
  .describe("Place or room")
  .meta({ examples: places });
const newNotes = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("What guests should know")
  .meta({ examples: remarks });
const guestCount = z.int().describe("Guests of the event now");

interface Wanted {
  calendar_id: string;
  title: string;
  start: string;
  minutes?: number | undefined;
  attendees?: readonly string[] | undefined;
  location?: string | undefined;
  notes?: string | undefined;
}

/** A new event of the user's own, not yet in the diary. */
function newEvent(
  diary: Diary,
  { calendar_id, title, start, minutes = 30, attendees: names = [], location, notes }: Wanted,
  repeats?: Rule,
): Event {
  const guests = names.map(it => personOf(diary, it));
  const invited = Object.fromEntries(
    guests.filter(it => it !== diary.user).map(it => [it, "pending" as const]),
  );
  return {
    calendar_id,
    title,
    start,
    minutes,
    organizer: diary.user,
    attendees: invited,
    ...(location === undefined ? {} : { location }),
    ...(notes === undefined ? {} : { notes }),
    ...(repeats ? { repeats } : {}),
  };
}

/** Asks everyone who had said something for a new answer, and says how many that were. */
function askAgain({ attendees }: Event): number {
  for (const who of Object.keys(attendees)) attendees[who] = "pending";
  return Object.keys(attendees).length;
}

/**
 * The day of the next occurrence that has not begun; of an event that is on for the last time, that
 * day.
 */
const nextStart = (event: Event, now: string): string =>
  (allOccurrences(event).find(it => it.start >= toMinutes(now)) ?? nextOccurrence(event, now)!)
    .date;

export const events = {
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
    run(diary, { allow_conflict, ...wanted }, { now, newId }) {
      writableCalendar(diary, wanted.calendar_id);
      const event = newEvent(diary, wanted);
      const time = { start: toMinutes(event.start), end: toMinutes(event.start) + event.minutes };
      bookable(diary, wanted.calendar_id, time.start, event.minutes, now);
      if (!allow_conflict) notDoubleBooked(diary, [time]);
      const event_id = newId("evt");
      diary.events[event_id] = event;
      const invited = Object.keys(event.attendees).length;
      return {
        title: event.title,
        event_id,
        start: event.start,
        end: textOf(time.end),
        ...(invited ? { invited } : {}),
      };
    },
  }),
  create_recurring_event: tool({
    effect: "write",
    summary:
      "Create an event of the user's own that repeats, and invite people to it. A monthly one on a day that a month lacks falls on that month's last day.",
    input: {
      calendar_id: calendarId,
      title: newTitle,
      start: slot().describe("Start of the first occurrence, YYYY-MM-DDTHH:MM"),
      every: z.enum(rhythms).describe("How it repeats"),
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
    run(diary, { allow_conflict, every, count, until, ...wanted }, { now, newId }) {
      writableCalendar(diary, wanted.calendar_id);
      const ends = until !== undefined ? { until } : {};
      const counted = count !== undefined ? { count } : until === undefined ? { count: 10 } : {};
      const event = newEvent(diary, wanted, { every, ...counted, ...ends });
      const times = allOccurrences(event);
      if (times.length < 2)
        refuse(
          "invalid_params",
          `until ${until} leaves ${times.length} occurrences from ${wanted.start} on`,
          "choose a later last day, or calendar_create_event for a single event",
        );
      if (count === undefined && times.length === longestSeries)
        refuse(
          "limit_exceeded",
          `a series has fewer than ${longestSeries} occurrences`,
          "choose an earlier last day",
        );
      for (const it of times) bookable(diary, wanted.calendar_id, it.start, event.minutes, now);
      if (!allow_conflict) notDoubleBooked(diary, times);
      const event_id = newId("evt");
      diary.events[event_id] = event;
      return {
        title: event.title,
        event_id,
        occurrences: times.length,
        first: times[0]!.date,
        last: times.at(-1)!.date,
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
    run(diary, { event_id, minutes, allow_conflict, ...texts }, { now }) {
      const event = ownEvent(diary, event_id, now);
      if (minutes === undefined && Object.keys(texts).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a title, location, notes or minutes",
        );
      const changed: string[] = [];
      if (minutes !== undefined && minutes !== event.minutes) {
        const ahead = allOccurrences({ ...event, minutes }).filter(it => it.end > toMinutes(now));
        for (const it of ahead) withinHours(diary, event.calendar_id, it.start, minutes);
        if (minutes > event.minutes && !allow_conflict) notDoubleBooked(diary, ahead, event_id);
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
    run(diary, { event_id, start, occurrence: date, allow_conflict }, { now }) {
      const event = ownEvent(diary, event_id, now);
      const next = nextOccurrence(event, now)!;
      if (event.repeats && date === undefined)
        refuse(
          "precondition_failed",
          `${event.title} (${event_id}) repeats ${event.repeats.every}`,
          `say which occurrence to move; the next is ${next.date}`,
        );
      const moved = date === undefined ? next : occurrenceOn(event, event_id, date, now);
      if (moved.start < toMinutes(now))
        refuse(
          "precondition_failed",
          `${event.title} (${event_id}) has begun`,
          "only its length can still change",
        );
      if (moved.start === toMinutes(start))
        refuse("conflict", `${event.title} (${event_id}) is already at ${start}`);
      const time = { start: toMinutes(start), end: toMinutes(start) + event.minutes };
      bookable(diary, event.calendar_id, time.start, event.minutes, now);
      if (!allow_conflict) notDoubleBooked(diary, [time], event_id);
      const end = textOf(time.end);
      if (date !== undefined) {
        (event.exceptions ??= {})[moved.date] = start;
        return { title: event.title, event_id, start, end };
      }
      event.start = start;
      const asked_again = askAgain(event);
      return { title: event.title, event_id, start, end, ...(asked_again ? { asked_again } : {}) };
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
    run(diary, { event_id, occurrence: date }, { now }) {
      const event = ownEvent(diary, event_id, now);
      const { date: cancelled } = occurrenceOn(event, event_id, date ?? nextStart(event, now), now);
      (event.exceptions ??= {})[cancelled] = "cancelled";
      const next = nextOccurrence(event, now);
      return { title: event.title, event_id, cancelled, ...(next ? { next: next.date } : {}) };
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
    run(diary, { event_id }, { now }) {
      const { title: deleted, attendees: guests } = ownEvent(diary, event_id, now);
      const notified = Object.keys(guests).length;
      for (const [reminderId, it] of Object.entries(diary.reminders))
        if (it.event_id === event_id) delete diary.reminders[reminderId];
      delete diary.events[event_id];
      return { deleted, notified };
    },
  }),
};

const invitation = id("invitation").describe(
  "Id of the event, as calendar_get_agenda gives it among the invitations",
);

export const guests = {
  add_attendee: tool({
    effect: "write",
    summary:
      "Invite a person to an event that the user organizes, and learn whether they are free then.",
    input: {
      event_id: eventId,
      person: name().describe("Full name or e-mail address of the person to invite"),
    },
    returns: {
      name: name(),
      event_id: id("event"),
      response: z.string(),
      attendees: guestCount,
      free: z.boolean(),
    },
    run(diary, { event_id, person }, { now }) {
      const event = ownEvent(diary, event_id, now);
      const who = personOf(diary, person);
      const called = diary.people[who]!.name;
      if (who === event.organizer) refuse("conflict", `${called} organizes ${event.title}`);
      if (Object.hasOwn(event.attendees, who))
        refuse(
          "conflict",
          `${called} is already invited to ${event.title} (${event.attendees[who]})`,
        );
      if (Object.keys(event.attendees).length >= mostGuests)
        refuse(
          "limit_exceeded",
          `${event.title} has ${mostGuests} guests already`,
          "remove somebody first",
        );
      const next = nextOccurrence(event, now)!;
      const free = !busyTimes(diary, who, next.start, next.end).some(it => overlaps(it, next));
      event.attendees[who] = "pending";
      return {
        name: called,
        event_id,
        response: "pending",
        attendees: Object.keys(event.attendees).length,
        free,
      };
    },
  }),
  remove_attendee: tool({
    effect: "write",
    summary: "Take a person off the guest list of an event that the user organizes.",
    destructive: true,
    input: {
      event_id: eventId,
      person: name().describe("Full name or e-mail address of the guest"),
    },
    returns: { name: name(), event_id: id("event"), attendees: guestCount },
    run(diary, { event_id, person }, { now }) {
      const event = ownEvent(diary, event_id, now);
      const who = personOf(diary, person);
      const called = diary.people[who]!.name;
      if (!Object.hasOwn(event.attendees, who))
        refuse(
          "not_found",
          `${called} is not invited to ${event.title} (${event_id})`,
          "calendar_get_event lists the guests",
        );
      delete event.attendees[who];
      return { name: called, event_id, attendees: Object.keys(event.attendees).length };
    },
  }),
  respond_to_invite: tool({
    effect: "write",
    summary:
      "Answer an invitation to somebody else's event. Declining frees the time; accepting is refused if the user is busy then.",
    input: {
      event_id: invitation,
      response: z.enum(["accepted", "tentative", "declined"]).describe("The answer"),
      allow_conflict: z
        .boolean()
        .optional()
        .describe("True to accept although the user has something else at that time"),
    },
    returns: {
      title: label("invitation"),
      event_id: id("invitation"),
      response: z.string(),
      start: minute(),
    },
    run(diary, { event_id, response, allow_conflict }, { now }) {
      const event = eventOf(diary, event_id);
      const before = Object.hasOwn(event.attendees, diary.user)
        ? event.attendees[diary.user]
        : undefined;
      if (event.organizer === diary.user)
        refuse(
          "precondition_failed",
          `the user organizes ${event.title} (${event_id})`,
          "calendar_delete_event calls it off",
        );
      if (before === undefined)
        refuse(
          "permission_denied",
          `the user is not invited to ${event.title} (${event_id})`,
          `ask ${diary.people[event.organizer]!.name} for an invitation`,
        );
      notOver(event, event_id, now);
      if (before === response)
        refuse("conflict", `${event.title} (${event_id}) is already ${response}`);
      const ahead = allOccurrences(event).filter(it => it.end > toMinutes(now));
      if (response === "accepted" && !event.free && !allow_conflict)
        notDoubleBooked(diary, ahead, event_id);
      event.attendees[diary.user] = response;
      return { title: event.title, event_id, response, start: textOf(ahead[0]!.start) };
    },
  }),
  set_reminder: tool({
    effect: "write",
    summary:
      "Remind the user some minutes before an event, and before every occurrence of a series.",
    input: {
      event_id: eventId,
      minutes_before: z
        .int()
        .min(0)
        .max(10_080)
        .describe("Minutes before the start")
        .meta({ examples: [5, 10, 15, 20, 30, 45, 60, 90, 120, 1440] }),
    },
    returns: {
      title: label("event"),
      event_id: id("event"),
      reminder_id: id("reminder"),
      at: minute(),
    },
    run(diary, { event_id, minutes_before }, { now, newId }) {
      const event = eventOf(diary, event_id);
      notOver(event, event_id, now);
      if (Object.hasOwn(event.attendees, diary.user) && event.attendees[diary.user] === "declined")
        refuse(
          "precondition_failed",
          `the user declined ${event.title} (${event_id})`,
          "accept it with calendar_respond_to_invite first",
        );
      const own = Object.values(diary.reminders).filter(it => it.event_id === event_id);
      if (own.some(it => it.minutes_before === minutes_before))
        refuse(
          "conflict",
          `${event.title} already has a reminder ${minutes_before} minutes before`,
        );
      if (own.length >= mostReminders)
        refuse("limit_exceeded", `${event.title} has ${mostReminders} reminders already`);
      const next = allOccurrences(event).find(it => it.start - minutes_before >= toMinutes(now));
      if (!next) {
        const { start } = currentOccurrence(event, now)!;
        refuse(
          "precondition_failed",
          `${minutes_before} minutes before ${event.title} at ${textOf(start)} has passed: it is ${now}`,
          "choose fewer minutes",
        );
      }
      const reminder_id = newId("rem");
      diary.reminders[reminder_id] = { event_id, minutes_before };
      return { title: event.title, event_id, reminder_id, at: textOf(next.start - minutes_before) };
    },
  }),
};
