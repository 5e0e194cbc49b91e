/** Tools that book, change and cancel flights. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { cents, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { computeInsuredRefund } from "./insurance.ts";
import { cancelBooking, cancellation, requireNoItineraryOverlap } from "./bookingLookup.ts";
import {
  computeFare,
  findUpcomingFlightBooking,
  getClosedReason,
  hasLegroom,
  requireBookable,
  flightBookingId,
  requireTravelDocuments,
  requireNoOverlap,
  pickDefaultSeat,
  updateFreeSeats,
  traveller,
} from "./flightRules.ts";
import {
  chargeCard,
  fareRules,
  fares,
  flights,
  legroomFee,
  createReference,
  formatRoute,
  TravelBookingState,
  findTravellerId,
} from "./state.ts";

const tool = createToolFactory(TravelBookingState);

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
