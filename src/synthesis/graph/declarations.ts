/**
 * Reads what a tool's published schemas declare: the entities that go in and come out, the labels
 * that look an entity up, and the plain values. Works for every server that annotates its schemas.
 */
import { isJsonObject } from "../../environment/json.ts";
import {
  getItemSchema,
  getKeyword,
  getProperties,
  listBranches,
  listRequired,
  removeNull,
} from "../../environment/schemaKeywords.ts";
import type { JsonSchema, Server, Tool } from "../../environment/server.ts";

export interface EntityInput {
  /** The argument that it is, or that it is a part of. */
  readonly key: string;
  /** Where it is: the key, or `relations[].from` in a list of objects. */
  readonly path: string;
  readonly entity: string;
  readonly isRequired: boolean;
  /** People know the identifier itself and say it. */
  readonly isSpoken: boolean;
  /** It is a list of identifiers. */
  readonly isList: boolean;
  /** Its schema without `null`. */
  readonly schema: JsonSchema;
}

interface LabelInput {
  readonly key: string;
  readonly entity: string;
  readonly isRequired: boolean;
  /** The argument's schema without `null`. */
  readonly schema: JsonSchema;
}

interface ValueInput {
  readonly key: string;
  readonly isRequired: boolean;
  readonly isSensitive: boolean;
  /** The first branch of the argument's schema that is not `null`. */
  readonly schema: JsonSchema;
}

interface EntityOutput {
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
  /** Entities of the server that have no id: their label is their id, and people say it. */
  readonly nameOnly: ReadonlySet<string>;
  /** Prepended to entity names in conversations over several servers: `crm.`. */
  readonly prefix?: string;
}

/** The declarations of a server's tools, by full tool name. */
export type Declarations = ReadonlyMap<string, ToolDeclaration>;

const declarationsByServer = new WeakMap<Pick<Server, "tools">, Declarations>();

export function getDeclarations(server: Pick<Server, "tools">): Declarations {
  let declarations = declarationsByServer.get(server);
  if (!declarations)
    declarationsByServer.set(
      server,
      (declarations = buildDeclarations([...server.tools.values()])),
    );
  return declarations;
}

function buildDeclarations(tools: readonly Tool[]): Declarations {
  const drafts = tools.map(tool => ({
    tool,
    ...readInputs(tool),
    outputs: findKeyword(tool.outputSchema, "x-entity", ""),
    labelOutputs: findKeyword(tool.outputSchema, "x-label", ""),
  }));
  const withIds = new Set(drafts.flatMap(it => [...it.inputs, ...it.outputs].map(of => of.entity)));
  const nameOnly = new Set(
    drafts
      .flatMap(it => [...it.labels, ...it.labelOutputs].map(of => of.entity))
      .filter(it => !withIds.has(it)),
  );
  return new Map(
    drafts.map(({ tool, inputs, labels, values, outputs, labelOutputs }) => {
      const nameInputs = labels
        .filter(it => nameOnly.has(it.entity))
        .map(it => ({ ...it, path: it.key, isSpoken: true }));
      return [
        tool.name,
        {
          tool,
          inputs: [...inputs, ...nameInputs],
          labels: labels.filter(it => !nameOnly.has(it.entity)),
          values,
          outputs: [...outputs, ...labelOutputs.filter(it => nameOnly.has(it.entity))],
          nameOnly,
        },
      ];
    }),
  );
}

interface ToolInputs {
  readonly inputs: EntityInput[];
  readonly labels: (LabelInput & { readonly isList: boolean })[];
  readonly values: ValueInput[];
}

function readInputs(tool: Tool): ToolInputs {
  const result: ToolInputs = { inputs: [], labels: [], values: [] };
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  for (const [key, published] of Object.entries(
    (tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  )) {
    const schema = removeNull(published);
    const isRequired = required.includes(key);
    const inputs = readEntities(schema, key).map(it => ({ ...it, key, isRequired }));
    result.inputs.push(...inputs);
    if (inputs[0]?.path === key) continue;
    const items = getItemSchema(schema);
    const label = getKeyword(schema, "x-label") ?? (items && getKeyword(items, "x-label"));
    if (label !== undefined)
      result.labels.push({ key, entity: label, isRequired, isList: items !== undefined, schema });
    else {
      const isSensitive = isSensitiveArgument(key, schema);
      result.values.push({ key, isRequired, isSensitive, schema });
    }
  }
  return result;
}

/** The entities that a part of the arguments refers to: itself, or parts of its objects. */
function readEntities(schema: JsonSchema, path: string): Omit<EntityInput, "key" | "isRequired">[] {
  const items = getItemSchema(schema);
  const entity = getKeyword(schema, "x-entity") ?? (items && getKeyword(items, "x-entity"));
  if (entity !== undefined) {
    const isSpoken = (items ?? schema)["x-spoken"] === true;
    return [{ path, entity, isSpoken, isList: items !== undefined, schema }];
  }
  const object = items ?? schema;
  const properties = getProperties(object);
  return listRequired(object).flatMap(key =>
    readEntities(removeNull(properties[key] ?? {}), `${path}${items ? "[]" : ""}.${key}`),
  );
}

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

/** Whether an argument is declared sensitive or named so by a whole word: `pin`, not `shipping`. */
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

/** Finds the paths in a result's schema that carry a keyword. */
function findKeyword(schema: JsonSchema, keyword: string, path: string): EntityOutput[] {
  const outputs = listBranches(schema).flatMap(it => findKeyword(it, keyword, path));
  const entity = getKeyword(schema, keyword);
  if (entity !== undefined) outputs.push({ path, entity });
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  for (const [key, it] of properties)
    outputs.push(...findKeyword(it, keyword, path ? `${path}.${key}` : key));
  const { items, additionalProperties } = schema;
  if (isJsonObject(items)) outputs.push(...findKeyword(items, keyword, `${path}[]`));
  if (isJsonObject(additionalProperties))
    outputs.push(...findKeyword(additionalProperties, keyword, `${path}{}`));
  return outputs;
}

/**
 * The same declaration with the server's name before each entity name, so that entities of the same
 * name on two servers stay apart.
 */
export function addServerPrefix(declaration: ToolDeclaration): ToolDeclaration {
  const prefix = `${declaration.tool.server}.`;
  const addPrefix = <T extends { readonly entity: string }>(list: readonly T[]): T[] =>
    list.map(it => ({ ...it, entity: `${prefix}${it.entity}` }));
  return {
    ...declaration,
    inputs: addPrefix(declaration.inputs),
    labels: addPrefix(declaration.labels),
    outputs: addPrefix(declaration.outputs),
    prefix,
  };
}
