/**
 * Says what a call's result shows: which of the wanted ids and values occur in it, and the fields
 * of the entities with these ids. Each result is read once.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import { findEntityValues } from "./entities.ts";
import { listScalars, areEqual, isCommonNumber, normalizeText } from "./valueMatching.ts";
import type { Fact } from "./task.ts";

/** The wanted ids and values as text, and what else stands for one of them in this attempt. */
export interface WantedTexts {
  readonly texts: ReadonlySet<string>;
  /** The goals' ids by the attempt's, for ids that the sessions generated differently. */
  readonly aliases: ReadonlyMap<string, string>;
}

export interface ResultIndex {
  /** For each wanted text that occurs, the wanted ids around it, one list per occurrence. */
  readonly texts: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** For each wanted id, the values of the fields that belong to it. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, readonly Json[]>>;
}

/**
 * Indexes the result of a call. A field belongs to an id that its object, or an object around it,
 * has as a field or a key, and to an id that the call names: its result is about that entity. A
 * small whole number is in many results, and only counts where the tool shows or takes such an id.
 */
export function indexResult(
  result: Json,
  args: JsonObject,
  wanted: WantedTexts,
  tool?: Pick<Tool, "inputSchema" | "outputSchema">,
): ResultIndex {
  const ids = tool && [
    ...findEntityValues(tool.outputSchema, result).ids,
    ...findEntityValues(tool.inputSchema, args).ids,
  ];
  const numbers = new Set(ids?.map(it => it.value));
  const texts = new Map<string, (readonly string[])[]>();
  const fields = new Map<string, Map<string, Json[]>>();
  const findWanted = (scalar: Json): string | undefined => {
    if (scalar === null || typeof scalar === "object") return undefined;
    if (isCommonNumber(scalar) && !numbers.has(scalar)) return undefined;
    const text = String(scalar);
    const wantedText = wanted.aliases.get(text) ?? text;
    return wanted.texts.has(wantedText) ? wantedText : undefined;
  };
  const addText = (text: string, ids: readonly string[]) => {
    const occurrences = texts.get(text);
    if (occurrences) occurrences.push(ids);
    else texts.set(text, [ids]);
  };
  const addField = (id: string, key: string, value: Json) => {
    const own = fields.get(id) ?? fields.set(id, new Map()).get(id)!;
    const values = own.get(key);
    if (values) values.push(value);
    else own.set(key, [value]);
  };
  const visit = (value: Json, outer: readonly string[]): void => {
    if (value === null || typeof value !== "object") {
      const text = findWanted(value);
      if (text !== undefined) addText(text, outer);
      return;
    }
    if (!isJsonObject(value)) {
      for (const it of value) visit(it, outer);
      return;
    }
    const entries = Object.entries(value);
    const own = entries.flatMap(([, it]) => findWanted(it) ?? []);
    const ids = own.length === 0 ? outer : [...outer, ...own];
    for (const [key, it] of entries) {
      for (const id of ids) if (it === null || typeof it !== "object") addField(id, key, it);
      const keyId = findWanted(key);
      if (keyId !== undefined) addText(keyId, ids);
      visit(it, keyId === undefined ? ids : [...ids, keyId]);
    }
  };
  visit(
    result,
    [...listScalars(args)].flatMap(it => findWanted(it) ?? []),
  );
  return { texts, fields };
}

/** Whether a result shows a fact about an entity. */
export function showsFact(
  { texts, fields }: ResultIndex,
  { entity, of = [], field, value, loose }: Fact,
): boolean {
  if (entity === undefined) return false;
  if (field === undefined)
    return texts.get(entity)?.some(ids => of.every(it => ids.includes(it))) ?? false;
  const values = fields.get(entity)?.get(field);
  return values?.some(it => areValuesEqual(it, value!, loose)) ?? false;
}

const areValuesEqual = (a: Json, b: Json, isLoose = false): boolean =>
  areEqual(a, b) ||
  (isLoose &&
    typeof a === "string" &&
    typeof b === "string" &&
    normalizeText(a) === normalizeText(b));

/**
 * Whether a result has a field of this name with this value, or, for `count`, a first list with so
 * many rows.
 */
export function showsValue(result: Json, field: string, value: Json, isLoose?: boolean): boolean {
  const isShown = (it: Json): boolean => {
    if (it === null || typeof it !== "object") return false;
    const own = isJsonObject(it) && Object.hasOwn(it, field) ? it[field]! : undefined;
    return (
      (own !== undefined && areValuesEqual(own, value, isLoose)) ||
      Object.values<Json>(it).some(isShown)
    );
  };
  return (field === "count" && countRows(result) === value) || isShown(result);
}

function countRows(result: Json): number | undefined {
  if (!isJsonObject(result)) return undefined;
  const list = Object.values(result).find(it => Array.isArray(it));
  return list && (list as readonly Json[]).length;
}
