/**
 * The map of a world: every place and city of the canon, the streets that its addresses stand on as
 * lines that meet, more places around them, lines, ferries, works on the streets, and what the user
 * has saved and shared.
 */
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { generateSavedPlaces, placesOf, pointFrom } from "./generatePlaces.ts";
import { ferries, incidents, lands, lines } from "./placePlans.ts";
import { morePaths, streetsByRole, type Metres } from "./streetPlans.ts";
import { server, type Atlas } from "./server.ts";
import { streetNameOf } from "./generatePlaces.ts";

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

export const generator = defineGenerator<Atlas>({
  server,
  generate(context) {
    const { cast, size } = context;
    const cities = citiesOf(context);
    const home_city = Object.keys(cities)[0]!;
    const streets = streetsOf(context);
    const places = placesOf(context, cities, streets);
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
          const known = stops.flatMap(role => roleId(role) ?? []);
          return known.length >= 3 ? [[context.nextId("lin"), { ...it, stops: known }]] : [];
        }),
      ),
      ferries: ferriesOf(context, cities),
      incidents: Object.fromEntries(
        incidents.flatMap(({ street, ...it }) => {
          if (size === "small" && !smallIncidents.includes(street)) return [];
          const street_id = Object.entries(streets).find(
            ([, known]) =>
              known.name ===
              (streetsByRole.has(street)
                ? streetNameOf(cast.getPlace(streetsByRole.get(street)!.role))
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
  findInconsistencies(state, _world, cast) {
    const missing = cast.places.filter(
      it =>
        !Object.values(state.places).some(
          own =>
            own.name === it.name &&
            own.category === it.category &&
            own.latitude === it.latitude &&
            own.longitude === it.longitude,
        ),
    );
    const strange = Object.values(state.places).filter(
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
    // the small map has a part of the places only
    const isWhole = Object.keys(state.cities).length >= cast.cities.length;
    return [
      ...(state.user === cast.user.name ? [] : [`the user ${state.user} is not ${cast.user.name}`]),
      ...(isWhole ? missing.map(it => `${it.name} is not on the map`) : []),
      ...strange.map(it => `${it.name} does not stand on the street of its address`),
      ...dangling.map(([, id]) => `${id} does not exist`),
    ];
  },
});

function citiesOf({ cast, size, nextId }: GeneratorContext): Atlas["cities"] {
  const shown = cast.cities.filter(
    (it, i) => i === 0 || size === "full" || smallCities.includes(it.name),
  );
  return Object.fromEntries(
    shown.map(({ name, country, latitude, longitude, elevation, timezone }) => [
      nextId("cit"),
      {
        name,
        country,
        latitude,
        longitude,
        elevation,
        timezone,
        land: lands[country] ?? ("mainland" as const),
      },
    ]),
  );
}

function streetsOf({ cast, size, nextId }: GeneratorContext): Atlas["streets"] {
  const at = ([north, east]: Metres): [number, number] => {
    const { latitude, longitude } = pointFrom(cast, north, east);
    return [latitude, longitude];
  };
  // the small map keeps the corners only
  const corners = (line: readonly Metres[]) =>
    line.filter(
      (point, i) => size === "full" || i === 0 || i === line.length - 1 || isCorner(point),
    );
  const shown = [...streetsByRole].filter(
    ([word]) => size === "full" || smallStreets.includes(word),
  );
  const named = shown.map(
    ([, { role, line, ...it }]) =>
      [
        nextId("str"),
        { name: streetNameOf(cast.getPlace(role)), ...it, line: corners(line).map(at) },
      ] as const,
  );
  const more = morePaths
    .filter(it => size === "full" || it.inSmall)
    .map(
      ({ name, kind, busy, numbers, line, hours }) =>
        [
          nextId("str"),
          { name, kind, busy, numbers, line: line.map(at), ...(hours ? { hours } : {}) },
        ] as const,
    );
  return Object.fromEntries([...named, ...more]);
}

/** Where two streets or more meet. */
const isCorner = (point: Metres): boolean =>
  [...streetsByRole.values(), ...morePaths].filter(it => it.line.includes(point)).length > 1;

function ferriesOf({ cast, nextId }: GeneratorContext, cities: Atlas["cities"]): Atlas["ferries"] {
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
