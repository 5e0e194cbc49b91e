/** Rules and prices of hotel stays, and the rooms that are left. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { id } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import {
  type Agency,
  hotelBookingOf,
  hotelOf,
  nightsOf,
  roomKinds,
  type Hotel,
  type HotelBooking,
} from "./state.ts";

export const hotelId = id("hotel").describe("Hotel id, as travel_booking_search_hotels gives it");

export const hotelBookingId = id("hotel_booking").describe(
  "Id of the stay, as travel_booking_list_bookings gives it",
);

export const room = z.enum(roomKinds).describe("Kind of room");

export const guests = z
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
export function nights({ check_in, check_out }: Nights, now: string): number {
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
export function roomsLeft(
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
export function priceOf(
  agency: Agency,
  hotelId: string,
  stay: Stay,
  now: string,
  but?: string,
): number {
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
export function requireNoSecondStay(
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
export function ahead(agency: Agency, bookingId: string, now: string): HotelBooking {
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

export const cheapest = (hotel: Hotel) => Math.min(...hotel.rooms.map(it => it.price));
