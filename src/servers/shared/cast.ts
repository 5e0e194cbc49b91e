/**
 * The people, companies and places that all servers of a fixture set share. Seed 1 gives the names
 * of the shipped fixtures; any other seed gives the same roles other names.
 */
import { createRandom, type Random } from "../../environment/random.ts";
import { toSlug } from "../../environment/slug.ts";
import { otherCities, type City } from "./cities.ts";
import { homePlaces } from "./homePlaces.ts";
import {
  clientNames,
  homeCityNames,
  personNames,
  prospectNames,
  streetNames,
  studioNames,
} from "./names.ts";
import { startTime } from "./startTime.ts";

export interface Person {
  readonly name: string;
  readonly firstName: string;
  readonly lastName: string;
  /** The first name in lower case. */
  readonly userName: string;
  readonly email: string;
  readonly phone: string;
}

export interface Colleague extends Person {
  readonly job: string;
}

export interface Firm {
  /** The short name: "Northwind". */
  readonly name: string;
  /** The full name: "Northwind Insurance". */
  readonly legalName: string;
  readonly industry: string;
  readonly city: string;
  /** Of its e-mail addresses. */
  readonly domain: string;
  readonly contacts: readonly Person[];
}

/** A place in the home city. */
export interface CastPlace {
  readonly role: string;
  readonly name: string;
  readonly category: string;
  readonly address: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly phone: string;
}

export interface SharedCast {
  readonly seed: number;
  /** The start time of every session. */
  readonly now: string;
  /** The person the agent works for. */
  readonly user: Colleague;
  /** The studio's staff without the user, in the order of the shipped calendar. */
  readonly colleagues: readonly Colleague[];
  /** The user and the colleagues. */
  readonly staff: readonly Colleague[];
  /** Family and friends: brother, aunt, then friends. */
  readonly friends: readonly Person[];
  readonly studio: { readonly name: string; readonly domain: string };
  /** Three, in the order of the shipped invoices: an insurer, an outdoor brand, a food maker. */
  readonly clients: readonly Firm[];
  /** Twelve companies that may become clients. */
  readonly prospects: readonly Firm[];
  readonly home: City;
  /** The home city first. */
  readonly cities: readonly City[];
  /** In the home city, including the user's home and office. */
  readonly places: readonly CastPlace[];
  /** The place with that role, such as `cafe`, `studio` or `home`. */
  readonly getPlace: (role: string) => CastPlace;
}

export const shippedSeed = 1;

const jobs = [
  "owner",
  "web lead",
  "designer",
  "office and systems",
  "print and photo",
  "account lead",
  "studio head",
  "account lead",
  "designer",
  "support",
  "accessibility and film",
  "account manager",
  "accounts and finance",
  "facilities",
];

/** How a seed chooses names: the shipped seed takes the first name and keeps every order. */
interface NameChoice {
  shuffle<T>(list: readonly T[]): readonly T[];
  pick(names: readonly string[]): string;
}

function createNameChoice(seed: number): NameChoice {
  if (seed === shippedSeed) return { shuffle: list => list, pick: names => names[0]! };
  const random = createRandom(seed, "canon");
  return { shuffle: list => random.shuffle([...list]), pick: names => random.pick(names) };
}

