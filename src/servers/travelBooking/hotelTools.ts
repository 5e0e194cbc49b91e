/** Tools that search, book, change and cancel hotel stays, with their rules and prices. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import {
  TravelBookingState,
  cancelDays,
  hotelBookings,
  hotels,
  roomKinds,
  type Hotel,
  type HotelBooking,
  chargeCard,
  createReference,
  findTravellerId,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import {
  cents,
  day,
  label,
  rowLimit,
  rowTotal,
  id,
  spokenId,
} from "../../environment/fieldSchemas.ts";
import { ascending, containsAll, meets } from "../kit/table.ts";
import { getOriginal } from "../../environment/draft.ts";
import {
  cancelBooking,
  cancellation,
  getStayTimes,
  requireNoItineraryOverlap,
  computeInsuredRefund,
} from "./bookingTools.ts";
import { traveller } from "./flightTools.ts";

const hotelBookingId = hotelBookings.id.describe(
  "Id of the stay, as travel_booking_list_bookings gives it",
);

const room = z.enum(roomKinds).describe("Kind of room");

const guests = z
  .int()
  .min(1)
  .max(6)
  .optional()
  .describe("How many guests, 1 if not given")
  .meta({ examples: vocabulary.guests });

const [maxNights, maxDaysAhead] = [21, 330];

interface Nights {
  readonly check_in: string;
  readonly check_out: string;
}

/** The number of nights. Refuses reversed, too long, past and too distant stays. */
function requireValidNights({ check_in, check_out }: Nights, now: string): number {
  const count = daysBetween(check_in, check_out);
  if (count < 1)
    refuse(
      "invalid_params",
      `check_out ${check_out} is not after check_in ${check_in}`,
      "give a later check_out",
    );
  if (count > maxNights)
    refuse(
      "limit_exceeded",
      `${check_in} to ${check_out} is ${count} nights, and a stay has at most ${maxNights}`,
      "book two stays",
    );
  if (check_in < now.slice(0, 10))
    refuse("precondition_failed", `${check_in} has passed: today is ${now.slice(0, 10)}`);
  if (daysBetween(now.slice(0, 10), check_in) > maxDaysAhead)
    refuse(
      "precondition_failed",
      `${check_in} is more than ${maxDaysAhead} days away`,
      "choose an earlier stay",
    );
  return count;
}

const overlaps = (a: Nights, b: Nights) => a.check_in < b.check_out && b.check_in < a.check_out;

/** The number of rooms of a kind that are available on all of these nights. */
function countRoomsLeft(
  { hotel_bookings }: TravelBookingState,
  hotelId: string,
  hotel: Hotel,
  kind: HotelBooking["room"],
  nights: Nights,
  exceptId?: string,
): number {
  const isFull = hotel.full.some(
    it => it.kind === kind && overlaps({ check_in: it.from, check_out: it.to }, nights),
  );
  if (isFull) return 0;
  const bookings = Object.entries(hotel_bookings).filter(
    ([id, it]) =>
      id !== exceptId &&
      it.hotel_id === hotelId &&
      it.room === kind &&
      it.status === "confirmed" &&
      overlaps(it, nights),
  );
  return Math.max(0, (hotel.rooms.find(it => it.kind === kind)?.count ?? 0) - bookings.length);
}

interface Stay extends Nights {
  readonly room: HotelBooking["room"];
  readonly guests: number;
}

