/**
 * A travel agency as its customer sees it: airports and flights with their free seats, hotels with
 * their rooms, travellers and their documents, bookings with what was paid for them, and
 * itineraries. Money is in euros, all times are those of the home city.
 */
import { z } from "zod";
import { cents, day, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { roundToCents } from "../../environment/amounts.ts";

export const fares = ["light", "standard", "flex"] as const;
export type Fare = (typeof fares)[number];
export const roomKinds = ["single", "double", "family", "suite"] as const;
export const covers = ["basic", "plus"] as const;

/** What a fare costs and allows. */
export const fareRules: Readonly<
  Record<
    Fare,
    {
      readonly factor: number;
      readonly changeFee: number | undefined;
      readonly refund: number;
      readonly hours: number;
      readonly seatFee: number;
    }
  >
> = {
  light: { factor: 1, changeFee: undefined, refund: 0, hours: 0, seatFee: 9 },
  standard: { factor: 1.35, changeFee: 35, refund: 0.6, hours: 24, seatFee: 0 },
  flex: { factor: 1.9, changeFee: 0, refund: 1, hours: 2, seatFee: 0 },
};

/**
 * Hours before departure at which a flight closes, and what a seat with more room for the legs
 * costs.
 */
export const closes = 1;
export const legroomFee = 18;

/**
 * Days before check-in up to which a stay is cancelled for nothing; `strict` gives nothing back.
 */
export const cancelDays = { flexible: 1, moderate: 5, strict: undefined } as const;

const amount = z.number().min(0).max(1_000_000);
const seat = z.string().regex(/^[1-9]\d?[A-F]$/);
const reference = z.string().regex(/^[A-Z]{3}\d{3}$/);
const insurance = z.strictObject({ cover: z.enum(covers), price: amount }).optional();

const Airport = z.strictObject({ name: z.string(), city: z.string(), country: z.string() });

const Flight = z.strictObject({
  number: z.string().regex(/^[A-Z]{2} \d{2,4}$/),
  from: z.string(),
  to: z.string(),
  departs: minute(),
  minutes: z.int().min(30).max(900),
  /** Of the cheapest fare. */
  price: amount,
  rows: z.int().min(4).max(40),
  /** Seats that nobody has. Rows have the letters A to D. */
  free: z.array(seat).max(160),
  status: z.enum(["scheduled", "delayed", "cancelled"]),
});
export type Flight = z.infer<typeof Flight>;

const Room = z.strictObject({
  kind: z.enum(roomKinds),
  price: amount,
  sleeps: z.int().min(1).max(6),
  count: z.int().min(0).max(20),
});

const Hotel = z.strictObject({
  name: z.string(),
  city: z.string(),
  address: z.string(),
  stars: z.int().min(1).max(5),
  rating: z.number().min(1).max(10),
  cancellation: z.enum(["flexible", "moderate", "strict"]),
  rooms: z.array(Room).min(1).max(4),
  /**
   * Nights on which other guests have all rooms of a kind; `to` is the morning on which they are
   * free again.
   */
  full: z.array(z.strictObject({ kind: z.enum(roomKinds), from: day(), to: day() })).max(8),
});
export type Hotel = z.infer<typeof Hotel>;

const Traveller = z.strictObject({
  name: z.string(),
  document: z.strictObject({
    kind: z.enum(["passport", "identity card"]),
    number: z.string(),
    expires: day(),
  }),
});

const FlightBooking = z.strictObject({
  reference,
  flight_id: z.string(),
  traveller_id: z.string(),
  fare: z.enum(fares),
  seat,
  paid: amount,
  status: z.enum(["confirmed", "cancelled"]),
  insurance,
});
export type FlightBooking = z.infer<typeof FlightBooking>;

const HotelBooking = z.strictObject({
  reference,
  hotel_id: z.string(),
  traveller_id: z.string(),
  room: z.enum(roomKinds),
  guests: z.int().min(1).max(6),
  check_in: day(),
  check_out: day(),
  paid: amount,
  status: z.enum(["confirmed", "cancelled"]),
  insurance,
});
export type HotelBooking = z.infer<typeof HotelBooking>;

const Itinerary = z.strictObject({ name: z.string(), bookings: z.array(z.string()).max(12) });

export const Agency = z.strictObject({
  customer: z.string(),
  /** Traveller who is the customer. */
  self: z.string(),
  home_country: z.string(),
  airlines: z.record(z.string(), z.string()),
  /** By code. */
  airports: z.record(z.string(), Airport),
  flights: z.record(z.string(), Flight),
  hotels: z.record(z.string(), Hotel),
  travellers: z.record(z.string(), Traveller),
  flight_bookings: z.record(z.string(), FlightBooking),
  hotel_bookings: z.record(z.string(), HotelBooking),
  itineraries: z.record(z.string(), Itinerary),
  /** The card that pays: what can still be spent with it. */
  card: z.strictObject({ name: z.string(), left: cents() }),
});
export type Agency = z.infer<typeof Agency>;

export const nightsOf = (from: string, to: string): number => daysBetween(from, to);

export const flightOf = (agency: Agency, id: string) =>
  findEntity(agency.flights, id, "flight", "travel_booking_search_flights gives the ids");
export const hotelOf = (agency: Agency, id: string) =>
  findEntity(agency.hotels, id, "hotel", "travel_booking_search_hotels gives the ids");
export const flightBookingOf = (agency: Agency, id: string) =>
  findEntity(
    agency.flight_bookings,
    id,
    "flight booking",
    "travel_booking_list_bookings gives the ids",
  );
export const hotelBookingOf = (agency: Agency, id: string) =>
  findEntity(
    agency.hotel_bookings,
    id,
    "hotel booking",
    "travel_booking_list_bookings gives the ids",
  );

/** `Port Alder to Lisbon` */
export const routeOf = (agency: Agency, { from, to }: Pick<Flight, "from" | "to">): string =>
  `${agency.airports[from]!.city} to ${agency.airports[to]!.city}`;

/** The traveller of that name; the customer where none is given. */
export function travellerNamed({ travellers, self }: Agency, name: string | undefined): string {
  if (name === undefined) return self;
  const wanted = name.trim().toLowerCase();
  const found = Object.entries(travellers).find(([, it]) => it.name.toLowerCase() === wanted);
  return (
    found?.[0] ??
    refuse(
      "not_found",
      `there is no traveller ${name}`,
      `there are ${Object.values(travellers)
        .map(it => it.name)
        .join(", ")}`,
    )
  );
}

/**
 * Takes money from the card, or gives it back where the amount is negative. `agency` is the draft.
 */
export function charge(agency: Agency, euros: number, what: string): void {
  const { card } = agency;
  if (euros > card.left)
    refuse(
      "precondition_failed",
      `${what} costs ${roundToCents(euros)}, and the ${card.name} has ${card.left} left`,
      "choose something cheaper, or cancel another booking first",
    );
  if (euros !== 0) card.left = roundToCents(card.left - euros);
}

/** Three letters and three digits. Letters that are taken for digits are left out. */
export function newReference(random: () => number): string {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
  const of = (signs: string, n: number) =>
    Array.from({ length: n }, () => signs[Math.floor(random() * signs.length)]!).join("");
  return of(letters, 3) + of("0123456789", 3);
}
