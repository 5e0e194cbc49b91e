/**
 * Renames the people, companies and places of a state: every name of one cast is replaced by the
 * name that another cast gives to the same role, in text and in keys.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Person, SharedCast } from "./cast.ts";

/** The renamed state; the same object if both casts have the same names. */
export function renameCast(state: JsonObject, from: SharedCast, to: SharedCast): JsonObject {
  const renames = new Map(listRenames(from, to).filter(([before, after]) => before !== after));
  if (renames.size === 0) return state;
  const longestFirst = [...renames.keys()].sort((a, b) => b.length - a.length).map(escapePattern);
  // whole words only
  const pattern = new RegExp(`(?<![\\p{L}\\d])(?:${longestFirst.join("|")})(?![\\p{L}\\d])`, "gu");
  return mapText(state, text => text.replaceAll(pattern, it => renames.get(it)!)) as JsonObject;
}

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The value with `transform` applied to every string and every key. */
function mapText(value: Json, transform: (text: string) => string): Json {
  if (typeof value === "string") return transform(value);
  if (Array.isArray(value)) return value.map((it: Json) => mapText(it, transform));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [transform(key), mapText(it, transform)]),
  );
}

type Rename = readonly [before: string, after: string];

/** The names of each role in both casts. If two roles share a name, the first one listed counts. */
function listRenames(from: SharedCast, to: SharedCast): Rename[] {
  const renames = [
    ...zip(listPeople(from), listPeople(to)).flatMap(listPersonRenames),
    ...zip([...from.clients, ...from.prospects], [...to.clients, ...to.prospects]).flatMap(
      ([before, after]): Rename[] => [
        [before.legalName, after.legalName],
        [before.name, after.name],
        [before.domain, after.domain],
        [getFirstWord(before.name), getFirstWord(after.name)],
        [getFirstWord(before.name).toLowerCase(), getFirstWord(after.name).toLowerCase()],
      ],
    ),
    ...zip(from.places, to.places).flatMap(([before, after]): Rename[] => [
      [before.name, after.name],
      [getStreet(before.address), getStreet(after.address)],
    ]),
    [from.studio.domain, to.studio.domain] as const,
    [from.home.name, to.home.name] as const,
  ];
  return [...new Map(renames.toReversed())].toReversed();
}

const listPersonRenames = ([before, after]: readonly [Person, Person]): Rename[] => [
  [before.email, after.email],
  [before.name, after.name],
  [before.firstName, after.firstName],
  [before.userName, after.userName],
];

const listPeople = (cast: SharedCast): Person[] => [
  ...cast.staff,
  ...cast.friends,
  ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts),
];

const zip = <T>(left: readonly T[], right: readonly T[]) =>
  left.map((it, i) => [it, right[i]!] as const);

const getFirstWord = (name: string) => name.split(" ")[0]!;
const getStreet = (address: string) => address.split(",")[0]!;
