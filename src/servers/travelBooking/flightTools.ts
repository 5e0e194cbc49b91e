/**
 * Tools that search, book, change and cancel flights, with the rules for documents, departure,
 * fares and seats.
 */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import {
  label,
  cents,
  day,
  minute,
  spokenId,
  rowLimit,
  rowTotal,
  id,
} from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import {
  closingHours,
  fareRules,
  flightBookings,
  flights,
  type Fare,
  type Flight,
  type FlightBooking,
  TravelBookingState,
  airports,
  fares,
  legroomFee,
  chargeCard,
  createReference,
  formatRoute,
  findTravellerId,
  updateFreeSeats,
} from "./state.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { ascending, containsAll, equals, meets } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import {
  computeInsuredRefund,
  cancelBooking,
  cancellation,
  requireNoItineraryOverlap,
} from "./bookingTools.ts";

const flightBookingId = flightBookings.id.describe(
  "Id of the flight booking, as travel_booking_list_bookings gives it",
);

export const traveller = label("traveller")
  .optional()
  .describe("Full name of the traveller, the customer if not given");

/** The price of a flight in a fare. */
const computeFare = (flight: Pick<Flight, "price">, fare: Fare): number =>
  roundToCents(Math.round(flight.price * fareRules[fare].factor));

/** Whether a seat has more legroom: those in the first row and at the exits. */
const hasLegroom = (seat: string, { rows }: Pick<Flight, "rows">): boolean =>
  [1, Math.ceil(rows / 2)].includes(Number(seat.slice(0, -1)));

