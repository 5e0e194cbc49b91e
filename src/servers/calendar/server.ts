/** The calendar of one person among colleagues: 17 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { listing, planning } from "./reading.ts";
import { Diary } from "./state.ts";
import { events, guests } from "./writing.ts";

const {
  create_event,
  update_event,
  move_event,
  delete_event,
  create_recurring_event,
  cancel_occurrence,
} = events;
const { add_attendee, remove_attendee, respond_to_invite, set_reminder } = guests;
const { find_free_slots, check_conflicts, get_agenda } = planning;

export const server = defineServer({
  name: "calendar",
  category: "Productivity",
  summary: "calendars, events and series, guests and their answers, reminders, free time",
  schema: Diary,
  tools: {
    ...listing,
    create_event,
    update_event,
    move_event,
    delete_event,
    add_attendee,
    remove_attendee,
    respond_to_invite,
    create_recurring_event,
    cancel_occurrence,
    find_free_slots,
    check_conflicts,
    set_reminder,
    get_agenda,
  },
});
