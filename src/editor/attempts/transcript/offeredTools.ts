/**
 * Describes tools for people: the list of those that were offered to the policy, and the signature
 * and parameters of one.
 */
import type { Catalog } from "../../../environment/catalog.ts";
import { isJsonObject, type Json } from "../../../environment/json.ts";
import { getKeyword, getProperties, removeNull } from "../../../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../../../environment/server.ts";
import { escapeInvisible, splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import type { Task } from "../../../trajectory/task.ts";
import { startsTurn, type Trajectory } from "../../../trajectory/trajectory.ts";

/** In the order of the menu; then those that came in a later turn, and those taken away. */
export function formatOfferedTools(
  catalog: Catalog,
  { header, events }: Trajectory,
  task: Task | undefined,
): string {
  const sections: (readonly [title: string, names: readonly string[]])[] = [
    [`${header.menu.length} tools on offer in ${header.id}`, header.menu],
  ];
  let turn = 0;
  for (const it of events) {
    if (startsTurn(it)) turn++;
    if (it.kind === "user" && it.adds) sections.push([`Added in turn ${turn}`, it.adds]);
  }
  if (task && task.hidden.length > 0) sections.push(["Taken away", task.hidden]);
  return sections.map(([title, names]) => formatSection(catalog, title, names)).join("\n");
}

function formatSection(catalog: Catalog, title: string, names: readonly string[]): string {
  const heading = escapeInvisible(title);
  const lines = names.flatMap(name => ["", ...formatTool(catalog, name)]);
  return [heading, "=".repeat(heading.length), ...lines, ""].join("\n");
}

function formatTool(catalog: Catalog, name: string): readonly string[] {
  const tool = catalog.tools.get(name);
  if (!tool) return [escapeInvisible(name), "    No server has this tool any more."];
  return [
    ...splitVisibleLines(formatSignature(tool)),
    ...splitVisibleLines(describeTool(tool)).map(it => `    ${it}`),
  ];
}

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
