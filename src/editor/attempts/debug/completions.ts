/** Completions in the Debug Console: paths, tools, and the parameters of a tool. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import type { Tool } from "../../../environment/server.ts";
import { createVariables, type DebugTarget, listFullNames } from "./debugTarget.ts";
import { ExpressionError, evaluateExpression } from "./expression.ts";
import { formatInline } from "./debugRows.ts";

/** The most entries of a collection that are listed. */
const maxKeys = 500;

const pathPattern = /[A-Za-z_][\w-]*(?:\.[\w-]+|\[(?:\d+|"[^"]*")\])*$/;

/** Lists what can follow a text, which ends at the cursor. */
export function listCompletions(target: DebugTarget, text: string): DebugProtocol.CompletionItem[] {
  const parameters = listParameters(target, text);
  if (parameters) return parameters;
  const [, path, part] = /^([^]*)\.([\w-]*)$/.exec(text) ?? [];
  if (path !== undefined && part !== undefined) return listKeys(target, path, part);
  const { length } = /[\w-]*$/.exec(text)![0];
  const variables = createVariables(target, target.cursor.current);
  return [
    ...createItems(variables, length, "variable"),
    ...[...target.cursor.openSession().tools.values()].map(it => createToolItem(it, length)),
  ];
}

function listKeys(target: DebugTarget, text: string, part: string): DebugProtocol.CompletionItem[] {
  const path = pathPattern.exec(text)?.[0];
  if (path === undefined) return [];
  try {
    const value = evaluateExpression(path, createVariables(target, target.cursor.current));
    return isJsonObject(value) ? createItems(value, part.length, "property") : [];
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

const createItems = (
  values: Readonly<Record<string, Json | undefined>>,
  length: number,
  type: "property" | "variable",
): DebugProtocol.CompletionItem[] =>
  Object.entries(values)
    .filter(([key, it]) => it !== undefined && /^[\w-]+$/.test(key))
    .slice(0, maxKeys)
    .map(([label, it]) => ({ label, length, type, detail: formatInline(it!) }));

function createToolItem(tool: Tool, length: number): DebugProtocol.CompletionItem {
  const required = listRequired(tool);
  const names = Object.keys(getProperties(tool)).map(it => (required.has(it) ? it : `${it}?`));
  return {
    label: tool.name,
    text: `${tool.name}(`,
    length,
    type: "function",
    detail: `(${names.join(", ")})`,
  };
}

/**
 * The parameters of a call whose parenthesis is open, or the values of the parameter before the
 * cursor; undefined where no call is open.
 */
function listParameters(
  { cursor }: DebugTarget,
  text: string,
): DebugProtocol.CompletionItem[] | undefined {
  const [, name, given] = /([A-Za-z_][\w.]*)\(\s*\{?([^()]*)$/.exec(text) ?? [];
  if (name === undefined || given === undefined) return undefined;
  const { tools } = cursor.openSession();
  const full = listFullNames(name, cursor.trajectory.header.servers).find(it => tools.has(it));
  if (full === undefined) return undefined;
  const properties = getProperties(tools.get(full)!);
  const required = listRequired(tools.get(full)!);
  const [, key, value] = /(\w+)"?\s*:\s*("?[\w-]*)$/.exec(given) ?? [];
  if (key !== undefined && value !== undefined)
    return listValues(properties[key]).map(it => ({
      label: it,
      length: value.length,
      type: "value",
    }));
  const { length } = /"?\w*$/.exec(given)![0];
  const quote = text.includes(`${name}({`) ? '"' : "";
  return Object.entries(properties)
    .filter(([it]) => !new RegExp(`\\b${it}"?\\s*:`).test(given))
    .map(([label, schema]) => ({
      label,
      text: `${quote}${label}${quote}: `,
      length,
      type: "property",
      detail: describeSchema(schema, required.has(label)),
    }));
}

const getProperties = ({ inputSchema }: Tool): JsonObject =>
  isJsonObject(inputSchema["properties"]) ? inputSchema["properties"] : {};

const listRequired = ({ inputSchema }: Tool): ReadonlySet<Json> =>
  new Set((inputSchema["required"] ?? []) as readonly Json[]);

/** The values that a schema lists, as JSON. */
function listValues(schema: Json | undefined): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { enum: values, type } = schema;
  if (Array.isArray(values)) return (values as readonly Json[]).map(it => JSON.stringify(it));
  return type === "boolean" ? ["true", "false"] : [];
}

function describeSchema(schema: Json, isRequired: boolean): string {
  const { type, description } = isJsonObject(schema) ? schema : {};
  return [
    typeof type === "string" ? type : "",
    isRequired ? "" : "optional",
    typeof description === "string" ? description : "",
  ]
    .filter(it => it !== "")
    .join(", ");
}
