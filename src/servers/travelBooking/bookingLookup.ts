/** Finds, compares and cancels flight and hotel bookings in a common shape. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { cents, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { updateFreeSeats } from "./flightRules.ts";
import {
  chargeCard,
  formatRoute,
  type FlightBooking,
  type HotelBooking,
  type TravelBookingState,
} from "./state.ts";

export const reference = spokenId("reference").describe(
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

export function findBooking(state: TravelBookingState, reference: string): Booking {
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
export function requireItineraryGap(
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
export const getBookingState = (it: Booking, now: string): "upcoming" | "past" | "cancelled" =>
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
