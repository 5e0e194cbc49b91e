/**
 * The texts of a call's argument that parse as a value of its schema. Types, enums, constants,
 * required keys and items are covered; ranges, lengths and patterns are not. A text is a string of
 * bytes (one character each), because a token can end within a character.
 */
import type { Call } from "../environment/outcome.ts";
import { isJsonObject } from "../environment/json.ts";
import { getProperties, toSchema } from "../environment/schemaKeywords.ts";
import { findTypeMismatch } from "../environment/typeCheck.ts";
import { listAlternatives, readJson, toBytes, type WriteLiteral } from "./jsonPrefix.ts";
import { LiteralTexts, type ReadEnd } from "./literalTexts.ts";
import { formatArgument, itemsOf, parseArgument, type JsonSchema } from "./valueText.ts";

type Json = Call["arguments"];

export interface ValueGrammar {
  /** Whether every text can be continued to a value. */
  readonly isFree: boolean;
  /** Whether a text is the beginning of a value. If it is, all beginnings of the text are, too. */
  canContinue(text: string): boolean;
}

/** Derives the grammar of a schema. */
export function createValueGrammar(published: JsonSchema, write: WriteLiteral): ValueGrammar {
  const schema = toSchema(published);
  const { literals, others } = listAlternatives(schema);
  const grammars = others.map(it => createAlternative(it, schema, write));
  if (grammars.some(it => it.isFree)) return freeText;
  if (literals.size > 0) {
    const values = Array.from(literals, it => JSON.parse(it) as Json);
    grammars.push(createLiterals(values, schema, write));
  }
  return { isFree: false, canContinue: text => grammars.some(it => it.canContinue(text)) };
}

/** Whether a value has the types, enums and constants of a schema. */
export function isValueOf(schema: JsonSchema, value: Json): boolean {
  const { literals, others, beside } = listAlternatives(schema);
  return (
    (beside === undefined || findTypeMismatch(beside, value) === undefined) &&
    ((literals.size > 0 && literals.has(JSON.stringify(value))) ||
      others.some(it => hasType(it, value) && hasParts(it, value)))
  );
}

/** Whether a value has the type and the required keys of a branch. */
const hasType = ({ type = [], required = [] }: JsonSchema, value: Json): boolean =>
  findTypeMismatch({ type, required }, value) === undefined;

function hasParts(schema: JsonSchema, value: Json): boolean {
  const items = schema["items"];
  if (Array.isArray(value) && isJsonObject(items))
    return value.every(it => isValueOf(items, it as Json));
  if (!isJsonObject(value)) return true;
  const properties = getProperties(schema);
  return Object.entries(value).every(([key, it]) =>
    Object.hasOwn(properties, key)
      ? isValueOf(properties[key]!, it)
      : schema["additionalProperties"] !== false,
  );
}

const freeText: ValueGrammar = { isFree: true, canContinue: () => true };

/** `whole` is the schema by which a text is parsed, of which `schema` is an alternative. */
function createAlternative(
  schema: JsonSchema,
  whole: JsonSchema,
  write: WriteLiteral,
): ValueGrammar {
  const json = (text: string) => readJson(text, 0, { schema, write });
  switch (schema["type"]) {
    case "number":
    case "integer":
      return createNumbers(schema["type"] === "integer");
    case "boolean":
      return createLiterals([true, false], whole, write);
    case "null":
      return createLiterals([null], whole, write);
    case "array":
      return createLists(schema, json, write);
    case "object":
      return { isFree: false, canContinue: text => isBeginning(json(text), text) };
    case "string":
      // beside a list, a bare text is parsed as a list
      return listAlternatives(whole).others.some(it => it["type"] === "array")
        ? { isFree: false, canContinue: text => isBeginning(json(text), text) }
        : freeText;
    default:
      return freeText;
  }
}

function createLiterals(
  values: readonly Json[],
  whole: JsonSchema,
  write: WriteLiteral,
): ValueGrammar {
  const texts = new LiteralTexts(
    values.flatMap(it => {
      const text = write(formatArgument(it, whole));
      return text === undefined ? [] : [toBytes(text)];
    }),
  );
  return { isFree: false, canContinue: text => isBeginning(texts.read(text, 0), text) };
}

/** Integers have at most 16 digits; no call needs more, and none is infinite. */
const createNumbers = (isInteger: boolean): ValueGrammar => ({
  isFree: false,
  canContinue: isInteger
    ? text => /^-?\d{0,16}$/.test(text)
    : text =>
        /^-?(\d{0,21}|\d{1,21}\.\d{0,25}|\d{1,21}(\.\d{1,25})?e([+-]|[+-]?\d{1,3})?)$/.test(text) &&
        isFiniteIfNumber(text),
});

const isFiniteIfNumber = (text: string) => {
  const number = Number(text);
  return Number.isNaN(number) || Number.isFinite(number);
};

/** A list is JSON, or its items with commas between them. */
function createLists(
  schema: JsonSchema,
  json: (text: string) => ReadEnd,
  write: WriteLiteral,
): ValueGrammar {
  const items = itemsOf(schema);
  const isPlain = listAlternatives(items ?? {}).others.every(
    it => it["type"] !== "array" && it["type"] !== "object",
  );
  const item = createValueGrammar(items ?? {}, text => {
    const written = write(text);
    return written?.includes(", ") ? undefined : written;
  });
  if (item.isFree && isPlain) return freeText;
  const isItem = (text: string) => isValueText(items ?? {}, fromBytes(text));
  const isBareBeginning = (text: string) => {
    const parts = text.split(", ");
    const last = parts.pop()!;
    const isOpen = item.canContinue(last) || (last.endsWith(",") && isItem(last.slice(0, -1)));
    return isOpen && parts.every(isItem);
  };
  return {
    isFree: false,
    canContinue: text => isBeginning(json(text), text) || isBareBeginning(text),
  };
}

/** Whether a text parses as a value of the schema. */
export const isValueText = (schema: JsonSchema, text: string): boolean =>
  isValueOf(schema, parseArgument(text, schema));

const fromBytes = (text: string) => Buffer.from(text, "latin1").toString("utf8");

const isBeginning = (end: ReadEnd, text: string) => end === "open" || end === text.length;
