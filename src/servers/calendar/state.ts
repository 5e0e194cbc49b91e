/** The state of the calendar server: people, calendars, events with their guests, reminders. */
import { z } from "zod";
import { minute, spokenId } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";
import { Exceptions, RecurrenceRule } from "./recurrence.ts";

const responses = ["accepted", "tentative", "declined", "pending"] as const;

const Person = z.strictObject({ name: z.string().min(1), email: z.email() });

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

const Calendar = z.strictObject({
  name: z.string().min(1),
  owner: z.string(),
  /** What the user may do with the calendar. */
  access: z.enum(["owner", "write", "read"]),
  /** If given, events must be on weekdays between these times. */
  hours: z.strictObject({ from: clockTime, to: clockTime }).optional(),
});

export const Event = z.strictObject({
  calendar_id: z.string(),
  title: z.string().min(1),
  start: minute(),
  minutes: z.int().min(5).max(1440),
  organizer: z.string(),
  attendees: z.record(z.string(), z.enum(responses)),
  location: z.string().optional(),
  notes: z.string().optional(),
  /** Nobody is busy during it: a holiday, a note. */
  free: z.literal(true).optional(),
  repeats: RecurrenceRule.optional(),
  exceptions: Exceptions.optional(),
});
export type Event = z.infer<typeof Event>;

const Reminder = z.strictObject({
  event_id: z.string(),
  minutes_before: z.int().min(0).max(10_080),
});

export const references = {
  user: "people",
  "calendars.*.owner": "people",
  "events.*.calendar_id": "calendars",
  "events.*.organizer": "people",
  "events.*.attendees.@": "people",
  "reminders.*.event_id": "events",
} satisfies References;

export const CalendarState = z.strictObject({
  /** The id of the person the agent works for. */
  user: z.string(),
  /** Working hours of the user and the colleagues, Monday to Friday. */
  hours: z.strictObject({ from: clockTime, to: clockTime }),
  people: z.record(z.string(), Person),
  calendars: z.record(z.string(), Calendar),
  events: z.record(z.string(), Event),
  reminders: z.record(z.string(), Reminder),
});
export type CalendarState = z.infer<typeof CalendarState>;

const table = createTableFactory(CalendarState);
export const events = table("events", {
  entity: "event",
  idsFrom: "calendar_search_events",
  hint: "calendar_search_events finds an event by its title",
});
export const calendars = table("calendars", {
  entity: "calendar",
  idsFrom: "calendar_list_calendars",
});

/** The id of the person with that full name or e-mail address. */
export function findPersonId(state: CalendarState, nameOrEmail: string): string {
  const searchedText = nameOrEmail.trim().toLowerCase();
  const all = Object.entries(state.people);
  const entry = all.find(
    ([, it]) => it.name.toLowerCase() === searchedText || it.email.toLowerCase() === searchedText,
  );
  if (entry) return entry[0];
  const similar = all.filter(([, it]) =>
    it.name
      .toLowerCase()
      .split(" ")
      .some(part => searchedText.split(/[\s@.]+/).includes(part)),
  );
  return refuse(
    "not_found",
    `there is no person ${nameOrEmail}`,
    similar.length
      ? `did you mean ${similar.map(([, it]) => it.name).join(" or ")}`
      : "give a full name or an e-mail address",
  );
}

/** Deletes the reminders of an event that is deleted or declined. */
export function deleteReminders({ reminders }: CalendarState, eventId: string): void {
  for (const [reminderId, it] of Object.entries(reminders))
    if (it.event_id === eventId) delete reminders[reminderId];
}

/** A free start: calendar_find_free_slots gives some, and a person may name one. */
export const slot = () => minute().meta({ "x-entity": "slot", "x-spoken": true });

/** People are identified by their names, not by ids. */
export const personName = () => spokenId("person");
export const people = z.array(personName()).min(1).max(10);

export const title = z.string().min(1).max(100).regex(/\S/);
