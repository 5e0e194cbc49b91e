/**
 * The checks of a call's arguments before the tool's full schema: limits that hold for every tool,
 * then required keys and JSON types, recursively.
 */
import { isJsonObject, type Json } from "./json.ts";
import { getProperties, listBranches, listRequired } from "./schemaKeywords.ts";
import type { JsonSchema } from "./server.ts";
import type { ErrorType } from "./outcome.ts";
import { describeLongNumber, findLongNumber } from "../storage/exactJson.ts";
import { describeJsonFault, scanJson, skipSpace } from "../storage/jsonScan.ts";

/**
 * Describes where and why a value does not match a schema's required keys and JSON types, or
 * returns undefined. Integers accept 3.0, numbers accept integers, strings are never coerced, null
 * matches only where the schema allows it, extra keys are allowed, and any branch of anyOf or oneOf
 * may match. What is no schema, and a type that JSON does not have, match every value.
 */
export const findTypeMismatch = (
  schema: JsonSchema,
  value: unknown,
  path = "",
): string | undefined => {
  const mismatch = findMismatch(schema, value, path, 0);
  return mismatch && describeMismatch(mismatch);
};

/** A value of a wrong type, or keys of which one is missing. */
interface Mismatch {
  readonly path: string;
  /** How deep in the value it is; of the branches of a union, the deepest explains most. */
  readonly depth: number;
  readonly value: unknown;
  readonly types: readonly string[];
  readonly missing: readonly string[];
}

const describeMismatch = ({ path, value, types, missing }: Mismatch): string =>
  missing.length > 0
    ? `missing required argument ${missing.map(it => joinPath(path, it)).join(" or ")}`
    : `${path || "arguments"} must be ${withArticle(types.join(" or "))}, not ${describeValue(value)}`;

function findMismatch(
  schema: JsonSchema,
  value: unknown,
  path: string,
  depth: number,
): Mismatch | undefined {
  if (!isJsonObject(schema)) return undefined;
  const branches = listBranches(schema);
  if (branches.length > 0) {
    const mismatches = branches.map(it => findMismatch(it, value, path, depth));
    if (mismatches.every(it => it !== undefined)) return joinMismatches(mismatches);
  }
  const types = listTypes(schema);
  const found = { path, depth, value, types, missing: [] };
  if (types.length > 0 && !types.some(it => isOfType(it, value))) return found;
  if (isJsonObject(value)) {
    for (const key of listRequired(schema))
      if (!Object.hasOwn(value, key)) return { ...found, depth: depth + 1, missing: [key] };
    const properties = getProperties(schema);
    for (const key of Object.keys(properties)) {
      if (!Object.hasOwn(value, key)) continue;
      const inner = joinPath(path, key);
      const mismatch = findMismatch(properties[key]!, value[key], inner, depth + 1);
      if (mismatch) return mismatch;
    }
  }
  if (Array.isArray(value) && isJsonObject(schema["items"])) {
    for (const [i, it] of value.entries()) {
      const mismatch = findMismatch(schema["items"], it, `${path}[${i}]`, depth + 1);
      if (mismatch) return mismatch;
    }
  }
  return undefined;
}

/** The deepest mismatch of several branches; what several of them expect at one place is joined. */
function joinMismatches(mismatches: readonly Mismatch[]): Mismatch {
  const depth = Math.max(...mismatches.map(it => it.depth));
  const deepest = mismatches.filter(it => it.depth === depth);
  const first = deepest[0]!;
  const same = deepest.filter(
    it => it.path === first.path && it.missing.length > 0 === first.missing.length > 0,
  );
  // what may be left out is no help
  const types = same.flatMap(it => it.types).filter(it => it !== "null");
  return {
    ...first,
    types: types.length > 0 ? [...new Set(types)] : first.types,
    missing: [...new Set(same.flatMap(it => it.missing))],
  };
}

/**
 * Describes why the arguments of a call do not match a tool's required keys and JSON types. They
 * are a text if they are not JSON, or if a number in them would be rounded.
 */
export const findArgumentMismatch = (schema: JsonSchema, args: unknown): string | undefined =>
  (typeof args === "string" ? findTextFault(args) : undefined) ?? findTypeMismatch(schema, args);

