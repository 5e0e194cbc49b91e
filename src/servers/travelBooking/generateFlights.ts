/** Generates the flights of a travel agency. */
import type { Random } from "../../environment/random.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { City } from "../shared/cities.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { smallCities } from "./generateHotels.ts";
import type { TravelBookingState } from "./state.ts";

type Flight = TravelBookingState["flights"][string];

export const airlines = {
  VL: "Vela Airways",
  NT: "Norte Air",
  BO: "Borealis",
  SW: "Stork Wings",
  CE: "Celeste",
} as const;

interface Plan {
  readonly number: string;
  readonly from: City;
  readonly to: City;
  readonly day: string;
  readonly time: string;
  readonly free: number;
  readonly status?: Flight["status"];
}

/** The flights of the small fixture: bookable ones, and one for each reason why one is not. */
export function listFewFlights({ home, cities }: SharedCast): Plan[] {
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
export function listManyFlights({ cast, random }: GeneratorContext): Plan[] {
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
      // every departure has its own number, so that a user can refer to it
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

export function createFlight(
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
