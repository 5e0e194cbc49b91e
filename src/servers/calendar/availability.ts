/** Occurrences of events in a range of time, and when a person is busy. */
import { refuse } from "../../environment/server.ts";
import { expandOccurrences, formatMinute, formatTime, type Occurrence } from "./recurrence.ts";
import type { Event, CalendarState } from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";

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
