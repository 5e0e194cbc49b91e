/**
 * The agency's hotel tools: what there is, which rooms are left for which nights, and stays booked,
 * moved and cancelled.
 */
import { z } from "zod";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { traveller } from "./flying.ts";
import {
  Agency,
  cancelDays,
  charge,
  hotelBookingOf,
  hotelOf,
  newReference,
  nightsOf,
  roomKinds,
  travellerNamed,
  type Hotel,
  type HotelBooking,
} from "./state.ts";

const tool = createToolFactory(Agency);

const hotelId = id("hotel").describe("Hotel id, as travel_booking_search_hotels gives it");
export const hotelBookingId = id("hotel_booking").describe(
  "Id of the stay, as travel_booking_list_bookings gives it",
);
const room = z.enum(roomKinds).describe("Kind of room");
const guests = z
  .int()
  .min(1)
  .max(6)
  .optional()
  .describe("How many guests, 1 if not given")
  .meta({ examples: [1, 1, 2, 2, 3, 4] });

const [mostNights, farthestDays] = [21, 330];

interface Nights {
  readonly check_in: string;
  readonly check_out: string;
}

/** Refuses nights that run backwards, are too many, have passed or are too far off. */
function nights({ check_in, check_out }: Nights, now: string): number {
  const count = nightsOf(check_in, check_out);
  if (count < 1)
    refuse(
      "invalid_params",
      `check_out ${check_out} is not after check_in ${check_in}`,
      "give a later check_out",
    );
  if (count > mostNights)
    refuse(
      "limit_exceeded",
      `${check_in} to ${check_out} is ${count} nights, and a stay has at most ${mostNights}`,
      "book two stays",
    );
  if (check_in < now.slice(0, 10))
    refuse("precondition_failed", `${check_in} has passed: today is ${now.slice(0, 10)}`);
  if (nightsOf(now.slice(0, 10), check_in) > farthestDays)
    refuse(
      "precondition_failed",
      `${check_in} is more than ${farthestDays} days away`,
      "choose an earlier stay",
    );
  return count;
}

const overlap = (a: Nights, b: Nights) => a.check_in < b.check_out && b.check_in < a.check_out;

/** How many rooms of a kind are left on all of these nights. */
function roomsLeft(
  { hotel_bookings }: Agency,
  hotelId: string,
  hotel: Hotel,
  kind: HotelBooking["room"],
  wanted: Nights,
  but?: string,
): number {
  const isFull = hotel.full.some(
    it => it.kind === kind && overlap({ check_in: it.from, check_out: it.to }, wanted),
  );
  if (isFull) return 0;
  const booked = Object.entries(hotel_bookings).filter(
    ([id, it]) =>
      id !== but &&
      it.hotel_id === hotelId &&
      it.room === kind &&
      it.status === "confirmed" &&
      overlap(it, wanted),
  );
  return Math.max(0, (hotel.rooms.find(it => it.kind === kind)?.count ?? 0) - booked.length);
}

interface Stay extends Nights {
  readonly room: HotelBooking["room"];
  readonly guests: number;
}

/** What a stay costs, if it can be had. */
function priceOf(agency: Agency, hotelId: string, stay: Stay, now: string, but?: string): number {
  const hotel = hotelOf(agency, hotelId);
  const count = nights(stay, now);
  const offered = hotel.rooms.find(it => it.kind === stay.room);
  if (!offered)
    return refuse(
      "precondition_failed",
      `${hotel.name} has no ${stay.room} rooms`,
      `it has ${hotel.rooms.map(it => it.kind).join(", ")}`,
    );
  if (stay.guests > offered.sleeps)
    refuse(
      "precondition_failed",
      `a ${stay.room} room at ${hotel.name} sleeps ${offered.sleeps}, not ${stay.guests}`,
      "choose a larger room, or book two",
    );
  if (roomsLeft(agency, hotelId, hotel, stay.room, stay, but) === 0)
    refuse(
      "precondition_failed",
      `no ${stay.room} room is left at ${hotel.name} from ${stay.check_in} to ${stay.check_out}`,
      "travel_booking_check_room_availability shows the other rooms",
    );
  return roundToCents(offered.price * count);
}

/** Refuses two stays of one traveller in the same nights. */
function notTwice(
  { hotels, hotel_bookings, travellers }: Agency,
  travellerId: string,
  wanted: Nights,
  but?: string,
): void {
  const other = Object.entries(hotel_bookings).find(
    ([id, it]) =>
      id !== but &&
      it.traveller_id === travellerId &&
      it.status === "confirmed" &&
      overlap(it, wanted),
  )?.[1];
  if (other)
    refuse(
      "conflict",
      `${travellers[travellerId]!.name} stays at ${hotels[other.hotel_id]!.name} from ${other.check_in} to ${other.check_out} already (booking ${other.reference})`,
      "choose other nights, or cancel that stay",
    );
}

