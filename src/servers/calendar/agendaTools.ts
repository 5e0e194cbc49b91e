/** The tool that reads the user's agenda and open invitations. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { formatDay, formatMinute, formatTime } from "./recurrence.ts";
import { listOccurrences } from "./availability.ts";
import { CalendarState } from "./state.ts";
import { findNextOccurrence } from "./eventRules.ts";
import { parseDayRange, getResponse } from "./eventRows.ts";
import { containsWords } from "../../environment/textSearch.ts";

const tool = createToolFactory(CalendarState);

const maxInvitations = 10;

export const agendaTools = {
  get_agenda: tool({
    effect: "read",
    summary:
      "Get the user's own day: what they organize or said yes or maybe to, and the invitations that wait for an answer, whatever their day.",
    input: {
      day: day().optional().describe("The day, today if not given"),
      title: label("invitation")
        .optional()
        .describe("Only events and invitations whose title contains this"),
    },
    returns: {
      day: day(),
      events: z.array(z.object({ title: label("event"), event_id: id("event"), time: z.string() })),
      invitations: z
        .array(
          z.object({ title: label("invitation"), event_id: id("invitation"), start: minute() }),
        )
        .optional(),
    },
    run(state, { day: date, title = "" }, { now }) {
      const today = date ?? now.slice(0, 10);
      const ownOccurrences = listOccurrences(
        state,
        ...parseDayRange(today, today, 1),
        it =>
          containsWords(it.title, title) &&
          (it.organizer === state.user ||
            ["accepted", "tentative"].includes(getResponse(it, state.user) ?? "")),
      );
      const openInvitations = Object.entries(state.events).flatMap(([event_id, it]) => {
        const next =
          getResponse(it, state.user) === "pending" && containsWords(it.title, title)
            ? findNextOccurrence(it, now)
            : undefined;
        return next ? [{ title: it.title, event_id, start: formatMinute(next.start) }] : [];
      });
      const invitations = openInvitations
        .sort((a, b) => (a.start < b.start || (a.start === b.start && a.title < b.title) ? -1 : 1))
        .slice(0, maxInvitations);
      return {
        day: today,
        events: ownOccurrences.map(({ event, event_id, start, end }) => ({
          title: event.title,
          event_id,
          time:
            formatDay(start) === today
              ? `${formatTime(start)}-${formatTime(end)}`
              : `until ${formatTime(end)}`,
        })),
        ...(invitations.length ? { invitations } : {}),
      };
    },
  }),
};
