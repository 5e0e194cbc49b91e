/**
 * The state of a travel agency for one customer: airports, flights with free seats, hotels with
 * rooms, travellers and their documents, bookings and itineraries. Money is in euros; all times are
 * those of the home city.
 */
import { z } from "zod";
import { cents, day, minute } from "../../environment/fieldSchemas.ts";
import type { IssueContext, References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";

export const fares = ["light", "standard", "flex"] as const;
export type Fare = (typeof fares)[number];
export const roomKinds = ["single", "double", "family", "suite"] as const;
export const insuranceCovers = ["basic", "plus"] as const;

/**
 * Price factor, fee for changes, share that is refunded, hours before departure until which that
 * applies, and fee for choosing a seat, by fare.
 */
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

/** Hours before departure at which a flight closes. */
export const closingHours = 1;
/** The price of a seat with more legroom. */
export const legroomFee = 18;

/** Days before check-in until which a stay is refunded in full; `strict` is never refunded. */
export const cancelDays = { flexible: 1, moderate: 5, strict: undefined } as const;

const amount = z.number().min(0).max(1_000_000);
const seat = z.string().regex(/^[1-9]\d?[A-F]$/);
const reference = z.string().regex(/^[A-Z]{3}\d{3}$/);
const insurance = z.strictObject({ cover: z.enum(insuranceCovers), price: amount }).optional();

const Airport = z.strictObject({ name: z.string(), city: z.string(), country: z.string() });

const Flight = z.strictObject({
  number: z.string().regex(/^[A-Z]{2} \d{2,4}$/),
  from: z.string(),
  to: z.string(),
  departs: minute(),
  minutes: z.int().min(30).max(900),
  /** The price of the cheapest fare. */
  price: amount,
  rows: z.int().min(4).max(40),
  /** The free seats. Rows have the letters A to D. */
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
   * Nights on which all rooms of a kind are taken by others; `to` is the day of their departure.
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
  /** How much less that is than before, because changes to cheaper flights gave it back. */
  given_back: amount.optional(),
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

export const references = {
  self: "travellers",
  "flights.*.from": "airports",
  "flights.*.to": "airports",
  "flight_bookings.*.flight_id": "flights",
  "flight_bookings.*.traveller_id": "travellers",
  "hotel_bookings.*.hotel_id": "hotels",
  "hotel_bookings.*.traveller_id": "travellers",
} satisfies References;

type Bookings = Pick<TravelBookingState, "flight_bookings" | "hotel_bookings">;

const listReferences = ({ flight_bookings, hotel_bookings }: Bookings): ReadonlySet<string> =>
  new Set(
    [...Object.values(flight_bookings), ...Object.values(hotel_bookings)].map(it => it.reference),
  );

/** Reports the bookings of itineraries that do not exist, and airlines that have no name. */
function checkReferenceNumbers(
  {
    airlines,
    flights,
    flight_bookings,
    hotel_bookings,
    itineraries,
  }: Bookings & Pick<TravelBookingState, "airlines" | "flights" | "itineraries">,
  context: IssueContext,
): void {
  const addIssue = (path: (string | number)[], message: string) =>
    context.addIssue({ code: "custom", path, message });
  const references = listReferences({ flight_bookings, hotel_bookings });
  for (const [id, it] of Object.entries(flights))
    if (!Object.hasOwn(airlines, it.number.slice(0, 2)))
      addIssue(["flights", id, "number"], `there is no airline ${it.number.slice(0, 2)}`);
  for (const [id, it] of Object.entries(itineraries))
    for (const [i, reference] of it.bookings.entries())
      if (!references.has(reference))
        addIssue(["itineraries", id, "bookings", i], `there is no booking ${reference}`);
}

export const TravelBookingState = z
  .strictObject({
    customer: z.string(),
    /** The traveller who is the customer. */
    self: z.string(),
    home_country: z.string(),
    airlines: z.record(z.string(), z.string()),
    /** By airport code. */
    airports: z.record(z.string(), Airport),
    flights: z.record(z.string(), Flight),
    hotels: z.record(z.string(), Hotel),
    travellers: z.record(z.string(), Traveller),
    flight_bookings: z.record(z.string(), FlightBooking),
    hotel_bookings: z.record(z.string(), HotelBooking),
    itineraries: z.record(z.string(), Itinerary),
    /** The card that pays, and the amount left on it. */
    card: z.strictObject({ name: z.string(), left: cents() }),
  })
  .superRefine(checkReferenceNumbers);
export type TravelBookingState = z.infer<typeof TravelBookingState>;

const table = createTableFactory(TravelBookingState);
export const flights = table("flights", {
  entity: "flight",
  idsFrom: "travel_booking_search_flights",
});
export const hotels = table("hotels", { entity: "hotel", idsFrom: "travel_booking_search_hotels" });
export const airports = table("airports", {
  entity: "airport",
  idsFrom: "travel_booking_search_airports",
  hint: "travel_booking_search_airports gives the codes",
  isSpoken: true,
});
export const flightBookings = table("flight_bookings", {
  entity: "flight_booking",
  noun: "flight booking",
  idsFrom: "travel_booking_list_bookings",
});
export const hotelBookings = table("hotel_bookings", {
  entity: "hotel_booking",
  noun: "hotel booking",
  idsFrom: "travel_booking_list_bookings",
});
export const itineraries = table("itineraries", {
  entity: "itinerary",
  idsFrom: "travel_booking_list_itineraries",
});

/** `Port Alder to Lisbon` */
export const formatRoute = (
  state: TravelBookingState,
  { from, to }: Pick<Flight, "from" | "to">,
): string => `${state.airports[from]!.city} to ${state.airports[to]!.city}`;

/** The id of the traveller with that name; the customer's without a name. */
export function findTravellerId(
  { travellers, self }: TravelBookingState,
  name: string | undefined,
): string {
  if (name === undefined) return self;
  const normalizedName = name.trim().toLowerCase();
  const match = Object.entries(travellers).find(
    ([, it]) => it.name.toLowerCase() === normalizedName,
  );
  return (
    match?.[0] ??
    refuse(
      "not_found",
      `there is no traveller ${name}`,
      `there are ${Object.values(travellers)
        .map(it => it.name)
        .join(", ")}`,
    )
  );
}

/** Charges the card, or refunds it if the amount is negative. `state` must be the draft. */
export function chargeCard(state: TravelBookingState, amount: number, description: string): void {
  const { card } = state;
  if (amount > card.left)
    refuse(
      "precondition_failed",
      `${description} costs ${roundToCents(amount)}, and the ${card.name} has ${card.left} left`,
      "choose something cheaper, or cancel another booking first",
    );
  if (amount !== 0) card.left = roundToCents(card.left - amount);
}

/** A reference that no booking has: three letters, none that looks like a digit, three digits. */
export function createReference(state: TravelBookingState, random: () => number): string {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
  const pickCharacters = (characters: string, n: number) =>
    Array.from({ length: n }, () => characters[Math.floor(random() * characters.length)]!).join("");
  const used = listReferences(state);
  for (;;) {
    const reference = pickCharacters(letters, 3) + pickCharacters("0123456789", 3);
    if (!used.has(reference)) return reference;
  }
}

const compareSeats = (a: string, b: string) =>
  Number(a.slice(0, -1)) - Number(b.slice(0, -1)) || (a < b ? -1 : 1);

/** Takes a seat of a flight, gives one back, or both. */
export function updateFreeSeats(
  state: TravelBookingState,
  flightId: string,
  change: { take?: string; release?: string },
): void {
  const { free } = getOriginal(state).flights[flightId]!;
  const remaining = free.filter(it => it !== change.take);
  state.flights[flightId]!.free =
    change.release === undefined ? remaining : [...remaining, change.release].sort(compareSeats);
}
