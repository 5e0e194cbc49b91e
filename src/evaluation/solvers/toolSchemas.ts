/**
 * What solvers read from the schemas of offered tools: which arguments are required, and which are
 * ids of entities or names of them.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { listBranches, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";

export interface Argument {
  /** The server of the tool. */
  readonly server: string;
  readonly key: string;
  readonly isRequired: boolean;
  /** The argument's schema, or the schema of its items if it is a list, without `null`. */
  readonly schema: JsonSchema;
  readonly isList: boolean;
  /** The entity that the argument identifies. */
  readonly entity: string | undefined;
  /** The entity whose name the argument is. */
  readonly label: string | undefined;
}

const argumentsByTool = new WeakMap<Tool, readonly Argument[]>();

/** The arguments that a tool takes. */
export function listArguments(tool: Tool): readonly Argument[] {
  let list = argumentsByTool.get(tool);
  if (!list) argumentsByTool.set(tool, (list = readArguments(tool)));
  return list;
}

function readArguments({ server, inputSchema }: Tool): readonly Argument[] {
  const required = (inputSchema["required"] ?? []) as readonly string[];
  return Object.entries((inputSchema["properties"] ?? {}) as Record<string, JsonSchema>).map(
    ([key, published]) => {
      const whole = removeNull(published);
      const isList = whole["type"] === "array";
      const schema = isList ? removeNull((whole["items"] ?? {}) as JsonSchema) : whole;
      const readKeyword = (keyword: string) =>
        (whole[keyword] ?? schema[keyword]) as string | undefined;
      return {
        server,
        key,
        isRequired: required.includes(key),
        schema,
        isList,
        entity: readKeyword("x-entity"),
        label: readKeyword("x-label"),
      };
    },
  );
}

/** Whether a tool's results have rows: a list of objects. */
export function returnsRows({ outputSchema }: Tool): boolean {
  const properties = Object.values(
    (outputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  );
  return properties.some(it => {
    const items = removeNull(it)["items"];
    return isJsonObject(items) && isJsonObject(removeNull(items)["properties"]);
  });
}

/** The names of all fields in a schema, at any depth. */
export function listFieldNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (it: Json | undefined): void => {
    if (!isJsonObject(it)) return;
    for (const branch of listBranches(it)) visit(branch);
    for (const [key, property] of Object.entries((it["properties"] ?? {}) as JsonObject)) {
      names.add(key);
      visit(property);
    }
    visit(it["items"]);
    visit(it["additionalProperties"]);
  };
  visit(schema);
  return names;
}
