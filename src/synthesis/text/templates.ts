/**
 * Reads the templates of a server from its resources folder and adds plain ones for the tools and
 * entities that the file leaves out.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Server, Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { getDeclarations, type ToolDeclaration } from "../graph/declarations.ts";
import { findTemplateErrors } from "./templateErrors.ts";
import {
  serverTemplatesSchema,
  type ServerTemplates,
  type ToolTemplates,
} from "./templateSchema.ts";
import { readTextFile } from "../../storage/readTextFile.ts";

/**
 * Reads the templates of a server from the folder of all servers. What the file leaves out, or all
 * of it if there is no file, is completed with plain templates.
 */
export function readTemplates(folder: string, server: Server): ServerTemplates {
  const file = join(folder, server.name, "templates.json");
  return completeTemplates(
    server,
    existsSync(file) ? parseTemplates(server, readTextFile(file), file) : undefined,
  );
}

/** Parses the text of a templates file. Throws a `UserError` that names the first error. */
export function parseTemplates(server: Server, text: string, file: string): ServerTemplates {
  const templates = parseJson(serverTemplatesSchema, text, { file, noun: "a templates file" });
  const error = findTemplateErrors(templates, server)[0];
  if (error !== undefined)
    throw new UserError(`${file}${locateText(text, error)}: ${error}`, "correct that template");
  return templates;
}

/** `:LINE`, where the template that an error quotes is in the file; empty if it quotes none. */
function locateText(file: string, error: string): string {
  const quoted = error.match(/"(.*)" /)?.[1];
  if (quoted === undefined) return "";
  const written = JSON.stringify(quoted);
  const line = file.split("\n").findIndex(it => it.includes(written));
  return line < 0 ? "" : `:${line + 1}`;
}

function completeTemplates(server: Server, known: ServerTemplates | undefined): ServerTemplates {
  const tools = Object.fromEntries(
    [...server.tools.values()].map(it => [
      it.name,
      known?.tools[it.name] ?? createToolTemplates(it),
    ]),
  );
  const declarations = [...getDeclarations(server).values()];
  const declared = [
    ...declarations.flatMap(it => it.outputs.map(({ entity }) => ({ entity, isSpoken: false }))),
    ...declarations.flatMap(it => it.inputs),
  ];
  const entities = Object.fromEntries(
    declared.map(it => [
      it.entity,
      createEntityTemplates(it.entity, it.isSpoken, listParents(it.entity, declarations)),
    ]),
  );
  return {
    format: "prove/templates@1",
    server: server.name,
    ...(known?.self === undefined ? {} : { self: known.self }),
    arguments: known?.arguments ?? {},
    tools,
    entities: { ...entities, ...known?.entities },
    ...(known?.reasons ? { reasons: known.reasons } : {}),
  };
}

const toWords = (name: string) => name.replaceAll("_", " ");

/** The entities whose results show an entity: a book's result shows its loan. */
const listParents = (entity: string, declarations: readonly ToolDeclaration[]): string[] => [
  ...new Set(
    declarations
      .filter(it => it.tool.effect === "read" && it.outputs.some(of => of.entity === entity))
      .flatMap(it => it.inputs.filter(of => of.isRequired && of.entity !== entity))
      .map(it => it.entity),
  ),
];

const createEntityTemplates = (entity: string, isSpoken: boolean, parents: readonly string[]) => ({
  noun: toWords(entity),
  mention: [
    isSpoken ? "{id}" : `the ${toWords(entity)} {label}`,
    ...(isSpoken ? [] : parents.map(it => `the ${toWords(entity)} of {${it}}`)),
  ],
  again: [`that ${toWords(entity)}`],
});

/** Creates plain templates from a tool's name: `freeze card with card {card_id}`. */
function createToolTemplates(tool: Tool): ToolTemplates {
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const verb = toWords(tool.name.slice(tool.server.length + 1));
  const phrases = required.map(key => `${toWords(key).replace(/ id$/, "")} {${key}}`);
  return {
    forms: [phrases.length > 0 ? `${verb} with ${phrases.join(" and ")}` : verb],
    reply: ["Done."],
  };
}
