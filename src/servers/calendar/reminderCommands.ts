/** The tool that sets reminders. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { toMinutes } from "../../environment/time.ts";
import { listAllOccurrences, formatMinute } from "./recurrence.ts";
import { findCurrentOccurrence, refusePastEvent } from "./eventRules.ts";
import { CalendarState, findEvent } from "./state.ts";
import { eventId } from "./parameters.ts";

const tool = createToolFactory(CalendarState);

export const maxReminders = 5;

export const reminderCommands = {
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
    run(state, { event_id, minutes_before }, { now, newId }) {
      const event = findEvent(state, event_id);
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
