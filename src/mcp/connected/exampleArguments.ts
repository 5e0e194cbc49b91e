/** Chooses arguments for tools of which only the schemas and some results are known. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { getProperties, listRequired, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";

/** The short texts that results have shown, by tool and path: `list_notes notes[].title`. */
export type KnownTexts = Map<string, Set<string>>;

const maxTexts = 40;
const maxLength = 200;

export function listTexts(tool: string, value: Json, known: KnownTexts, path = ""): void {
  if (typeof value === "string") {
    if (value.trim() === "" || value.length > maxLength || value.includes("\n")) return;
    const place = `${tool} ${path}`;
    const texts = known.get(place) ?? new Set();
    if (texts.size < maxTexts) known.set(place, texts.add(value));
  } else if (Array.isArray(value))
    for (const it of value) listTexts(tool, it as Json, known, `${path}[]`);
  else if (isJsonObject(value))
    for (const [key, it] of Object.entries(value))
      listTexts(tool, it, known, path === "" ? key : `${path}.${key}`);
}

const maxRows = 40;

/** Adds the objects in a result to those that results have shown. */
export function listRows(value: Json, rows: JsonObject[]): void {
  if (rows.length >= maxRows || value === null || typeof value !== "object") return;
  if (isJsonObject(value)) rows.push(value);
  for (const it of Object.values(value)) listRows(it, rows);
}

/**
 * The required arguments of a schema, or undefined where a value cannot be made up. An object is
 * one that a result has shown, where one has all its keys.
 */
export const createArguments = (
  schema: JsonSchema,
  known: KnownTexts,
  rows: readonly JsonObject[],
): JsonObject | undefined => createObject(schema, { texts: known, rows }, 0);

interface Known {
  readonly texts: KnownTexts;
  readonly rows: readonly JsonObject[];
}

function createObject(schema: JsonSchema, known: Known, depth: number): JsonObject | undefined {
  const entries = listRequired(schema).map((key): [string, Json | undefined] => [
    key,
    createValue(key, getProperties(schema)[key] ?? {}, known, depth),
  ]);
  return entries.every((it): it is [string, Json] => it[1] !== undefined)
    ? Object.fromEntries(entries)
    : undefined;
}

/** The required fields of a shown object that has them all. */
function findRow(schema: JsonSchema, { rows }: Known): JsonObject | undefined {
  const required = listRequired(schema);
  const row = required.length > 0 && rows.find(it => required.every(key => Object.hasOwn(it, key)));
  return row ? Object.fromEntries(required.map(it => [it, row[it]!])) : undefined;
}

function createValue(
  key: string,
  published: JsonSchema,
  known: Known,
  depth: number,
): Json | undefined {
  const schema = removeNull(published);
  const { enum: values, examples, default: standard, const: constant } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0] as Json;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as Json;
  if (standard !== undefined && standard !== null) return standard;
  if (depth > 8) return undefined;
  switch (schema["type"]) {
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
    case "boolean":
      return true;
    case "array": {
      const item = createValue(key, (schema["items"] ?? {}) as JsonSchema, known, depth + 1);
      return item === undefined ? undefined : [item];
    }
    case "object":
      return findRow(schema, known) ?? createObject(schema, known, depth + 1);
    default:
      return listExampleTexts(key, known.texts)[0];
  }
}

/** Adds examples to the texts in arguments of which any may be given. */
export function addExamples(schema: JsonSchema, texts: KnownTexts, key = ""): JsonSchema {
  const plain = removeNull(schema);
  if (plain["enum"] !== undefined || plain["const"] !== undefined) return schema;
  switch (plain["type"]) {
    case "string":
      return key === "" || plain["examples"] !== undefined
        ? schema
        : { ...schema, examples: [...listExampleTexts(key, texts)] };
    case "array":
      return isJsonObject(plain["items"])
        ? { ...schema, items: addExamples(plain["items"], texts, key) }
        : schema;
    case "object":
      return {
        ...schema,
        properties: Object.fromEntries(
          Object.entries(getProperties(plain)).map(([name, it]) => [
            name,
            addExamples(it, texts, name),
          ]),
        ),
      };
    default:
      return schema;
  }
}

const names = ["Winter plans", "Team lunch", "Garden ideas", "Reading list", "Packing list"];
const sentences = [
  "Ask Dana about the invoice",
  "The meeting moved to Thursday",
  "Order more paper for the printer",
  "Water the plants before the weekend",
  "The new chairs arrive in May",
];
const globPattern = /^pattern$|glob/i;
const genericTexts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/date|day$|^due|^on$/i, ["2026-04-14", "2026-05-04", "2026-06-22"]],
  [/time/i, ["2026-04-14T10:30", "2026-05-04T15:00"]],
  [/e-?mail/i, ["dana.fox@example.com", "lee.park@example.com"]],
  [/url|link|uri/i, ["https://example.com/plan", "https://example.com/list"]],
  [globPattern, ["**/*.md", "**/*.txt", "**/*.json"]],
  [/text|content|body|descr|note|message|observation|comment|detail/i, sentences],
  [/type|categor|kind|tag|status/i, ["work", "home", "travel"]],
];

/** Whether an argument says what to look for, which names no thing. */
export const isSearch = (key: string): boolean => /query|search|keyword|pattern/i.test(key);

/** A text of a few words with which something can be found. */
const isPhrase = (text: string): boolean => /^\p{Lu}[\p{L}'-]+(?: [\p{L}'-]+){0,3}$/u.test(text);

/** Texts for an argument: for a kind of things, those that results show under its name. */
function listExampleTexts(key: string, known: KnownTexts): readonly string[] {
  if (isSearch(key) && !globPattern.test(key)) {
    const phrases = [...known].flatMap(([place, texts]) =>
      place.includes("[]") ? [...texts].filter(isPhrase) : [],
    );
    if (phrases.length > 0) return [...new Set(phrases)].slice(0, 12);
  }
  const isKind = /type|categor|kind|tag|status|language|unit|currency/i.test(key);
  const shown = isKind
    ? [...known]
        .filter(([place]) => place.endsWith(` ${key}`) || place.endsWith(`.${key}`))
        .flatMap(([, texts]) => [...texts])
    : [];
  if (shown.length > 0) return [...new Set(shown)].slice(0, 8);
  return genericTexts.find(([pattern]) => pattern.test(key))?.[1] ?? names;
}
