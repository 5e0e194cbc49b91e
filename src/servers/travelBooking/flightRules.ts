/** Rules for booking flights: documents, departure, fares and seats. */
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { label } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import {
  closingHours,
  fareRules,
  flightBookings,
  flights,
  type Fare,
  type Flight,
  type FlightBooking,
  type TravelBookingState,
} from "./state.ts";

export const flightBookingId = flightBookings.id.describe(
  "Id of the flight booking, as travel_booking_list_bookings gives it",
);

export const traveller = label("traveller")
  .optional()
  .describe("Full name of the traveller, the customer if not given");

/** The price of a flight in a fare. */
export const computeFare = (flight: Pick<Flight, "price">, fare: Fare): number =>
  roundToCents(Math.round(flight.price * fareRules[fare].factor));

/** Whether a seat has more legroom: those in the first row and at the exits. */
export const hasLegroom = (seat: string, { rows }: Pick<Flight, "rows">): boolean =>
  [1, Math.ceil(rows / 2)].includes(Number(seat.slice(0, -1)));

/** Why a flight cannot be boarded any more, or undefined if it can. */
export function getClosedReason(flight: Flight, now: string): string | undefined {
  if (flight.status === "cancelled")
    return `${flight.number} on ${flight.departs.slice(0, 10)} is cancelled`;
  if (flight.departs <= now) return `${flight.number} left at ${flight.departs}`;
  return addMinutes(now, closingHours * 60) > flight.departs
    ? `${flight.number} leaves at ${flight.departs} and closed ${closingHours} hour before`
    : undefined;
}

/** Countries that require a passport. */
const passportCountries = ["United Kingdom", "Ireland"];

/** Refuses a traveller whose document expires before the flight or is not accepted there. */
export function requireTravelDocuments(
  { travellers, airports }: TravelBookingState,
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
  const passportCountry = [from, to]
    .map(it => airports[it]!.country)
    .find(it => passportCountries.includes(it));
  if (passportCountry && document.kind !== "passport")
    refuse(
      "precondition_failed",
      `${passportCountry} asks for a passport, and ${name} has an ${document.kind}`,
      "book for a traveller with a passport",
    );
}

/** Refuses a second flight of the same traveller at the same time. */
export function requireNoOverlap(
  { flights, flight_bookings, travellers }: TravelBookingState,
  travellerId: string,
  flight: Flight,
  exceptId?: string,
): void {
  for (const [id, it] of Object.entries(flight_bookings)) {
    if (id === exceptId || it.traveller_id !== travellerId || it.status === "cancelled") continue;
    const other = flights[it.flight_id]!;
    if (
      other.departs < addMinutes(flight.departs, flight.minutes) &&
      flight.departs < addMinutes(other.departs, other.minutes)
    )
      refuse(
        "conflict",
        `${travellers[travellerId]!.name} is on ${other.number} at ${other.departs} already (booking ${it.reference})`,
        "choose another flight, or cancel that one",
      );
  }
}

export function requireBookable(state: TravelBookingState, flight: Flight, now: string): void {
  const closedReason = getClosedReason(flight, now);
  if (closedReason)
    refuse(
      "precondition_failed",
      closedReason,
      "travel_booking_search_flights lists flights that can be booked",
    );
  if (flight.free.length === 0)
    refuse(
      "precondition_failed",
      `${flight.number} on ${flight.departs.slice(0, 10)} is sold out`,
      "choose another day or flight",
    );
}

/** A booking with its flight; refuses the call if it is cancelled or the flight has left. */
export function findUpcomingFlightBooking(
  state: TravelBookingState,
  bookingId: string,
  now: string,
): { booking: FlightBooking; flight: Flight } {
  const booking = flightBookings.find(state, bookingId);
  if (booking.status === "cancelled")
    refuse("conflict", `booking ${booking.reference} is cancelled already`);
  const flight = flights.find(state, booking.flight_id);
  if (flight.departs <= now)
    refuse(
      "precondition_failed",
      `${flight.number} of booking ${booking.reference} left at ${flight.departs}`,
    );
  return { booking, flight };
}

/** The seat that is assigned without a request: the last free one without a fee. */
export const pickDefaultSeat = (flight: Flight): string =>
  flight.free.findLast(it => !hasLegroom(it, flight)) ?? flight.free.at(-1)!;

const compareSeats = (a: string, b: string) =>
  Number(a.slice(0, -1)) - Number(b.slice(0, -1)) || (a < b ? -1 : 1);

/** Takes a seat of a flight, gives one back, or both. */
export function updateFreeSeats(
  state: TravelBookingState,
  flightId: string,
  change: { take?: string; release?: string },
): void {
  const { free } = getOriginal(state).flights[flightId]!;
  const remaining = free.filter(it => it !== change.take);
  state.flights[flightId]!.free =
    change.release === undefined ? remaining : [...remaining, change.release].sort(compareSeats);
}
