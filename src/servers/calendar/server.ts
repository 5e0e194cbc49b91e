/**
 * The calendar server: the calendar of one person among colleagues. Also its rules, which hold
 * whichever tools are used.
 */
import {
  defineConstantRule,
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { toMinutes } from "../../environment/time.ts";
import { maxGuests, guestCommands, maxReminders, reminderCommands } from "./guestCommands.ts";
import {
  formatMinute,
  getMinuteOfDay,
  isWeekend,
  listAllOccurrences,
  type Occurrence,
} from "./recurrence.ts";
import { CalendarState, type Event, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { agendaTools, availabilityTools, eventQueries } from "./eventQueries.ts";
import { eventCommands, seriesCommands } from "./eventCommands.ts";

type State = CalendarState;

const onlyOwnEventsChange = defineWriteRule<State>(
  "Only events that the user organizes, in calendars that the user may write to, are added, changed or deleted; of others only the user's answer changes.",
  function* (state, before) {
    for (const { id, before: old, after } of listChanges(before.events, state.events)) {
      if (isSameJson(old, after)) continue;
      const isOwn = [old, after].every(
        it =>
          !it ||
          (it.organizer === state.user && state.calendars[it.calendar_id]!.access !== "read"),
      );
      if (isOwn) continue;
      const isAnswer =
        old &&
        after &&
        Object.hasOwn(old.attendees, state.user) &&
        isSameJson(after, {
          ...old,
          attendees: { ...old.attendees, [state.user]: after.attendees[state.user] },
        });
      if (!isAnswer) yield `${id} is not the user's to change`;
    }
  },
);

const othersAnswerThemselves = defineWriteRule<State>(
  "Nobody's answer but the user's is given: new guests are pending, and an old answer stays or is asked for again.",
  function* (state, before) {
    for (const { id, before: old, after } of listChanges(before.events, state.events))
      for (const [personId, answer] of Object.entries(after?.attendees ?? {})) {
        const oldAnswer = old?.attendees[personId] ?? "pending";
        if (personId !== state.user && answer !== oldAnswer && answer !== "pending")
          yield `${personId} has ${answer} ${id}`;
      }
  },
);

const fixedFields = ["organizer", "calendar_id", "repeats", "free"];

const eventsKeepTheirOrigin = defineWriteRule<State>(
  "An event keeps its organizer, its calendar and its rule, and a cancelled occurrence stays cancelled.",
  function* (state, before) {
    for (const { id, before: old, after } of listChanges(before.events, state.events)) {
      if (!old || !after) continue;
      const fields = listChangedFields(old, after).filter(it => fixedFields.includes(it));
      if (fields.length > 0) yield `${fields.join()} of ${id} changed`;
      for (const [date, it] of Object.entries(old.exceptions ?? {}))
        if (it === "cancelled" && after.exceptions?.[date] !== "cancelled")
          yield `${id} takes place on ${date} again`;
    }
  },
);

/** The occurrences of an event that a write added or moved. */
function listMovedOccurrences(after: Event, before: Event | undefined): Occurrence[] {
  const starts = new Map(before && listAllOccurrences(before).map(it => [it.date, it.start]));
  return listAllOccurrences(after).filter(it => starts.get(it.date) !== it.start);
}

const hoursHold = defineWriteRule<State>(
  "In a calendar with hours, an occurrence that is added or moved is on a weekday within these hours.",
  function* (state, before) {
    for (const { id, before: old, after } of listChanges(before.events, state.events)) {
      const hours = after && state.calendars[after.calendar_id]!.hours;
      if (!hours) continue;
      const [from, to] = [hours.from, hours.to].map(it => toMinutes(`1970-01-01T${it}`));
      // what became longer is checked where it surely is not over: at its end
      const last = old?.minutes === after.minutes ? [] : listAllOccurrences(after).slice(-1);
      for (const it of [...listMovedOccurrences(after, old), ...last]) {
        const start = getMinuteOfDay(it.start);
        if (isWeekend(it.start) || start < from! || start + after.minutes > to!)
          yield `${id} is at ${formatMinute(it.start)} for ${after.minutes} minutes`;
      }
    }
  },
);

const fewGuests = defineStateRule<State>(
  `An event has at most ${maxGuests} guests, and its organizer is none of them.`,
  function* ({ events }) {
    for (const [id, { attendees, organizer }] of Object.entries(events)) {
      const count = Object.keys(attendees).length;
      if (count > maxGuests) yield `${id} has ${count} guests`;
      if (Object.hasOwn(attendees, organizer)) yield `the organizer of ${id} is a guest`;
    }
  },
);

const fewReminders = defineStateRule<State>(
  `An event has at most ${maxReminders} reminders, at different times.`,
  function* ({ reminders }) {
    const timesByEvent = new Map<string, number[]>();
    for (const { event_id, minutes_before } of Object.values(reminders)) {
      const times = timesByEvent.get(event_id) ?? [];
      if (times.includes(minutes_before)) yield `${event_id} has two ${minutes_before} before`;
      timesByEvent.set(event_id, [...times, minutes_before]);
      if (times.length >= maxReminders) yield `${event_id} has ${times.length + 1} reminders`;
    }
  },
);

const remindersAreOfAttended = defineWriteRule<State>(
  "A reminder is only for an event that the user has not declined, and goes only with its event or when the user declines it.",
  function* (state, before) {
    const isDeclined = (eventId: string, { events, user }: State) =>
      events[eventId]?.attendees[user] === "declined";
    for (const [id, { event_id }] of Object.entries(state.reminders))
      if (isDeclined(event_id, state) && !isDeclined(event_id, before))
        yield `${id} is for ${event_id}, which the user declined`;
    for (const [id, { event_id }] of listAddedRows(before.reminders, state.reminders))
      if (isDeclined(event_id, state)) yield `${id} is for ${event_id}, which the user declined`;
    for (const it of listChanges(before.reminders, state.reminders))
      if (it.before && !isSameJson(it.before, it.after)) {
        const { event_id } = it.before;
        const isGone = !Object.hasOwn(state.events, event_id);
        if (it.after || !(isGone || isDeclined(event_id, state)))
          yield `${it.id} was changed or removed`;
      }
  },
);

const settingsStay = defineConstantRule<State>(
  "People, calendars and working hours never change.",
  ["user", "hours", "people", "calendars"],
);

const invariants = [
  onlyOwnEventsChange,
  othersAnswerThemselves,
  eventsKeepTheirOrigin,
  hoursHold,
  fewGuests,
  fewReminders,
  remindersAreOfAttended,
  settingsStay,
];

export const server = defineServer({
  name: "calendar",
  category: "Productivity",
  summary: "calendars, events and series, guests and their answers, reminders, free time",
  schema: CalendarState,
  references,
  tools: {
    ...eventQueries,
    ...eventCommands,
    ...guestCommands,
    ...seriesCommands,
    ...availabilityTools,
    ...reminderCommands,
    ...agendaTools,
  },
  invariants,
});
