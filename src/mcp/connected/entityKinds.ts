/**
 * Finds the kinds of things that a server has: a text or number that one tool shows and another
 * accepts, where an unknown one is not accepted, names such a thing.
 */
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import { isJsonObject, type JsonObject } from "../../environment/json.ts";
import type { JsonSchema, LoggedCall } from "../../environment/server.ts";
import { getAt, getFieldName, getText, setAt, splitPath } from "../../environment/argumentPaths.ts";
import { listTexts, type KnownTexts } from "./exampleArguments.ts";
import {
  areSameThings,
  getThingAt,
  hasNames,
  listNumberIds,
  nameFields,
  toThing,
} from "./numberIds.ts";
import type { KnownNumbers } from "./numberIds.ts";
import { sandboxPath } from "./sandboxPaths.ts";
import type { ServerFile } from "./serverFile.ts";
import type { StateReference } from "./statePool.ts";
import { readRecord } from "./textResult.ts";
import { isFailure, type Trials } from "./trials.ts";

/** An argument that takes the texts or numbers of a place. */
export interface AcceptedValue {
  readonly tool: string;
  /** Its path: `note_id`, or `relations[].from` in a list of objects. */
  readonly key: string;
  /** `list_notes notes[].id` */
  readonly source: string;
  /** The values of the place are numbers. */
  readonly isNumber?: true;
}

/** Values for an argument that names no entity. */
export interface ArgumentExamples {
  readonly tool: string;
  readonly key: string;
  readonly values: readonly (string | number)[];
}

export interface Kind {
  readonly name: string;
  readonly inputs: readonly AcceptedValue[];
  /** The places that show such values. */
  readonly places: string[];
  /** People know and say the texts. */
  readonly isSpoken: boolean;
  readonly isNumber: boolean;
}

/** The values that results have shown, by their place. */
interface KnownValues {
  readonly texts: KnownTexts;
  readonly numbers: KnownNumbers;
}

export function findKinds(accepted: readonly AcceptedValue[], known: KnownValues): Kind[] {
  const { texts, numbers } = known;
  const groups: AcceptedValue[][] = [];
  for (const it of accepted) {
    const group = groups.find(other => overlaps(known, other[0]!, it));
    if (group) group.push(it);
    else groups.push([it]);
  }
  const names = new Set<string>();
  return groups.map(inputs => {
    const { source } = inputs[0]!;
    const wanted = chooseName(inputs);
    let name = wanted;
    for (let i = 2; names.has(name); i++) name = `${wanted}${i}`;
    names.add(name);
    const isNumber = inputs[0]!.isNumber === true;
    const places = isNumber
      ? [...numbers.keys()].filter(it => showsThing(numbers, source, it, name))
      : [...texts.keys()].filter(it => overlaps(known, inputs[0]!, { source: it }));
    const isSpoken = !isNumber && [...texts.get(source)!].every(isSaid);
    return { name, inputs, places, isSpoken, isNumber };
  });
}

/** Whether a place shows the things of another one: with their names, or by the name of the kind. */
function showsThing(numbers: KnownNumbers, source: string, place: string, name: string): boolean {
  const [things, shown] = [numbers.get(source)!, numbers.get(place)!];
  return hasNames(shown)
    ? areSameThings(numbers, source, place)
    : getThingAt(place) === name && [...shown.keys()].every(it => things.has(it));
}

/** Whether two places show the same things: most texts of the smaller one are in the other one. */
function overlaps(
  { texts, numbers }: KnownValues,
  { source: a, isNumber }: Pick<AcceptedValue, "source" | "isNumber">,
  { source: b, isNumber: isOtherNumber }: Pick<AcceptedValue, "source" | "isNumber">,
): boolean {
  if (isNumber !== isOtherNumber) return false;
  if (a === b) return true;
  if (isNumber) return areSameThings(numbers, a, b);
  const [x, y] = [texts.get(a)!, texts.get(b)!];
  const shared = [...x].filter(it => y.has(it)).length;
  return shared > 0 && shared * 2 >= Math.min(x.size, y.size);
}

