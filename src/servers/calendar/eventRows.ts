/** Rows and ranges that several reading tools share. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { minutesPerDay, getStartOfDay, formatMinute } from "./recurrence.ts";
import type { EventOccurrence } from "./availability.ts";
import type { Event } from "./state.ts";

export const eventRows = z.array(
  z.object({ title: label("event"), event_id: id("event"), start: minute() }),
);
export const createEventRow = (it: EventOccurrence) => ({
  title: it.event.title,
  event_id: it.event_id,
  start: formatMinute(it.start),
});

/** The range from the start of one day to the end of another, or a refusal. */
export function parseDayRange(from: string, to: string, mostDays: number): [number, number] {
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

export const getResponse = (event: Event, personId: string) =>
  Object.hasOwn(event.attendees, personId) ? event.attendees[personId] : undefined;
