/**
 * A template of a frozen JSON value in which ids are to be replaced. Values without ids are shared
 * by everything created from the template, and tables are created when they are first read, so that
 * opening a variant of a fixture costs a few microseconds.
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

/** The place of an id in the sorted list of ids. */
type IdIndex = number;

/** A part of a value: it contains ids and has to be created, or is shared as it is. */
type Template =
  | { readonly kind: "shared"; readonly value: Json }
  | { readonly kind: "id"; readonly id: IdIndex }
  | ContainerTemplate;

interface ContainerTemplate {
  readonly kind: "list" | "record";
  readonly original: Json;
  /** The keys of a record; a number stands for an id. Empty for a list. */
  readonly keys: readonly (string | IdIndex)[];
  readonly values: readonly Template[];
  readonly hasIdKeys: boolean;
  /** The positions of the entries whose key or value contains an id. */
  readonly variable: readonly number[];
  /** The digest's sum over the other entries. */
  readonly constantSum: EntrySum;
}

export interface IdTemplate {
  /** The ids of the value, sorted. */
  readonly ids: readonly string[];
  /** The value with other ids, `newIds()[i]` in place of `ids[i]`. Frozen. */
  readonly instantiate: (this: void, newIds: () => readonly string[]) => JsonObject;
}

/** Creates the template of a deeply frozen record, usually the state in a fixture. */
export function createIdTemplate(value: JsonObject): IdTemplate {
  const ids = [...collectIds(value, new Set())].sort();
  const template = compile(value, new Map(ids.map((id, i) => [id, i])));
  if (template.kind !== "record") return { ids, instantiate: () => value };
  if (template.hasIdKeys)
    return { ids, instantiate: newIds => Object.freeze(createRecord(template, newIds())) };
  const properties = createLazyProperties(template);
  return {
    ids,
    instantiate(newIds) {
      const record = Object.freeze(Object.defineProperties({}, properties)) as JsonObject;
      lazyEntries.set(record, { newIds, created: [] });
      deferDigest(record, () => sumEntries(template, newIds()));
      return record;
    },
  };
}

/**
 * Collects the keys of rows that look like ids: letters, an underscore, digits. A key such as
 * `per_100` whose value is a number is not an id.
 */
function collectIds(value: Json, ids: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const it of value) collectIds(it, ids);
  else if (value !== null && typeof value === "object")
    for (const [key, it] of Object.entries(value)) {
      if (it !== null && typeof it === "object" && /^[a-z]+_\d{1,3}$/.test(key)) ids.add(key);
      collectIds(it, ids);
    }
  return ids;
}

function compile(value: Json, ids: ReadonlyMap<string, IdIndex>): Template {
  if (typeof value === "string") {
    const id = ids.get(value);
    return id === undefined ? { kind: "shared", value } : { kind: "id", id };
  }
  if (value === null || typeof value !== "object") return { kind: "shared", value };
  const isList = Array.isArray(value);
  const keys = isList ? [] : Object.keys(value).map(key => ids.get(key) ?? key);
  const values = Object.values(value).map((it: Json) => compile(it, ids));
  const variable = values.flatMap((it, i) =>
    it.kind !== "shared" || typeof keys[i] === "number" ? [i] : [],
  );
  if (variable.length === 0) return { kind: "shared", value };
  const isVariable = new Set(variable);
  const constantSum = createEntrySum();
  Object.entries(value).forEach(([key, it], i) => {
    if (!isVariable.has(i)) addEntry(constantSum, isList ? i : key, it, 1);
  });
  const hasIdKeys = keys.some(key => typeof key === "number");
  const kind = isList ? "list" : "record";
  return {
    kind,
    original: value,
    keys,
    values,
    hasIdKeys,
    variable,
    constantSum,
  };
}

/** What a lazily created record needs to create its entries, and the entries created so far. */
interface LazyEntries {
  readonly newIds: () => readonly string[];
  readonly created: Json[];
}

const lazyEntries = new WeakMap<object, LazyEntries>();

/**
 * The properties of records whose entries with ids are created when they are first read. The
 * functions are shared by all records of a template, which therefore have one hidden class.
 */
function createLazyProperties({ keys, values }: ContainerTemplate): PropertyDescriptorMap {
  const properties: PropertyDescriptorMap = {};
  for (const [i, it] of values.entries())
    properties[keys[i]!] =
      it.kind === "shared"
        ? { value: it.value, enumerable: true }
        : {
            get(this: object) {
              const { newIds, created } = lazyEntries.get(this)!;
              return (created[i] ??= createTable(it, newIds()));
            },
            enumerable: true,
          };
  return properties;
}

function createTable(template: Template, newIds: readonly string[]): Json {
  const table = create(template, newIds);
  if (template.kind === "list" || template.kind === "record")
    deferDigest(table as object, () => sumEntries(template, newIds));
  return table;
}

function create(template: Template, newIds: readonly string[]): Json {
  switch (template.kind) {
    case "shared":
      return template.value;
    case "id":
      return newIds[template.id]!;
    case "list":
      return Object.freeze(template.values.map(it => create(it, newIds)));
    case "record":
      return Object.freeze(createRecord(template, newIds));
  }
}

function createRecord(template: ContainerTemplate, newIds: readonly string[]): JsonObject {
  const { original, keys, values, variable } = template;
  if (template.hasIdKeys) {
    const record: Record<string, Json> = {};
    for (const [i, it] of values.entries()) record[getKey(keys[i]!, newIds)] = create(it, newIds);
    return record;
  }
  // copies of one record have the same hidden class
  const record = { ...(original as JsonObject) } as Record<string, Json>;
  for (const i of variable) record[keys[i]!] = create(values[i]!, newIds);
  return record;
}

const getKey = (key: string | IdIndex, newIds: readonly string[]): string =>
  typeof key === "number" ? newIds[key]! : key;

function sumEntries(template: ContainerTemplate, newIds: readonly string[]): EntrySum {
  const sum = { ...template.constantSum };
  const isList = template.kind === "list";
  for (const i of template.variable) {
    const key = isList ? i : getKey(template.keys[i]!, newIds);
    addHashedEntry(sum, key, hash(template.values[i]!, newIds));
  }
  return sum;
}

function hash(template: Template, newIds: readonly string[]): Hash {
  switch (template.kind) {
    case "shared":
      return computeValueHash(template.value);
    case "id":
      return computeValueHash(newIds[template.id]!);
    default:
      return computeContainerHash(sumEntries(template, newIds), template.kind === "list");
  }
}
