/** Tools that create and list itineraries. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { cents, id, label, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { daysBetween } from "../../environment/time.ts";
import { itineraries, TravelBookingState } from "./state.ts";
import {
  listBookings,
  findBooking,
  reference,
  requireItineraryGap,
  getBookingState,
} from "./bookingLookup.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TravelBookingState);

export const [maxBookings, maxItineraries] = [8, 15];

export const itineraryTools = {
  create_itinerary: tool({
    effect: "write",
    summary: "Start an itinerary: an empty list with a name, to which bookings are added.",
    input: {
      name: z
        .string()
        .min(2)
        .max(60)
        .describe("Name of the itinerary")
        .meta({ examples: vocabulary.itineraries }),
    },
    returns: { name: label("itinerary"), itinerary_id: id("itinerary") },
    run(state, { name }, { newId }) {
      const original = getOriginal(state).itineraries;
      const existing = Object.entries(original).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (existing)
        refuse(
          "conflict",
          `there is an itinerary ${existing[1].name} already (${existing[0]})`,
          "add to that one, or choose another name",
        );
      if (Object.keys(original).length >= maxItineraries)
        refuse(
          "limit_exceeded",
          `there are ${maxItineraries} itineraries already, the most there may be`,
          "add to one of them",
        );
      const itinerary_id = newId("iti");
      state.itineraries[itinerary_id] = { name: name.trim(), bookings: [] };
      return { name: name.trim(), itinerary_id };
    },
  }),
  add_to_itinerary: tool({
    effect: "write",
    summary:
      "Put a booking into an itinerary, which keeps them in order of time. Two flights at one time, or two stays in one night, do not go together.",
    input: {
      itinerary_id: itineraries.id,
      reference,
    },
    returns: {
      name: label("itinerary"),
      itinerary_id: id("itinerary"),
      reference: spokenId("reference"),
      bookings: z.int().describe("How many it holds now"),
    },
    run(state, { itinerary_id, reference }, { now }) {
      const original = getOriginal(state);
      const itinerary = itineraries.find(original, itinerary_id);
      const it = findBooking(original, reference);
      if (itinerary.bookings.includes(it.reference))
        refuse("conflict", `${itinerary.name} holds booking ${it.reference} already`);
      if (getBookingState(it, now) !== "upcoming")
        refuse(
          "precondition_failed",
          `booking ${it.reference} is ${getBookingState(it, now)}`,
          "add a booking that is ahead",
        );
      if (itinerary.bookings.length >= maxBookings)
        refuse(
          "limit_exceeded",
          `${itinerary.name} holds ${maxBookings} bookings, the most there may be`,
          "start another itinerary",
        );
      requireItineraryGap(original, itinerary, it);
      state.itineraries[itinerary_id]!.bookings.push(it.reference);
      return {
        name: itinerary.name,
        itinerary_id,
        reference: it.reference,
        bookings: itinerary.bookings.length + 1,
      };
    },
  }),
  list_itineraries: tool({
    effect: "read",
    summary:
      "Show itineraries with their bookings in order of time, nights and cost; all of them or only those whose name contains some words.",
    input: {
      name: label("itinerary").optional().describe("Only itineraries whose name contains this"),
      limit: rowLimit(10, 15).meta({ examples: [1, 2, 3] }),
    },
    returns: {
      itineraries: z.array(
        z.object({
          name: label("itinerary"),
          itinerary_id: id("itinerary"),
          nights: z.int(),
          paid: cents(),
          bookings: z.array(
            z.object({ reference: spokenId("reference"), what: z.string(), begins: z.string() }),
          ),
        }),
      ),
      more: z.int().optional(),
    },
    run(state, { name, limit = 10 }) {
      const matches = Object.entries(state.itineraries).filter(
        ([, it]) => !name || containsWords(it.name, name),
      );
      const all = listBookings(state);
      return {
        itineraries: matches.slice(0, limit).map(([itinerary_id, it]) => {
          const bookings = all.filter(other => it.bookings.includes(other.reference));
          const stays = bookings.filter(
            other => other.table === "hotel_bookings" && other.status === "confirmed",
          );
          return {
            name: it.name,
            itinerary_id,
            nights: stays.reduce(
              (sum, other) => sum + daysBetween(other.begins.slice(0, 10), other.ends.slice(0, 10)),
              0,
            ),
            paid: roundToCents(bookings.reduce((sum, other) => sum + other.paid, 0)),
            bookings: bookings.map(other => ({
              reference: other.reference,
              what:
                other.status === "cancelled"
                  ? `${other.description} (cancelled)`
                  : other.description,
              begins: other.begins.replace("T", " "),
            })),
          };
        }),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
};
