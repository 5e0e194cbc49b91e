/**
 * A template of a frozen JSON value in which words are to be replaced: ids, names, dates. Values
 * without such words are shared by everything created from the template, and tables are created
 * when they are first read, so that opening another variant or world of a fixture costs a few
 * microseconds.
 */
import {
  addEntry,
  addHashedEntry,
  computeContainerHash,
  computeValueHash,
  createEntrySum,
  deferDigest,
  type EntrySum,
  type Hash,
} from "./digest.ts";
import type { Json, JsonObject } from "./json.ts";

/** The place of a word in the list of words. */
type WordIndex = number;

/** A text with words that are replaced: fixed texts, and indexes of words. */
type TextParts = readonly (string | WordIndex)[];

type Key = string | WordIndex | TextParts;

/** A part of a value: it contains words and has to be created, or is shared as it is. */
type Template =
  | { readonly kind: "shared"; readonly value: Json }
  | { readonly kind: "word"; readonly word: WordIndex }
  | { readonly kind: "text"; readonly parts: TextParts }
  | ContainerTemplate;

interface ContainerTemplate {
  readonly kind: "list" | "record";
  readonly original: Json;
  /** The keys of a record; only those that are no plain text change. Empty for a list. */
  readonly keys: readonly Key[];
  readonly values: readonly Template[];
  readonly hasVariableKeys: boolean;
  /** The positions of the entries whose key or value contains a word. */
  readonly variable: readonly number[];
  /** The digest's sum over the other entries. */
  readonly constantSum: EntrySum;
}

export interface StateTemplate {
  /** The words of the value, in the order in which they were found. */
  readonly words: readonly string[];
  /** The value with other words, `newWords()[i]` in place of `words[i]`. Frozen. */
  readonly instantiate: (this: void, newWords: () => readonly string[]) => JsonObject;
}

/** A word of a text, and where it begins. */
export interface FoundWord {
  readonly word: string;
  readonly index: number;
}

/** Lists the words of a text that a template replaces, in order. They do not overlap. */
export type WordFinder = (text: string) => readonly FoundWord[];

/** Creates the template of a deeply frozen record, usually the state in a fixture. */
export function createStateTemplate(value: JsonObject, findWords: WordFinder): StateTemplate {
  const indexes = new Map<string, WordIndex>();
  const compiler = new Compiler(findWords, indexes);
  const template = compiler.compile(value);
  const words = [...indexes.keys()];
  if (template.kind !== "record") return { words, instantiate: () => value };
  if (template.hasVariableKeys)
    return { words, instantiate: newWords => Object.freeze(createRecord(template, newWords())) };
  const properties = createLazyProperties(template);
  return {
    words,
    instantiate(newWords) {
      const record = Object.freeze(Object.defineProperties({}, properties)) as JsonObject;
      lazyEntries.set(record, { newWords, created: [] });
      deferDigest(record, () => sumEntries(template, newWords()));
      return record;
    },
  };
}

class Compiler {
  readonly #findWords: WordFinder;
  readonly #indexes: Map<string, WordIndex>;

  constructor(findWords: WordFinder, indexes: Map<string, WordIndex>) {
    this.#findWords = findWords;
    this.#indexes = indexes;
  }

  compile(value: Json): Template {
    if (typeof value === "string") return this.#compileText(value);
    if (value === null || typeof value !== "object") return { kind: "shared", value };
    const isList = Array.isArray(value);
    const keys = isList ? [] : Object.keys(value).map(key => this.#compileKey(key));
    const values = Object.values(value).map((it: Json) => this.compile(it));
    const variable = values.flatMap((it, i) =>
      it.kind !== "shared" || (!isList && typeof keys[i] !== "string") ? [i] : [],
    );
    if (variable.length === 0) return { kind: "shared", value };
    const isVariable = new Set(variable);
    const constantSum = createEntrySum();
    Object.entries(value).forEach(([key, it], i) => {
      if (!isVariable.has(i)) addEntry(constantSum, isList ? i : key, it, 1);
    });
    const hasVariableKeys = keys.some(key => typeof key !== "string");
    const kind = isList ? "list" : "record";
    return { kind, original: value, keys, values, hasVariableKeys, variable, constantSum };
  }

  #compileKey(key: string): Key {
    const template = this.#compileText(key);
    switch (template.kind) {
      case "word":
        return template.word;
      case "text":
        return template.parts;
      default:
        return key;
    }
  }