/** The price of a stay; refuses the call if it is not available. */
function computeStayPrice(
  state: TravelBookingState,
  hotelId: string,
  stay: Stay,
  now: string,
  exceptId?: string,
): number {
  const hotel = hotels.find(state, hotelId);
  const count = requireValidNights(stay, now);
  const roomOffer = hotel.rooms.find(it => it.kind === stay.room);
  if (!roomOffer)
    return refuse(
      "precondition_failed",
      `${hotel.name} has no ${stay.room} rooms`,
      `it has ${hotel.rooms.map(it => it.kind).join(", ")}`,
    );
  if (stay.guests > roomOffer.sleeps)
    refuse(
      "precondition_failed",
      `a ${stay.room} room at ${hotel.name} sleeps ${roomOffer.sleeps}, not ${stay.guests}`,
      "choose a larger room, or book two",
    );
  if (countRoomsLeft(state, hotelId, hotel, stay.room, stay, exceptId) === 0)
    refuse(
      "precondition_failed",
      `no ${stay.room} room is left at ${hotel.name} from ${stay.check_in} to ${stay.check_out}`,
      "travel_booking_check_room_availability shows the other rooms",
    );
  return roundToCents(roomOffer.price * count);
}

/** Whether cancelling the stay today refunds everything. */
function isFreeToCancel({ cancellation }: Hotel, checkIn: string, now: string): boolean {
  const days = cancelDays[cancellation];
  return days !== undefined && daysBetween(now.slice(0, 10), checkIn) >= days;
}

/**
 * Refuses a change after which cancelling would cost less than cancelling now: less of a strict
 * stay, or a later first night or a cheaper room of a stay that is no longer free to cancel.
 */
function requireNoEvadedFee(
  hotel: Hotel,
  booking: HotelBooking,
  change: Nights & { readonly price: number },
  now: string,
): void {
  const { name, cancellation } = hotel;
  const { reference, check_in, paid } = booking;
  if (cancellation === "strict" && change.price < paid)
    refuse(
      "permission_denied",
      `${name} gives nothing back: the change would cost ${change.price}, and ${paid} is paid for booking ${reference}`,
      "choose a change that costs at least as much, or keep the stay as it is",
    );
  if (cancellation === "strict" || isFreeToCancel(hotel, check_in, now)) return;
  const deadline = `booking ${reference} at ${name} was free to cancel until ${cancelDays[cancellation]} days before ${check_in}`;
  if (change.check_in > check_in)
    refuse(
      "permission_denied",
      `${deadline}: its first night cannot be moved to ${change.check_in} any more`,
      "change the day of leaving, or book the later nights as well",
    );
  const getNightlyPrice = (price: number, nights: Nights) =>
    roundToCents(price / daysBetween(nights.check_in, nights.check_out));
  if (getNightlyPrice(change.price, change) < getNightlyPrice(paid, booking))
    refuse(
      "permission_denied",
      `${deadline}: it cannot be changed to a cheaper room any more`,
      "change the day of leaving, or keep the room",
    );
}

/** Refuses two stays of one traveller in the same nights. */
function requireNoSecondStay(
  { hotels, hotel_bookings, travellers }: TravelBookingState,
  travellerId: string,
  nights: Nights,
  exceptId?: string,
): void {
  const other = Object.entries(hotel_bookings).find(
    ([id, it]) =>
      id !== exceptId &&
      it.traveller_id === travellerId &&
      it.status === "confirmed" &&
      overlaps(it, nights),
  )?.[1];
  if (other)
    refuse(
      "conflict",
      `${travellers[travellerId]!.name} stays at ${hotels[other.hotel_id]!.name} from ${other.check_in} to ${other.check_out} already (booking ${other.reference})`,
      "choose other nights, or cancel that stay",
    );
}

/** A booking of a stay; refuses the call if it is cancelled or has begun. */
function findUpcomingStay(state: TravelBookingState, bookingId: string, now: string): HotelBooking {
  const booking = hotelBookings.find(state, bookingId);
  if (booking.status === "cancelled")
    refuse("conflict", `booking ${booking.reference} is cancelled already`);
  if (booking.check_in <= now.slice(0, 10))
    refuse(
      "precondition_failed",
      `the stay of booking ${booking.reference} began on ${booking.check_in}`,
    );
  return booking;
}

const getLowestPrice = (hotel: Hotel) => Math.min(...hotel.rooms.map(it => it.price));

const tool = createToolFactory(TravelBookingState);

