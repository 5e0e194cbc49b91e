/** Places, lines, ferries and incidents of the generated maps. */
import { hotels, sights, type CityPlace } from "../shared/cities.ts";
import type { Category, Metres } from "./streetPlans.ts";
import type { modes } from "./state.ts";

export interface PlacePlan {
  readonly name: string;
  readonly category: Category;
  /** A key of `streetsByRole`, or a name of `morePaths`. */
  readonly street: string;
  readonly house: number;
  readonly at: Metres;
  readonly elevation?: number;
  readonly gone?: true;
  readonly inSmall?: true;
}

const place = (
  name: string,
  category: Category,
  street: string,
  house: number,
  at: Metres,
  more: Pick<PlacePlan, "elevation" | "gone" | "inSmall"> = {},
): PlacePlan => ({
  name,
  category,
  street,
  house,
  at,
  ...more,
});

export const placePlans: readonly PlacePlan[] = [
  place("Gull Island Lighthouse", "landmark", "Gull Island Path", 20, [-2690, 2890], {
    elevation: 31,
    inSmall: true,
  }),
  place("Keeper's Café", "cafe", "Gull Island Path", 3, [-2260, 2660], { elevation: 6 }),
  place("The Foghorn", "bar", "Sailors' Steps", 12, [-80, 100]),
  place("Galley Books & Coffee", "cafe", "harbor", 15, [-360, 515], { gone: true, inSmall: true }),
  place("Café Miradouro", "cafe", "Weavers Street", 18, [470, -310]),
  place("Slow Kettle", "cafe", "Linden Row", 31, [60, -790]),
  place("Rope Walk Roasters", "cafe", "Rope Walk", 9, [10, 525]),
  place("Sourdough & Sons", "bakery", "Gasworks Road", 12, [-640, -60]),
  place("Tide Table", "restaurant", "quay", 55, [-60, 650]),
  place("Casa Pilar", "restaurant", "Linden Row", 8, [420, -730]),
  place("Ramen Yoru", "restaurant", "Weavers Street", 62, [800, 110]),
  place("The Net Loft", "restaurant", "Coast Road", 30, [-220, 1010]),
  place("Bodega Norte", "bar", "Tannery Lane", 14, [390, -70]),
  place("Anchor & Star", "bar", "harbor", 66, [-560, 800]),
  place("Ring Road Superstore", "supermarket", "Ring Road", 140, [500, -1190]),
  place("Corner Pantry", "supermarket", "Rope Walk", 22, [90, 522]),
  place("Night Owl Pharmacy", "pharmacy", "station", 70, [-600, -325]),
  place("Gear Shed Outdoor", "shop", "Gasworks Road", 48, [-610, 60]),
  place("Old Print Shop", "shop", "chapel", 48, [330, -280], { gone: true }),
  place("Little Explorers Toys", "shop", "garden", 31, [190, 740]),
  place("Barber Nuno", "hairdresser", "Weavers Street", 11, [445, -370]),
  place("Boulder Barn", "gym", "Gasworks Road", 80, [-380, 240]),
  place("Language House", "school", "Linden Row", 47, [-250, -720]),
  place("Sailing School Barlovento", "school", "Coast Road", 4, [-780, 1160]),
  place("Branch Library North", "library", "Weavers Street", 70, [900, 180]),
  place("Open Air Screen", "cinema", "Dune Path", 6, [1200, 1830]),
  place("Whaling Stone", "landmark", "quay", 3, [-140, 215]),
  place("Merchant's Gate", "landmark", "market", 69, [-58, -86]),
  place("Windmill Hill Lookout", "viewpoint", "alder", 58, [770, -1130], { elevation: 74 }),
  place("Cape Lookout", "viewpoint", "Dune Path", 2, [960, 1450], { elevation: 42 }),
  place("Rowing Club Hall", "venue", "Coast Road", 61, [320, 900]),
  place("Physio Ferran", "doctor", "Rope Walk", 4, [-30, 521]),
  place("Ring Road Garage", "garage", "Ring Road", 60, [-620, -1100]),
  place("Coast Fuel", "fuel station", "Coast Road", 44, [60, 860]),
  place("Airport Chargers", "charging station", "lighthouse", 3, [5150, -6010]),
  place("Station Car Park", "parking", "station", 3, [-430, -118]),
  place("Millrace Gardens", "park", "Millrace Path", 8, [540, 180]),
  place("Cove of Stones", "beach", "Coast Road", 80, [700, 1180]),
  place("Savings Bank Norte", "bank", "Weavers Street", 30, [520, -210]),
  place("Pension Marisol", "hotel", "chapel", 60, [400, -390]),
  place("Airport Inn", "hotel", "lighthouse", 4, [5120, -5980]),
];

/** Metres above the sea of places that are not at the level of the town, by role. */
export const elevations: ReadonlyMap<string, number> = new Map([
  ["home", 38],
  ["airport", 61],
  ["lodge", 412],
  ["aunt", 128],
  ["beach", 2],
  ["ferry", 3],
  ["park", 24],
  ["cafe", 5],
  ["studio", 8],
  ["hospital", 46],
]);

