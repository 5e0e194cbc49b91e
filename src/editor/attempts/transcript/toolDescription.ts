/** Describes tools for people: what they do, and their parameters from their schemas. */
import { isJsonObject, type Json } from "../../../environment/json.ts";
import { getKeyword, getProperties, removeNull } from "../../../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../../../environment/server.ts";

/** What a tool does, on one line. */
export const describeTool = ({ summary, effect, destructive }: Tool): string =>
  `${summary} (${effect}${destructive ? ", cannot be undone" : ""})`;

/**
 * The call of a tool with the type of each parameter and its description:
 * `account_id: id of account // The account`. A parameter with a question mark can be left out.
 */
export function formatSignature({ name, inputSchema }: Tool): string {
  const required = (inputSchema["required"] ?? []) as readonly string[];
  const lines = Object.entries(getProperties(inputSchema)).map(([key, schema]) => {
    const description = getKeyword(schema, "description");
    const mark = required.includes(key) ? "" : "?";
    return `  ${key}${mark}: ${formatType(schema)},${description ? ` // ${description}` : ""}`;
  });
  return lines.length === 0 ? `${name}()` : [`${name}(`, ...lines, ")"].join("\n");
}

function formatType(schema: JsonSchema): string {
  const own = removeNull(schema);
  const isNullable = own !== schema;
  return `${formatPlainType(own)}${isNullable ? " | null" : ""}`;
}

function formatPlainType(schema: JsonSchema): string {
  const { enum: values, const: constant, items, type } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((it: Json) => JSON.stringify(it)).join(" | ");
  const entity = getKeyword(schema, "x-entity");
  if (entity !== undefined) return `id of ${entity}`;
  if (type === "array") return `list of ${isJsonObject(items) ? formatType(items) : "values"}`;
  const name = typeof type === "string" ? type : "value";
  const range = formatRange(schema);
  return range ? `${name} ${range}` : name;
}

function formatRange({ minimum, maximum }: JsonSchema): string | undefined {
  if (minimum !== undefined && maximum !== undefined)
    return `${minimum as number} to ${maximum as number}`;
  if (minimum !== undefined) return `from ${minimum as number}`;
  return maximum === undefined ? undefined : `up to ${maximum as number}`;
}
