/** Rules for booking flights: documents, departure, fares and seats. */
import { getOriginal } from "../../environment/draft.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { isRoomy, shutOf } from "./flightLookup.ts";
import {
  type Agency,
  flightBookingOf,
  flightOf,
  type Flight,
  type FlightBooking,
} from "./state.ts";

export const flightBookingId = id("flight_booking").describe(
  "Id of the flight booking, as travel_booking_list_bookings gives it",
);

export const traveller = label("traveller")
  .optional()
  .describe("Full name of the traveller, the customer if not given");

/** Countries for which an identity card of the union is not enough. */
const passportCountries = ["United Kingdom", "Ireland"];

/** Refuses a traveller whose document does not last until the flight, or is not enough for it. */
export function requireTravelDocuments(
  { travellers, airports }: Agency,
  travellerId: string,
  { from, to, departs, number }: Flight,
): void {
  const { name, document } = travellers[travellerId]!;
  if (document.expires < departs.slice(0, 10))
    refuse(
      "precondition_failed",
      `${name}'s ${document.kind} expires on ${document.expires}, before ${number} on ${departs.slice(0, 10)}`,
      "the document must be renewed first; book for somebody else, or an earlier flight",
    );
  const abroad = [from, to]
    .map(it => airports[it]!.country)
    .find(it => passportCountries.includes(it));
  if (abroad && document.kind !== "passport")
    refuse(
      "precondition_failed",
      `${abroad} asks for a passport, and ${name} has an ${document.kind}`,
      "book for a traveller with a passport",
    );
}

/** Refuses a second flight of the same traveller at the same time. */
export function requireNoOverlap(
  { flights, flight_bookings, travellers }: Agency,
  travellerId: string,
  wanted: Flight,
  but?: string,
): void {
  for (const [id, it] of Object.entries(flight_bookings)) {
    if (id === but || it.traveller_id !== travellerId || it.status === "cancelled") continue;
    const other = flights[it.flight_id]!;
    if (
      other.departs < addMinutes(wanted.departs, wanted.minutes) &&
      wanted.departs < addMinutes(other.departs, other.minutes)
    )
      refuse(
        "conflict",
        `${travellers[travellerId]!.name} is on ${other.number} at ${other.departs} already (booking ${it.reference})`,
        "choose another flight, or cancel that one",
      );
  }
}

export function requireBookable(agency: Agency, flight: Flight, now: string): void {
  const shut = shutOf(flight, now);
  if (shut)
    refuse(
      "precondition_failed",
      shut,
      "travel_booking_search_flights lists flights that can be booked",
    );
  if (flight.free.length === 0)
    refuse(
      "precondition_failed",
      `${flight.number} on ${flight.departs.slice(0, 10)} is sold out`,
      "choose another day or flight",
    );
}

/** A booking that can still be acted on, with its flight. */
export function ahead(
  agency: Agency,
  bookingId: string,
  now: string,
): { booking: FlightBooking; flight: Flight } {
  const booking = flightBookingOf(agency, bookingId);
  if (booking.status === "cancelled")
    refuse("conflict", `booking ${booking.reference} is cancelled already`);
  const flight = flightOf(agency, booking.flight_id);
  if (flight.departs <= now)
    refuse(
      "precondition_failed",
      `${flight.number} of booking ${booking.reference} left at ${flight.departs}`,
    );
  return { booking, flight };
}

/** Without a wish one gets the seat farthest back that costs nothing. */
export const seatAtRandom = (flight: Flight): string =>
  flight.free.findLast(it => !isRoomy(it, flight)) ?? flight.free.at(-1)!;

const seatOrder = (a: string, b: string) =>
  Number(a.slice(0, -1)) - Number(b.slice(0, -1)) || (a < b ? -1 : 1);

/** Moves the free seats of a flight. */
export function seats(
  agency: Agency,
  flightId: string,
  change: { taken?: string; given?: string },
): void {
  const { free } = getOriginal(agency).flights[flightId]!;
  const left = free.filter(it => it !== change.taken);
  agency.flights[flightId]!.free =
    change.given === undefined ? left : [...left, change.given].sort(seatOrder);
}