const frequentHours = { first: "05:40", last: "23:40" } as const;

/** Tram and bus lines, by the roles of the places at which they stop. */
export const lines = [
  {
    name: "Tram 1",
    kind: "tram",
    stops: ["hospital", "station", "library", "customs", "studio", "concert", "ferry"],
    every: 8,
    ...frequentHours,
  },
  {
    name: "Tram 2",
    kind: "tram",
    stops: ["pharmacy", "pizza", "library", "sushi", "park"],
    every: 10,
    ...frequentHours,
  },
  {
    name: "Bus 4",
    kind: "bus",
    stops: ["station", "grocery", "florist", "park", "beach"],
    every: 20,
    first: "06:30",
    last: "21:30",
  },
  {
    name: "Airport Bus",
    kind: "bus",
    stops: ["ferry", "station", "library", "airport"],
    every: 30,
    first: "04:30",
    last: "23:50",
  },
  {
    name: "Bus 9",
    kind: "bus",
    stops: ["station", "pharmacy", "aunt"],
    every: 40,
    first: "07:00",
    last: "19:30",
  },
] as const;

export const islands: Readonly<Record<string, "Britain" | "Ireland">> = {
  "United Kingdom": "Britain",
  Ireland: "Ireland",
};

/** Between cities over the sea. */
export const ferries: readonly {
  readonly from: string;
  readonly to: string;
  readonly departs: string;
  readonly minutes: number;
  readonly suspended_until?: string;
}[] = [
  { from: "home", to: "London", departs: "17:30", minutes: 1560 },
  { from: "Amsterdam", to: "London", departs: "21:45", minutes: 420 },
  {
    from: "home",
    to: "Dublin",
    departs: "19:00",
    minutes: 1500,
    suspended_until: "2026-03-20T00:00",
  },
  { from: "London", to: "Dublin", departs: "08:10", minutes: 210 },
];

/**
 * Closures, works and accidents. The street is a key of `streetsByRole`, or a name of `morePaths`.
 */
export const incidents: readonly {
  readonly street: string;
  readonly kind: "closure" | "roadworks" | "accident";
  readonly modes: readonly (typeof modes)[number][];
  readonly from: string;
  readonly until: string;
}[] = [
  {
    street: "wall",
    kind: "closure",
    modes: ["driving"],
    from: "2026-03-07T06:00",
    until: "2026-03-13T18:00",
  },
  {
    street: "harbor",
    kind: "roadworks",
    modes: ["driving"],
    from: "2026-03-02T07:00",
    until: "2026-03-27T18:00",
  },
  {
    street: "Millrace Path",
    kind: "closure",
    modes: ["walking", "cycling"],
    from: "2026-03-09T08:00",
    until: "2026-03-10T18:00",
  },
  {
    street: "market",
    kind: "closure",
    modes: ["driving"],
    from: "2026-03-14T06:00",
    until: "2026-03-15T20:00",
  },
  {
    street: "Ring Road",
    kind: "accident",
    modes: ["driving"],
    from: "2026-03-09T08:20",
    until: "2026-03-09T10:30",
  },
  {
    street: "Gull Island Ferry",
    kind: "closure",
    modes: ["walking", "cycling", "transit"],
    from: "2026-03-11T00:00",
    until: "2026-03-12T23:59",
  },
  {
    street: "Rope Walk",
    kind: "roadworks",
    modes: ["driving"],
    from: "2026-03-16T07:00",
    until: "2026-03-20T18:00",
  },
];

/** How far an airport is from the centre of its city. */
const airportOffsets: Readonly<Record<string, Metres>> = {
  Hamburg: [8800, 100],
  Lyon: [-4300, 19_000],
  Porto: [8800, -4300],
  Lisbon: [6200, 500],
  Madrid: [8600, 11_000],
  Paris: [17_000, 15_000],
  Berlin: [-17_000, 7500],
  Amsterdam: [-6500, -9500],
  London: [-4200, -23_000],
  Barcelona: [-10_000, -7500],
  Milan: [18_000, -37_000],
  Copenhagen: [-6400, 5600],
  Vienna: [-10_500, 14_500],
  Dublin: [7800, -600],
};

/** Places of the other cities: an airport and a main station each, the hotels, and sights. */
export const placesAbroad: readonly (CityPlace & { readonly category: Category })[] = [
  ...Object.entries(airportOffsets).flatMap(([city, [north, east]]) => [
    {
      city,
      name: `${city} Airport`,
      category: "airport" as const,
      address: "1 Airport Boulevard",
      north,
      east,
    },
    {
      city,
      name: `${city} Main Station`,
      category: "station" as const,
      address: "1 Station Square",
      north: -300,
      east: 500,
    },
  ]),
  ...hotels.map(it => ({ ...it, category: "hotel" as const })),
  ...sights,
];
