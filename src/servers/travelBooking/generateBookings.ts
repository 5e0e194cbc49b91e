/**
 * What has been booked in a world's travel agency: flights and stays of each state and fare, and
 * the itineraries that hold them. Knows how flights and hotels look, not where they come from.
 */
import { addDays, daysBetween } from "../../environment/time.ts";
import type { Agency } from "./server.ts";
import type { GeneratorContext } from "../shared/generator.ts";

type Ground = Pick<Agency, "flights" | "hotels" | "travellers" | "airports">;
type Booked = Pick<Agency, "flight_bookings" | "hotel_bookings" | "itineraries">;
type FlightBooking = Agency["flight_bookings"][string];
type HotelBooking = Agency["hotel_bookings"][string];

const fares = ["standard", "light", "flex"] as const;
const factors = { light: 1, standard: 1.35, flex: 1.9 } as const;

/** Takes seats out of the flights that it books. */
export const bookedOf = (context: GeneratorContext, ground: Ground): Booked =>
  context.size === "small" ? addFewBookings(context, ground) : addManyBookings(context, ground);

function addFewBookings(context: GeneratorContext, ground: Ground): Booked {
  const flight_bookings = fewFlights(context, ground);
  const hotel_bookings = fewStays(context, ground);
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
const takenReferences = new WeakMap<GeneratorContext, Set<string>>();

/** Three letters and three digits, none given twice in a scene. */
function reference(context: GeneratorContext): string {
  const known = takenReferences.get(context) ?? new Set();
  takenReferences.set(context, known);
  for (;;) {
    const word = Array.from(
      { length: 3 },
      () => letters[context.random.integer(letters.length)]!,
    ).join("");
    const made = word + String(100 + context.random.integer(900));
    if (!known.has(made)) {
      known.add(made);
      return made;
    }
  }
}

function flightBooking(
  context: GeneratorContext,
  { flights }: Ground,
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
    reference: reference(context),
    flight_id: flightId,
    traveller_id,
    fare,
    seat,
    paid: status === "cancelled" && fare === "flex" ? 0 : price,
    status,
  };
}

function fewFlights(context: GeneratorContext, ground: Ground): Booked["flight_bookings"] {
  const [past, , next, , , back, calledOff] = Object.keys(ground.flights) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [self, brother] = Object.keys(ground.travellers) as [string, string];
  const book = (
    flightId: string,
    traveller: string,
    fare: FlightBooking["fare"],
    status?: FlightBooking["status"],
  ) =>
    [
      context.nextId("fbk"),
      flightBooking(context, ground, flightId, traveller, fare, status),
    ] as const;
  return Object.fromEntries([
    book(past, self, "flex"),
    book(next, self, "standard"),
    book(back, self, "light"),
    book(calledOff, self, "light"),
    book(next, brother, "flex", "cancelled"),
  ]);
}

const abroad = ["United Kingdom", "Ireland"];

interface Journey {
  readonly city: string;
  readonly out: string;
  readonly back: string;
  readonly traveller: string;
}

/**
 * There and back with nights between, each city once, nobody in two places, everybody with a
 * document that is enough.
 */
function journeysOf(
  { random, cast }: GeneratorContext,
  { flights, travellers, airports }: Ground,
  seen: ReadonlySet<string>,
): Journey[] {
  const home = cast.home.airport;
  const open = Object.entries(flights)
    .filter(
      ([, it]) => it.free.length > 0 && it.status !== "cancelled" && it.departs > "2026-03-10",
    )
    .sort(([, a], [, b]) => (a.departs < b.departs ? -1 : 1));
  const [self, ...others] = Object.keys(travellers) as [string, ...string[]];
  const until = new Map<string, string>();
  const journeys: Journey[] = [];
  for (const [i, code] of random
    .shuffle(Object.keys(airports).filter(it => it !== home && !seen.has(it)))
    .entries()) {
    const isAbroad = abroad.includes(airports[code]!.country);
    const found = (i % 2 === 0 ? [self, ...others] : [...random.shuffle(others), self]).flatMap(
      traveller => {
        const { document } = travellers[traveller]!;
        const out = open.find(
          ([, it]) =>
            it.from === home && it.to === code && it.departs > (until.get(traveller) ?? ""),
        );
        const back =
          out &&
          open.find(
            ([, it]) =>
              it.from === code &&
              it.to === home &&
              it.departs.slice(0, 10) > out[1].departs.slice(0, 10),
          );
        const mayGo =
          back &&
          document.expires >= back[1].departs &&
          (!isAbroad || document.kind === "passport");
        return mayGo && daysBetween(out[1].departs.slice(0, 10), back[1].departs.slice(0, 10)) <= 12
          ? [{ city: airports[code]!.city, out: out[0], back: back[0], traveller }]
          : [];
      },
    )[0];
    if (!found) continue;
    until.set(found.traveller, flights[found.back]!.departs);
    journeys.push(found);
  }
  return journeys;
}

