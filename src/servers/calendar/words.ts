/**
 * Parameters that several of the calendar's tools share, so that one thing is named and described
 * one way.
 */
import { z } from "zod";
import { id, minute, spokenId } from "../../environment/fieldSchemas.ts";

export const eventId = id("event").describe("Event id, as calendar_search_events gives it");
export const calendarId = id("calendar").describe(
  "Calendar id, as calendar_list_calendars gives it",
);

/** A start that suits: calendar_find_free_slots finds some, and a person may say one. */
export const slot = () => minute().meta({ "x-entity": "slot", "x-spoken": true });

/** People are known by their names: nobody says an id. */
export const name = () => spokenId("person");
export const people = z.array(name()).min(1).max(10);

export const title = z.string().min(1).max(100).regex(/\S/);
export const titles = [
  "Budget review",
  "Sprint retro",
  "Coffee with Maya",
  "Website walkthrough",
  "Hiring sync",
  "Invoice check",
  "Photo selection",
  "Team lunch",
  "Brand workshop",
  "Contract call",
  "Podcast recording",
  "Gallery visit",
  "Dentist",
  "Yoga class",
  "Packaging review",
  "Press briefing",
  "Data migration plan",
  "Handover with Liam",
  "Colour palette session",
  "Supplier call",
];
export const places = [
  "Harbor Room",
  "Atlas Room",
  "Studio 2",
  "Café Lumen",
  "Front desk",
  "Video call",
  "Northwind office",
  "Rooftop",
];
export const remarks = [
  "Bring the printed drafts",
  "Numbers from last quarter",
  "Agenda follows on Monday",
  "Decide on the supplier",
  "Please read the brief first",
  "Laptop and charger",
  "Samples are at the front desk",
  "Keep it to half an hour",
];
export const lengths = [15, 20, 30, 45, 60, 75, 90, 120];