/** A stay that can still be acted on. */
function ahead(agency: Agency, bookingId: string, now: string): HotelBooking {
  const booking = hotelBookingOf(agency, bookingId);
  if (booking.status === "cancelled")
    refuse("conflict", `booking ${booking.reference} is cancelled already`);
  if (booking.check_in <= now.slice(0, 10))
    refuse(
      "precondition_failed",
      `the stay of booking ${booking.reference} began on ${booking.check_in}`,
    );
  return booking;
}

const cheapest = (hotel: Hotel) => Math.min(...hotel.rooms.map(it => it.price));

export const hotels = {
  search_hotels: tool({
    effect: "read",
    summary:
      "Find hotels by city, name, stars or price a night, cheapest first; with nights given, only those with a room left.",
    input: {
      city: label("city").optional().describe("Only hotels in this city"),
      name: label("hotel").optional().describe("Only hotels whose name contains this"),
      stars: z
        .int()
        .min(1)
        .max(5)
        .optional()
        .describe("At least this many stars")
        .meta({ examples: [2, 3, 4, 5] }),
      max_price: z
        .number()
        .min(1)
        .max(5000)
        .optional()
        .describe("At most this much a night")
        .meta({ examples: [60, 80, 90, 100, 120, 150, 200] }),
      check_in: day().optional().describe("First night, to see only hotels with a room left"),
      check_out: day().optional().describe("Day of leaving"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many, 10 if not given")
        .meta({ examples: [2, 3, 4, 5] }),
    },
    returns: {
      hotels: z.array(
        z.object({
          name: label("hotel"),
          hotel_id: id("hotel"),
          city: label("city"),
          stars: z.int(),
          from_price: cents().describe("Cheapest room a night"),
        }),
      ),
      more: z.int().optional(),
    },
    run(agency, { city, name, stars, max_price, check_in, check_out, limit = 10 }, { now }) {
      if ((check_in === undefined) !== (check_out === undefined))
        refuse("invalid_params", "check_in and check_out go together", "give both or none");
      const wanted =
        check_in !== undefined && check_out !== undefined ? { check_in, check_out } : undefined;
      if (wanted) nights(wanted, now);
      const found = Object.entries(agency.hotels).filter(
        ([hotelId, it]) =>
          (!city || it.city.toLowerCase() === city.trim().toLowerCase()) &&
          (!name || containsWords(it.name, name)) &&
          (!stars || it.stars >= stars) &&
          (!max_price || cheapest(it) <= max_price) &&
          (!wanted || it.rooms.some(of => roomsLeft(agency, hotelId, it, of.kind, wanted) > 0)),
      );
      found.sort(([a, x], [b, y]) => cheapest(x) - cheapest(y) || (a < b ? -1 : 1));
      return {
        hotels: found.slice(0, limit).map(([hotel_id, it]) => ({
          name: it.name,
          hotel_id,
          city: it.city,
          stars: it.stars,
          from_price: cheapest(it),
        })),
        ...(found.length > limit ? { more: found.length - limit } : {}),
      };
    },
  }),
  get_hotel: tool({
    effect: "read",
    summary:
      "Get one hotel in full: address, stars, guests' rating, rooms with prices, and until when a stay can be cancelled.",
    input: { hotel_id: hotelId },
    returns: {
      name: label("hotel"),
      hotel_id: id("hotel"),
      city: label("city"),
      address: z.string(),
      stars: z.int(),
      rating: z.number().describe("Of 10"),
      cancellation: z.string(),
      rooms: z.array(
        z.object({ room: z.string(), price: cents().describe("A night"), sleeps: z.int() }),
      ),
    },
    run(agency, { hotel_id }) {
      const { name, city, address, stars, rating, cancellation, rooms } = hotelOf(agency, hotel_id);
      const days = cancelDays[cancellation];
      return {
        name,
        hotel_id,
        city,
        address,
        stars,
        rating,
        cancellation:
          days === undefined
            ? "no refund"
            : `free until ${days === 1 ? "the day" : `${days} days`} before, then the first night is kept`,
        rooms: rooms.map(it => ({ room: it.kind, price: it.price, sleeps: it.sleeps })),
      };
    },
  }),
  check_room_availability: tool({
    effect: "read",
    summary:
      "See which rooms of a hotel are left for some nights, how many, and what the stay would cost.",
    input: {
      hotel_id: hotelId,
      check_in: day().describe("First night"),
      check_out: day().describe("Day of leaving"),
      guests,
    },
    returns: {
      rooms: z.array(
        z.object({
          room: z.string(),
          left: z.int(),
          nights: z.int(),
          total: cents().describe("For all nights"),
        }),
      ),
    },
    run(agency, { hotel_id, guests: many = 1, ...stay }, { now }) {
      const hotel = hotelOf(agency, hotel_id);
      const count = nights(stay, now);
      const fitting = hotel.rooms.filter(it => it.sleeps >= many);
      const free = fitting.map(it => ({
        room: it.kind,
        left: roomsLeft(agency, hotel_id, hotel, it.kind, stay),
        nights: count,
        total: roundToCents(it.price * count),
      }));
      return { rooms: free.filter(it => it.left > 0) };
    },
  }),
};

export const staying = {
  book_hotel: tool({
    effect: "write",
    summary:
      "Book a room for some nights in the name of one traveller, and pay for it with the card on file.",
    input: {
      hotel_id: hotelId,
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
      agency,
      { hotel_id, guests: many = 1, traveller: name, ...nightsAndRoom },
      { now, newId, random },
    ) {
      const stood = getOriginal(agency);
      const stay = { ...nightsAndRoom, guests: many };
      const traveller_id = travellerNamed(stood, name);
      const paid = priceOf(stood, hotel_id, stay, now);
      notTwice(stood, traveller_id, stay);
      const hotel = hotelOf(stood, hotel_id).name;
      charge(agency, paid, `the stay at ${hotel}`);
      const hotel_booking_id = newId("hbk");
      const reference = newReference(random);
      agency.hotel_bookings[hotel_booking_id] = {
        reference,
        hotel_id,
        traveller_id,
        room: stay.room,
        guests: many,
        check_in: stay.check_in,
        check_out: stay.check_out,
        paid,
        status: "confirmed",
      };
      return {
        hotel,
        hotel_booking_id,
        reference,
        nights: nightsOf(stay.check_in, stay.check_out),
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
    run(agency, { hotel_booking_id, ...changes }, { now }) {
      const stood = getOriginal(agency);
      const booking = ahead(stood, hotel_booking_id, now);
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
      const hotel = hotelOf(stood, booking.hotel_id);
      if (hotel.cancellation === "strict" && stay.check_in !== booking.check_in)
        refuse(
          "permission_denied",
          `${hotel.name} does not move the first night of a stay that is paid`,
          "change the room or the day of leaving, or book anew",
        );
      const price = priceOf(stood, booking.hotel_id, stay, now, hotel_booking_id);
      notTwice(stood, booking.traveller_id, stay, hotel_booking_id);
      const charged = roundToCents(price - booking.paid);
      charge(agency, charged, `the change at ${hotel.name}`);
      Object.assign(agency.hotel_bookings[hotel_booking_id]!, {
        check_in: stay.check_in,
        check_out: stay.check_out,
        room: stay.room,
        paid: price,
      });
      return {
        hotel: hotel.name,
        reference: booking.reference,
        check_in: stay.check_in,
        check_out: stay.check_out,
        room: stay.room,
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
    input: {
      hotel_booking_id: hotelBookingId,
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
    run(agency, { hotel_booking_id, accept_no_refund }, { now }) {
      const stood = getOriginal(agency);
      const booking = ahead(stood, hotel_booking_id, now);
      const { name, cancellation } = hotelOf(stood, booking.hotel_id);
      const days = cancelDays[cancellation];
      const inTime = days !== undefined && nightsOf(now.slice(0, 10), booking.check_in) >= days;
      const firstNight = booking.paid / nightsOf(booking.check_in, booking.check_out);
      const insured = booking.insurance?.cover === "plus" ? 0.8 * booking.paid : 0;
      const refund = roundToCents(
        Math.max(
          inTime ? booking.paid : days === undefined ? 0 : booking.paid - firstNight,
          insured,
        ),
      );
      if (refund === 0 && !accept_no_refund)
        refuse(
          "precondition_failed",
          `${name} gives nothing back of the ${booking.paid} paid for booking ${booking.reference}`,
          "set accept_no_refund if the customer wants that, or change the stay with travel_booking_modify_hotel_booking",
        );
      charge(agency, -refund, "");
      const own = agency.hotel_bookings[hotel_booking_id]!;
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
