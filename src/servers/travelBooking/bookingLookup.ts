/** Finds flight and hotel bookings in a common shape. */
import { spokenId } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { type TravelBookingState, formatRoute } from "./state.ts";

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
    begins: `${it.check_in}T15:00`,
    ends: `${it.check_out}T11:00`,
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

/** `upcoming`, `past` or `cancelled`. */
export const getBookingState = (it: Booking, now: string): "upcoming" | "past" | "cancelled" =>
  it.status === "cancelled" ? "cancelled" : it.ends <= now ? "past" : "upcoming";