function addManyBookings(context: GeneratorContext, ground: Ground): Booked {
  const { flights, hotels } = ground;
  const booked: Booked = { flight_bookings: {}, hotel_bookings: {}, itineraries: {} };
  const fly = (
    flightId: string,
    traveller: string,
    n: number,
    status?: FlightBooking["status"],
  ) => {
    const made = flightBooking(context, ground, flightId, traveller, fares[n % 3]!, status);
    if (n % 5 === 3 && made.paid > 0) made.insurance = insured(made.paid, n % 2 ? "plus" : "basic");
    booked.flight_bookings[context.nextId("fbk")] = made;
    return made.reference;
  };
  const sleep = (
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
          Object.values(booked.hotel_bookings).every(other => other.hotel_id !== it),
      ),
    );
    const made = stay(context, ground, hotelId, traveller, from, to, status);
    if (n % 4 === 1 && made.paid > 0) made.insurance = insured(made.paid, "plus");
    booked.hotel_bookings[context.nextId("hbk")] = made;
    return made.reference;
  };
  const [self] = Object.keys(ground.travellers) as [string];
  const seen = new Set<string>();
  for (const [i, [flightId, it]] of Object.entries(flights)
    .filter(([, it]) => it.departs < context.cast.now)
    .entries()) {
    fly(flightId, self, i);
    const day = it.departs.slice(0, 10);
    sleep(ground.airports[it.to]!.city, self, day, addDays(day, 2), i);
    seen.add(it.to);
  }
  for (const [i, { city, out, back, traveller }] of journeysOf(context, ground, seen).entries()) {
    const calledOff = i % 6 === 4 ? "cancelled" : undefined;
    const [leaves, returns] = [out, back].map(it => flights[it]!.departs.slice(0, 10)) as [
      string,
      string,
    ];
    const own = [
      fly(out, traveller, i, calledOff),
      sleep(city, traveller, leaves, returns, i, calledOff),
      ...(i % 3 === 2 ? [] : [fly(back, traveller, i + 1, calledOff)]),
    ];
    const name = nameOf(context, city);
    if (calledOff === undefined && Object.values(booked.itineraries).every(it => it.name !== name))
      booked.itineraries[context.nextId("iti")] = {
        name,
        bookings: i % 4 === 3 ? [] : own.slice(0, 2),
      };
  }
  // flights that were called off under their passengers, on routes of which there is no other
  // booking
  const routes = new Set(
    Object.values(booked.flight_bookings).map(
      it => `${flights[it.flight_id]!.from} ${flights[it.flight_id]!.to}`,
    ),
  );
  for (const [i, [flightId, it]] of Object.entries(flights)
    .filter(([, it]) => it.status === "cancelled" && it.free.length > 0)
    .entries()) {
    if (routes.has(`${it.from} ${it.to}`) || abroad.includes(ground.airports[it.to]!.country))
      continue;
    routes.add(`${it.from} ${it.to}`);
    fly(flightId, self, i + 1);
  }
  booked.itineraries[context.nextId("iti")] = { name: "Summer ideas", bookings: [] };
  return booked;
}

/** Whom one visits there, or just where. */
function nameOf({ cast }: GeneratorContext, city: string): string {
  const client = cast.clients.find(it => it.city === city);
  return client ? `${client.name} visit` : `Days in ${city}`;
}

const insured = (paid: number, cover: "basic" | "plus") => ({
  cover,
  price:
    Math.round(
      Math.max(cover === "basic" ? 6 : 12, paid * (cover === "basic" ? 0.04 : 0.09)) * 100,
    ) / 100,
});

function stay(
  context: GeneratorContext,
  { hotels }: Ground,
  hotel_id: string,
  traveller_id: string,
  check_in: string,
  check_out: string,
  status: HotelBooking["status"] = "confirmed",
): HotelBooking {
  const hotel = hotels[hotel_id]!;
  const room = hotel.rooms.find(it => it.kind === "double")!;
  // whoever has the room has it, whatever is full for others
  hotel.full = hotel.full.filter(
    it => it.kind !== room.kind || it.to <= check_in || check_out <= it.from,
  );
  const paid = status === "cancelled" ? 0 : room.price * daysBetween(check_in, check_out);
  return {
    reference: reference(context),
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

function fewStays(context: GeneratorContext, ground: Ground): Booked["hotel_bookings"] {
  const [first, second, third, london] = Object.keys(ground.hotels) as [
    string,
    string,
    string,
    string,
  ];
  const [self, brother] = Object.keys(ground.travellers) as [string, string];
  const stays = [
    stay(context, ground, first, self, "2026-03-12", "2026-03-16"),
    stay(context, ground, london, self, "2026-03-20", "2026-03-22"),
    stay(context, ground, second, self, "2026-02-23", "2026-02-25"),
    stay(context, ground, third, brother, "2026-03-29", "2026-04-01", "cancelled"),
  ];
  return Object.fromEntries(stays.map(it => [context.nextId("hbk"), it]));
}
