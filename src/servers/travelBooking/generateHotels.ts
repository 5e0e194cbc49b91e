/** Generates the hotels of a travel agency with their rooms and prices. */
import { hotels as away } from "../shared/cities.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";

import type { TravelBookingState } from "./state.ts";

export type Hotel = TravelBookingState["hotels"][string];

const roomPrices = { 2: 46, 3: 78, 4: 118, 5: 205 } as const;

const dear = ["London", "Paris", "Copenhagen", "Amsterdam", "Dublin"];

export function generateHotels(context: GeneratorContext): Hotel[] {
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
  ).map(it => createHotel(context, it));
}

function createHotel(
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

export const smallCities = ["Lisbon", "London"];
