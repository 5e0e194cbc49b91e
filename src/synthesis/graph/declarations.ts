/**
 * What a tool's published schemas declare: which entities go in and come out, which words look one
 * up, which values are plain; and the entities that a result shows. Reads declarations only, so it
 * works for any server that makes them.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Server, Tool } from "../../environment/server.ts";

export interface EntityInput {
  readonly key: string;
  readonly entity: string;
  readonly required: boolean;
  /** A person knows and says the identifier itself. */
  readonly spoken: boolean;
  /** A list of identifiers. */
  readonly many: boolean;
  /** Of the argument, without `null`. */
  readonly schema: JsonSchema;
}

export interface LabelInput {
  readonly key: string;
  readonly entity: string;
  readonly required: boolean;
  /** Of the argument, without `null`. */
  readonly schema: JsonSchema;
}

export interface ValueInput {
  readonly key: string;
  readonly required: boolean;
  readonly sensitive: boolean;
  /** Without `null` and without the branches that are not the first. */
  readonly schema: JsonSchema;
}

export interface EntityOutput {
  /** `accounts[].account_id` */
  readonly path: string;
  readonly entity: string;
}

export interface Declared {
  readonly tool: Tool;
  readonly inputs: readonly EntityInput[];
  readonly labels: readonly LabelInput[];
  readonly values: readonly ValueInput[];
  readonly outputs: readonly EntityOutput[];
  /**
   * Entities of this server that have no id anywhere, as its schemas name them: their label is
   * their id, and people say it.
   */
  readonly nameOnly: ReadonlySet<string>;
  /** What stands before each entity's name where servers are spoken of side by side: `crm.`. */
  readonly prefix?: string;
}

/** What the tools of a server declare, by full name. */
export type Declarations = ReadonlyMap<string, Declared>;

/** An entity as a result showed it. */
export interface Shown {
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  /** The plain fields that stand beside the id. */
  readonly facts: JsonObject;
}

const known = new WeakMap<Server, Declarations>();

export function declarationsOf(server: Server): Declarations {
  let declarations = known.get(server);
  if (!declarations) known.set(server, (declarations = declare([...server.tools.values()])));
  return declarations;
}

function declare(tools: readonly Tool[]): Declarations {
  const raw = tools.map(tool => {
    const [outputs, shown] = [
      keywordsIn(tool.outputSchema, "x-entity", ""),
      keywordsIn(tool.outputSchema, "x-label", ""),
    ];
    return { tool, ...inputsOf(tool), outputs, shown };
  });
  const withIds = new Set(raw.flatMap(it => [...it.inputs, ...it.outputs].map(of => of.entity)));
  const nameOnly = new Set(
    raw
      .flatMap(it => [...it.labels, ...it.shown].map(of => of.entity))
      .filter(it => !withIds.has(it)),
  );
  return new Map(
    raw.map(({ tool, inputs, labels, values, outputs, shown }) => {
      const named = labels
        .filter(it => nameOnly.has(it.entity))
        .map(it => ({ ...it, spoken: true }));
      return [
        tool.name,
        {
          tool,
          inputs: [...inputs, ...named],
          labels: labels.filter(it => !nameOnly.has(it.entity)),
          values,
          outputs: [...outputs, ...shown.filter(it => nameOnly.has(it.entity))],
          nameOnly,
        },
      ];
    }),
  );
}

