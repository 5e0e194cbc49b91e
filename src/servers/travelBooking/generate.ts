/**
 * The travel agency of a world: flights between the canon's airports in the weeks around now,
 * hotels in its cities, who travels with the user, and what they have booked. The hotels are those
 * of the map.
 */
import type { Random } from "../../environment/random.ts";
import { server, type Agency } from "./server.ts";
import type { Atlas } from "../maps/server.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { City } from "../shared/cities.ts";
import { hotels as away } from "../shared/cities.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { bookedOf } from "./generateBookings.ts";
import { dayAfterStart } from "../shared/startTime.ts";

type Hotel = Agency["hotels"][string];
type Flight = Agency["flights"][string];

const airlines = {
  VL: "Vela Airways",
  NT: "Norte Air",
  BO: "Borealis",
  SW: "Stork Wings",
  CE: "Celeste",
} as const;

const smallCities = ["Lisbon", "London"];

export const generator = defineGenerator<Agency>({
  server,
  generate(context) {
    const { cast, size } = context;
    const cities = cast.cities.filter(
      (it, i) => i === 0 || size === "full" || smallCities.includes(it.name),
    );
    const airports = Object.fromEntries(
      cities.map(it => [
        it.airport,
        { name: `${it.name} Airport`, city: it.name, country: it.country },
      ]),
    );
    const flights = Object.fromEntries(
      (size === "small" ? fewFlights(cast) : manyFlights(context)).map(it => [
        context.nextId("flt"),
        flightOf(context, it),
      ]),
    );
    const hotels = Object.fromEntries(hotelsOf(context).map(it => [context.nextId("htl"), it]));
    const companions = cast.friends.slice(0, size === "small" ? 2 : 6).map(it => it.name);
    const travellers = Object.fromEntries(
      [cast.user.name, ...companions].map((name, i) => [
        context.nextId("trv"),
        { name, document: documents[i]! },
      ]),
    );
    return {
      customer: cast.user.name,
      self: Object.keys(travellers)[0]!,
      home_country: cast.home.country,
      airlines,
      airports,
      flights,
      hotels,
      travellers,
      ...bookedOf(context, { flights, hotels, travellers, airports }),
      card: { name: "Travel card", left: size === "small" ? 1250 : 3180.4 },
    };
  },
  findInconsistencies(state, states, cast) {
    const { flights, hotels, travellers, airports, flight_bookings, hotel_bookings } = state;
    const references = [...Object.values(flight_bookings), ...Object.values(hotel_bookings)].map(
      it => it.reference,
    );
    const codes = new Map(cast.cities.map(it => [it.airport, it.name]));
    const map = states.get("maps") as Atlas | undefined;
    const onMap = (it: Hotel) =>
      !map ||
      Object.values(map.places).some(
        place => place.name === it.name && place.address === it.address,
      );
    const isWhole = Object.keys(airports).length === cast.cities.length;
    return [
      ...(state.customer === cast.user.name && travellers[state.self]?.name === state.customer
        ? []
        : [`the customer ${state.customer} is not ${cast.user.name}`]),
      ...Object.entries(airports).flatMap(([code, it]) =>
        codes.get(code) === it.city ? [] : [`${code} is not the airport of ${it.city}`],
      ),
      ...Object.entries(flights).flatMap(([id, it]) =>
        airports[it.from] && airports[it.to] ? [] : [`flight ${id} leaves ${it.from} for ${it.to}`],
      ),
      ...Object.entries(flight_bookings).flatMap(([id, it]) => {
        const flight = flights[it.flight_id];
        if (!flight || !travellers[it.traveller_id])
          return [`${id} is for no flight or no traveller`];
        const others = Object.entries(flight_bookings).filter(
          ([other, at]) =>
            other !== id &&
            at.flight_id === it.flight_id &&
            at.status === "confirmed" &&
            at.seat === it.seat,
        );
        return it.status === "confirmed" && (flight.free.includes(it.seat) || others.length > 0)
          ? [`seat ${it.seat} of ${id} is not its own`]
          : [];
      }),
      ...Object.entries(hotel_bookings).flatMap(([id, it]) =>
        hotels[it.hotel_id]?.rooms.some(
          room => room.kind === it.room && room.sleeps >= it.guests,
        ) &&
        travellers[it.traveller_id] &&
        it.check_in < it.check_out
          ? []
          : [`${id} is no stay at a hotel`],
      ),
      ...references
        .filter((it, i) => references.indexOf(it) !== i)
        .map(it => `reference ${it} stands twice`),
      ...Object.entries(state.itineraries).flatMap(([id, it]) =>
        it.bookings
          .filter(of => !references.includes(of))
          .map(of => `${id} holds ${of}, which is no booking`),
      ),
      ...(isWhole
        ? Object.values(hotels)
            .filter(it => !onMap(it))
            .map(it => `${it.name} is not on the map`)
        : []),
    ];
  },
});

