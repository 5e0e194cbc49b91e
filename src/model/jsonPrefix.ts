/**
 * Reads the beginning of a JSON text that is a value of a schema, without spaces between its parts,
 * as `JSON.stringify` writes it.
 */
import {
  getProperties,
  listBranches,
  listRequired,
  toSchema,
} from "../environment/schemaKeywords.ts";
import { findTypeMismatch } from "../environment/typeCheck.ts";
import type { Call } from "../policy/policy.ts";
import type { JsonSchema } from "./valueText.ts";

/**
 * Where the value ends, `open` if the text ends before it, or undefined if the text is not the
 * beginning of a value.
 */
export type ReadEnd = number | "open" | undefined;

type Json = Call["arguments"];

/**
 * The text that the student writes for a text of the schema, with the aliases of its conversation.
 * Undefined if it cannot be written.
 */
export type WriteLiteral = (text: string) => string | undefined;

interface Expected {
  readonly schema: JsonSchema;
  readonly write: WriteLiteral;
}

/** Reads a value from a position. The text is a string of bytes. */
export function readJson(text: string, at: number, { schema: it, write }: Expected): ReadEnd {
  const schema = toSchema(it);
  const branches = listBranches(schema);
  const type = schema["type"];
  const alternatives = branches.length
    ? branches
    : Array.isArray(type)
      ? type.map(it => ({ ...schema, type: it }))
      : undefined;
  if (alternatives)
    return readFirst(alternatives.map(it => readJson(text, at, { schema: it, write })));
  const literals = listLiterals(schema);
  if (literals)
    return readLiteral(
      text,
      at,
      writeAll(
        literals.map(it => JSON.stringify(it)),
        write,
      ),
    );
  switch (type) {
    case "string":
      return readPattern(
        text,
        at,
        /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y,
        isOpenString,
      );
    case "integer":
      return readPattern(text, at, /-?(?:0|[1-9]\d{0,15})(?!\d)/y, it => it === "-");
    case "number":
      return readNumber(text, at);
    case "boolean":
      return readLiteral(text, at, ["true", "false"]);
    case "null":
      return readLiteral(text, at, ["null"]);
    case "array":
      return readList(text, at, { schema: (schema["items"] ?? {}) as JsonSchema, write });
    case "object":
      return readObject(text, at, { schema, write });
    default:
      return readFirst(
        ["string", "number", "boolean", "null", "array", "object"].map(it =>
          readJson(text, at, { schema: { type: it }, write }),
        ),
      );
  }
}

/** The branches of a value differ in their first characters, or else the longest is read. */
function readFirst(ends: readonly ReadEnd[]): ReadEnd {
  if (ends.includes("open")) return "open";
  const closed = ends.filter(it => typeof it === "number");
  return closed.length > 0 ? Math.max(...closed) : undefined;
}

/** Reads the longest of some texts. */
export function readLiteral(text: string, at: number, literals: readonly string[]): ReadEnd {
  const rest = text.slice(at);
  if (literals.some(it => it.length > rest.length && it.startsWith(rest))) return "open";
  const read = literals.filter(it => rest.startsWith(it)).map(it => it.length);
  return read.length > 0 ? at + Math.max(...read) : undefined;
}

const writeAll = (texts: readonly string[], write: WriteLiteral): readonly string[] =>
  texts.flatMap(it => {
    const written = write(it);
    return written === undefined ? [] : [toBytes(written)];
  });

function readPattern(
  text: string,
  at: number,
  pattern: RegExp,
  isOpen: (rest: string) => boolean,
): ReadEnd {
  pattern.lastIndex = at;
  if (pattern.test(text)) return pattern.lastIndex;
  const rest = text.slice(at);
  return rest === "" || isOpen(rest) ? "open" : undefined;
}

const isOpenString = (rest: string) =>
  /^"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*(?:\\(?:u[\da-fA-F]{0,3})?)?$/.test(rest);

function readNumber(text: string, at: number): ReadEnd {
  const end = readPattern(
    text,
    at,
    /-?(?:0|[1-9]\d{0,20})(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?(?![\d.eE])/y,
    rest => /^-?(?:(?:0|[1-9]\d{0,20})(?:\.\d{0,25}|(?:\.\d{1,25})?[eE][+-]?)?)?$/.test(rest),
  );
  return typeof end === "number" && !Number.isFinite(Number(text.slice(at, end))) ? undefined : end;
}

interface Sequence {
  readonly marks: readonly [string, string];
  readonly readItem: (at: number) => ReadEnd;
  /** Whether the sequence can end after the items that were read. */
  readonly canEnd?: () => boolean;
  readonly canGoOn?: () => boolean;
}

function readSequence(
  text: string,
  at: number,
  { marks: [first, last], readItem, canEnd = () => true, canGoOn = () => true }: Sequence,
): ReadEnd {
  if (at >= text.length) return "open";
  if (text[at] !== first) return undefined;
  let position = at + 1;
  for (let n = 0; ; n++) {
    if (position >= text.length) return "open";
    if (n === 0 && text[position] === last) return canEnd() ? position + 1 : undefined;
    const end = readItem(position);
    if (typeof end !== "number") return end;
    if (end >= text.length) return "open";
    if (text[end] === last) return canEnd() ? end + 1 : undefined;
    if (text[end] !== "," || !canGoOn()) return undefined;
    position = end + 1;
  }
}

const readList = (text: string, at: number, item: Expected): ReadEnd =>
  readSequence(text, at, {
    marks: ["[", "]"],
    readItem: position => readJson(text, position, item),
  });

/** An object of the schema's keys, each at most once, or of any keys if the schema lists none. */
function readObject(text: string, at: number, { schema, write }: Expected): ReadEnd {
  const properties = Object.entries(getProperties(schema)).flatMap(([key, it]) =>
    writeAll([JSON.stringify(key)], write).map(written => ({
      key,
      text: `${written}:`,
      schema: it,
    })),
  );
  const missing = new Set(listRequired(schema));
  const unused = new Set(properties);
  const hasAnyKey = properties.length === 0 && schema["additionalProperties"] !== false;
  const readMember = (position: number): ReadEnd => {
    if (hasAnyKey) {
      const end = readJson(text, position, { schema: { type: "string" }, write });
      if (typeof end !== "number" || end >= text.length) return end === undefined ? end : "open";
      return text[end] === ":" ? readJson(text, end + 1, { schema: {}, write }) : undefined;
    }
    const keyEnd = readLiteral(
      text,
      position,
      [...unused].map(it => it.text),
    );
    if (typeof keyEnd !== "number") return keyEnd;
    const property = [...unused].find(it => it.text === text.slice(position, keyEnd))!;
    unused.delete(property);
    missing.delete(property.key);
    return readJson(text, keyEnd, { schema: property.schema, write });
  };
  return readSequence(text, at, {
    marks: ["{", "}"],
    readItem: readMember,
    canEnd: () => missing.size === 0,
    canGoOn: () => hasAnyKey || unused.size > 0,
  });
}

export const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** The values that the schema lists, without those that do not have its type. */
export function listLiterals(schema: JsonSchema): readonly Json[] | undefined {
  const values =
    (schema["enum"] as readonly Json[] | undefined) ??
    ("const" in schema ? [schema["const"]] : undefined);
  return values?.filter(it => findTypeMismatch(schema, it) === undefined);
}
