/** Tools that search airports and flights and show seats. */
import { z } from "zod";
import { cents, day, label, minute, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { addMinutes } from "../../environment/time.ts";
import { ascending, containsAll, equals, meets } from "../kit/table.ts";
import { computeFare, getClosedReason, hasLegroom } from "./flightRules.ts";
import {
  airports,
  fareRules,
  fares,
  flights,
  legroomFee,
  TravelBookingState,
  type Fare,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TravelBookingState);

const describeFare = (fare: Fare) => {
  const { changeFee, refund, hours } = fareRules[fare];
  if (changeFee === undefined) return "no changes, no refund";
  return `${changeFee === 0 ? "free changes" : `changes for ${changeFee} euros`} and ${refund === 1 ? "full" : `${refund * 100}%`} refund up to ${hours} hours before`;
};

const seatsLeft = flights.fields({ seats_left: [z.int(), it => it.free.length] }).seats_left;

/** The code of an airport, whatever its case. */
function findAirportCode(state: TravelBookingState, text: string): string {
  const code = text.trim().toUpperCase();
  airports.find(state, code);
  return code;
}

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
  search_flights: flights.list({
    summary:
      "Find flights from an airport that have not closed, in order of time, with price and seats left: by where they go, day, number or price.",
    filters: {
      from: {
        ...equals(
          airports.id,
          "Airport code of three letters where it leaves",
          it => it.from,
          findAirportCode,
        ),
        isRequired: true,
      },
      to: equals(
        airports.id,
        "Airport code of three letters where it goes",
        it => it.to,
        findAirportCode,
      ),
      date: equals(day(), "Only flights of this day", it => it.departs.slice(0, 10)),
      number: containsAll(label("flight"), "Only flights of this number", it => it.number),
      max_price: meets(
        z.number().min(1).max(5000).optional().meta({ examples: vocabulary.fares }),
        "Only flights whose cheapest fare costs at most this",
        (it, price) => it.price <= price,
      ),
    },
    check({ from, to, date }, state, now) {
      const start = findAirportCode(state, from!);
      if (to !== undefined && start === findAirportCode(state, to))
        refuse(
          "invalid_params",
          `the flight would leave and land at ${start}`,
          "give two different airports",
        );
      if (date !== undefined && date < now.slice(0, 10))
        refuse(
          "precondition_failed",
          `${date} has passed: today is ${now.slice(0, 10)}`,
          "choose a later day",
        );
    },
    where: (it, _, { now }) => !getClosedReason(it, now),
    order: ascending(it => it.departs),
    limit: 10,
    limitSchema: rowLimit(10).meta({ examples: vocabulary.limits }),
    more: z.int(),
    row: {
      number: label("flight"),
      flight_id: flights.idField,
      to: spokenId("airport"),
      date: [day(), it => it.departs.slice(0, 10)],
      departs: [z.string(), it => it.departs.slice(11)],
      price: cents().describe("Cheapest fare"),
      seats_left: seatsLeft,
    },
  }),
  get_flight: flights.get({
    summary:
      "Get one flight in full: airline, times, status, seats left, and what each fare costs and allows.",
    row: {
      number: label("flight"),
      flight_id: flights.idField,
      airline: [z.string(), (it, { world }) => world.airlines[it.number.slice(0, 2)]],
      from: z.string(),
      to: z.string(),
      departs: minute(),
      arrives: [
        minute().describe("In the home city's time"),
        it => addMinutes(it.departs, it.minutes),
      ],
      status: z.string(),
      seats_left: seatsLeft,
      rows: z.int().describe("Rows of seats, A and D at the windows"),
      fares: [
        z.array(z.object({ fare: z.string(), price: cents(), allows: z.string() })),
        it =>
          fares.map(fare => ({ fare, price: computeFare(it, fare), allows: describeFare(fare) })),
      ],
    },
  }),
  get_seat_map: tool({
    effect: "read",
    summary:
      "List the free seats of a flight, by window or aisle if wanted, and which of them have more room for the legs.",
    input: {
      flight_id: flights.id,
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
      const flight = flights.find(state, flight_id);
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
