/** The menu of a task: the tools that a policy is offered. */
import { z } from "zod";
import type { JsonSchema, Tool } from "./server.ts";
import { getJsonType } from "./argumentChecks.ts";
import type { ToolDescription } from "./toolDescription.ts";

interface MenuItem {
  readonly name: string;
  readonly enumsStripped?: true | undefined;
}

/**
 * The tools of a menu, in its order; those marked so have no enum lists in their arguments.
 * `listed` are tools that no server implements. Names without a tool are left out.
 */
export const listMenuTools = (
  tools: ReadonlyMap<string, Tool>,
  menu: readonly MenuItem[],
  listed: readonly ToolDescription[] = [],
): readonly Tool[] =>
  menu.flatMap(({ name, enumsStripped }) => {
    const listedTool = listed.find(it => it.name === name);
    const tool = tools.get(name) ?? (listedTool && createListedTool(listedTool));
    if (!tool) return [];
    return enumsStripped ? getStrippedTool(tool) : tool;
  });

const strippedTools = new WeakMap<Tool, Tool>();

/** The tool without enum lists in its arguments: the same object each time. */
function getStrippedTool(tool: Tool): Tool {
  let stripped = strippedTools.get(tool);
  if (!stripped) {
    stripped = { ...tool, inputSchema: stripEnums(tool.inputSchema) as JsonSchema };
    strippedTools.set(tool, stripped);
  }
  return stripped;
}

/** A tool that a menu lists and that no session has, so that calling it is `unknown-tool`. */
const createListedTool = ({ name, description, parameters }: ToolDescription): Tool => ({
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

/** A schema without its enum lists. A list that alone gave the type is replaced by the type. */
function stripEnums(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripEnums);
  if (schema === null || typeof schema !== "object") return schema;
  const entries = Object.entries(schema).flatMap(([key, it]): [string, unknown][] => {
    if (key === "properties")
      return [
        [
          key,
          Object.fromEntries(
            Object.entries(it as object).map(([name, property]) => [name, stripEnums(property)]),
          ),
        ],
      ];
    if (key === "enum" && Array.isArray(it))
      return "type" in schema ? [] : [["type", [...new Set(it.map(getJsonType))]]];
    return [[key, stripEnums(it)]];
  });
  return Object.fromEntries(entries);
}