/** The cast of a seed. */
export function createCast(seed: number): SharedCast {
  const choice = createNameChoice(seed);
  const names = choice.shuffle(personNames);
  const streets = choice.shuffle(streetNames);
  const home = createHomeCity(choice.pick(homeCityNames));
  const studio = choice.pick(studioNames);
  const domain = formatDomain(studio.split(" ")[0]!);
  const staff = names
    .slice(0, jobs.length)
    .map((name, i) => ({ ...createPerson(name, domain, i), job: jobs[i]! }));
  const user = staff[0]!;
  const friends = createFriends(names.slice(14, 21), user.lastName);
  const clients = createClients(names.slice(21), choice);
  const prospects = createProspects(names.slice(27), home, choice);
  const namesByRole = {
    home: `${user.firstName}'s flat`,
    studio,
    grocery: `${clients[2]!.name} market hall`,
    museum: prospects[9]!.name,
    airport: `${home.name} Airport`,
    aunt: `Aunt ${friends[1]!.firstName}'s house`,
  };
  const places = createPlaces(home, streets, namesByRole, choice);
  return {
    seed,
    now: startTime,
    user,
    colleagues: staff.slice(1),
    staff,
    friends,
    studio: { name: studio, domain },
    clients,
    prospects,
    home,
    cities: [home, ...otherCities],
    places,
    getPlace(role) {
      const place = places.find(it => it.role === role);
      if (!place) throw new Error(`no place has the role ${role}`);
      return place;
    },
  };
}

/** The random numbers of one server's generator, independent of all other servers. */
export const createServerRandom = (cast: SharedCast, server: string, size: string): Random =>
  createRandom(cast.seed, "world", server, size);

const createHomeCity = (name: string): City => ({
  name,
  country: "Spain",
  airport: "PLD",
  latitude: 43.4623,
  longitude: -3.81,
  elevation: 15,
  timezone: "Europe/Madrid",
});

/** The first two are relatives with the user's last name. */
function createFriends(names: readonly string[], familyName: string): Person[] {
  return names.map((name, i) =>
    createPerson(i < 2 ? `${name.split(" ")[0]!} ${familyName}` : name, "postbox.example", 20 + i),
  );
}

function createClients(contactNames: readonly string[], choice: NameChoice): Firm[] {
  return clientNames.map(({ names, legal, industry, city }, i) => {
    const name = choice.pick(names);
    const domain = formatDomain(name);
    return {
      name,
      legalName: `${name} ${legal}`.trim(),
      industry,
      city,
      domain,
      contacts: [0, 1].map(j => createPerson(contactNames[2 * i + j]!, domain, 40 + 2 * i + j)),
    };
  });
}

function createProspects(contactNames: readonly string[], home: City, choice: NameChoice): Firm[] {
  return prospectNames.map(([names, industry, city], i) => {
    const name = choice.pick(names);
    const domain = formatDomain(name);
    return {
      name,
      legalName: name,
      industry,
      city: city === "home" ? home.name : city,
      domain,
      contacts: [createPerson(contactNames[i]!, domain, 50 + i)],
    };
  });
}

function createPlaces(
  home: City,
  streets: readonly string[],
  namesByRole: Readonly<Record<string, string>>,
  choice: NameChoice,
): CastPlace[] {
  return homePlaces.map(([role, category, names, house, street, north, east], i) => {
    const name = choice.pick(names);
    return {
      role,
      name: namesByRole[role] ?? name,
      category,
      address: `${house} ${streets[street]!}, ${home.name}`,
      ...offsetPosition(home, north, east),
      phone: formatPhone(100 + i),
    };
  });
}

function createPerson(name: string, domain: string, number: number): Person {
  const [first, ...rest] = name.split(" ");
  const userName = toSlug(first!);
  return {
    name,
    firstName: first!,
    lastName: rest.join(" "),
    userName,
    email: `${userName}@${domain}`,
    phone: formatPhone(number),
  };
}

const formatDomain = (name: string) => `${toSlug(name)}.example`;

/** A number in a range that no network assigns. */
function formatPhone(number: number): string {
  const digits = String(number).padStart(4, "0");
  return `+34 600 01 ${digits.slice(0, 2)} ${digits.slice(2)}`;
}

const metresPerDegree = 111_320;

function offsetPosition(
  from: City,
  north: number,
  east: number,
): { latitude: number; longitude: number } {
  const metresPerDegreeEast = metresPerDegree * Math.cos((from.latitude * Math.PI) / 180);
  return {
    latitude: roundDegrees(from.latitude + north / metresPerDegree),
    longitude: roundDegrees(from.longitude + east / metresPerDegreeEast),
  };
}

const roundDegrees = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
