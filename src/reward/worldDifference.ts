/** Describes where two worlds differ, apart from generated ids and times. */
import { computeDigest } from "../environment/digest.ts";
import { isJsonObject, type Json } from "../environment/json.ts";
import { formatCanonical, getPrefix, replaceTexts, type TextNames } from "./stateText.ts";

/** A world with what stands for its generated ids and free texts, and its generated times. */
export interface NamedWorld {
  readonly world: Json;
  readonly names: TextNames;
  readonly times: ReadonlySet<string>;
}

/**
 * Describes the first difference, or returns undefined if none can be named. Other values come
 * before mentions of generated ids, whose names depend on those values.
 */
export function describeDifference(
  goal: NamedWorld,
  reached: NamedWorld,
  at: string,
): string | undefined {
  const find = (showsIds: boolean) =>
    findDifference(goal.world, reached.world, at, { goal, reached, showsIds });
  return find(false) ?? find(true);
}

interface Comparison {
  readonly goal: NamedWorld;
  readonly reached: NamedWorld;
  /** Whether mentions of generated ids differ if the ids have different names. */
  readonly showsIds: boolean;
}

function findDifference(
  wanted: Json,
  found: Json,
  at: string,
  comparison: Comparison,
): string | undefined {
  if (isJsonObject(wanted) && isJsonObject(found)) {
    if (computeDigest(wanted) === computeDigest(found)) return undefined;
    for (const [goalKey, key] of pairKeys(Object.keys(wanted), Object.keys(found), comparison)) {
      if (key === undefined) return `${at}/${goalKey} is missing`;
      if (goalKey === undefined) return `${at}/${key} should not be there`;
      const inner = findDifference(wanted[goalKey]!, found[key]!, `${at}/${key}`, comparison);
      if (inner) return inner;
    }
    return undefined;
  }
  const { goal, reached, showsIds } = comparison;
  return formatPart(wanted, goal, showsIds) === formatPart(found, reached, showsIds)
    ? undefined
    : `${at} is ${shortenJson(found)}, not ${shortenJson(wanted)}`;
}

function formatPart(value: Json, { names, times }: NamedWorld, showsIds: boolean): string {
  const ids = showsIds ? names.ids : new Map([...names.ids.keys()].map(it => [it, getPrefix(it)]));
  return formatCanonical(value, { ...names, ids }, times);
}

/**
 * Pairs the keys of two objects: those of equal names, then generated ids of one kind in their
 * order. A key without a partner is alone.
 */
function pairKeys(
  goalKeys: readonly string[],
  keys: readonly string[],
  { goal, reached }: Comparison,
): readonly (readonly [goalKey: string | undefined, key: string | undefined])[] {
  const left = new Map(keys.map(it => [it, replaceTexts(it, reached.names)]));
  const take = (isPartner: (key: string, name: string) => boolean) => {
    for (const [key, name] of left)
      if (isPartner(key, name)) {
        left.delete(key);
        return key;
      }
    return undefined;
  };
  const partners = goalKeys.map(it => {
    const name = replaceTexts(it, goal.names);
    return take((_, other) => other === name);
  });
  const pairs = goalKeys.map((goalKey, i) => {
    const partner =
      partners[i] ??
      (goal.names.ids.has(goalKey)
        ? take(key => reached.names.ids.has(key) && getPrefix(key) === getPrefix(goalKey))
        : undefined);
    return [goalKey, partner] as const;
  });
  return [...pairs, ...[...left.keys()].map(it => [undefined, it] as const)];
}

export const shortenJson = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};
