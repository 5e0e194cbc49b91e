/** Fares, seats and availability of flights. */
import { roundToCents } from "../../environment/amounts.ts";
import { id, spokenId } from "../../environment/fieldSchemas.ts";
import { findEntity } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import {
  type TravelBookingState,
  closingHours,
  fareRules,
  type Fare,
  type Flight,
} from "./state.ts";

export const airportCode = spokenId("airport").describe(
  "Airport code of three letters, as travel_booking_search_airports gives it",
);

export const flightId = id("flight").describe(
  "Flight id, as travel_booking_search_flights gives it",
);

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

export const findAirportCode = ({ airports }: TravelBookingState, code: string) =>
  findEntity(
    airports,
    code.trim().toUpperCase(),
    "airport",
    "travel_booking_search_airports gives the codes",
  ) && code.trim().toUpperCase();
