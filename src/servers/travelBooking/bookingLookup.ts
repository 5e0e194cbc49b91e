/** Finds bookings of both kinds and their state. */
import { spokenId } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { type Agency, routeOf } from "./state.ts";

export const reference = spokenId("reference").describe(
  "Reference of the booking, three letters and three digits, as travel_booking_list_bookings gives it",
);

/** A booking of either kind, with the time that it takes. */
interface Booked {
  readonly table: "flight_bookings" | "hotel_bookings";
  readonly id: string;
  readonly reference: string;
  /** The route or the hotel. */
  readonly name: string;
  readonly what: string;
  readonly begins: string;
  readonly ends: string;
  readonly traveller: string;
  readonly status: "confirmed" | "cancelled";
  readonly paid: number;
}

export function listBookings(agency: Agency): Booked[] {
  const person = (travellerId: string) => agency.travellers[travellerId]!.name;
  const flown = Object.entries(agency.flight_bookings).map(([id, it]): Booked => {
    const flight = agency.flights[it.flight_id]!;
    const name = routeOf(agency, flight);
    return {
      table: "flight_bookings",
      id,
      reference: it.reference,
      name,
      what: `${flight.number} ${name}`,
      begins: flight.departs,
      ends: addMinutes(flight.departs, flight.minutes),
      traveller: person(it.traveller_id),
      status: it.status,
      paid: it.paid,
    };
  });
  const stayed = Object.entries(agency.hotel_bookings).map(([id, it]): Booked => ({
    table: "hotel_bookings",
    id,
    reference: it.reference,
    ...describeBooking(agency.hotels[it.hotel_id]!.name),
    begins: `${it.check_in}T15:00`,
    ends: `${it.check_out}T11:00`,
    traveller: person(it.traveller_id),
    status: it.status,
    paid: it.paid,
  }));
  return [...flown, ...stayed].sort((a, b) =>
    a.begins === b.begins ? (a.id < b.id ? -1 : 1) : a.begins < b.begins ? -1 : 1,
  );
}

const describeBooking = (name: string) => ({ name, what: name });

export function bookedAs(agency: Agency, asked: string): Booked {
  const wanted = asked.trim().toUpperCase();
  return (
    listBookings(agency).find(it => it.reference === wanted) ??
    refuse(
      "not_found",
      `there is no booking ${asked}`,
      "travel_booking_list_bookings gives the references",
    )
  );
}

/** `upcoming`, `past` or `cancelled`. */
export const stateOf = (it: Booked, now: string): "upcoming" | "past" | "cancelled" =>
  it.status === "cancelled" ? "cancelled" : it.ends <= now ? "past" : "upcoming";
