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
  readonly isRequired: boolean;
  /** A person knows and says the identifier itself. */
  readonly isSpoken: boolean;
  /** A list of identifiers. */
  readonly isList: boolean;
  /** Of the argument, without `null`. */
  readonly schema: JsonSchema;
}

export interface LabelInput {
  readonly key: string;
  readonly entity: string;
  readonly isRequired: boolean;
  /** Of the argument, without `null`. */
  readonly schema: JsonSchema;
}

export interface ValueInput {
  readonly key: string;
  readonly isRequired: boolean;
  readonly isSensitive: boolean;
  /** Without `null` and without the branches that are not the first. */
  readonly schema: JsonSchema;
}

export interface EntityOutput {
  /** `accounts[].account_id` */
  readonly path: string;
  readonly entity: string;
}

export interface ToolDeclaration {
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
export type Declarations = ReadonlyMap<string, ToolDeclaration>;

/** An entity as a result showed it. */
export interface ResultEntity {
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  /** The plain fields that stand beside the id. */
  readonly facts: JsonObject;
}

const declarationsByServer = new WeakMap<Server, Declarations>();

export function declarationsOf(server: Server): Declarations {
  let declarations = declarationsByServer.get(server);
  if (!declarations)
    declarationsByServer.set(
      server,
      (declarations = buildDeclarations([...server.tools.values()])),
    );
  return declarations;
}

function buildDeclarations(tools: readonly Tool[]): Declarations {
  const raw = tools.map(tool => {
    const [outputs, shown] = [
      findKeyword(tool.outputSchema, "x-entity", ""),
      findKeyword(tool.outputSchema, "x-label", ""),
    ];
    return { tool, ...readInputs(tool), outputs, shown };
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
        .map(it => ({ ...it, isSpoken: true }));
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

function readInputs(
  tool: Tool,
): Pick<ToolDeclaration, "inputs" | "values"> & { labels: (LabelInput & { isList: boolean })[] } {
  const inputs: EntityInput[] = [];
  const labels: (LabelInput & { isList: boolean })[] = [];
  const values: ValueInput[] = [];
  const needed = (tool.inputSchema["required"] ?? []) as readonly string[];
  for (const [key, published] of Object.entries(
    (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  )) {
    const schema = removeNull(published);
    const isRequired = needed.includes(key);
    const items =
      schema["type"] === "array" ? removeNull((schema["items"] ?? {}) as JsonSchema) : undefined;
    const entity = getKeyword(schema, "x-entity") ?? (items && getKeyword(items, "x-entity"));
    const label = getKeyword(schema, "x-label") ?? (items && getKeyword(items, "x-label"));
    const isList = items !== undefined;
    if (entity !== undefined)
      inputs.push({
        key,
        entity,
        isRequired,
        isSpoken: (items ?? schema)["x-spoken"] === true,
        isList,
        schema,
      });
    else if (label !== undefined) labels.push({ key, entity: label, isRequired, isList, schema });
    else values.push({ key, isRequired, isSensitive: isSensitiveArgument(key, schema), schema });
  }
  return { inputs, labels, values };
}

/**
 * A schema without null: what a value that is given must fit. Keywords beside the branches stay.
 */
function removeNull(schema: JsonSchema): JsonSchema {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  const first = branches?.find(it => it["type"] !== "null");
  if (!first) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema as Record<string, Json>;
  return { ...rest, ...removeNull(first) };
}

const getKeyword = (schema: JsonSchema, keyword: string) => schema[keyword] as string | undefined;

const secretWords = new Set([
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
const secretWordPairs = new Set(["api key", "card number", "routing number"]);

/** Declared so, or named so as a whole word: `pin`, not `shipping`. */
export function isSensitiveArgument(key: string, schema: JsonSchema): boolean {
  const parts = key
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_");
  return (
    schema["x-sensitive"] === true ||
    parts.some(it => secretWords.has(it)) ||
    parts.some((it, i) => secretWordPairs.has(`${it} ${parts[i + 1]}`))
  );
}

/** Where a keyword stands in a result's schema. */
function findKeyword(schema: JsonSchema, keyword: string, path: string): EntityOutput[] {
  const branches =
    ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];
  const found = branches.flatMap(it => findKeyword(it, keyword, path));
  const entity = getKeyword(schema, keyword);
  if (entity !== undefined) found.push({ path, entity });
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  for (const [key, it] of properties)
    found.push(...findKeyword(it, keyword, path ? `${path}.${key}` : key));
  if (isObject(schema["items"])) found.push(...findKeyword(schema["items"], keyword, `${path}[]`));
  if (isObject(schema["additionalProperties"]))
    found.push(...findKeyword(schema["additionalProperties"], keyword, `${path}{}`));
  return found;
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The entities in a tool's result, in its order. */
export function findEntities(
  { tool, nameOnly, prefix }: ToolDeclaration,
  value: Json,
): ResultEntity[] {
  const shown: ResultEntity[] = [];
  collectEntities(tool.outputSchema, value, nameOnly, shown);
  return prefix === undefined
    ? shown
    : shown.map(it => ({ ...it, entity: `${prefix}${it.entity}` }));
}

/**
 * The same declarations with each entity named after its server too, so that two servers'
 * categories stay two.
 */
export function addServerPrefix(declared: ToolDeclaration): ToolDeclaration {
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

function collectEntities(
  schema: JsonSchema,
  value: Json,
  nameOnly: ReadonlySet<string>,
  shown: ResultEntity[],
): void {
  for (const branch of ((schema["anyOf"] ?? schema["oneOf"]) as
    readonly JsonSchema[] | undefined) ?? [])
    collectEntities(branch, value, nameOnly, shown);
  if (typeof value === "string") {
    const entity = getKeyword(schema, "x-entity");
    const label = getKeyword(schema, "x-label");
    if (entity !== undefined) shown.push({ entity, id: value, facts: {} });
    else if (label !== undefined && nameOnly.has(label))
      shown.push({ entity: label, id: value, label: value, facts: {} });
  } else if (Array.isArray(value)) {
    if (isObject(schema["items"]))
      for (const it of value) collectEntities(schema["items"], it, nameOnly, shown);
  } else if (isObject(value)) collectRow(schema, value, nameOnly, shown);
}

/** A row's first id is what it is about: its label and facts belong to that one. */
function collectRow(
  schema: JsonSchema,
  row: JsonObject,
  nameOnly: ReadonlySet<string>,
  shown: ResultEntity[],
): void {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const facts: Record<string, Json> = {};
  const labels: Record<string, string> = {};
  const ids: { entity: string; id: string }[] = [];
  for (const [key, published] of Object.entries(properties)) {
    const it = row[key];
    if (it === undefined || it === null) continue;
    const property = removeNull(published);
    const label = getKeyword(property, "x-label");
    const entity =
      getKeyword(property, "x-entity") ??
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
      collectEntities(property, it, nameOnly, shown);
  }
  if (isObject(schema["additionalProperties"]))
    for (const [key, it] of Object.entries(row))
      if (!Object.hasOwn(properties, key))
        collectEntities(schema["additionalProperties"], it, nameOnly, shown);
}
