/** Schemas of parameters and results that several tools share. */
import { z } from "zod";
import { id, minute, spokenId } from "../../environment/fieldSchemas.ts";

export const eventId = id("event").describe("Event id, as calendar_search_events gives it");
export const calendarId = id("calendar").describe(
  "Calendar id, as calendar_list_calendars gives it",
);

/** A free start: calendar_find_free_slots gives some, and a person may name one. */
export const slot = () => minute().meta({ "x-entity": "slot", "x-spoken": true });

/** People are identified by their names, not by ids. */
export const personName = () => spokenId("person");
export const people = z.array(personName()).min(1).max(10);

export const title = z.string().min(1).max(100).regex(/\S/);
export const exampleTitles = [
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
export const exampleLocations = [
  "Harbor Room",
  "Atlas Room",
  "Studio 2",
  "Café Lumen",
  "Front desk",
  "Video call",
  "Northwind office",
  "Rooftop",
];
export const exampleNotes = [
  "Bring the printed drafts",
  "Numbers from last quarter",
  "Agenda follows on Monday",
  "Decide on the supplier",
  "Please read the brief first",
  "Laptop and charger",
  "Samples are at the front desk",
  "Keep it to half an hour",
];
export const exampleLengths = [15, 20, 30, 45, 60, 75, 90, 120];