const documents: readonly Agency["travellers"][string]["document"][] = [
  { kind: "passport", number: "XDA204417", expires: "2031-05-20" },
  { kind: "identity card", number: "58201946K", expires: "2029-11-02" },
  { kind: "passport", number: "AAF903318", expires: "2026-03-15" },
  { kind: "passport", number: "PT7701254", expires: "2028-08-14" },
  { kind: "identity card", number: "CA41882ZB", expires: "2030-01-09" },
  { kind: "passport", number: "750113928", expires: "2025-12-30" },
  { kind: "passport", number: "C01X9HV4T", expires: "2032-02-27" },
];

interface Plan {
  readonly number: string;
  readonly from: City;
  readonly to: City;
  readonly day: string;
  readonly time: string;
  readonly free: number;
  readonly status?: Flight["status"];
}

/** The small world's flights: one that can be had, and one for each reason why not. */
function fewFlights({ home, cities }: SharedCast): Plan[] {
  const [lisbon, london] = smallCities.map(name => cities.find(it => it.name === name)!) as [
    City,
    City,
  ];
  const out = (number: string, day: string, free: number, time = "07:40"): Plan => ({
    number,
    from: home,
    to: lisbon,
    day,
    time,
    free,
  });
  return [
    out("VL 210", "2026-03-06", 3),
    out("VL 212", "2026-03-09", 2, "09:40"),
    out("VL 214", "2026-03-12", 6),
    out("VL 216", "2026-03-13", 0),
    out("VL 218", "2026-03-14", 5),
    { number: "VL 215", from: lisbon, to: home, day: "2026-03-16", time: "18:20", free: 4 },
    {
      number: "BO 90",
      from: home,
      to: london,
      day: "2026-03-18",
      time: "12:05",
      free: 5,
      status: "cancelled",
    },
    { number: "BO 92", from: home, to: london, day: "2026-03-20", time: "12:05", free: 7 },
  ];
}

const hours = [
  "06:25",
  "07:40",
  "09:15",
  "10:50",
  "12:05",
  "13:35",
  "15:10",
  "16:45",
  "18:20",
  "19:55",
  "21:10",
];

/** Two or three days for each route from home and back, and a few between other cities. */
function manyFlights({ cast, random }: GeneratorContext): Plan[] {
  const { home, cities } = cast;
  const hub = cities.find(it => it.name === "Madrid")!;
  const routes = [
    ...cities.slice(1).map(it => [home, it] as const),
    ...["Vienna", "Copenhagen", "Berlin"].map(
      name => [hub, cities.find(it => it.name === name)!] as const,
    ),
  ];
  const codes = Object.keys(airlines);
  const plans = routes.flatMap(([from, to], i): Plan[] => {
    const [leaves, returns] = [random.pick(hours.slice(0, 6)), random.pick(hours.slice(5))];
    const first = 1 + random.integer(4);
    return [0, 1, 2].flatMap(week => {
      const [out, back] = [
        first + 9 * week + random.integer(3),
        first + 9 * week + 4 + random.integer(3),
      ];
      const code = codes[i % codes.length]!;
      const free = () => (random.boolean(0.09) ? 0 : 1 + random.integer(9));
      const status = (): Pick<Plan, "status"> =>
        random.boolean(0.06)
          ? { status: "cancelled" }
          : random.boolean(0.07)
            ? { status: "delayed" }
            : {};
      if (from !== home && week === 2) return [];
      // a departure has a number of its own, so that a person can name it
      const number = 104 + 6 * i + 2 * week;
      return [
        {
          number: `${code} ${number}`,
          from,
          to,
          day: dayAfterStart(out),
          time: leaves,
          free: free(),
          ...status(),
        },
        {
          number: `${code} ${number + 1}`,
          from: to,
          to: from,
          day: dayAfterStart(back),
          time: returns,
          free: free(),
          ...status(),
        },
      ];
    });
  });
  const [first, second] = [plans[0]!, plans[8]!];
  return [
    ...plans,
    {
      ...first,
      number: `${first.number.slice(0, 2)} 86`,
      day: "2026-02-19",
      free: 2,
      status: "scheduled",
    },
    {
      ...second,
      number: `${second.number.slice(0, 2)} 88`,
      day: "2026-01-22",
      free: 1,
      status: "scheduled",
    },
    {
      ...first,
      number: `${first.number.slice(0, 2)} 90`,
      day: "2026-03-09",
      time: "09:45",
      free: 4,
    },
    {
      ...second,
      number: `${second.number.slice(0, 2)} 92`,
      day: "2026-03-09",
      time: "20:30",
      free: 5,
    },
  ];
}

