/**
 * Reads the beginning of a JSON text that is a value of a schema, without spaces between its parts,
 * as `JSON.stringify` writes it. Schemas may list a hundred thousand values, so that a set of texts
 * is searched by its beginning.
 */
import type { Call } from "../../environment/outcome.ts";
import {
  getProperties,
  listBranches,
  listRequired,
  toSchema,
} from "../../environment/schemaKeywords.ts";
import { findTypeMismatch } from "../../environment/argumentChecks.ts";
import type { JsonSchema } from "./valueText.ts";

/**
 * Where a value ends, `open` if the text ends before it, or undefined if the text is not the
 * beginning of a value.
 */
export type ReadEnd = number | "open" | undefined;

const none: ReadonlySet<string> = new Set();

export class LiteralTexts {
  readonly #sorted: readonly string[];

  constructor(texts: Iterable<string>) {
    this.#sorted = [...new Set(texts)].sort();
  }

  /** Reads the longest of the texts from a position, except those that were read before. */
  read(text: string, at: number, earlier = none): ReadEnd {
    let rest = text.slice(at);
    let count = this.#countUpTo(rest);
    // those that are longer than the rest and begin with it come next
    let next = count;
    while (earlier.has(this.#sorted[next]!)) next++;
    if (this.#sorted[next]?.startsWith(rest)) return "open";
    while (count > 0) {
      const before = this.#sorted[count - 1]!;
      if (rest.startsWith(before)) return earlier.has(before) ? undefined : at + before.length;
      // a shorter text that the rest begins with is also the beginning of the one before it
      rest = rest.slice(0, countEqual(rest, before));
      count = this.#countUpTo(rest);
    }
    return undefined;
  }

  /** The number of texts that are not after this one. */
  #countUpTo(text: string): number {
    let [first, end] = [0, this.#sorted.length];
    while (first < end) {
      const middle = (first + end) >>> 1;
      if (this.#sorted[middle]! <= text) first = middle + 1;
      else end = middle;
    }
    return first;
  }
}

/** The number of characters at the beginning that two texts have in common. */
function countEqual(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

// Reads the beginning of a JSON text that is a value of a schema, without spaces between its parts,
// as `JSON.stringify` writes it.

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
export function readJson(text: string, at: number, { schema, write }: Expected): ReadEnd {
  const { literals, others } = listAlternatives(schema);
  if (literals.size === 0 && others.length === 1)
    return readAlternative(text, at, { schema: others[0]!, write });
  return readFirst([
    ...(literals.size > 0 ? [getLiteralTexts(schema, write).read(text, at)] : []),
    ...others.map(it => readAlternative(text, at, { schema: it, write })),
  ]);
}

const anyValue: JsonSchema = {};
const anyText: JsonSchema = { type: "string" };
const anyType: readonly JsonSchema[] = [
  anyText,
  ...["number", "boolean", "null", "array", "object"].map(type => ({ type })),
];

/** Reads a value of one type. */
function readAlternative(text: string, at: number, { schema, write }: Expected): ReadEnd {
  switch (schema["type"]) {
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
      return booleans.read(text, at);
    case "null":
      return nullText.read(text, at);
    case "array":
      return readList(text, at, { schema: (schema["items"] ?? anyValue) as JsonSchema, write });
    case "object":
      return readObject(text, at, { schema, write });
    default:
      return readFirst(anyType.map(it => readAlternative(text, at, { schema: it, write })));
  }
}

/** The branches of a value differ in their first characters, or else the longest is read. */
function readFirst(ends: readonly ReadEnd[]): ReadEnd {
  if (ends.includes("open")) return "open";
  const closed = ends.filter(it => typeof it === "number");
  return closed.length > 0 ? Math.max(...closed) : undefined;
}

const booleans = new LiteralTexts(["true", "false"]);
const nullText = new LiteralTexts(["null"]);

/** The texts of a schema's listed values, as JSON. */
const getLiteralTexts = keepByWriter(
  (schema, write) => new LiteralTexts(writeAll(listAlternatives(schema).literals, write)),
);

const getKeys = keepByWriter((schema, write) => {
  const schemaByText = new Map(
    Object.entries(getProperties(schema)).flatMap(([key, it]) =>
      writeAll([JSON.stringify(key)], write).map(written => [`${written}:`, { key, schema: it }]),
    ),
  );
  return {
    schemaByText,
    texts: new LiteralTexts(schemaByText.keys()),
    required: new Set(listRequired(schema)),
  };
});

/** A value that is computed once for a schema and the conversation to which `write` belongs. */
function keepByWriter<T>(
  create: (schema: JsonSchema, write: WriteLiteral) => T,
): (schema: JsonSchema, write: WriteLiteral) => T {
  const kept = new WeakMap<WriteLiteral, WeakMap<JsonSchema, T>>();
  return (schema, write) => {
    const own = kept.get(write) ?? new WeakMap<JsonSchema, T>();
    kept.set(write, own);
    let value = own.get(schema);
    if (value === undefined) own.set(schema, (value = create(schema, write)));
    return value;
  };
}

const writeAll = (texts: Iterable<string>, write: WriteLiteral): readonly string[] =>
  [...texts].flatMap(it => {
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
  const { schemaByText, texts, required } = getKeys(schema, write);
  const used = new Set<string>();
  let missing = required.size;
  const hasAnyKey = schemaByText.size === 0 && schema["additionalProperties"] !== false;
  const readMember = (position: number): ReadEnd => {
    if (hasAnyKey) {
      const end = readAlternative(text, position, { schema: anyText, write });
      if (typeof end !== "number" || end >= text.length) return end === undefined ? end : "open";
      return text[end] === ":" ? readJson(text, end + 1, { schema: anyValue, write }) : undefined;
    }
    const keyEnd = texts.read(text, position, used);
    if (typeof keyEnd !== "number") return keyEnd;
    const keyText = text.slice(position, keyEnd);
    used.add(keyText);
    const property = schemaByText.get(keyText)!;
    if (required.has(property.key)) missing--;
    return readJson(text, keyEnd, { schema: property.schema, write });
  };
  return readSequence(text, at, {
    marks: ["{", "}"],
    readItem: readMember,
    canEnd: () => missing === 0,
    canGoOn: () => hasAnyKey || used.size < schemaByText.size,
  });
}

export const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** What a value of a schema can be. */
interface Alternatives {
  /** The JSON texts of the values that the schema or its branches list. */
  readonly literals: ReadonlySet<string>;
  /** The other branches, each with at most one type. */
  readonly others: readonly JsonSchema[];
  /** What holds beside the branches; undefined if there are none. */
  readonly beside: JsonSchema | undefined;
}

const keptAlternatives = new WeakMap<JsonSchema, Alternatives>();

/** The alternatives of a schema, which are computed once. */
export function listAlternatives(published: JsonSchema): Alternatives {
  const schema = toSchema(published);
  let alternatives = keptAlternatives.get(schema);
  if (!alternatives) {
    const [literals, others] = [new Set<string>(), [] as JsonSchema[]];
    for (const branch of listLeaves(schema)) {
      const values = listValues(branch);
      if (values) for (const it of values) literals.add(JSON.stringify(it));
      else others.push(branch);
    }
    const { anyOf: _, oneOf: __, ...rest } = schema as Record<string, Json>;
    const beside = listBranches(schema).length > 0 ? rest : undefined;
    keptAlternatives.set(schema, (alternatives = { literals, others, beside }));
  }
  return alternatives;
}

function listLeaves(schema: JsonSchema): readonly JsonSchema[] {
  const branches = listBranches(schema);
  if (branches.length > 0) return branches.map(toSchema).flatMap(listLeaves);
  const type = schema["type"];
  return Array.isArray(type) ? type.map(it => ({ ...schema, type: it })) : [schema];
}

/** The values that a branch lists, without those that do not have its type. */
function listValues(schema: JsonSchema): readonly Json[] | undefined {
  const values =
    (schema["enum"] as readonly Json[] | undefined) ??
    ("const" in schema ? [schema["const"]] : undefined);
  return values?.filter(it => findTypeMismatch(schema, it) === undefined);
}
