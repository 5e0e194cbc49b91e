/**
 * The tools on offer as a policy sees them. What is taken off a schema here, the session still
 * checks.
 */
import { z } from "zod";
import type { JsonSchema, Tool } from "./server.ts";

export interface MenuItem {
  readonly name: string;
  readonly enumsStripped?: true | undefined;
}

/** A tool that is shown and that nothing stands behind. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/**
 * As a policy sees any other tool. A session does not know it: to call it is to call an unknown
 * tool.
 */
const toolListed = ({ name, description, parameters }: ListedTool): Tool => ({
  name,
  server: "",
  effect: "write",
  summary: description,
  destructive: false,
  idempotent: false,
  requires: [],
  input: z.record(z.string(), z.json()),
  returns: z.json(),
  inputSchema: parameters,
  outputSchema: {},
  run() {
    throw new Error(`${name} is only listed`);
  },
});

/**
 * The tools of a menu, in its order; those marked so have no enum lists in their arguments. Names
 * without a tool, listed or real, are left out.
 */
export const listMenuTools = (
  tools: ReadonlyMap<string, Tool>,
  menu: readonly MenuItem[],
  listed: readonly ListedTool[] = [],
): readonly Tool[] =>
  menu.flatMap(({ name, enumsStripped }) => {
    const only = listed.find(it => it.name === name);
    const tool = tools.get(name) ?? (only && toolListed(only));
    if (!tool) return [];
    return enumsStripped
      ? { ...tool, inputSchema: withoutEnums(tool.inputSchema) as JsonSchema }
      : tool;
  });

/** A schema without its enum lists; a list that alone gave the type leaves the type behind. */
function withoutEnums(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEnums);
  if (schema === null || typeof schema !== "object") return schema;
  const kept = Object.entries(schema).flatMap(([key, it]): [string, unknown][] => {
    if (key === "properties")
      return [
        [
          key,
          Object.fromEntries(
            Object.entries(it as object).map(([name, of]) => [name, withoutEnums(of)]),
          ),
        ],
      ];
    if (key === "enum" && Array.isArray(it))
      return "type" in schema ? [] : [["type", [...new Set(it.map(typeName))]]];
    return [[key, withoutEnums(it)]];
  });
  return Object.fromEntries(kept);
}

const typeName = (value: unknown) =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