const hotelRow = hotels.fields({
  name: label("hotel"),
  hotel_id: hotels.idField,
  city: label("city"),
});

function describeCancellation({ cancellation }: Hotel): string {
  const days = cancelDays[cancellation];
  return days === undefined
    ? "no refund"
    : `free until ${days === 1 ? "the day" : `${days} days`} before, then the first night is kept`;
}

export const hotelQueries = {
  search_hotels: hotels.list({
    summary:
      "Find hotels by city, name, stars or price a night, cheapest first; with nights given, only those with a room left.",
    filters: {
      city: meets(
        label("city"),
        "Only hotels in this city",
        (it, city: string) => it.city.toLowerCase() === city.trim().toLowerCase(),
      ),
      name: containsAll(label("hotel"), "Only hotels whose name contains this", it => it.name),
      stars: meets(
        z.int().min(1).max(5).optional().meta({ examples: vocabulary.stars }),
        "At least this many stars",
        (it, stars) => it.stars >= stars,
      ),
      max_price: meets(
        z.number().min(1).max(5000).optional().meta({ examples: vocabulary.roomPrices }),
        "At most this much a night",
        (it, price) => getLowestPrice(it) <= price,
      ),
      check_in: meets(day(), "First night, to see only hotels with a room left", () => true),
      check_out: meets(day(), "Day of leaving", () => true),
    },
    check({ check_in, check_out }, _, now) {
      if ((check_in === undefined) !== (check_out === undefined))
        refuse("invalid_params", "check_in and check_out go together", "give both or none");
      if (check_in && check_out) requireValidNights({ check_in, check_out }, now);
    },
    where: (it, { check_in, check_out }, { id, world }) =>
      !check_in ||
      !check_out ||
      it.rooms.some(of => countRoomsLeft(world, id, it, of.kind, { check_in, check_out }) > 0),
    order: ascending(getLowestPrice),
    limit: 10,
    limitSchema: rowLimit(10).meta({ examples: vocabulary.limits }),
    more: z.int(),
    row: {
      ...hotelRow,
      stars: z.int(),
      from_price: [cents().describe("Cheapest room a night"), getLowestPrice],
    },
  }),
  get_hotel: hotels.get({
    summary:
      "Get one hotel in full: address, stars, guests' rating, rooms with prices, and until when a stay can be cancelled.",
    row: {
      ...hotelRow,
      address: z.string(),
      stars: z.int(),
      rating: z.number().describe("Of 10"),
      cancellation: [z.string(), describeCancellation],
      rooms: [
        z.array(
          z.object({ room: z.string(), price: cents().describe("A night"), sleeps: z.int() }),
        ),
        it => it.rooms.map(({ kind, price, sleeps }) => ({ room: kind, price, sleeps })),
      ],
    },
  }),
  check_room_availability: tool({
    effect: "read",
    summary:
      "See which rooms of a hotel are left for some nights, how many, and what the stay would cost.",
    input: {
      hotel_id: hotels.id,
      check_in: day().describe("First night"),
      check_out: day().describe("Day of leaving"),
      guests,
    },
    returns: {
      total: rowTotal("rooms"),
      rooms: z.array(
        z.object({
          room: z.string(),
          left: z.int(),
          nights: z.int(),
          total: cents().describe("For all nights"),
        }),
      ),
    },
    run(state, { hotel_id, guests: many = 1, ...stay }, { now }) {
      const hotel = hotels.find(state, hotel_id);
      const count = requireValidNights(stay, now);
      const fitting = hotel.rooms.filter(it => it.sleeps >= many);
      const free = fitting.map(it => ({
        room: it.kind,
        left: countRoomsLeft(state, hotel_id, hotel, it.kind, stay),
        nights: count,
        total: roundToCents(it.price * count),
      }));
      const rooms = free.filter(it => it.left > 0);
      return { total: rooms.length, rooms };
    },
  }),
};

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