const radians = Math.PI / 180;
function kilometres(a: City, b: City): number {
  const chord =
    Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2 +
    Math.cos(a.latitude * radians) *
      Math.cos(b.latitude * radians) *
      Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  return 12_742 * Math.asin(Math.sqrt(chord));
}

function flightOf(
  { random, size }: GeneratorContext,
  { number, from, to, day, time, free, status = "scheduled" }: Plan,
): Flight {
  const distance = kilometres(from, to);
  const rows = size === "small" ? 4 : random.pick([6, 7, 8]);
  return {
    number,
    from: from.airport,
    to: to.airport,
    departs: `${day}T${time}`,
    minutes: 40 + 5 * Math.round(distance / 60),
    price: Math.round(24 + distance * 0.055 + random.integer(30)),
    rows,
    free: seats(random, rows, free),
    status,
  };
}

function seats(random: Random, rows: number, n: number): string[] {
  const all = Array.from({ length: rows }, (_, row) =>
    ["A", "B", "C", "D"].map(letter => `${row + 1}${letter}`),
  ).flat();
  const chosen = new Set(random.shuffle(all).slice(0, n));
  return all.filter(it => chosen.has(it));
}

const roomPrices = { 2: 46, 3: 78, 4: 118, 5: 205 } as const;
const dear = ["London", "Paris", "Copenhagen", "Amsterdam", "Dublin"];

function hotelsOf(context: GeneratorContext): Hotel[] {
  const { cast, size } = context;
  const own = cast.places
    .filter(it => it.category === "hotel")
    .map((it, i) => ({
      city: cast.home.name,
      name: it.name,
      address: it.address.slice(0, it.address.lastIndexOf(",")),
      stars: i === 0 ? (4 as const) : (3 as const),
    }));
  const all = [...own, ...away];
  return (
    size === "small" ? away.filter(it => smallCities.includes(it.city)).slice(0, 5) : all
  ).map(it => hotelOf(context, it));
}

function hotelOf(
  { random, size }: GeneratorContext,
  {
    city,
    name,
    address,
    stars,
  }: { city: string; name: string; address: string; stars: 2 | 3 | 4 | 5 },
): Hotel {
  const double = Math.round(
    roomPrices[stars] * (dear.includes(city) ? 1.35 : 1) + random.integer(24),
  );
  const rooms: Hotel["rooms"] = [
    { kind: "single", price: Math.round(double * 0.8), sleeps: 1, count: 1 + random.integer(4) },
    { kind: "double", price: double, sleeps: 2, count: 2 + random.integer(5) },
    ...(stars > 2 && random.boolean(0.6)
      ? [
          {
            kind: "family" as const,
            price: Math.round(double * 1.45),
            sleeps: 4,
            count: 1 + random.integer(3),
          },
        ]
      : []),
    ...(stars > 3
      ? [
          {
            kind: "suite" as const,
            price: Math.round(double * 2.1),
            sleeps: 3,
            count: 1 + random.integer(2),
          },
        ]
      : []),
  ];
  const full = size === "small" || random.boolean(0.5) ? [1] : [];
  return {
    name,
    city,
    address,
    stars,
    rating: Math.round((6.4 + stars * 0.4 + random.integer(14) / 10) * 10) / 10,
    cancellation:
      stars === 2
        ? random.boolean(0.6)
          ? "strict"
          : "moderate"
        : random.pick(["flexible", "flexible", "moderate", "strict"]),
    rooms: size === "small" ? rooms.slice(0, 2) : rooms,
    full: full.map(() => {
      const from = random.integer(30);
      return {
        kind: random.pick(rooms.slice(0, 2)).kind,
        from: dayAfterStart(from),
        to: dayAfterStart(from + 3 + random.integer(9)),
      };
    }),
  };
}
