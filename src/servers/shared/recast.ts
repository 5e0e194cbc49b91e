/**
 * A state told of other people and places: every name of the shipped world is replaced by the name
 * that another canon gives to the same role, in texts and in keys. Knows no server: a name is a
 * whole word wherever it stands.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Canon, Person } from "./cast.ts";

/** The state as `to` would tell it; the very same where the canons name alike. */
export function recast(state: JsonObject, from: Canon, to: Canon): JsonObject {
  const names = new Map(pairsOf(from, to).filter(([before, after]) => before !== after));
  if (names.size === 0) return state;
  const all = [...names.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<![\\p{L}\\d])(?:${all.join("|")})(?![\\p{L}\\d])`, "gu");
  return told(state, text => text.replaceAll(pattern, it => names.get(it)!)) as JsonObject;
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

function told(value: Json, say: (text: string) => string): Json {
  if (typeof value === "string") return say(value);
  if (Array.isArray(value)) return value.map((it: Json) => told(it, say));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [say(key), told(it, say)]));
}

/**
 * What each canon calls the same thing. Where two roles share a word, the first one named keeps it.
 */
function pairsOf(from: Canon, to: Canon): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  const persons = (canon: Canon): Person[] => [
    ...canon.staff,
    ...canon.friends,
    ...[...canon.clients, ...canon.prospects].flatMap(it => it.contacts),
  ];
  const others = persons(to);
  for (const [i, it] of persons(from).entries()) {
    const other = others[i]!;
    pairs.push(
      [it.email, other.email],
      [it.name, other.name],
      [it.first, other.first],
      [it.user, other.user],
    );
  }
  for (const [i, it] of [...from.clients, ...from.prospects].entries()) {
    const other = [...to.clients, ...to.prospects][i]!;
    pairs.push(
      [it.legal, other.legal],
      [it.name, other.name],
      [it.domain, other.domain],
      [wordOf(it.name), wordOf(other.name)],
      [slugOf(it.name), slugOf(other.name)],
    );
  }
  for (const [i, it] of from.places.entries())
    pairs.push(
      [it.name, to.places[i]!.name],
      [streetOf(it.address), streetOf(to.places[i]!.address)],
    );
  pairs.push([from.studio.domain, to.studio.domain], [from.home.name, to.home.name]);
  return [...new Map(pairs.toReversed())].toReversed();
}

const wordOf = (name: string) => name.split(" ")[0]!;
const slugOf = (name: string) => wordOf(name).toLowerCase();
const streetOf = (address: string) => address.split(",")[0]!;
