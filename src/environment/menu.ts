/** The tools on offer as a policy sees them. What is taken off a schema here, the session still checks. */
import type { JsonSchema, Tool } from "./server.ts";

export interface MenuItem {
  readonly name: string;
  readonly enumsStripped?: true | undefined;
}

/** The tools of a menu, in its order; those marked so have no enum lists in their arguments. Names without a tool are left out. */
export const menuOf = (tools: ReadonlyMap<string, Tool>, menu: readonly MenuItem[]): readonly Tool[] =>
  menu.flatMap(({ name, enumsStripped }) => {
    const tool = tools.get(name);
    if (!tool) return [];
    return enumsStripped ? { ...tool, inputSchema: withoutEnums(tool.inputSchema) as JsonSchema } : tool;
  });

/** A schema without its enum lists; a list that alone gave the type leaves the type behind. */
function withoutEnums(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEnums);
  if (schema === null || typeof schema !== "object") return schema;
  const kept = Object.entries(schema).flatMap(([key, it]): [string, unknown][] => {
    if (key === "properties") return [[key, Object.fromEntries(Object.entries(it as object).map(([name, of]) => [name, withoutEnums(of)]))]];
    if (key === "enum" && Array.isArray(it)) return "type" in schema ? [] : [["type", [...new Set(it.map(typeName))]]];
    return [[key, withoutEnums(it)]];
  });
  return Object.fromEntries(kept);
}

const typeName = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
