/** Tools that invite and remove guests, answer invitations and set reminders. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { listAllOccurrences, formatMinute } from "./recurrence.ts";
import {
  findNextOccurrence,
  refusePastEvent,
  findOwnEvent,
  listBusyTimes,
  refuseConflicts,
  overlaps,
  findCurrentOccurrence,
} from "./eventRules.ts";
import { CalendarState, deleteReminders, events, findPersonId, personName } from "./state.ts";

const tool = createToolFactory(CalendarState);

export const maxGuests = 20;

const guestCount = z.int().describe("Guests of the event now");

const invitationId = id("invitation").describe(
  "Id of the event, as calendar_get_agenda gives it among the invitations",
);

export const guestCommands = {
  add_attendee: tool({
    effect: "write",
    summary:
      "Invite a person to an event that the user organizes, and learn whether they are free then.",
    input: {
      event_id: events.id,
      person: personName().describe("Full name or e-mail address of the person to invite"),
    },
    returns: {
      name: personName(),
      event_id: id("event"),
      response: z.string(),
      attendees: guestCount,
      free: z.boolean(),
    },
    run(state, { event_id, person }, { now }) {
      const event = findOwnEvent(state, event_id, now);
      const personId = findPersonId(state, person);
      const guestName = state.people[personId]!.name;
      if (personId === event.organizer) refuse("conflict", `${guestName} organizes ${event.title}`);
      if (Object.hasOwn(event.attendees, personId))
        refuse(
          "conflict",
          `${guestName} is already invited to ${event.title} (${event.attendees[personId]})`,
        );
      if (Object.keys(event.attendees).length >= maxGuests)
        refuse(
          "limit_exceeded",
          `${event.title} has ${maxGuests} guests already`,
          "remove somebody first",
        );
      const next = findNextOccurrence(event, now)!;
      const free = !listBusyTimes(state, personId, next.start, next.end).some(it =>
        overlaps(it, next),
      );
      event.attendees[personId] = "pending";
      return {
        name: guestName,
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
      event_id: events.id,
      person: personName().describe("Full name or e-mail address of the guest"),
    },
    returns: { name: personName(), event_id: id("event"), attendees: guestCount },
    run(state, { event_id, person }, { now }) {
      const event = findOwnEvent(state, event_id, now);
      const personId = findPersonId(state, person);
      const guestName = state.people[personId]!.name;
      if (!Object.hasOwn(event.attendees, personId))
        refuse(
          "not_found",
          `${guestName} is not invited to ${event.title} (${event_id})`,
          "calendar_get_event lists the guests",
        );
      delete event.attendees[personId];
      return { name: guestName, event_id, attendees: Object.keys(event.attendees).length };
    },
  }),
  respond_to_invite: tool({
    effect: "write",
    summary:
      "Answer an invitation to somebody else's event. Declining frees the time; accepting is refused if the user is busy then.",
    input: {
      event_id: invitationId,
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
    run(state, { event_id, response, allow_conflict }, { now }) {
      const event = events.find(state, event_id);
      const before = Object.hasOwn(event.attendees, state.user)
        ? event.attendees[state.user]
        : undefined;
      if (event.organizer === state.user)
        refuse(
          "precondition_failed",
          `the user organizes ${event.title} (${event_id})`,
          "calendar_delete_event calls it off",
        );
      if (before === undefined)
        refuse(
          "permission_denied",
          `the user is not invited to ${event.title} (${event_id})`,
          `ask ${state.people[event.organizer]!.name} for an invitation`,
        );
      refusePastEvent(event, event_id, now);
      if (before === response)
        refuse("conflict", `${event.title} (${event_id}) is already ${response}`);
      const ahead = listAllOccurrences(event).filter(it => it.end > toMinutes(now));
      if (response === "accepted" && !event.free && !allow_conflict)
        refuseConflicts(state, ahead, event_id);
      event.attendees[state.user] = response;
      if (response === "declined") deleteReminders(state, event_id);
      return { title: event.title, event_id, response, start: formatMinute(ahead[0]!.start) };
    },
  }),
};

export const maxReminders = 5;

export const reminderCommands = {
  set_reminder: tool({
    effect: "write",
    summary:
      "Remind the user some minutes before an event, and before every occurrence of a series.",
    input: {
      event_id: events.id,
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
    run(state, { event_id, minutes_before }, { now, newId }) {
      const event = events.find(state, event_id);
      refusePastEvent(event, event_id, now);
      if (Object.hasOwn(event.attendees, state.user) && event.attendees[state.user] === "declined")
        refuse(
          "precondition_failed",
          `the user declined ${event.title} (${event_id})`,
          "accept it with calendar_respond_to_invite first",
        );
      const eventReminders = Object.values(state.reminders).filter(it => it.event_id === event_id);
      if (eventReminders.some(it => it.minutes_before === minutes_before))
        refuse(
          "conflict",
          `${event.title} already has a reminder ${minutes_before} minutes before`,
        );
      if (eventReminders.length >= maxReminders)
        refuse("limit_exceeded", `${event.title} has ${maxReminders} reminders already`);
      const next = listAllOccurrences(event).find(
        it => it.start - minutes_before >= toMinutes(now),
      );
      if (!next) {
        const { start } = findCurrentOccurrence(event, now)!;
        refuse(
          "precondition_failed",
          `${minutes_before} minutes before ${event.title} at ${formatMinute(start)} has passed: it is ${now}`,
          "choose fewer minutes",
        );
      }
      const reminder_id = newId("rem");
      state.reminders[reminder_id] = { event_id, minutes_before };
      return {
        title: event.title,
        event_id,
        reminder_id,
        at: formatMinute(next.start - minutes_before),
      };
    },
  }),
};
