/**
 * The templates of a server, read from its resources folder and completed with plain ones for what
 * the file leaves out.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Server, Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { declarationsOf } from "../graph/declarations.ts";
import { findTemplateErrors } from "./templateErrors.ts";
import {
  serverTemplatesSchema,
  type ServerTemplates,
  type ToolTemplates,
} from "./templateSchema.ts";

/**
 * A server's phrases from a folder, completed by plain ones for what the file leaves out; all plain
 * where there is no file.
 */
export function readTemplates(folder: string, server: Server): ServerTemplates {
  const file = join(folder, server.name, "templates.json");
  return completeTemplates(
    server,
    existsSync(file) ? parseTemplates(server, readFileSync(file, "utf8"), file) : undefined,
  );
}

/** Reads a phrase file's text. Throws a `Mistake` that names the file and the first flaw. */
export function parseTemplates(server: Server, text: string, file: string): ServerTemplates {
  const phrases = parseJson(serverTemplatesSchema, text, { file, noun: "a phrase file" });
  const flaw = findTemplateErrors(phrases, server)[0];
  if (flaw !== undefined) throw new UserError(`${file}: ${flaw}`, "mend that phrase");
  return phrases;
}

function completeTemplates(server: Server, known: ServerTemplates | undefined): ServerTemplates {
  const tools = Object.fromEntries(
    [...server.tools.values()].map(it => [
      it.name,
      known?.tools[it.name] ?? createToolTemplates(it),
    ]),
  );
  const declared = [...declarationsOf(server).values()];
  const named = [
    ...declared.flatMap(it => it.outputs.map(({ entity }) => ({ entity, isSpoken: false }))),
    ...declared.flatMap(it => it.inputs),
  ];
  const entities = Object.fromEntries(
    named.map(it => [it.entity, createEntityTemplates(it.entity, it.isSpoken)]),
  );
  return {
    format: "prove/phrases@1",
    server: server.name,
    ...(known?.self === undefined ? {} : { self: known.self }),
    arguments: known?.arguments ?? {},
    tools,
    entities: { ...entities, ...known?.entities },
    ...(known?.reasons ? { reasons: known.reasons } : {}),
  };
}

const toWords = (name: string) => name.replaceAll("_", " ");

const createEntityTemplates = (entity: string, isSpoken: boolean) => ({
  noun: toWords(entity),
  mention: [isSpoken ? "{id}" : `the ${toWords(entity)} {label}`],
  again: [`that ${toWords(entity)}`],
});

/** Forms made from a tool's own name: `freeze card, card id: …`. Understandable, and no more. */
function createToolTemplates(tool: Tool): ToolTemplates {
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const verb = toWords(tool.name.slice(tool.server.length + 1));
  const said = required.map(key => `${toWords(key).replace(/ id$/, "")} {${key}}`);
  return { forms: [said.length ? `${verb} with ${said.join(" and ")}` : verb], reply: ["Done."] };
}
