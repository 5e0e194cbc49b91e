/** Parameters of events, and the creation of an event that the user organizes. */
import { z } from "zod";
import type { RecurrenceRule } from "./recurrence.ts";
import type { CalendarState } from "./state.ts";
import { findPersonId, type Event } from "./state.ts";
import {
  exampleLengths,
  people,
  exampleLocations,
  exampleNotes,
  title,
  exampleTitles,
} from "./parameters.ts";

export const allowConflict = z
  .boolean()
  .optional()
  .describe("True to book although the user has something else at that time");
export const attendees = people
  .optional()
  .describe("Full names or e-mail addresses of the people to invite");
export const newTitle = title.describe("Title of the event").meta({ examples: exampleTitles });
export const length = z
  .int()
  .min(5)
  .max(1440)
  .describe("Length in minutes, 30 if not given")
  .meta({ examples: exampleLengths })
  .optional();
export const newLocation = z
  .string()
  .min(1)
  .max(80)
  .optional()
  .describe("Place or room")
  .meta({ examples: exampleLocations });
export const newNotes = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("What guests should know")
  .meta({ examples: exampleNotes });

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
export function createOwnEvent(
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
