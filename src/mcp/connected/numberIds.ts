/**
 * Whole numbers by which results tell things apart. Counts, limits and positions are whole numbers,
 * too, and the ids of different things are often the same ones: what a number stands for is known
 * from the name beside it, or from the words for its field.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { getFieldName } from "../../environment/argumentPaths.ts";
import { getProperties, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";

/** By their place, with the name beside each: `list_issues issues[].number`. */
export type KnownNumbers = Map<string, Map<number, string | undefined>>;

/** Fields that hold the name of what their object is. */
export const nameFields = ["title", "name", "label", "subject", "summary"];

const idField = /^(?:i?id|no|nr|number)$|[a-z]Id$|_(?:i?id|no|nr|number)$/i;

/** Of a place with more numbers, the first are known. */
const maxNumbers = 40;

/** Adds the numbers in fields with names of ids. */
export function listNumberIds(tool: string, value: Json, known: KnownNumbers, path = ""): void {
  if (Array.isArray(value))
    for (const it of value) listNumberIds(tool, it as Json, known, `${path}[]`);
  if (!isJsonObject(value)) return;
  const own = findOwnId(value, path);
  for (const [key, it] of Object.entries(value)) {
    const inner = path === "" ? key : `${path}.${key}`;
    listNumberIds(tool, it, known, inner);
    if (!isIdField(key, it)) continue;
    const place = `${tool} ${inner}`;
    const numbers = known.get(place) ?? new Map<number, string | undefined>();
    known.set(place, numbers);
    const name = key === own ? nameFields.map(of => value[of]).find(isName) : undefined;
    if (numbers.size < maxNumbers || numbers.has(it)) numbers.set(it, name ?? numbers.get(it));
  }
}

const isIdField = (key: string, it: Json): it is number =>
  typeof it === "number" && Number.isSafeInteger(it) && idField.test(key);

const isName = (it: Json | undefined): it is string => typeof it === "string" && it.trim() !== "";

/** The field with the number of an object itself, and not of what the object belongs to. */
function findOwnId(row: JsonObject, path: string): string | undefined {
  const fields = Object.keys(row).filter(it => isIdField(it, row[it]!));
  return (
    fields.find(it => toThing(it) === "") ??
    fields.find(it => toThing(it) === toThing(getContainer(path))) ??
    fields[0]
  );
}

const getContainer = (path: string): string => getFieldName(path.replace(/\[\]$/, ""));

/** The noun in the name of a field or list: `issue` of `issueId` and `issues`; empty for `id`. */
export const toThing = (key: string): string =>
  key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/(?:^|_)(?:i?id|no|nr|number)s?$/, "")
    .replace(/(?<=[a-z]{3})ies$/, "y")
    .replace(/(?<=[a-z]{2}[^s])s$/, "");

/** What the numbers of a place stand for, as far as its words say. */
export const getThingAt = (place: string): string => {
  const [, path = ""] = place.split(/ (.*)/s);
  return toThing(getFieldName(path)) || toThing(getContainer(path.replace(/\.?[^.\]]*$/, "")));
};

/** Whether there is a name beside one of the numbers. */
export const hasNames = (numbers: ReadonlyMap<number, string | undefined>): boolean =>
  [...numbers.values()].some(it => it !== undefined);

/** Whether the numbers of two places stand for the same things: the same names are beside them. */
export function areSameThings(numbers: KnownNumbers, a: string, b: string): boolean {
  if (a === b) return true;
  const [x, y] = [numbers.get(a)!, numbers.get(b)!];
  const shared = [...x].filter(([it, name]) => name !== undefined && y.get(it) !== undefined);
  return shared.length > 0 && shared.every(([it, name]) => y.get(it) === name);
}

/** The arguments that are whole numbers of which any may be given. */
export const listNumberKeys = (schema: JsonSchema): string[] =>
  Object.entries(getProperties(schema)).flatMap(([key, published]) => {
    const { type, enum: values, const: constant } = removeNull(published);
    const isNumber = type === "integer" || type === "number";
    return isNumber && values === undefined && constant === undefined ? [key] : [];
  });