function inputsOf(
  tool: Tool,
): Pick<Declared, "inputs" | "values"> & { labels: (LabelInput & { many: boolean })[] } {
  const inputs: EntityInput[] = [];
  const labels: (LabelInput & { many: boolean })[] = [];
  const values: ValueInput[] = [];
  const needed = (tool.inputSchema["required"] ?? []) as readonly string[];
  for (const [key, published] of Object.entries(
    (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  )) {
    const schema = plain(published);
    const required = needed.includes(key);
    const items =
      schema["type"] === "array" ? plain((schema["items"] ?? {}) as JsonSchema) : undefined;
    const entity = wordOf(schema, "x-entity") ?? (items && wordOf(items, "x-entity"));
    const label = wordOf(schema, "x-label") ?? (items && wordOf(items, "x-label"));
    const many = items !== undefined;
    if (entity !== undefined)
      inputs.push({
        key,
        entity,
        required,
        spoken: (items ?? schema)["x-spoken"] === true,
        many,
        schema,
      });
    else if (label !== undefined) labels.push({ key, entity: label, required, many, schema });
    else values.push({ key, required, sensitive: isSensitive(key, schema), schema });
  }
  return { inputs, labels, values };
}

/**
 * A schema without null: what a value that is given must fit. Keywords beside the branches stay.
 */
function plain(schema: JsonSchema): JsonSchema {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  const first = branches?.find(it => it["type"] !== "null");
  if (!first) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema as Record<string, Json>;
  return { ...rest, ...plain(first) };
}

const wordOf = (schema: JsonSchema, keyword: string) => schema[keyword] as string | undefined;

const secret = new Set([
  "password",
  "passcode",
  "token",
  "secret",
  "pin",
  "otp",
  "cvv",
  "ssn",
  "apikey",
]);
const secretPairs = new Set(["api key", "card number", "routing number"]);

/** Declared so, or named so as a whole word: `pin`, not `shipping`. */
export function isSensitive(key: string, schema: JsonSchema): boolean {
  const parts = key
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
  return (
    schema["x-sensitive"] === true ||
    parts.some(it => secret.has(it)) ||
    parts.some((it, i) => secretPairs.has(`${it} ${parts[i + 1]}`))
  );
}

/** Where a keyword stands in a result's schema. */
function keywordsIn(schema: JsonSchema, keyword: string, path: string): EntityOutput[] {
  const branches =
    ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];
  const found = branches.flatMap(it => keywordsIn(it, keyword, path));
  const entity = wordOf(schema, keyword);
  if (entity !== undefined) found.push({ path, entity });
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  for (const [key, it] of properties)
    found.push(...keywordsIn(it, keyword, path ? `${path}.${key}` : key));
  if (isObject(schema["items"])) found.push(...keywordsIn(schema["items"], keyword, `${path}[]`));
  if (isObject(schema["additionalProperties"]))
    found.push(...keywordsIn(schema["additionalProperties"], keyword, `${path}{}`));
  return found;
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The entities in a tool's result, in its order. */
export function shownBy({ tool, nameOnly, prefix }: Declared, value: Json): Shown[] {
  const shown: Shown[] = [];
  collect(tool.outputSchema, value, nameOnly, shown);
  return prefix === undefined
    ? shown
    : shown.map(it => ({ ...it, entity: `${prefix}${it.entity}` }));
}

/**
 * The same declarations with each entity named after its server too, so that two servers'
 * categories stay two.
 */
export function prefixed(declared: Declared): Declared {
  const prefix = `${declared.tool.server}.`;
  const named = <T extends { readonly entity: string }>(list: readonly T[]): T[] =>
    list.map(it => ({ ...it, entity: `${prefix}${it.entity}` }));
  return {
    ...declared,
    inputs: named(declared.inputs),
    labels: named(declared.labels),
    outputs: named(declared.outputs),
    prefix,
  };
}

function collect(
  schema: JsonSchema,
  value: Json,
  nameOnly: ReadonlySet<string>,
  shown: Shown[],
): void {
  for (const branch of ((schema["anyOf"] ?? schema["oneOf"]) as
    readonly JsonSchema[] | undefined) ?? [])
    collect(branch, value, nameOnly, shown);
  if (typeof value === "string") {
    const entity = wordOf(schema, "x-entity");
    const label = wordOf(schema, "x-label");
    if (entity !== undefined) shown.push({ entity, id: value, facts: {} });
    else if (label !== undefined && nameOnly.has(label))
      shown.push({ entity: label, id: value, label: value, facts: {} });
  } else if (Array.isArray(value)) {
    if (isObject(schema["items"]))
      for (const it of value) collect(schema["items"], it, nameOnly, shown);
  } else if (isObject(value)) collectRow(schema, value, nameOnly, shown);
}

/** A row's first id is what it is about: its label and facts belong to that one. */
function collectRow(
  schema: JsonSchema,
  row: JsonObject,
  nameOnly: ReadonlySet<string>,
  shown: Shown[],
): void {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const facts: Record<string, Json> = {};
  const labels: Record<string, string> = {};
  const ids: { entity: string; id: string }[] = [];
  for (const [key, published] of Object.entries(properties)) {
    const it = row[key];
    if (it === undefined || it === null) continue;
    const property = plain(published);
    const label = wordOf(property, "x-label");
    const entity =
      wordOf(property, "x-entity") ??
      (label !== undefined && nameOnly.has(label) ? label : undefined);
    if (entity !== undefined && typeof it === "string") ids.push({ entity, id: it });
    else if (typeof it !== "object") facts[key] = it;
    if (label !== undefined && typeof it === "string") labels[label] ??= it;
  }
  for (const [i, { entity, id }] of ids.entries())
    shown.push({
      entity,
      id,
      ...(labels[entity] === undefined ? {} : { label: labels[entity] }),
      facts: i === 0 ? facts : {},
    });
  for (const [key, property] of Object.entries(properties)) {
    const it = row[key];
    if (it !== undefined && it !== null && typeof it === "object")
      collect(property, it, nameOnly, shown);
  }
  if (isObject(schema["additionalProperties"]))
    for (const [key, it] of Object.entries(row))
      if (!Object.hasOwn(properties, key))
        collect(schema["additionalProperties"], it, nameOnly, shown);
}
