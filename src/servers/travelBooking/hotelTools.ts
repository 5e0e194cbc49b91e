/** Tools that book, change and cancel hotel stays. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import {
  cancelBooking,
  cancellation,
  getStayTimes,
  requireNoItineraryOverlap,
} from "./bookingLookup.ts";
import { computeInsuredRefund } from "./insurance.ts";
import { traveller } from "./flightRules.ts";
import {
  findUpcomingStay,
  guests,
  hotelBookingId,
  isFreeToCancel,
  requireNoEvadedFee,
  requireNoSecondStay,
  computeStayPrice,
  room,
} from "./hotelRules.ts";
import {
  chargeCard,
  createReference,
  hotels,
  TravelBookingState,
  findTravellerId,
} from "./state.ts";

const tool = createToolFactory(TravelBookingState);

export const hotelTools = {
  book_hotel: tool({
    effect: "write",
    summary:
      "Book a room for some nights in the name of one traveller, and pay for it with the card on file.",
    input: {
      hotel_id: hotels.id,
      room,
      check_in: day().describe("First night"),
      check_out: day().describe("Day of leaving, after check_in"),
      guests,
      traveller,
    },
    returns: {
      hotel: label("hotel_booking"),
      hotel_booking_id: id("hotel_booking"),
      reference: spokenId("reference"),
      nights: z.int(),
      paid: cents(),
    },
    run(
      state,
      { hotel_id, guests = 1, traveller: name, ...nightsAndRoom },
      { now, newId, random },
    ) {
      const original = getOriginal(state);
      const stay = { ...nightsAndRoom, guests };
      const traveller_id = findTravellerId(original, name);
      const paid = computeStayPrice(original, hotel_id, stay, now);
      requireNoSecondStay(original, traveller_id, stay);
      const hotel = hotels.find(original, hotel_id).name;
      chargeCard(state, paid, `the stay at ${hotel}`);
      const hotel_booking_id = newId("hbk");
      const reference = createReference(original, random);
      state.hotel_bookings[hotel_booking_id] = {
        reference,
        hotel_id,
        traveller_id,
        ...stay,
        paid,
        status: "confirmed",
      };
      return {
        hotel,
        hotel_booking_id,
        reference,
        nights: daysBetween(stay.check_in, stay.check_out),
        paid,
      };
    },
  }),
  modify_hotel_booking: tool({
    effect: "write",
    summary:
      "Change the nights or the room of a stay that has not begun; the difference in price is charged or given back.",
    input: {
      hotel_booking_id: hotelBookingId,
      check_in: day().optional().describe("New first night"),
      check_out: day().optional().describe("New day of leaving"),
      room: room.optional().describe("New kind of room"),
    },
    returns: {
      hotel: label("hotel_booking"),
      reference: spokenId("reference"),
      check_in: day(),
      check_out: day(),
      room: z.string(),
      charged: cents(),
      given_back: cents(),
    },
    run(state, { hotel_booking_id, ...changes }, { now }) {
      const original = getOriginal(state);
      const booking = findUpcomingStay(original, hotel_booking_id, now);
      if (Object.keys(changes).length === 0)
        refuse("invalid_params", "nothing to change is given", "give check_in, check_out or room");
      const stay = {
        check_in: changes.check_in ?? booking.check_in,
        check_out: changes.check_out ?? booking.check_out,
        room: changes.room ?? booking.room,
        guests: booking.guests,
      };
      if (
        stay.check_in === booking.check_in &&
        stay.check_out === booking.check_out &&
        stay.room === booking.room
      )
        refuse("conflict", `booking ${booking.reference} is like that already`);
      const hotel = hotels.find(original, booking.hotel_id);
      if (hotel.cancellation === "strict" && stay.check_in !== booking.check_in)
        refuse(
          "permission_denied",
          `${hotel.name} does not move the first night of a stay that is paid`,
          "change the room or the day of leaving, or book anew",
        );
      const price = computeStayPrice(original, booking.hotel_id, stay, now, hotel_booking_id);
      requireNoEvadedFee(hotel, booking, { ...stay, price }, now);
      requireNoSecondStay(original, booking.traveller_id, stay, hotel_booking_id);
      requireNoItineraryOverlap(original, booking.reference, {
        table: "hotel_bookings",
        description: hotel.name,
        ...getStayTimes(stay),
      });
      const charged = roundToCents(price - booking.paid);
      chargeCard(state, charged, `the change at ${hotel.name}`);
      const { guests: _, ...change } = stay;
      Object.assign(state.hotel_bookings[hotel_booking_id]!, change, { paid: price });
      return {
        hotel: hotel.name,
        reference: booking.reference,
        ...change,
        charged: Math.max(0, charged),
        given_back: Math.max(0, -charged),
      };
    },
  }),
  cancel_hotel: tool({
    effect: "write",
    summary:
      "Cancel a stay that has not begun. What comes back depends on the hotel and the day; a stay that gives nothing back must be accepted.",
    destructive: true,
    input: { hotel_booking_id: hotelBookingId, accept_no_refund: cancellation.accept },
    returns: cancellation.returns,
    run(state, { hotel_booking_id, accept_no_refund }, { now }) {
      const original = getOriginal(state);
      const booking = findUpcomingStay(original, hotel_booking_id, now);
      const hotel = hotels.find(original, booking.hotel_id);
      const firstNight = booking.paid / daysBetween(booking.check_in, booking.check_out);
      const hotelRefund = isFreeToCancel(hotel, booking.check_in, now)
        ? booking.paid
        : hotel.cancellation === "strict"
          ? 0
          : booking.paid - firstNight;
      const refund = roundToCents(
        Math.max(hotelRefund, computeInsuredRefund(booking.insurance, booking.paid)),
      );
      if (refund === 0 && !accept_no_refund)
        refuse(
          "precondition_failed",
          `${hotel.name} gives nothing back of the ${booking.paid} paid for booking ${booking.reference}`,
          "set accept_no_refund if the customer wants that, or change the stay with travel_booking_modify_hotel_booking",
        );
      return cancelBooking(state, state.hotel_bookings[hotel_booking_id]!, refund);
    },
  }),
};
