/**
 * Whether two attempts left the world alike, whatever ids and times were generated on the way. A
 * generated id is known by what it refers to and by what refers to it, so that two worlds compare
 * without knowing which call made what.
 */
import { computeDigest } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { ServerState, State } from "../environment/state.ts";

/**
 * The names that a world's generated ids go by in a comparison: equal names in two worlds mean the
 * same thing.
 */
export type IdNames = ReadonlyMap<string, string>;

/** The generated ids of a world: in it, not in the world it grew from, and said by nobody. */
export function nameGeneratedIds(start: State, end: State, said: ReadonlySet<string>): IdNames {
  const names = new Map<string, string>();
  const contexts: (IdContext & { times: ReadonlySet<string> })[] = [];
  const before = Object.values(start).map(it => findIds(it.world));
  for (const [server, { world, clock }] of Object.entries(end)) {
    const times = listMinutes(start[server]?.clock ?? clock, clock, said);
    visitIds(world, start[server]?.world, [server], context => {
      if (said.has(context.id) || before.some(it => it.has(context.id))) return;
      names.set(context.id, getPrefix(context.id));
      contexts.push({ ...context, times });
    });
  }
  // each round lets a name see one reference further; it is stable when no two ids come apart any
  // more
  for (let apart = 0, round = 0; round < names.size; round++) {
    const seen = new Map<string, string[]>();
    for (const { id, path, role, holds, times } of contexts) {
      const texts = seen.get(id) ?? seen.set(id, []).get(id)!;
      texts.push(
        `${role} ${path.map(it => replaceIds(it, names)).join("/")} ${formatCanonical(holds, names, times)}`,
      );
    }
    for (const [id, texts] of seen)
      names.set(id, `${getPrefix(id)}#${computeDigest(Object.freeze(texts.toSorted()))}`);
    const distinct = new Set(names.values()).size;
    if (distinct === apart) break;
    apart = distinct;
  }
  return names;
}

const knownIds = new WeakMap<object, ReadonlySet<string>>();

/** The ids of a world that many attempts start from, found once. */
function findIds(world: object): ReadonlySet<string> {
  let ids = knownIds.get(world);
  if (!ids) {
    const found = new Set<string>();
    visitIds(world as Json, undefined, [], it => found.add(it.id));
    knownIds.set(world, (ids = found));
  }
  return ids;
}

/** A string with the generated ids in it replaced by the names they go by. */
export const replaceIds = (text: string, names: IdNames): string =>
  text.replaceAll(idPattern, it => names.get(it) ?? it);

/**
 * A world as text, equal for equal worlds: ids by their names, generated times left out, records in
 * any order.
 */
export function formatWorld(
  state: ServerState,
  start: ServerState,
  names: IdNames,
  said: ReadonlySet<string>,
): string {
  return formatCanonical(
    state.world,
    names,
    listMinutes(start.clock, state.clock, said),
    start.world,
  );
}

const idPattern = /\b[A-Za-z]\w*_\d{4,}\b/g;
const getPrefix = (id: string) => id.slice(0, id.lastIndexOf("_"));

interface IdContext {
  readonly id: string;
  readonly path: readonly string[];
  /** Whether the id is the key of what it stands with, or is mentioned in it. */
  readonly role: "key" | "mention";
  /** The value under the key, or the object or array that mentions it. */
  readonly holds: Json;
}

/** Visits each id in a value, but for the parts that are as they were in `start`. */
function visitIds(
  value: Json | undefined,
  start: Json | undefined,
  path: readonly string[],
  visit: (context: IdContext) => void,
  holder?: Json,
): void {
  if (typeof value === "string") {
    for (const id of value.match(idPattern) ?? [])
      visit({ id, path, role: "mention", holds: holder ?? value });
    return;
  }
  if (
    value === undefined ||
    value === null ||
    typeof value !== "object" ||
    isUnchanged(value, start)
  )
    return;
  for (const [key, it] of Object.entries<Json>(value)) {
    for (const id of key.match(idPattern) ?? []) visit({ id, path, role: "key", holds: it });
    visitIds(it, getChild(start, key), [...path, Array.isArray(value) ? "*" : key], visit, value);
  }
}

/**
 * Canonical text, in which what is as it was in `start` is one sign. Elements of an array that hold
 * something generated stand in for each other: their order is the order of the calls, and goals
 * that depend on no order may run in any.
 */
function formatCanonical(
  value: Json,
  names: IdNames,
  times: ReadonlySet<string>,
  start?: Json,
): string {
  if (typeof value === "string")
    return times.has(value) ? "time" : JSON.stringify(replaceIds(value, names));
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isUnchanged(value, start)) return "=";
  if (Array.isArray(value)) {
    const texts = (value as readonly Json[]).map((it, i) =>
      formatCanonical(it, names, times, getChild(start, String(i))),
    );
    const generated = (value as readonly Json[]).map(it => holdsGenerated(it, names, times));
    const inAnyOrder = texts.filter((_, i) => generated[i]).toSorted();
    return `[${texts.map((it, i) => (generated[i] ? inAnyOrder.shift()! : it)).join(",")}]`;
  }
  const entries = Object.entries(value).map(
    ([key, it]) =>
      `${JSON.stringify(replaceIds(key, names))}:${formatCanonical(it, names, times, getChild(start, key))}`,
  );
  return `{${entries.toSorted().join(",")}}`;
}

function holdsGenerated(value: Json, names: IdNames, times: ReadonlySet<string>): boolean {
  if (typeof value === "string") return times.has(value) || replaceIds(value, names) !== value;
  if (value === null || typeof value !== "object") return false;
  return Object.entries<Json>(value).some(
    ([key, it]) => holdsGenerated(key, names, times) || holdsGenerated(it, names, times),
  );
}

/** A session's states share what no call has touched, and remember the digest of what one has. */
const isUnchanged = (value: object, start: Json | undefined): boolean =>
  value === start ||
  (start !== null && typeof start === "object" && computeDigest(value) === computeDigest(start));

function getChild(value: Json | undefined, key: string): Json | undefined {
  if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, Json>)[key];
}

/** The minutes of a session, less those that somebody said. */
function listMinutes(from: string, to: string, said: ReadonlySet<string>): ReadonlySet<string> {
  const times = new Set<string>();
  for (let at = Date.parse(`${from}:00Z`); at <= Date.parse(`${to}:00Z`); at += 60_000) {
    const minute = new Date(at).toISOString().slice(0, 16);
    if (!said.has(minute)) times.add(minute);
  }
  return times;
}
