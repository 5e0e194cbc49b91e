/** Rules and prices of hotel stays, and the available rooms. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { refuse } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import {
  type TravelBookingState,
  cancelDays,
  hotelBookings,
  hotels,
  roomKinds,
  type Hotel,
  type HotelBooking,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const hotelBookingId = hotelBookings.id.describe(
  "Id of the stay, as travel_booking_list_bookings gives it",
);

export const room = z.enum(roomKinds).describe("Kind of room");

export const guests = z
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
export function requireValidNights({ check_in, check_out }: Nights, now: string): number {
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
export function countRoomsLeft(
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
export function computeStayPrice(
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
export function isFreeToCancel({ cancellation }: Hotel, checkIn: string, now: string): boolean {
  const days = cancelDays[cancellation];
  return days !== undefined && daysBetween(now.slice(0, 10), checkIn) >= days;
}

/**
 * Refuses a change after which cancelling would cost less than cancelling now: less of a strict
 * stay, or a later first night or a cheaper room of a stay that is no longer free to cancel.
 */
export function requireNoEvadedFee(
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
export function requireNoSecondStay(
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
export function findUpcomingStay(
  state: TravelBookingState,
  bookingId: string,
  now: string,
): HotelBooking {
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

export const getLowestPrice = (hotel: Hotel) => Math.min(...hotel.rooms.map(it => it.price));
