/** Tools that search airports and flights and show seats. */
import { z } from "zod";
import {
  cents,
  day,
  id,
  label,
  minute,
  spokenId,
  rowLimit,
} from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import {
  airportCode,
  findAirportCode,
  computeFare,
  flightId,
  hasLegroom,
  getClosedReason,
} from "./flightLookup.ts";
import {
  fareRules,
  fares,
  findFlight,
  legroomFee,
  TravelBookingState,
  type Fare,
} from "./state.ts";

const tool = createToolFactory(TravelBookingState);

const describeFare = (fare: Fare) => {
  const { changeFee, refund, hours } = fareRules[fare];
  if (changeFee === undefined) return "no changes, no refund";
  return `${changeFee === 0 ? "free changes" : `changes for ${changeFee} euros`} and ${refund === 1 ? "full" : `${refund * 100}%`} refund up to ${hours} hours before`;
};

export const flightQueries = {
  search_airports: tool({
    effect: "read",
    summary:
      "List airports with their codes, all of them or only those whose name or city contains some words.",
    input: {
      name: label("airport").optional().describe("Only airports whose name or city contains this"),
    },
    returns: {
      airports: z.array(
        z.object({
          airport: label("airport"),
          code: spokenId("airport"),
          city: label("city"),
          country: z.string(),
        }),
      ),
    },
    run: ({ airports }, { name }) => ({
      airports: Object.entries(airports)
        .filter(([code, it]) => !name || containsWords(`${it.name} ${it.city} ${code}`, name))
        .slice(0, 20)
        .map(([code, it]) => ({ airport: it.name, code, city: it.city, country: it.country })),
    }),
  }),
  search_flights: tool({
    effect: "read",
    summary:
      "Find flights from an airport that have not closed, in order of time, with price and seats left: by where they go, day, number or price.",
    input: {
      from: airportCode.describe("Airport code of three letters where it leaves"),
      to: spokenId("airport").optional().describe("Airport code of three letters where it goes"),
      date: day().optional().describe("Only flights of this day"),
      number: label("flight").optional().describe("Only flights of this number"),
      max_price: z
        .number()
        .min(1)
        .max(5000)
        .optional()
        .describe("Only flights whose cheapest fare costs at most this")
        .meta({ examples: [60, 80, 100, 120, 150, 200, 250] }),
      limit: rowLimit(10).meta({ examples: [2, 3, 4, 5] }),
    },
    returns: {
      flights: z.array(
        z.object({
          number: label("flight"),
          flight_id: id("flight"),
          to: spokenId("airport"),
          date: day(),
          departs: z.string(),
          price: cents().describe("Cheapest fare"),
          seats_left: z.int(),
        }),
      ),
      more: z.int().optional(),
    },
    run(state, { from: start, to: end, date, number, max_price, limit = 10 }, { now }) {
      const from = findAirportCode(state, start);
      const to = end === undefined ? undefined : findAirportCode(state, end);
      if (from === to)
        refuse(
          "invalid_params",
          `the flight would leave and land at ${from}`,
          "give two different airports",
        );
      if (date !== undefined && date < now.slice(0, 10))
        refuse(
          "precondition_failed",
          `${date} has passed: today is ${now.slice(0, 10)}`,
          "choose a later day",
        );
      const matches = Object.entries(state.flights).filter(
        ([, it]) =>
          it.from === from &&
          (!to || it.to === to) &&
          (!date || it.departs.slice(0, 10) === date) &&
          (!number || containsWords(it.number, number)) &&
          (max_price === undefined || it.price <= max_price) &&
          !getClosedReason(it, now),
      );
      matches.sort(([a, x], [b, y]) =>
        x.departs === y.departs ? (a < b ? -1 : 1) : x.departs < y.departs ? -1 : 1,
      );
      return {
        flights: matches.slice(0, limit).map(([flight_id, it]) => ({
          number: it.number,
          flight_id,
          to: it.to,
          date: it.departs.slice(0, 10),
          departs: it.departs.slice(11),
          price: it.price,
          seats_left: it.free.length,
        })),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
  get_flight: tool({
    effect: "read",
    summary:
      "Get one flight in full: airline, times, status, seats left, and what each fare costs and allows.",
    input: { flight_id: flightId },
    returns: {
      number: label("flight"),
      flight_id: id("flight"),
      airline: z.string(),
      from: z.string(),
      to: z.string(),
      departs: minute(),
      arrives: minute().describe("In the home city's time"),
      status: z.string(),
      seats_left: z.int(),
      rows: z.int().describe("Rows of seats, A and D at the windows"),
      fares: z.array(z.object({ fare: z.string(), price: cents(), allows: z.string() })),
    },
    run(state, { flight_id }) {
      const flight = findFlight(state, flight_id);
      const { number, from, to, departs, minutes, status, free, rows } = flight;
      return {
        number,
        flight_id,
        airline: state.airlines[number.slice(0, 2)]!,
        from,
        to,
        departs,
        arrives: addMinutes(departs, minutes),
        status,
        seats_left: free.length,
        rows,
        fares: fares.map(fare => ({
          fare,
          price: computeFare(flight, fare),
          allows: describeFare(fare),
        })),
      };
    },
  }),
  get_seat_map: tool({
    effect: "read",
    summary:
      "List the free seats of a flight, by window or aisle if wanted, and which of them have more room for the legs.",
    input: {
      flight_id: flightId,
      kind: z.enum(["window", "aisle"]).optional().describe("Only seats of this kind"),
      legroom: z.boolean().optional().describe("True for seats with more legroom only"),
    },
    returns: {
      free: z.int().describe("How many of these are free"),
      seats: z.array(
        z.object({
          seat: spokenId("seat"),
          kind: z.string(),
          extra: cents().optional().describe("Fee for legroom"),
        }),
      ),
    },
    run(state, { flight_id, kind, legroom }, { now }) {
      const flight = findFlight(state, flight_id);
      if (flight.departs <= now)
        refuse(
          "precondition_failed",
          `${flight.number} left at ${flight.departs}`,
          "choose a flight that has not left",
        );
      const getSeatKind = (seat: string) => ("AD".includes(seat.slice(-1)) ? "window" : "aisle");
      const seats = flight.free.filter(
        it => (!kind || getSeatKind(it) === kind) && (!legroom || hasLegroom(it, flight)),
      );
      return {
        free: seats.length,
        seats: seats.slice(0, 14).map(seat => ({
          seat,
          kind: getSeatKind(seat),
          ...(hasLegroom(seat, flight) ? { extra: legroomFee } : {}),
        })),
      };
    },
  }),
};

/** Hours from now to a departure. */
export const hoursUntil = (departs: string, now: string): number =>
  (toMinutes(departs) - toMinutes(now)) / 60;