function findTextFault(text: string): string | undefined {
  const number = findLongNumber(text);
  if (number !== undefined) return describeLongNumber(number);
  const start = skipSpace(text, 0);
  if (text[start] !== "{") return undefined;
  const { end, fault } = scanJson(text, start);
  const rest = end === undefined ? text.length : skipSpace(text, end);
  const found = fault ?? (rest < text.length ? { what: "more text", at: rest } : undefined);
  return found && `the arguments are not JSON: ${describeJsonFault(text, found)}`;
}

const joinPath = (path: string, key: string) => (path ? `${path}.${key}` : key);
const withArticle = (noun: string) => `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;

/** The JSON types that a schema allows; empty if it allows all. */
function listTypes(schema: JsonSchema): readonly string[] {
  const type = schema["type"];
  const names = (typeof type === "string" ? [type] : Array.isArray(type) ? type : []) as string[];
  if (names.length > 0) return names.every(it => jsonTypes.has(it)) ? names : [];
  const { const: constant, enum: listed } = schema;
  if (constant !== undefined) return [getJsonType(constant)];
  return Array.isArray(listed) ? listEnumTypes(listed as Json[]) : [];
}

const keptEnumTypes = new WeakMap<readonly Json[], readonly string[]>();

/** The types of an enum's values, which are listed once: each of many values may be checked. */
function listEnumTypes(values: readonly Json[]): readonly string[] {
  let types = keptEnumTypes.get(values);
  if (!types) keptEnumTypes.set(values, (types = [...new Set(values.map(getJsonType))]));
  return types;
}

const jsonTypes = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return getJsonType(value) === type;
  }
}

/** The name of a value's JSON type. */
export function getJsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function describeValue(value: unknown): string {
  // a larger number may have been rounded
  const isShown = typeof value === "number" && !(Math.abs(value) > Number.MAX_SAFE_INTEGER);
  return value === null || isShown ? String(value) : withArticle(getJsonType(value));
}

// Limits on the arguments of every tool, whatever its schema says: total size, well-formed Unicode
// in one spelling, and no negative zero. They are cheap to check, so that hostile arguments cannot
// slow a session down.

const maxValues = 10_000;
const maxTextLength = 100_000;
const maxKeyLength = 1000;

interface LimitViolation {
  readonly type: Extract<ErrorType, "invalid_params" | "limit_exceeded">;
  readonly message: string;
}

/** The first violation in the arguments, with its place in the message, or undefined. */
export const findLimitViolation = (args: unknown): LimitViolation | undefined =>
  checkValue(args, "", { values: 0 });

function checkValue(
  value: unknown,
  path: string,
  seen: { values: number },
): LimitViolation | undefined {
  if (++seen.values > maxValues)
    return exceeded(`the arguments hold more than ${maxValues} values`);
  if (typeof value === "string") return checkText(value, path || "arguments");
  if (typeof value === "number")
    return Object.is(value, -0) ? invalid(`${path || "arguments"} is -0: write 0`) : undefined;
  if (value === null || typeof value !== "object") return undefined;
  for (const key of Object.keys(value)) {
    const violation =
      checkText(key, "a key", maxKeyLength) ??
      checkValue((value as Record<string, unknown>)[key], path ? `${path}.${key}` : key, seen);
    if (violation) return violation;
  }
  return undefined;
}

function checkText(
  text: string,
  path: string,
  maxLength = maxTextLength,
): LimitViolation | undefined {
  if (text.length > maxLength)
    return exceeded(`${path} has ${text.length} characters; ${maxLength} are the most`);
  // most text is ASCII, which has only one spelling
  if (isAscii(text)) return undefined;
  if (/\p{Surrogate}/u.test(text))
    return invalid(`${path} is not well-formed Unicode: it holds half a character`);
  if (text.normalize("NFC") !== text)
    return invalid(`${path} is not in Unicode's composed form (NFC)`);
  return undefined;
}

const exceeded = (message: string): LimitViolation => ({ type: "limit_exceeded", message });
const invalid = (message: string): LimitViolation => ({ type: "invalid_params", message });

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