/** The name of the argument that most tools use, without what says that it is an id. */
function chooseName(inputs: readonly AcceptedValue[]): string {
  const counts = new Map<string, number>();
  for (const { key, source, isNumber } of inputs) {
    const ofSandbox = source.startsWith(`${sandboxPath} `) ? source.split(" ").at(-1)! : "";
    const name =
      toNoun(ofSandbox) ||
      (isNumber && (toThing(getFieldName(key)) || getThingAt(source))) ||
      toNoun(getFieldName(key)) ||
      toNoun(/([A-Za-z_]+)\[\]/.exec(source)?.[1] ?? "") ||
      "item";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]![0];
}

/** The noun in the name of an argument; empty if it is `id`, `name` or the like. */
export const toNoun = (key: string): string =>
  key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/^(?:id|ids|name|names|key|keys|result|items)$/, "")
    .replace(/_(?:id|ids|name|names|key|uuid)$/, "")
    .replace(/(?<=[a-z]{3})ies$/, "y")
    .replace(/(?<=[a-z]{2}[^s])s$/, "");

/** Whether people would say a text, rather than look up what it stands for. */
const isSaid = (text: string): boolean =>
  /\p{L}/u.test(text) &&
  !/^[a-z]{0,12}[-_]?\d+$/i.test(text) &&
  !/^[0-9a-f]{8}(?:-?[0-9a-f]{4}){0,6}/i.test(text);

/** Reads texts as lists that have a thing in each line, and adds their places. */
export function addLists(kinds: readonly Kind[], trials: Trials): void {
  for (const { inputs, places, isNumber } of kinds) {
    if (isNumber) continue;
    const things = new Set(inputs.flatMap(it => [...trials.texts.get(it.source)!]));
    for (const place of places.filter(it => it.endsWith("/lines"))) {
      const [tool, field] = splitPlace(place.replace(/\/lines$/, "[]"));
      const lines = [...trials.texts.get(place)!];
      if (!lines.every(it => things.has(it))) continue;
      trials.lists.add(tool);
      places.push(`${tool} ${field.join("")}`);
    }
  }
}

/** Adds the places at which writes show a thing that they were about, or that they created. */
export async function addNewThings(kinds: readonly Kind[], trials: Trials): Promise<void> {
  for (const [name, { call, writes }] of trials.samples) {
    if (!writes || !trials.allows(name)) continue;
    const { outcome, world } = await trials.call(call);
    if (outcome.kind !== "ok" || !world) continue;
    const after = { ...trials.start, calls: [call], digest: computeDigest(deepFreeze(world)) };
    const shown: KnownValues = { texts: new Map(), numbers: new Map() };
    const record = readRecord(outcome.value, trials.getForm(name));
    listTexts(name, record, shown.texts);
    listNumberIds(name, record, shown.numbers);
    for (const [place, values] of shown.numbers) trials.numbers.set(place, values);
    for (const kind of kinds)
      for (const [place, values] of kind.isNumber ? shown.numbers : shown.texts) {
        const isOther = kind.isNumber && ![kind.name, ""].includes(getThingAt(place));
        if (!isOther && (await isAbout(kind, call, after, [...values.keys()][0]!, trials)))
          kind.places.push(place);
      }
  }
}

/** Whether a value names a thing of the kind: it was given as one, or one can be read by it. */
async function isAbout(
  kind: Kind,
  call: LoggedCall,
  after: StateReference,
  value: string | number,
  trials: Trials,
): Promise<boolean> {
  if (kind.inputs.some(it => it.tool === call.name && getText(call.arguments, it.key) === value))
    return true;
  const reader = kind.inputs.find(({ tool, key }) => {
    const sample = trials.samples.get(tool);
    return sample && !sample.writes && getAt(sample.call.arguments, key) !== undefined;
  });
  if (!reader) return false;
  const { name, arguments: args } = trials.samples.get(reader.tool)!.call;
  const read = { name, arguments: setAt(args, reader.key, value) };
  const [{ outcome }, before] = [await trials.call(read, after), (await trials.call(read)).outcome];
  if (outcome.kind !== "ok" || isFailure(outcome.value)) return false;
  if (before.kind !== "ok" || isFailure(before.value)) return true;
  // what people say is often looked for, and then nothing is found
  const [shown, shownBefore] = [outcome.value, before.value].map(it => JSON.stringify(it));
  return kind.isSpoken && shown!.includes(String(value)) && !shownBefore!.includes(String(value));
}

