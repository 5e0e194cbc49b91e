/** Tools that book, change and cancel flights. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { cents, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { hoursTo } from "./flightQueries.ts";
import { fareOf, flightId, isRoomy, shutOf } from "./flightLookup.ts";
import {
  ahead,
  requireBookable,
  flightBookingId,
  requireTravelDocuments,
  requireNoOverlap,
  seatAtRandom,
  seats,
  traveller,
} from "./flightRules.ts";
import {
  charge,
  fareRules,
  fares,
  flightOf,
  legroomFee,
  newReference,
  routeOf,
  Agency,
  travellerNamed,
} from "./state.ts";

const tool = createToolFactory(Agency);

export const flightTools = {
  book_flight: tool({
    effect: "write",
    summary:
      "Book a flight for one traveller and pay for it with the card on file. A seat is given at once; travel_booking_select_seat changes it.",
    input: {
      flight_id: flightId,
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
    run(agency, { flight_id, fare, traveller: name }, { now, newId, random }) {
      const stood = getOriginal(agency);
      const flight = flightOf(stood, flight_id);
      const traveller_id = travellerNamed(stood, name);
      requireBookable(stood, flight, now);
      requireTravelDocuments(stood, traveller_id, flight);
      requireNoOverlap(stood, traveller_id, flight);
      const paid = fareOf(flight, fare);
      charge(agency, paid, `${flight.number} in ${fare}`);
      const seat = seatAtRandom(flight);
      seats(agency, flight_id, { taken: seat });
      const flight_booking_id = newId("fbk");
      const reference = newReference(random);
      agency.flight_bookings[flight_booking_id] = {
        reference,
        flight_id,
        traveller_id,
        fare,
        seat,
        paid,
        status: "confirmed",
      };
      return { flight_booking: routeOf(stood, flight), flight_booking_id, reference, seat, paid };
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
    run(agency, { flight_booking_id, seat: asked }, { now }) {
      const stood = getOriginal(agency);
      const { booking, flight } = ahead(stood, flight_booking_id, now);
      const shut = shutOf(flight, now);
      if (shut) refuse("precondition_failed", shut);
      const seat = asked.trim().toUpperCase();
      if (!/^[1-9]\d?[A-D]$/.test(seat) || Number(seat.slice(0, -1)) > flight.rows)
        refuse(
          "invalid_params",
          `${flight.number} has no seat ${asked}: rows go from 1 to ${flight.rows}, letters from A to D`,
        );
      if (booking.seat === seat)
        refuse("conflict", `booking ${booking.reference} has seat ${seat} already`);
      if (!flight.free.includes(seat))
        refuse(
          "conflict",
          `seat ${seat} of ${flight.number} is taken`,
          `free are ${flight.free.slice(0, 8).join(", ") || "none"}`,
        );
      const fee = fareRules[booking.fare].seatFee + (isRoomy(seat, flight) ? legroomFee : 0);
      charge(agency, fee, `seat ${seat}`);
      seats(agency, booking.flight_id, { taken: seat, given: booking.seat });
      const own = agency.flight_bookings[flight_booking_id]!;
      own.seat = seat;
      own.paid = roundToCents(booking.paid + fee);
      return { reference: booking.reference, seat, fee };
    },
  }),
  change_flight: tool({
    effect: "write",
    summary:
      "Move a flight booking to another flight from the same airport. The fare says what it costs and until when; the difference in price is charged or given back.",
    input: {
      flight_booking_id: flightBookingId,
      flight_id: flightId.describe(
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
    run(agency, { flight_booking_id, flight_id }, { now }) {
      const stood = getOriginal(agency);
      const { booking, flight } = ahead(stood, flight_booking_id, now);
      const wanted = flightOf(stood, flight_id);
      const { changeFee, hours } = fareRules[booking.fare];
      const isCalledOff = flight.status === "cancelled";
      if (booking.flight_id === flight_id)
        refuse("conflict", `booking ${booking.reference} is for that flight already`);
      if (wanted.from !== flight.from)
        refuse(
          "precondition_failed",
          `${wanted.number} goes from ${routeOf(stood, wanted)}, the booking is for ${routeOf(stood, flight)}`,
          `choose a flight that leaves from ${stood.airports[flight.from]!.city} as well`,
        );
      if (changeFee === undefined && !isCalledOff)
        return refuse(
          "permission_denied",
          `booking ${booking.reference} has the fare light, which cannot be changed`,
          "book the other flight instead",
        );
      if (hoursTo(flight.departs, now) < hours && !isCalledOff)
        refuse(
          "precondition_failed",
          `the fare ${booking.fare} can be changed up to ${hours} hours before, and ${flight.number} leaves at ${flight.departs}`,
        );
      requireBookable(stood, wanted, now);
      requireTravelDocuments(stood, booking.traveller_id, wanted);
      requireNoOverlap(stood, booking.traveller_id, wanted, flight_booking_id);
      const charged = isCalledOff
        ? 0
        : roundToCents(
            (changeFee ?? 0) + fareOf(wanted, booking.fare) - fareOf(flight, booking.fare),
          );
      charge(agency, charged, `the change to ${wanted.number}`);
      const seat = seatAtRandom(wanted);
      seats(agency, booking.flight_id, { given: booking.seat });
      seats(agency, flight_id, { taken: seat });
      const own = agency.flight_bookings[flight_booking_id]!;
      own.flight_id = flight_id;
      own.seat = seat;
      own.paid = roundToCents(Math.max(0, booking.paid + charged));
      return {
        reference: booking.reference,
        number: wanted.number,
        departs: wanted.departs,
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
    input: {
      flight_booking_id: flightBookingId,
      accept_no_refund: z
        .boolean()
        .optional()
        .describe("True to cancel although nothing is given back"),
    },
    returns: {
      reference: spokenId("reference"),
      status: z.string(),
      refund: cents(),
      card_left: cents(),
    },
    run(agency, { flight_booking_id, accept_no_refund }, { now }) {
      const stood = getOriginal(agency);
      const { booking, flight } = ahead(stood, flight_booking_id, now);
      const { refund: share, hours } = fareRules[booking.fare];
      const inTime = hoursTo(flight.departs, now) >= hours;
      const insured = booking.insurance?.cover === "plus" ? 0.8 : 0;
      const back = flight.status === "cancelled" ? 1 : Math.max(inTime ? share : 0, insured);
      const why =
        booking.fare === "light"
          ? "the fare light is not refundable"
          : `${flight.number} leaves in less than ${hours} hours`;
      if (back === 0 && !accept_no_refund)
        refuse(
          "precondition_failed",
          `nothing of the ${booking.paid} paid for booking ${booking.reference} would come back: ${why}`,
          "set accept_no_refund if the customer wants that, or travel_booking_change_flight where the fare allows it",
        );
      const refund = roundToCents(booking.paid * back);
      charge(agency, -refund, "");
      seats(agency, booking.flight_id, { given: booking.seat });
      const own = agency.flight_bookings[flight_booking_id]!;
      own.status = "cancelled";
      own.paid = roundToCents(booking.paid - refund);
      return {
        reference: booking.reference,
        status: own.status,
        refund,
        card_left: agency.card.left,
      };
    },
  }),
};
