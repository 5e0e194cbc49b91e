/**
 * Arguments of tools that are recorded: which calls to make so that many can be answered later, and
 * which arguments a recording can answer.
 */
import {
  getText,
  getFieldName,
  listAt,
  listTextPaths,
  setAt,
} from "../../environment/argumentPaths.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { getItemSchema, getProperties, listRequired } from "../../environment/schemaKeywords.ts";
import type { JsonSchema, LoggedCall } from "../../environment/server.ts";
import type { ArgumentFindings } from "./acceptedValues.ts";
import { addExamples, isSearch } from "./exampleArguments.ts";
import { getThingAt, listNumberKeys, toThing } from "./numberIds.ts";
import type { Trials } from "./trials.ts";

type Value = string | number | boolean;

const isValue = (it: Json | undefined): it is Value =>
  it !== undefined && it !== null && typeof it !== "object";

/** Calls of one tool with other values for its arguments. */
const maxCallsPerTool = 150;

const maxValues = 40;

/**
 * Calls with all combinations of the values that are known for the arguments of a tool, as many as
 * are allowed: of each argument fewer values, so that what is said of one can be said of all.
 */
export function listCombinations(
  name: string,
  trials: Trials,
  { accepted, examples }: ArgumentFindings,
): LoggedCall[] {
  const sample = trials.samples.get(name)?.call;
  if (!sample) return [];
  const { inputSchema } = trials.tools.get(name)!;
  const properties = getProperties(addExamples(inputSchema, trials.texts));
  const isAbout = (it: { readonly tool: string; readonly key: string }, key: string) =>
    it.tool === name && it.key === key;
  const listValues = (key: string): readonly Value[] => {
    const source = accepted.find(it => isAbout(it, key));
    if (source)
      return [...(source.isNumber ? trials.numbers : trials.texts).get(source.source)!.keys()];
    const found = examples.find(it => isAbout(it, key));
    if (found) return found.values;
    const schema = getItemSchema(properties[key] ?? {}) ?? properties[key] ?? {};
    if (schema["type"] === "boolean") return [true, false];
    const given = schema["enum"] ?? schema["examples"];
    return Array.isArray(given) ? (given as readonly Json[]).filter(isValue) : [];
  };
  const keys = [
    ...new Set([
      ...Object.keys(sample.arguments),
      ...[...accepted, ...examples].filter(it => it.tool === name).map(it => it.key),
    ]),
  ];
  const choices = keys
    .filter(it => isValue(getText(sample.arguments, it)))
    .map(key => {
      const own = getText(sample.arguments, key) as Value;
      return { key, values: [...new Set([own, ...listValues(key)])].slice(0, maxValues) };
    })
    .toSorted((a, b) => a.values.length - b.values.length);
  let calls: JsonObject[] = [sample.arguments];
  for (const [i, { key, values }] of choices.entries()) {
    const share = (maxCallsPerTool / calls.length) ** (1 / (choices.length - i));
    calls = values
      .slice(0, Math.max(1, Math.floor(share)))
      .flatMap(value => calls.map(it => setValue(it, key, value)));
  }
  return calls.map(args => ({ name, arguments: args }));
}

const setValue = (args: JsonObject, key: string, value: Value): JsonObject =>
  typeof value === "boolean" ? { ...args, [key]: value } : setAt(args, key, value);

/**
 * Finds what arguments take by what they were given: where nothing was tried with an unknown value,
 * all values of an argument that were accepted are shown by another tool.
 */
export function acceptGiven(
  calls: readonly LoggedCall[],
  trials: Trials,
  { accepted, examples }: ArgumentFindings,
): void {
  for (const [tool, { inputSchema }] of trials.tools) {
    const args = calls.filter(it => it.name === tool).map(it => it.arguments);
    for (const key of listTextPaths(inputSchema)) {
      if ([...accepted, ...examples].some(it => it.tool === tool && it.key === key)) continue;
      const given = new Set(args.flatMap(it => listAt(it, key)).flat());
      const texts = [...given].filter(it => typeof it === "string");
      if (texts.length === 0 || isSearch(getFieldName(key))) continue;
      const source = [...trials.texts]
        .filter(([place, shown]) => !isOf(tool, place) && texts.every(it => shown.has(it)))
        .toSorted((a, b) => a[1].size - b[1].size)[0]?.[0];
      if (source !== undefined) accepted.push({ tool, key, source });
    }
    for (const key of listNumberKeys(inputSchema)) {
      if ([...accepted, ...examples].some(it => it.tool === tool && it.key === key)) continue;
      const given = args.map(it => it[key]).filter(it => typeof it === "number");
      const source = [...trials.numbers].find(
        ([place, shown]) =>
          !isOf(tool, place) &&
          getThingAt(place) !== "" &&
          getThingAt(place) === toThing(key) &&
          given.length > 0 &&
          given.every(it => shown.has(it)),
      )?.[0];
      if (source !== undefined) accepted.push({ tool, key, source, isNumber: true });
    }
  }
}

const isOf = (tool: string, place: string): boolean => place.startsWith(`${tool} `);

/**
 * The schema of a tool's arguments without those that no recorded call has, and with the values
 * that a recorded call has. Values that few calls have are left out: in most calls, others stand
 * beside them.
 */
export function keepRecorded(schema: JsonSchema, calls: readonly JsonObject[]): JsonSchema {
  const required = listRequired(schema);
  const properties = Object.entries(getProperties(schema)).flatMap(([key, it]) => {
    const given = calls.flatMap(args => (Object.hasOwn(args, key) ? [args[key]!] : []));
    return given.length > 0 || required.includes(key)
      ? [[key, keepValues(it, given)] as const]
      : [];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function keepValues(schema: JsonSchema, given: readonly Json[]): JsonSchema {
  if (schema["x-entity"] !== undefined || schema["x-label"] !== undefined) return schema;
  const items = getItemSchema(schema);
  if (items) return { ...schema, items: keepValues(items, given.flat()) };
  if (isJsonObject(schema["properties"])) return keepRecorded(schema, given.filter(isJsonObject));
  const counts = new Map<Value, number>();
  for (const it of given) if (isValue(it)) counts.set(it, (counts.get(it) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const values = [...counts].filter(([, count]) => count * 2 >= most).map(([it]) => it);
  if (values.length === 0) return schema;
  return {
    ...schema,
    [schema["enum"] === undefined ? "examples" : "enum"]: values.slice(0, maxValues),
  };
}
