/**
 * Generates the bookings of a travel agency: flights and stays of every state and fare, and the
 * itineraries that contain them.
 */
import { addDays, daysBetween } from "../../environment/time.ts";
import type { TravelBookingState } from "./state.ts";
import type { GeneratorContext } from "../shared/generator.ts";

type TravelOffers = Pick<TravelBookingState, "flights" | "hotels" | "travellers" | "airports">;
type GeneratedBookings = Pick<
  TravelBookingState,
  "flight_bookings" | "hotel_bookings" | "itineraries"
>;
type FlightBooking = TravelBookingState["flight_bookings"][string];
type HotelBooking = TravelBookingState["hotel_bookings"][string];

const fares = ["standard", "light", "flex"] as const;
const factors = { light: 1, standard: 1.35, flex: 1.9 } as const;

/** Removes the booked seats from the flights. */
export const generateBookings = (
  context: GeneratorContext,
  offers: TravelOffers,
): GeneratedBookings =>
  context.size === "small"
    ? generateFewBookings(context, offers)
    : generateManyBookings(context, offers);

function generateFewBookings(context: GeneratorContext, offers: TravelOffers): GeneratedBookings {
  const flight_bookings = createFewFlightBookings(context, offers);
  const hotel_bookings = createFewStays(context, offers);
  const [, out] = Object.values(flight_bookings);
  const [stay] = Object.values(hotel_bookings);
  return {
    flight_bookings,
    hotel_bookings,
    itineraries: {
      [context.nextId("iti")]: {
        name: "Lisbon long weekend",
        bookings: [out!.reference, stay!.reference],
      },
      [context.nextId("iti")]: { name: "Summer ideas", bookings: [] },
    },
  };
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const usedReferences = new WeakMap<GeneratorContext, Set<string>>();

/** Three letters and three digits, unique within a fixture. */
function createReference(context: GeneratorContext): string {
  const used = usedReferences.get(context) ?? new Set();
  usedReferences.set(context, used);
  for (;;) {
    const word = Array.from(
      { length: 3 },
      () => letters[context.random.integer(letters.length)]!,
    ).join("");
    const candidate = word + String(100 + context.random.integer(900));
    if (!used.has(candidate)) {
      used.add(candidate);
      return candidate;
    }
  }
}

function createFlightBooking(
  context: GeneratorContext,
  { flights }: TravelOffers,
  flightId: string,
  traveller_id: string,
  fare: FlightBooking["fare"],
  status: FlightBooking["status"] = "confirmed",
): FlightBooking {
  const flight = flights[flightId]!;
  const seat = context.random.pick(flight.free);
  if (status === "confirmed") flight.free = flight.free.filter(it => it !== seat);
  const price = Math.round(flight.price * factors[fare]);
  return {
    reference: createReference(context),
    flight_id: flightId,
    traveller_id,
    fare,
    seat,
    paid: status === "cancelled" && fare === "flex" ? 0 : price,
    status,
  };
}

function createFewFlightBookings(
  context: GeneratorContext,
  offers: TravelOffers,
): GeneratedBookings["flight_bookings"] {
  const [past, , next, , , back, cancelled] = Object.keys(offers.flights) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [self, brother] = Object.keys(offers.travellers) as [string, string];
  const createEntry = (
    flightId: string,
    traveller: string,
    fare: FlightBooking["fare"],
    status?: FlightBooking["status"],
  ) =>
    [
      context.nextId("fbk"),
      createFlightBooking(context, offers, flightId, traveller, fare, status),
    ] as const;
  return Object.fromEntries([
    createEntry(past, self, "flex"),
    createEntry(next, self, "standard"),
    createEntry(back, self, "light"),
    createEntry(cancelled, self, "light"),
    createEntry(next, brother, "flex", "cancelled"),
  ]);
}

const passportCountries = ["United Kingdom", "Ireland"];

interface RoundTrip {
  readonly city: string;
  readonly out: string;
  readonly back: string;
  readonly traveller: string;
}

/**
 * Plans flights there and back with at least one night between. Each city is used once, trips of a
 * traveller do not overlap, and every traveller has a valid document.
 */
function planRoundTrips(
  { random, cast }: GeneratorContext,
  { flights, travellers, airports }: TravelOffers,
  visitedAirports: ReadonlySet<string>,
): RoundTrip[] {
  const home = cast.home.airport;
  const openFlights = Object.entries(flights)
    .filter(
      ([, it]) => it.free.length > 0 && it.status !== "cancelled" && it.departs > "2026-03-10",
    )
    .sort(([, a], [, b]) => (a.departs < b.departs ? -1 : 1));
  const [self, ...others] = Object.keys(travellers) as [string, ...string[]];
  const busyUntil = new Map<string, string>();
  const journeys: RoundTrip[] = [];
  for (const [i, code] of random
    .shuffle(Object.keys(airports).filter(it => it !== home && !visitedAirports.has(it)))
    .entries()) {
    const isAbroad = passportCountries.includes(airports[code]!.country);
    const journey = (i % 2 === 0 ? [self, ...others] : [...random.shuffle(others), self]).flatMap(
      traveller => {
        const { document } = travellers[traveller]!;
        const out = openFlights.find(
          ([, it]) =>
            it.from === home && it.to === code && it.departs > (busyUntil.get(traveller) ?? ""),
        );
        const back =
          out &&
          openFlights.find(
            ([, it]) =>
              it.from === code &&
              it.to === home &&
              it.departs.slice(0, 10) > out[1].departs.slice(0, 10),
          );
        const canTravel =
          back &&
          document.expires >= back[1].departs &&
          (!isAbroad || document.kind === "passport");
        return canTravel &&
          daysBetween(out[1].departs.slice(0, 10), back[1].departs.slice(0, 10)) <= 12
          ? [{ city: airports[code]!.city, out: out[0], back: back[0], traveller }]
          : [];
      },
    )[0];
    if (!journey) continue;
    busyUntil.set(journey.traveller, flights[journey.back]!.departs);
    journeys.push(journey);
  }
  return journeys;
}

function generateManyBookings(context: GeneratorContext, offers: TravelOffers): GeneratedBookings {
  const { flights, hotels } = offers;
  const bookings: GeneratedBookings = { flight_bookings: {}, hotel_bookings: {}, itineraries: {} };
  const addFlightBooking = (
    flightId: string,
    traveller: string,
    n: number,
    status?: FlightBooking["status"],
  ) => {
    const booking = createFlightBooking(
      context,
      offers,
      flightId,
      traveller,
      fares[n % 3]!,
      status,
    );
    if (n % 5 === 3 && booking.paid > 0)
      booking.insurance = createInsurance(booking.paid, n % 2 ? "plus" : "basic");
    bookings.flight_bookings[context.nextId("fbk")] = booking;
    return booking.reference;
  };
  const addStay = (
    city: string,
    traveller: string,
    from: string,
    to: string,
    n: number,
    status?: HotelBooking["status"],
  ) => {
    const hotelId = context.random.pick(
      Object.keys(hotels).filter(
        it =>
          hotels[it]!.city === city &&
          Object.values(bookings.hotel_bookings).every(other => other.hotel_id !== it),
      ),
    );
    const booking = createStay(context, offers, hotelId, traveller, from, to, status);
    if (n % 4 === 1 && booking.paid > 0) booking.insurance = createInsurance(booking.paid, "plus");
    bookings.hotel_bookings[context.nextId("hbk")] = booking;
    return booking.reference;
  };
  const [self] = Object.keys(offers.travellers) as [string];
  const visitedAirports = new Set<string>();
  for (const [i, [flightId, it]] of Object.entries(flights)
    .filter(([, it]) => it.departs < context.cast.now)
    .entries()) {
    addFlightBooking(flightId, self, i);
    const day = it.departs.slice(0, 10);
    addStay(offers.airports[it.to]!.city, self, day, addDays(day, 2), i);
    visitedAirports.add(it.to);
  }
  for (const [i, { city, out, back, traveller }] of planRoundTrips(
    context,
    offers,
    visitedAirports,
  ).entries()) {
    const cancelled = i % 6 === 4 ? "cancelled" : undefined;
    const [leaves, returns] = [out, back].map(it => flights[it]!.departs.slice(0, 10)) as [
      string,
      string,
    ];
    const references = [
      addFlightBooking(out, traveller, i, cancelled),
      addStay(city, traveller, leaves, returns, i, cancelled),
      ...(i % 3 === 2 ? [] : [addFlightBooking(back, traveller, i + 1, cancelled)]),
    ];
    const name = createItineraryName(context, city);
    if (
      cancelled === undefined &&
      Object.values(bookings.itineraries).every(it => it.name !== name)
    )
      bookings.itineraries[context.nextId("iti")] = {
        name,
        bookings: i % 4 === 3 ? [] : references.slice(0, 2),
      };
  }
  // cancelled flights with bookings, on routes without another booking
  const routes = new Set(
    Object.values(bookings.flight_bookings).map(
      it => `${flights[it.flight_id]!.from} ${flights[it.flight_id]!.to}`,
    ),
  );
  for (const [i, [flightId, it]] of Object.entries(flights)
    .filter(([, it]) => it.status === "cancelled" && it.free.length > 0)
    .entries()) {
    if (
      routes.has(`${it.from} ${it.to}`) ||
      passportCountries.includes(offers.airports[it.to]!.country)
    )
      continue;
    routes.add(`${it.from} ${it.to}`);
    addFlightBooking(flightId, self, i + 1);
  }
  bookings.itineraries[context.nextId("iti")] = { name: "Summer ideas", bookings: [] };
  return bookings;
}

/** Names the client in the city, or just the city. */
function createItineraryName({ cast }: GeneratorContext, city: string): string {
  const client = cast.clients.find(it => it.city === city);
  return client ? `${client.name} visit` : `Days in ${city}`;
}

const createInsurance = (paid: number, cover: "basic" | "plus") => ({
  cover,
  price:
    Math.round(
      Math.max(cover === "basic" ? 6 : 12, paid * (cover === "basic" ? 0.04 : 0.09)) * 100,
    ) / 100,
});

function createStay(
  context: GeneratorContext,
  { hotels }: TravelOffers,
  hotel_id: string,
  traveller_id: string,
  check_in: string,
  check_out: string,
  status: HotelBooking["status"] = "confirmed",
): HotelBooking {
  const hotel = hotels[hotel_id]!;
  const room = hotel.rooms.find(it => it.kind === "double")!;
  // the booked room must not be listed as full
  hotel.full = hotel.full.filter(
    it => it.kind !== room.kind || it.to <= check_in || check_out <= it.from,
  );
  const paid = status === "cancelled" ? 0 : room.price * daysBetween(check_in, check_out);
  return {
    reference: createReference(context),
    hotel_id,
    traveller_id,
    room: room.kind,
    guests: context.random.boolean(0.4) ? 2 : 1,
    check_in,
    check_out,
    paid,
    status,
  };
}

function createFewStays(
  context: GeneratorContext,
  offers: TravelOffers,
): GeneratedBookings["hotel_bookings"] {
  const [first, second, third, london] = Object.keys(offers.hotels) as [
    string,
    string,
    string,
    string,
  ];
  const [self, brother] = Object.keys(offers.travellers) as [string, string];
  const stays = [
    createStay(context, offers, first, self, "2026-03-12", "2026-03-16"),
    createStay(context, offers, london, self, "2026-03-20", "2026-03-22"),
    createStay(context, offers, second, self, "2026-02-23", "2026-02-25"),
    createStay(context, offers, third, brother, "2026-03-29", "2026-04-01", "cancelled"),
  ];
  return Object.fromEntries(stays.map(it => [context.nextId("hbk"), it]));
}
