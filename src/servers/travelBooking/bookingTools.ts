/**
 * Flight and hotel bookings in a common shape: finding, comparing, cancelling and insuring them,
 * and the tools for bookings and itineraries.
 */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import {
  cents,
  spokenId,
  day,
  id,
  label,
  minute,
  rowLimit,
  rowTotal,
} from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, daysBetween } from "../../environment/time.ts";
import {
  chargeCard,
  formatRoute,
  type FlightBooking,
  type HotelBooking,
  TravelBookingState,
  findTravellerId,
  insuranceCovers,
  itineraries,
  updateFreeSeats,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import { containsWords } from "../../environment/textSearch.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const reference = spokenId("reference").describe(
  "Reference of the booking, three letters and three digits, as travel_booking_list_bookings gives it",
);

/** A flight or hotel booking, with its start and end. */
interface Booking {
  readonly table: "flight_bookings" | "hotel_bookings";
  readonly id: string;
  readonly reference: string;
  /** The route or the hotel. */
  readonly name: string;
  readonly description: string;
  readonly begins: string;
  readonly ends: string;
  readonly traveller: string;
  readonly status: "confirmed" | "cancelled";
  readonly paid: number;
}

/** The minutes at which a stay begins and ends. */
export const getStayTimes = (it: { readonly check_in: string; readonly check_out: string }) => ({
  begins: `${it.check_in}T15:00`,
  ends: `${it.check_out}T11:00`,
});

export function listBookings(state: TravelBookingState): Booking[] {
  const getTravellerName = (travellerId: string) => state.travellers[travellerId]!.name;
  const flightBookings = Object.entries(state.flight_bookings).map(([id, it]): Booking => {
    const flight = state.flights[it.flight_id]!;
    const name = formatRoute(state, flight);
    return {
      table: "flight_bookings",
      id,
      reference: it.reference,
      name,
      description: `${flight.number} ${name}`,
      begins: flight.departs,
      ends: addMinutes(flight.departs, flight.minutes),
      traveller: getTravellerName(it.traveller_id),
      status: it.status,
      paid: it.paid,
    };
  });
  const hotelBookings = Object.entries(state.hotel_bookings).map(([id, it]): Booking => ({
    table: "hotel_bookings",
    id,
    reference: it.reference,
    name: state.hotels[it.hotel_id]!.name,
    description: state.hotels[it.hotel_id]!.name,
    ...getStayTimes(it),
    traveller: getTravellerName(it.traveller_id),
    status: it.status,
    paid: it.paid,
  }));
  return [...flightBookings, ...hotelBookings].sort((a, b) =>
    a.begins === b.begins ? (a.id < b.id ? -1 : 1) : a.begins < b.begins ? -1 : 1,
  );
}

function findBooking(state: TravelBookingState, reference: string): Booking {
  const normalizedReference = reference.trim().toUpperCase();
  return (
    listBookings(state).find(it => it.reference === normalizedReference) ??
    refuse(
      "not_found",
      `there is no booking ${reference}`,
      "travel_booking_list_bookings gives the references",
    )
  );
}

/**
 * Refuses a flight or stay that overlaps another one of the same kind in an itinerary that contains
 * the booking with that reference.
 */
export function requireNoItineraryOverlap(
  state: TravelBookingState,
  bookingReference: string,
  it: Pick<Booking, "table" | "description" | "begins" | "ends">,
): void {
  for (const itinerary of Object.values(state.itineraries))
    if (itinerary.bookings.includes(bookingReference))
      requireItineraryGap(state, itinerary, { ...it, reference: bookingReference });
}

/** Refuses a flight or stay that overlaps another one of the same kind in the itinerary. */
function requireItineraryGap(
  state: TravelBookingState,
  itinerary: TravelBookingState["itineraries"][string],
  it: Pick<Booking, "table" | "reference" | "description" | "begins" | "ends">,
): void {
  const overlapping = listBookings(state).find(
    other =>
      itinerary.bookings.includes(other.reference) &&
      other.reference !== it.reference &&
      other.status === "confirmed" &&
      other.table === it.table &&
      other.begins < it.ends &&
      it.begins < other.ends,
  );
  if (overlapping)
    refuse(
      "conflict",
      `${it.description} (${it.reference}, from ${it.begins}) overlaps ${overlapping.description} (${overlapping.reference}, until ${overlapping.ends}) in ${itinerary.name}`,
      "choose another itinerary, or change one of the bookings",
    );
}

/** `upcoming`, `past` or `cancelled`. */
const getBookingState = (it: Booking, now: string): "upcoming" | "past" | "cancelled" =>
  it.status === "cancelled" ? "cancelled" : it.ends <= now ? "past" : "upcoming";

/** A parameter and the result of the tools that cancel bookings. */
export const cancellation = {
  accept: z.boolean().optional().describe("True to cancel although nothing is given back"),
  returns: {
    reference: spokenId("reference"),
    status: z.string(),
    refund: cents(),
    card_left: cents(),
  },
};

/** Cancels a booking of the draft, refunds that amount and releases the seat of a flight. */
export function cancelBooking(
  state: TravelBookingState,
  booking: FlightBooking | HotelBooking,
  refund: number,
) {
  chargeCard(state, -refund, "");
  if ("seat" in booking) updateFreeSeats(state, booking.flight_id, { release: booking.seat });
  booking.status = "cancelled";
  booking.paid = roundToCents(booking.paid - refund);
  const { reference, status } = booking;
  return { reference, status, refund, card_left: state.card.left };
}

type Insurance = NonNullable<FlightBooking["insurance"]>;

/** Lowest price, share of the price of the booking, and share that is refunded, by cover. */
const coverRules = {
  basic: { minPrice: 6, priceShare: 0.04, refundShare: 0 },
  plus: { minPrice: 12, priceShare: 0.09, refundShare: 0.8 },
} as const;

function computePremium(cover: Insurance["cover"], paid: number): number {
  const { minPrice, priceShare } = coverRules[cover];
  return roundToCents(Math.max(minPrice, paid * priceShare));
}

/**
 * What the insurance refunds of a booking. It covers the price for which it was bought, not what a
 * later change has added.
 */
export function computeInsuredRefund(insurance: Insurance | undefined, paid: number): number {
  if (!insurance) return 0;
  const { priceShare, refundShare } = coverRules[insurance.cover];
  // the highest price for which the premium rounds to the one that was paid
  const insuredPrice = (insurance.price + 0.005) / priceShare;
  return roundToCents(refundShare * Math.min(paid, insuredPrice));
}

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
      total: rowTotal("flights", "stays"),
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
        total: flights.length + stays.length,
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
      total: rowTotal("itineraries"),
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
        total: matches.length,
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