  #compileText(text: string): Template {
    const found = this.#findWords(text);
    if (found.length === 0) return { kind: "shared", value: text };
    const parts: (string | WordIndex)[] = [];
    let end = 0;
    for (const { word, index } of found) {
      if (index > end) parts.push(text.slice(end, index));
      parts.push(this.#getIndex(word));
      end = index + word.length;
    }
    if (end < text.length) parts.push(text.slice(end));
    const [first] = parts;
    return parts.length === 1 && typeof first === "number"
      ? { kind: "word", word: first }
      : { kind: "text", parts };
  }

  #getIndex(word: string): WordIndex {
    let index = this.#indexes.get(word);
    if (index === undefined) this.#indexes.set(word, (index = this.#indexes.size));
    return index;
  }
}

/** What a lazily created record needs to create its entries, and the entries created so far. */
interface LazyEntries {
  readonly newWords: () => readonly string[];
  readonly created: Json[];
}

const lazyEntries = new WeakMap<object, LazyEntries>();

/**
 * The properties of records whose entries with words are created when they are first read. The
 * functions are shared by all records of a template, which therefore have one hidden class.
 */
function createLazyProperties({ keys, values }: ContainerTemplate): PropertyDescriptorMap {
  const properties: PropertyDescriptorMap = {};
  for (const [i, it] of values.entries())
    properties[keys[i] as string] =
      it.kind === "shared"
        ? { value: it.value, enumerable: true }
        : {
            get(this: object) {
              const { newWords, created } = lazyEntries.get(this)!;
              return (created[i] ??= createTable(it, newWords()));
            },
            enumerable: true,
          };
  return properties;
}

function createTable(template: Template, newWords: readonly string[]): Json {
  const table = create(template, newWords);
  if (template.kind === "list" || template.kind === "record")
    deferDigest(table as object, () => sumEntries(template, newWords));
  return table;
}

function create(template: Template, newWords: readonly string[]): Json {
  switch (template.kind) {
    case "shared":
      return template.value;
    case "word":
      return newWords[template.word]!;
    case "text":
      return joinParts(template.parts, newWords);
    case "list":
      return Object.freeze(template.values.map(it => create(it, newWords)));
    case "record":
      return Object.freeze(createRecord(template, newWords));
  }
}

function createRecord(template: ContainerTemplate, newWords: readonly string[]): JsonObject {
  const { original, keys, values, variable } = template;
  if (template.hasVariableKeys) {
    const record = createHashTable();
    for (const [i, it] of values.entries())
      record[getKey(keys[i]!, newWords)] = create(it, newWords);
    return record;
  }
  // copies of one record have the same hidden class
  const record = { ...(original as JsonObject) } as Record<string, Json>;
  for (const i of variable) record[keys[i] as string] = create(values[i]!, newWords);
  return record;
}

/**
 * An empty record whose keys V8 stores in a hash table: a removed property makes it do so. Keys
 * that differ from one copy to the next would otherwise add a shape for each key of each copy.
 */
function createHashTable(): Record<string, Json> {
  const record: Record<string, Json> = { first: null, second: null };
  delete record["first"];
  delete record["second"];
  return record;
}

function getKey(key: Key, newWords: readonly string[]): string {
  if (typeof key === "string") return key;
  return typeof key === "number" ? newWords[key]! : joinParts(key, newWords);
}

function joinParts(parts: TextParts, newWords: readonly string[]): string {
  let text = "";
  for (const it of parts) text += typeof it === "number" ? newWords[it]! : it;
  return text;
}

function sumEntries(template: ContainerTemplate, newWords: readonly string[]): EntrySum {
  const sum = { ...template.constantSum };
  const isList = template.kind === "list";
  for (const i of template.variable) {
    const key = isList ? i : getKey(template.keys[i]!, newWords);
    addHashedEntry(sum, key, hash(template.values[i]!, newWords));
  }
  return sum;
}

function hash(template: Template, newWords: readonly string[]): Hash {
  switch (template.kind) {
    case "shared":
      return computeValueHash(template.value);
    case "word":
      return computeValueHash(newWords[template.word]!);
    case "text":
      return computeValueHash(joinParts(template.parts, newWords));
    default:
      return computeContainerHash(sumEntries(template, newWords), template.kind === "list");
  }
}
