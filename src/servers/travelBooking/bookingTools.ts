/** Tools that list and show bookings and insure them. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { cents, day, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { chargeCard, findTravellerId, insuranceCovers, TravelBookingState } from "./state.ts";
import { computePremium } from "./insurance.ts";
import { listBookings, findBooking, reference, getBookingState } from "./bookingLookup.ts";

const tool = createToolFactory(TravelBookingState);

export const bookingTools = {
  list_bookings: tool({
    effect: "read",
    summary:
      "List flights and stays that are booked: those ahead first, then past and cancelled ones; of one state, route, hotel or traveller if wanted.",
    input: {
      state: z
        .enum(["upcoming", "past", "cancelled"])
        .optional()
        .describe("Only those ahead, past or cancelled"),
      route: label("flight_booking")
        .optional()
        .describe("Only flights whose route contains this, such as Port Alder to Lisbon"),
      hotel: label("hotel_booking")
        .optional()
        .describe("Only stays at hotels whose name contains this"),
      traveller: label("traveller").optional().describe("Only bookings of this traveller"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many of each, 14 if not given")
        .meta({ examples: [1, 2, 3, 5] }),
    },
    returns: {
      flights: z.array(
        z.object({
          route: label("flight_booking"),
          flight_booking_id: id("flight_booking"),
          reference: spokenId("reference"),
          date: day(),
          state: z.string(),
          traveller: label("traveller"),
        }),
      ),
      stays: z.array(
        z.object({
          hotel: label("hotel_booking"),
          hotel_booking_id: id("hotel_booking"),
          reference: spokenId("reference"),
          check_in: day(),
          state: z.string(),
          traveller: label("traveller"),
        }),
      ),
      more: z.int().optional().describe("How many were left out"),
    },
    run(state, { state: bookingState, route, hotel, traveller, limit = 14 }, { now }) {
      if (traveller !== undefined) findTravellerId(state, traveller);
      const travellerName = traveller?.trim().toLowerCase();
      const order = ["upcoming", "past", "cancelled"];
      const all = listBookings(state)
        .filter(
          it =>
            (bookingState === undefined || getBookingState(it, now) === bookingState) &&
            (travellerName === undefined || it.traveller.toLowerCase() === travellerName),
        )
        .sort(
          (a, b) => order.indexOf(getBookingState(a, now)) - order.indexOf(getBookingState(b, now)),
        );
      const flights = all.filter(
        it =>
          it.table === "flight_bookings" &&
          (route === undefined
            ? hotel === undefined
            : it.name.toLowerCase().includes(route.trim().toLowerCase())),
      );
      const stays = all.filter(
        it =>
          it.table === "hotel_bookings" &&
          (hotel === undefined ? route === undefined : containsWords(it.name, hotel)),
      );
      const omittedCount = Math.max(0, flights.length - limit) + Math.max(0, stays.length - limit);
      return {
        flights: flights.slice(0, limit).map(it => ({
          route: it.name,
          flight_booking_id: it.id,
          reference: it.reference,
          date: it.begins.slice(0, 10),
          state: getBookingState(it, now),
          traveller: it.traveller,
        })),
        stays: stays.slice(0, limit).map(it => ({
          hotel: it.name,
          hotel_booking_id: it.id,
          reference: it.reference,
          check_in: it.begins.slice(0, 10),
          state: getBookingState(it, now),
          traveller: it.traveller,
        })),
        ...(omittedCount > 0 ? { more: omittedCount } : {}),
      };
    },
  }),
  get_booking: tool({
    effect: "read",
    summary:
      "Get one booking in full by its reference: what it is for, times, traveller and document, seat and fare or room, price and insurance.",
    input: { reference },
    returns: {
      reference: spokenId("reference"),
      what: z.string(),
      status: z.enum(["upcoming", "past", "cancelled"]),
      traveller: label("traveller"),
      document: z.string(),
      begins: minute(),
      ends: minute(),
      fare: z.string().optional(),
      seat: z.string().optional(),
      room: z.string().optional(),
      guests: z.int().optional(),
      paid: cents(),
      insurance: z.string().optional(),
    },
    run(state, { reference: requestedReference }, { now }) {
      const it = findBooking(state, requestedReference);
      const booking = state[it.table][it.id]!;
      const { document } = state.travellers[booking.traveller_id]!;
      return {
        reference: it.reference,
        what: it.description,
        status: getBookingState(it, now),
        traveller: it.traveller,
        document: `${document.kind}, valid until ${document.expires}`,
        begins: it.begins,
        ends: it.ends,
        ...("fare" in booking
          ? { fare: booking.fare, seat: booking.seat }
          : { room: booking.room, guests: booking.guests }),
        paid: it.paid,
        ...(booking.insurance ? { insurance: booking.insurance.cover } : {}),
      };
    },
  }),
  purchase_insurance: tool({
    effect: "write",
    summary:
      "Insure a booking before it begins. Cover plus also gives back most of the price when the customer cancels; a booking is insured once.",
    input: {
      reference,
      cover: z
        .enum(insuranceCovers)
        .describe("basic: lost luggage and illness; plus: cancelling as well"),
    },
    returns: {
      reference: spokenId("reference"),
      cover: z.string(),
      price: cents(),
      card_left: cents(),
    },
    run(state, { reference: requestedReference, cover }, { now }) {
      const it = findBooking(getOriginal(state), requestedReference);
      const booking = state[it.table][it.id]!;
      if (it.status === "cancelled")
        refuse(
          "precondition_failed",
          `booking ${it.reference} is cancelled`,
          "insure a booking that is ahead",
        );
      if (it.begins <= now)
        refuse(
          "precondition_failed",
          `${it.description} of booking ${it.reference} began at ${it.begins}: insurance is sold before`,
          "insure a booking that is ahead",
        );
      if (booking.insurance)
        refuse("conflict", `booking ${it.reference} has cover ${booking.insurance.cover} already`);
      const price = computePremium(cover, it.paid);
      chargeCard(state, price, `cover ${cover}`);
      booking.insurance = { cover, price };
      return { reference: it.reference, cover, price, card_left: state.card.left };
    },
  }),
};