/** Writes the kinds into the schemas of the tools. */
export function markKinds(
  tools: ServerFile["tools"],
  kinds: readonly Kind[],
  { texts, numbers }: KnownValues,
): void {
  for (const { name, inputs, places: all, isSpoken, isNumber } of kinds) {
    const places = all.filter(it => isDescribed(tools, it));
    const labels = new Map(
      isSpoken
        ? []
        : places
            .filter(it => !isNumber || hasNames(numbers.get(it)!))
            .map(it => [it, findLabel(tools, it)] as const)
            .filter(([, it]) => it),
    );
    if (isNumber && labels.size === 0) {
      // people say the number of what has no name
      for (const { tool, key, source } of inputs)
        markInput(tools, tool, key, { examples: [...numbers.get(source)!.keys()] });
      continue;
    }
    const keywords = {
      "x-entity": name,
      // what has no name is said by its id
      ...(isSpoken || labels.size === 0 ? { "x-spoken": true } : {}),
    };
    // what no field of a result shows is known from here alone
    const isHidden = places.length === 0;
    for (const { tool, key, source } of inputs)
      markInput(tools, tool, key, {
        ...keywords,
        ...(isHidden ? { examples: [...texts.get(source)!] } : {}),
      });
    for (const place of places) {
      const [tool, path] = splitPlace(place);
      const label = labels.get(place);
      let schema = mark(tools[tool]!.outputSchema, path, keywords);
      if (label) schema = mark(schema, [...path.slice(0, -1), label], { "x-label": name });
      tools[tool] = { ...tools[tool]!, outputSchema: schema };
    }
  }
}

/** Writes values for arguments into the schemas of the tools. */
export function markExamples(
  tools: ServerFile["tools"],
  examples: readonly ArgumentExamples[],
): void {
  for (const { tool, key, values } of examples)
    markInput(tools, tool, key, { examples: [...values] });
}

function markInput(
  tools: ServerFile["tools"],
  tool: string,
  key: string,
  keywords: JsonObject,
): void {
  const entry = tools[tool]!;
  tools[tool] = { ...entry, inputSchema: mark(entry.inputSchema, splitPath(key), keywords) };
}

/** Whether a schema describes what is at a place; the parts of a text have none. */
function isDescribed(tools: ServerFile["tools"], place: string): boolean {
  const [tool, path] = splitPlace(place);
  return path.reduce(step, tools[tool]?.outputSchema) !== undefined;
}

const splitPlace = (place: string): [tool: string, path: string[]] => {
  const [tool = "", path = ""] = place.split(/ (.*)/s);
  return [tool, splitPath(path)];
};

/** The field beside an id by which people name what it stands for. */
function findLabel(tools: ServerFile["tools"], place: string): string | undefined {
  const [tool, path] = splitPlace(place);
  const row = path.slice(0, -1).reduce<JsonSchema | undefined>(step, tools[tool]!.outputSchema);
  const properties = (row?.["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return nameFields.find(it => it !== path.at(-1) && properties[it]?.["type"] === "string");
}

const step = (schema: JsonSchema | undefined, part: string): JsonSchema | undefined => {
  const inner =
    part === "[]" ? schema?.["items"] : (schema?.["properties"] as JsonObject | undefined)?.[part];
  return isJsonObject(inner) ? inner : undefined;
};

/** The schema with keywords at a path, if it describes what is there. */
function mark(
  schema: JsonSchema,
  [part, ...rest]: readonly string[],
  keywords: JsonObject,
): JsonSchema {
  if (part === undefined) {
    const { examples: _, ...plain } = schema as Record<string, never>;
    if (plain["type"] !== "array") return { ...plain, ...keywords };
    return { ...plain, items: mark(plain["items"] ?? {}, [], keywords) };
  }
  const inner = step(schema, part);
  if (!inner) return schema;
  const marked = mark(inner, rest, keywords);
  return part === "[]"
    ? { ...schema, items: marked }
    : { ...schema, properties: { ...(schema["properties"] as JsonObject), [part]: marked } };
}