/** Why a flight cannot be boarded any more, or undefined if it can. */
function getClosedReason(flight: Flight, now: string): string | undefined {
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
function requireTravelDocuments(
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
function requireNoOverlap(
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

function requireBookable(state: TravelBookingState, flight: Flight, now: string): void {
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
function findUpcomingFlightBooking(
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
const pickDefaultSeat = (flight: Flight): string =>
  flight.free.findLast(it => !hasLegroom(it, flight)) ?? flight.free.at(-1)!;

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
      total: rowTotal("airports"),
      airports: z.array(
        z.object({
          airport: label("airport"),
          code: spokenId("airport"),
          city: label("city"),
          country: z.string(),
        }),
      ),
    },
    run({ airports }, { name }) {
      const matches = Object.entries(airports).filter(
        ([code, it]) => !name || containsWords(`${it.name} ${it.city} ${code}`, name),
      );
      return {
        total: matches.length,
        airports: matches
          .slice(0, 20)
          .map(([code, it]) => ({ airport: it.name, code, city: it.city, country: it.country })),
      };
    },
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
      total: rowTotal("seats"),
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
        total: seats.length,
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
const hoursUntil = (departs: string, now: string): number =>
  (toMinutes(departs) - toMinutes(now)) / 60;

export const flightTools = {
  book_flight: tool({
    effect: "write",
    summary:
      "Book a flight for one traveller and pay for it with the card on file. A seat is given at once; travel_booking_select_seat changes it.",
    input: {
      flight_id: flights.id,
      fare: z.enum(fares).describe("Fare, which says what can be changed and given back"),
      traveller,
    },
    returns: {
      flight_booking: label("flight_booking"),
      flight_booking_id: id("flight_booking"),
      reference: spokenId("reference"),
      seat: z.string(),
      paid: cents(),
    },
    run(state, { flight_id, fare, traveller: name }, { now, newId, random }) {
      const original = getOriginal(state);
      const flight = flights.find(original, flight_id);
      const traveller_id = findTravellerId(original, name);
      requireBookable(original, flight, now);
      requireTravelDocuments(original, traveller_id, flight);
      requireNoOverlap(original, traveller_id, flight);
      const paid = computeFare(flight, fare);
      chargeCard(state, paid, `${flight.number} in ${fare}`);
      const seat = pickDefaultSeat(flight);
      updateFreeSeats(state, flight_id, { take: seat });
      const flight_booking_id = newId("fbk");
      const reference = createReference(original, random);
      state.flight_bookings[flight_booking_id] = {
        reference,
        flight_id,
        traveller_id,
        fare,
        seat,
        paid,
        status: "confirmed",
      };
      return {
        flight_booking: formatRoute(original, flight),
        flight_booking_id,
        reference,
        seat,
        paid,
      };
    },
  }),
  select_seat: tool({
    effect: "write",
    summary:
      "Move a booked traveller to another free seat of the flight. Legroom costs extra, and so does any choice on a light fare.",
    idempotent: true,
    input: {
      flight_booking_id: flightBookingId,
      seat: spokenId("seat").describe("Seat such as 12A, as travel_booking_get_seat_map gives it"),
    },
    returns: { reference: spokenId("reference"), seat: spokenId("seat"), fee: cents() },
    run(state, { flight_booking_id, seat: requestedSeat }, { now }) {
      const original = getOriginal(state);
      const { booking, flight } = findUpcomingFlightBooking(original, flight_booking_id, now);
      const closedReason = getClosedReason(flight, now);
      if (closedReason) refuse("precondition_failed", closedReason);
      const seat = requestedSeat.trim().toUpperCase();
      if (!/^[1-9]\d?[A-D]$/.test(seat) || Number(seat.slice(0, -1)) > flight.rows)
        refuse(
          "invalid_params",
          `${flight.number} has no seat ${requestedSeat}: rows go from 1 to ${flight.rows}, letters from A to D`,
        );
      if (booking.seat === seat)
        refuse("conflict", `booking ${booking.reference} has seat ${seat} already`);
      if (!flight.free.includes(seat))
        refuse(
          "conflict",
          `seat ${seat} of ${flight.number} is taken`,
          `free are ${flight.free.slice(0, 8).join(", ") || "none"}`,
        );
      const fee = fareRules[booking.fare].seatFee + (hasLegroom(seat, flight) ? legroomFee : 0);
      chargeCard(state, fee, `seat ${seat}`);
      updateFreeSeats(state, booking.flight_id, { take: seat, release: booking.seat });
      const draftBooking = state.flight_bookings[flight_booking_id]!;
      draftBooking.seat = seat;
      draftBooking.paid = roundToCents(booking.paid + fee);
      return { reference: booking.reference, seat, fee };
    },
  }),
  change_flight: tool({
    effect: "write",
    summary:
      "Move a flight booking to another flight from the same airport. The fare says what it costs and until when; the difference in price is charged or given back.",
    input: {
      flight_booking_id: flightBookingId,
      flight_id: flights.id.describe(
        "Flight to change to, as travel_booking_search_flights gives it",
      ),
    },
    returns: {
      reference: spokenId("reference"),
      number: label("flight"),
      departs: minute(),
      seat: z.string(),
      charged: cents(),
      given_back: cents(),
    },
    run(state, { flight_booking_id, flight_id }, { now }) {
      const original = getOriginal(state);
      const { booking, flight } = findUpcomingFlightBooking(original, flight_booking_id, now);
      const newFlight = flights.find(original, flight_id);
      const { changeFee, hours } = fareRules[booking.fare];
      if (booking.flight_id === flight_id)
        refuse("conflict", `booking ${booking.reference} is for that flight already`);
      if (newFlight.from !== flight.from)
        refuse(
          "precondition_failed",
          `${newFlight.number} goes from ${formatRoute(original, newFlight)}, the booking is for ${formatRoute(original, flight)}`,
          `choose a flight that leaves from ${original.airports[flight.from]!.city} as well`,
        );
      const isCancelledByAirline = flight.status === "cancelled";
      // the airline replaces a cancelled flight with one to the same airport, in any fare
      const isReplacement = isCancelledByAirline && newFlight.to === flight.to;
      if (changeFee === undefined && !isReplacement)
        return refuse(
          "permission_denied",
          isCancelledByAirline
            ? `booking ${booking.reference} has the fare light: it is moved only to another flight from ${formatRoute(original, flight)}`
            : `booking ${booking.reference} has the fare light, which cannot be changed`,
          isCancelledByAirline
            ? "travel_booking_cancel_flight gives back everything that was paid for a cancelled flight"
            : "book the other flight instead",
        );
      if (hoursUntil(flight.departs, now) < hours && !isCancelledByAirline)
        refuse(
          "precondition_failed",
          `the fare ${booking.fare} can be changed up to ${hours} hours before, and ${flight.number} leaves at ${flight.departs}`,
        );
      requireBookable(original, newFlight, now);
      requireTravelDocuments(original, booking.traveller_id, newFlight);
      requireNoOverlap(original, booking.traveller_id, newFlight, flight_booking_id);
      requireNoItineraryOverlap(original, booking.reference, {
        table: "flight_bookings",
        description: newFlight.number,
        begins: newFlight.departs,
        ends: addMinutes(newFlight.departs, newFlight.minutes),
      });
      // a replacement may have cost less than the fare of its flight, which is not given back
      const oldFare = Math.min(booking.paid, computeFare(flight, booking.fare));
      const charged = isReplacement
        ? 0
        : roundToCents((changeFee ?? 0) + computeFare(newFlight, booking.fare) - oldFare);
      chargeCard(state, charged, `the change to ${newFlight.number}`);
      const seat = pickDefaultSeat(newFlight);
      updateFreeSeats(state, booking.flight_id, { release: booking.seat });
      updateFreeSeats(state, flight_id, { take: seat });
      const draftBooking = state.flight_bookings[flight_booking_id]!;
      draftBooking.flight_id = flight_id;
      draftBooking.seat = seat;
      draftBooking.paid = roundToCents(booking.paid + charged);
      const givenBack = roundToCents((booking.given_back ?? 0) - charged);
      if (givenBack > 0) draftBooking.given_back = givenBack;
      else delete draftBooking.given_back;
      return {
        reference: booking.reference,
        number: newFlight.number,
        departs: newFlight.departs,
        seat,
        charged: Math.max(0, charged),
        given_back: Math.max(0, -charged),
      };
    },
  }),
  cancel_flight: tool({
    effect: "write",
    summary:
      "Cancel a flight booking before it leaves. What comes back depends on the fare; a fare that gives nothing back must be accepted.",
    destructive: true,
    input: { flight_booking_id: flightBookingId, accept_no_refund: cancellation.accept },
    returns: cancellation.returns,
    run(state, { flight_booking_id, accept_no_refund }, { now }) {
      const original = getOriginal(state);
      const { booking, flight } = findUpcomingFlightBooking(original, flight_booking_id, now);
      const { refund: share, hours } = fareRules[booking.fare];
      const isInTime = hoursUntil(flight.departs, now) >= hours;
      // what changes have given back counts as a part of the refund
      const { given_back = 0 } = booking;
      const highestPaid = roundToCents(booking.paid + given_back);
      const mostRefunded = Math.max(
        isInTime ? roundToCents(highestPaid * share) : 0,
        computeInsuredRefund(booking.insurance, highestPaid),
      );
      const refund =
        flight.status === "cancelled"
          ? booking.paid
          : Math.max(0, roundToCents(mostRefunded - given_back));
      const reason =
        booking.fare === "light"
          ? "the fare light is not refundable"
          : mostRefunded > 0
            ? `the change of flight gave back ${given_back}, and ${mostRefunded} of ${highestPaid} is refunded`
            : `${flight.number} leaves in less than ${hours} hours`;
      if (refund === 0 && !accept_no_refund)
        refuse(
          "precondition_failed",
          `nothing of the ${booking.paid} paid for booking ${booking.reference} would come back: ${reason}`,
          "set accept_no_refund if the customer wants that, or travel_booking_change_flight where the fare allows it",
        );
      return cancelBooking(state, state.flight_bookings[flight_booking_id]!, refund);
    },
  }),
};
