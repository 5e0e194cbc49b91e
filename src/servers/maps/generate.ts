/**
 * Generates the map of a fixture set: the places and cities of the shared cast, the streets of
 * their addresses, more places around them, transit lines, ferries, incidents, and what the user
 * has saved and shared.
 */
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import {
  generatePlaces,
  generateSavedPlaces,
  getStreetName,
  offsetFromHome,
} from "./generatePlaces.ts";
import { ferries, incidents, islands, lines } from "./placePlans.ts";
import { morePaths, streetsByRole, type Metres } from "./streetPlans.ts";
import { server } from "./server.ts";
import type { MapsState } from "./state.ts";

const smallStreets = [
  "quay",
  "harbor",
  "chapel",
  "alder",
  "market",
  "bridge",
  "customs",
  "station",
  "lighthouse",
  "wall",
];

const smallCities = ["Lisbon", "London"];

const smallIncidents = ["wall", "harbor", "Gull Island Ferry"];

export const generator = defineGenerator<MapsState>({
  server,
  generate(context) {
    const { cast, size } = context;
    const cities = generateCities(context);
    const home_city = Object.keys(cities)[0]!;
    const streets = generateStreets(context);
    const places = generatePlaces(context, cities, streets);
    const placeByName = (name: string) =>
      Object.entries(places).find(([, it]) => it.name === name)?.[0];
    const roleId = (role: string) => placeByName(cast.getPlace(role).name);
    const contacts = Object.fromEntries(
      [...cast.friends, ...cast.colleagues].slice(0, size === "small" ? 3 : 21).map((it, i) => [
        context.nextId("con"),
        {
          name: it.name,
          email: it.email,
          ...(i === 2 || i === 11 ? { muted: true as const } : {}),
        },
      ]),
    );
    return {
      user: cast.user.name,
      home_city,
      cities,
      streets,
      places,
      lines: Object.fromEntries(
        lines.flatMap(({ stops, ...it }) => {
          const knownStops = stops.flatMap(role => roleId(role) ?? []);
          return knownStops.length >= 3
            ? [[context.nextId("lin"), { ...it, stops: knownStops }]]
            : [];
        }),
      ),
      ferries: generateFerries(context, cities),
      incidents: Object.fromEntries(
        incidents.flatMap(({ street, ...it }) => {
          if (size === "small" && !smallIncidents.includes(street)) return [];
          const street_id = Object.entries(streets).find(
            ([, row]) =>
              row.name ===
              (streetsByRole.has(street)
                ? getStreetName(cast.getPlace(streetsByRole.get(street)!.role))
                : street),
          )?.[0];
          return street_id
            ? [[context.nextId("inc"), { street_id, ...it, modes: [...it.modes] }]]
            : [];
        }),
      ),
      contacts,
      ...generateSavedPlaces(context, places, roleId, Object.keys(contacts)),
    };
  },
  findInconsistencies(state, _states, cast) {
    const missingPlaces = cast.places.filter(
      it =>
        !Object.values(state.places).some(
          own =>
            own.name === it.name &&
            own.category === it.category &&
            own.latitude === it.latitude &&
            own.longitude === it.longitude,
        ),
    );
    const misplaced = Object.values(state.places).filter(
      it => it.street_id && !it.address.endsWith(` ${state.streets[it.street_id]?.name}`),
    );
    const dangling = [
      ...Object.values(state.places).map(it => [state.cities, it.city_id] as const),
      ...Object.values(state.lines).flatMap(it =>
        it.stops.map(stop => [state.places, stop] as const),
      ),
      ...Object.values(state.saved).map(it => [state.places, it.place_id] as const),
      ...Object.values(state.incidents).map(it => [state.streets, it.street_id] as const),
      ...Object.values(state.shared).flatMap(it => [
        [state.places, it.from_place] as const,
        [state.places, it.to_place] as const,
        [state.contacts, it.contact_id] as const,
      ]),
    ].filter(([table, id]) => !Object.hasOwn(table, id));
    // the small map has only some of the places
    const isWhole = Object.keys(state.cities).length >= cast.cities.length;
    return [
      ...(state.user === cast.user.name ? [] : [`the user ${state.user} is not ${cast.user.name}`]),
      ...(isWhole ? missingPlaces.map(it => `${it.name} is not on the map`) : []),
      ...misplaced.map(it => `${it.name} does not stand on the street of its address`),
      ...dangling.map(([, id]) => `${id} does not exist`),
    ];
  },
});

function generateCities({ cast, size, nextId }: GeneratorContext): MapsState["cities"] {
  const selected = cast.cities.filter(
    (it, i) => i === 0 || size === "full" || smallCities.includes(it.name),
  );
  return Object.fromEntries(
    selected.map(({ name, country, latitude, longitude, elevation, timezone }) => [
      nextId("cit"),
      {
        name,
        country,
        latitude,
        longitude,
        elevation,
        timezone,
        land: islands[country] ?? ("mainland" as const),
      },
    ]),
  );
}

function generateStreets({ cast, size, nextId }: GeneratorContext): MapsState["streets"] {
  const at = ([north, east]: Metres): [number, number] => {
    const { latitude, longitude } = offsetFromHome(cast, north, east);
    return [latitude, longitude];
  };
  // the small map keeps only the corners
  const keepCorners = (line: readonly Metres[]) =>
    line.filter(
      (point, i) => size === "full" || i === 0 || i === line.length - 1 || isCorner(point),
    );
  const selected = [...streetsByRole].filter(
    ([word]) => size === "full" || smallStreets.includes(word),
  );
  const castStreets = selected.map(
    ([, { role, line, ...it }]) =>
      [
        nextId("str"),
        { name: getStreetName(cast.getPlace(role)), ...it, line: keepCorners(line).map(at) },
      ] as const,
  );
  const otherStreets = morePaths
    .filter(it => size === "full" || it.inSmall)
    .map(
      ({ name, kind, busy, numbers, line, hours }) =>
        [
          nextId("str"),
          { name, kind, busy, numbers, line: line.map(at), ...(hours ? { hours } : {}) },
        ] as const,
    );
  return Object.fromEntries([...castStreets, ...otherStreets]);
}

/** Whether two or more streets meet at this point. */
const isCorner = (point: Metres): boolean =>
  [...streetsByRole.values(), ...morePaths].filter(it => it.line.includes(point)).length > 1;

function generateFerries(
  { cast, nextId }: GeneratorContext,
  cities: MapsState["cities"],
): MapsState["ferries"] {
  const cityId = (name: string) =>
    Object.entries(cities).find(
      ([, it]) => it.name === (name === "home" ? cast.home.name : name),
    )?.[0];
  return Object.fromEntries(
    ferries.flatMap(({ from, to, ...it }) => {
      const [from_city, to_city] = [cityId(from), cityId(to)];
      if (!from_city || !to_city) return [];
      return [
        [
          nextId("fer"),
          {
            name: `${cities[from_city]!.name}–${cities[to_city]!.name} ferry`,
            from_city,
            to_city,
            ...it,
          },
        ],
      ];
    }),
  );
}
