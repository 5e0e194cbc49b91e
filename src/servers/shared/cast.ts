/**
 * Who and what a world is about: the same people, firms, places and dates for all its servers. Seed
 * 1 is the shipped world; another seed casts the same roles with other names. Knows no server.
 */
import { createRandom, type Random } from "../../environment/random.ts";
import { cities, clients, homes, people, places, prospects, streets, studios } from "./names.ts";

export interface Person {
  readonly name: string;
  readonly first: string;
  readonly last: string;
  /** The first name in lower case: a user name. */
  readonly user: string;
  readonly email: string;
  readonly phone: string;
}

export interface Colleague extends Person {
  readonly job: string;
}

export interface Firm {
  /** What people call it: "Northwind". */
  readonly name: string;
  /** Its full name: "Northwind Insurance". */
  readonly legal: string;
  readonly industry: string;
  readonly city: string;
  /** Of its e-mail addresses. */
  readonly domain: string;
  readonly contacts: readonly Person[];
}

export interface City {
  readonly name: string;
  readonly country: string;
  /** Three letters. */
  readonly airport: string;
  /** Degrees north and east. */
  readonly latitude: number;
  readonly longitude: number;
  /** Metres above the sea. */
  readonly elevation: number;
  readonly timezone: string;
}

export interface Place {
  readonly role: string;
  readonly name: string;
  readonly category: string;
  readonly address: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly phone: string;
}

export interface Canon {
  readonly seed: number;
  /** When every session of this world begins, `YYYY-MM-DDTHH:MM`, a Monday. */
  readonly now: string;
  /** Whom the agent works for. */
  readonly user: Colleague;
  /** At the studio, the user not among them, in the order of the shipped calendar. */
  readonly colleagues: readonly Colleague[];
  /** The user and the colleagues. */
  readonly staff: readonly Colleague[];
  /** Family and friends: brother, aunt, then friends. */
  readonly friends: readonly Person[];
  readonly studio: { readonly name: string; readonly domain: string };
  /** Three, in the order of the shipped invoices: an insurer, an outdoor brand, a food maker. */
  readonly clients: readonly Firm[];
  /** Twelve firms that may become clients. */
  readonly prospects: readonly Firm[];
  readonly home: City;
  /** The home city first. */
  readonly cities: readonly City[];
  /** In the home city, the user's own home and office among them. */
  readonly places: readonly Place[];
  /** The place of that role: `cafe`, `studio`, `home`. */
  readonly place: (role: string) => Place;
}

export const shippedSeed = 1;
export const now = "2026-03-09T09:00";

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

/** The roles of a world with the names that this seed gives them. */
export function canonOf(seed: number): Canon {
  const random = createRandom(seed, "canon");
  const shuffled = <T>(list: readonly T[]): readonly T[] =>
    seed === shippedSeed ? list : random.shuffle([...list]);
  const chosen = (names: readonly string[]): string =>
    seed === shippedSeed ? names[0]! : random.pick(names);
  const names = shuffled(people);
  const roads = shuffled(streets);
  const home: City = {
    name: chosen(homes),
    country: "Spain",
    airport: "PLD",
    latitude: 43.4623,
    longitude: -3.81,
    elevation: 15,
    timezone: "Europe/Madrid",
  };
  const away = cities.map(([name, country, airport, latitude, longitude, elevation, timezone]) => ({
    name,
    country,
    airport,
    latitude,
    longitude,
    elevation,
    timezone,
  }));
  const studio = chosen(studios);
  const domain = domainOf(studio.split(" ")[0]!);
  const staff = names
    .slice(0, 14)
    .map((name, i) => ({ ...personOf(name, domain, i), job: jobs[i]! }));
  const user = staff[0]!;
  const surnamed = (name: string, i: number) =>
    i < 2 ? `${name.split(" ")[0]!} ${user.last}` : name;
  const friends = names
    .slice(14, 21)
    .map((name, i) => personOf(surnamed(name, i), "postbox.example", 20 + i));
  const contact = (name: string, firm: string, i: number) => personOf(name, domainOf(firm), 40 + i);
  const clientFirms = clients.map(({ names: own, legal, industry, city }, i) => {
    const name = chosen(own);
    const contacts = [0, 1].map(j => contact(names[21 + 2 * i + j]!, name, 2 * i + j));
    return {
      name,
      legal: `${name} ${legal}`.trim(),
      industry,
      city,
      domain: domainOf(name),
      contacts,
    };
  });
  const prospectFirms = prospects.map(([own, industry, city], i) => {
    const name = chosen(own);
    return {
      name,
      legal: name,
      industry,
      city: city === "home" ? home.name : city,
      domain: domainOf(name),
      contacts: [contact(names[27 + i]!, name, 10 + i)],
    };
  });
  const fixed: Readonly<Record<string, string>> = {
    home: `${user.first}'s flat`,
    studio,
    grocery: `${clientFirms[2]!.name} market hall`,
    museum: prospectFirms[9]!.name,
    airport: `${home.name} Airport`,
    aunt: `Aunt ${friends[1]!.first}'s house`,
  };
  const around = places.map(([role, category, own, house, street, north, east], i): Place => {
    const name = chosen(own);
    return {
      role,
      name: fixed[role] ?? name,
      category,
      address: `${house} ${roads[street]!}, ${home.name}`,
      ...displaced(home, north, east),
      phone: phoneOf(100 + i),
    };
  });
  return {
    seed,
    now,
    user,
    colleagues: staff.slice(1),
    staff,
    friends,
    studio: { name: studio, domain },
    clients: clientFirms,
    prospects: prospectFirms,
    home,
    cities: [home, ...away],
    places: around,
    place(role) {
      const found = around.find(it => it.role === role);
      if (!found) throw new Error(`no place has the role ${role}`);
      return found;
    },
  };
}

/** Chance for one server's part of a world: what one server draws moves nothing of another's. */
export const chanceFor = (canon: Canon, server: string, size: string): Random =>
  createRandom(canon.seed, "world", server, size);

function personOf(name: string, domain: string, i: number): Person {
  const [first, ...rest] = name.split(" ");
  const user = plain(first!);
  return {
    name,
    first: first!,
    last: rest.join(" "),
    user,
    email: `${user}@${domain}`,
    phone: phoneOf(i),
  };
}

const domainOf = (name: string) => `${plain(name)}.example`;
const plain = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
/** Of a range that no network gives out. */
const phoneOf = (i: number) =>
  `+34 600 01 ${String(Math.floor(i / 100)).padStart(2, "0")} ${String(i % 100).padStart(2, "0")}`;

const metresPerDegree = 111_320;

function displaced(
  from: City,
  north: number,
  east: number,
): { latitude: number; longitude: number } {
  const perDegreeEast = metresPerDegree * Math.cos((from.latitude * Math.PI) / 180);
  return {
    latitude: fine(from.latitude + north / metresPerDegree),
    longitude: fine(from.longitude + east / perDegreeEast),
  };
}

const fine = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
