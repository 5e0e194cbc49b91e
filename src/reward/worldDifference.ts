/** Finds where two worlds differ, apart from generated ids and times. */
import { computeDigest } from "../environment/digest.ts";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { formatCanonical, getPrefix, noNames, replaceTexts, type TextNames } from "./stateText.ts";

/** A world with what stands for its generated ids and free texts, and its generated times. */
export interface NamedWorld {
  readonly world: Json;
  readonly names: TextNames;
  readonly times: ReadonlySet<string>;
}

/** Where two worlds differ. */
export interface WorldDifference {
  /** The keys that lead there from the world, those of the reached world where it has them. */
  readonly path: readonly string[];
  /** Absent if it is missing. */
  readonly found?: Json;
  /** With the ids of the reached world; absent if nothing should be there. */
  readonly wanted?: Json;
  /** What is wanted has no place of its own yet: it is to be inside what is at the path. */
  readonly isNew?: true;
}

/**
 * Finds the first difference; undefined if there is none. Mentions of generated ids are compared
 * only if there is no other difference, because such an id has another name as soon as its entity
 * differs.
 */
export function findDifference(goal: NamedWorld, reached: NamedWorld): WorldDifference | undefined {
  const comparison = new Comparison({ goal, reached });
  const difference = comparison.find(goal.world, reached.world, []);
  if (difference !== undefined) return difference;
  comparison.showIds();
  return comparison.find(goal.world, reached.world, []);
}

/** The JSON pointer to a part of a server's world in the state of a session. */
export const formatPointer = (server: string, path: readonly string[]): string =>
  [server, "world", ...path]
    .map(it => `/${it.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");

interface Worlds {
  readonly goal: NamedWorld;
  readonly reached: NamedWorld;
}

/** A key of the goals' world and the key of the reached world that stands for it. */
type KeyPair = readonly [goalKey: string | undefined, key: string | undefined];

class Comparison {
  readonly #worlds: Worlds;
  /** The worlds with the kind of each generated id instead of its name. */
  readonly #withKinds: Worlds;
  /** The ids of the reached world by those of the goals' world that they were paired with. */
  readonly #ownIds = new Map<string, string>();
  #showsIds = false;

  constructor(worlds: Worlds) {
    this.#worlds = worlds;
    this.#withKinds = { goal: nameByKind(worlds.goal), reached: nameByKind(worlds.reached) };
  }

  /** From here on, mentions of generated ids differ if the ids have different names. */
  showIds(): void {
    this.#showsIds = true;
  }

  find(wanted: Json, found: Json, path: readonly string[]): WorldDifference | undefined {
    if (isJsonObject(wanted) && isJsonObject(found))
      return this.#findInObjects(wanted, found, path);
    if (this.#areEqual(wanted, found)) return undefined;
    return (
      (isObjectList(wanted) && isObjectList(found)
        ? this.#findInLists(wanted, found, path)
        : undefined) ?? { path, found, wanted: this.#showOwnIds(wanted) }
    );
  }

  #findInObjects(
    wanted: JsonObject,
    found: JsonObject,
    path: readonly string[],
  ): WorldDifference | undefined {
    // equal parts may mention different entities, whose ids are the same in the two worlds
    if (!this.#showsIds && computeDigest(wanted) === computeDigest(found)) return undefined;
    for (const [goalKey, key] of this.#pairKeys(wanted, found)) {
      if (goalKey === undefined) return { path: [...path, key!], found: found[key!]! };
      if (key === undefined)
        return this.#worlds.goal.names.ids.has(goalKey)
          ? { path, wanted: this.#showOwnIds(wanted[goalKey]!), isNew: true }
          : { path: [...path, goalKey], wanted: this.#showOwnIds(wanted[goalKey]!) };
      const inner = this.find(wanted[goalKey]!, found[key]!, [...path, key]);
      if (inner) return inner;
    }
    return undefined;
  }

  #findInLists(
    wanted: readonly JsonObject[],
    found: readonly JsonObject[],
    path: readonly string[],
  ): WorldDifference | undefined {
    const missing = wanted.find(it => !found.some(other => this.#areEqual(it, other)));
    const other = found.findIndex(it => !wanted.some(own => this.#areEqual(own, it)));
    if (missing && other >= 0) return this.find(missing, found[other]!, [...path, String(other)]);
    if (missing) return { path, wanted: this.#showOwnIds(missing), isNew: true };
    return other < 0 ? undefined : { path: [...path, String(other)], found: found[other]! };
  }

  /**
   * Pairs the keys of two objects: those of equal names, then generated ids of one kind, first
   * those that hold the same and then the others in their order. A key without a partner is alone.
   */
  #pairKeys(wanted: JsonObject, found: JsonObject): readonly KeyPair[] {
    const { goal, reached } = this.#worlds;
    const left = new Map(Object.keys(found).map(it => [it, replaceTexts(it, reached.names)]));
    const pairs = new Map<string, string>();
    const pair = (isPartner: (goalKey: string, key: string, name: string) => boolean) => {
      for (const goalKey of Object.keys(wanted).filter(it => !pairs.has(it)))
        for (const [key, name] of left)
          if (isPartner(goalKey, key, name)) {
            pairs.set(goalKey, key);
            left.delete(key);
            break;
          }
    };
    const goalNames = new Map(Object.keys(wanted).map(it => [it, replaceTexts(it, goal.names)]));
    pair((goalKey, _, name) => goalNames.get(goalKey) === name);
    const areAlike = (goalKey: string, key: string) =>
      goal.names.ids.has(goalKey) &&
      reached.names.ids.has(key) &&
      getPrefix(goalKey) === getPrefix(key);
    pair(
      (goalKey, key) =>
        areAlike(goalKey, key) && areEqual(wanted[goalKey]!, found[key]!, this.#withKinds),
    );
    pair(areAlike);
    for (const [goalKey, key] of pairs)
      if (reached.names.ids.has(key)) this.#ownIds.set(goalKey, key);
    return [
      ...Object.keys(wanted).map(it => [it, pairs.get(it)] as const),
      ...[...left.keys()].map(it => [undefined, it] as const),
    ];
  }

  #showOwnIds(value: Json): Json {
    const names = { ids: this.#ownIds, aliases: noNames.aliases };
    return JSON.parse(replaceTexts(JSON.stringify(value), names)) as Json;
  }

  #areEqual(wanted: Json, found: Json): boolean {
    return areEqual(wanted, found, this.#showsIds ? this.#worlds : this.#withKinds);
  }
}

const areEqual = (wanted: Json, found: Json, { goal, reached }: Worlds): boolean =>
  formatCanonical(wanted, goal.names, goal.times) ===
  formatCanonical(found, reached.names, reached.times);

const nameByKind = ({ names, ...world }: NamedWorld): NamedWorld => ({
  ...world,
  names: { ...names, ids: new Map([...names.ids.keys()].map(it => [it, getPrefix(it)])) },
});

const isObjectList = (value: Json): value is readonly JsonObject[] & Json =>
  Array.isArray(value) && value.every(isJsonObject);
