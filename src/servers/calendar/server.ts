/** The calendar server: the calendar of one person among colleagues. */
import { defineServer } from "../../environment/server.ts";
import { agendaTools } from "./agendaTools.ts";
import { availabilityTools } from "./availabilityTools.ts";
import { eventQueries } from "./eventQueries.ts";
import { CalendarState, references } from "./state.ts";
import { eventCommands } from "./eventCommands.ts";
import { guestCommands } from "./guestCommands.ts";
import { invariants } from "./invariants.ts";
import { reminderCommands } from "./reminderCommands.ts";
import { seriesCommands } from "./seriesCommands.ts";

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
