/** Parameters and row shapes of the tools for flights. */
import { roundToCents } from "../../environment/amounts.ts";
import { id, spokenId } from "../../environment/fieldSchemas.ts";
import { findEntity } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { type Agency, closes, fareRules, type Fare, type Flight } from "./state.ts";

export const airportCode = spokenId("airport").describe(
  "Airport code of three letters, as travel_booking_search_airports gives it",
);

export const flightId = id("flight").describe(
  "Flight id, as travel_booking_search_flights gives it",
);

/** What a fare of a flight costs. */
export const fareOf = (flight: Pick<Flight, "price">, fare: Fare): number =>
  roundToCents(Math.round(flight.price * fareRules[fare].factor));

/** Rows with more room for the legs: the first, and the one at the exits. */
export const isRoomy = (seat: string, { rows }: Pick<Flight, "rows">): boolean =>
  [1, Math.ceil(rows / 2)].includes(Number(seat.slice(0, -1)));

/** Whether one can still get onto a flight, and if not, why. */
export function shutOf(flight: Flight, now: string): string | undefined {
  if (flight.status === "cancelled")
    return `${flight.number} on ${flight.departs.slice(0, 10)} is cancelled`;
  if (flight.departs <= now) return `${flight.number} left at ${flight.departs}`;
  return addMinutes(now, closes * 60) > flight.departs
    ? `${flight.number} leaves at ${flight.departs} and closed ${closes} hour before`
    : undefined;
}

export const codeOf = ({ airports }: Agency, code: string) =>
  findEntity(
    airports,
    code.trim().toUpperCase(),
    "airport",
    "travel_booking_search_airports gives the codes",
  ) && code.trim().toUpperCase();
