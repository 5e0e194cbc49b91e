/**
 * Reads the templates of a server, and proposes some for the tools and entities that its file
 * leaves out.
 */
import { existsSync } from "node:fs";
import { getTextFile, type Server } from "../../environment/server.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { getDeclarations, type ToolDeclaration } from "../graph/declarations.ts";
import {
  proposeArgumentTemplates,
  proposeEntityTemplates,
  proposeToolTemplates,
} from "./proposedTemplates.ts";
import { parseTemplates, type ServerTemplates } from "./templates.ts";

/**
 * Reads the templates of a server from the folder of all servers. What the file leaves out, or all
 * of it if there is no file, is proposed from the declarations.
 */
export function readTemplates(folder: string, server: Server): ServerTemplates {
  const file = getTextFile(folder, server, "templates.json");
  return completeTemplates(
    server,
    existsSync(file) ? parseTemplates(server, readTextFile(file), file) : undefined,
  );
}

/** The templates of a server, with proposals for what is not known. */
export function completeTemplates(
  server: Pick<Server, "name" | "tools">,
  known?: ServerTemplates,
): ServerTemplates {
  const tools = Object.fromEntries(
    [...server.tools.values()].map(it => [
      it.name,
      known?.tools[it.name] ??
        proposeToolTemplates(it, getDeclarations(server).get(it.name)!, server),
    ]),
  );
  const declarations = [...getDeclarations(server).values()];
  const args = declarations
    .filter(it => !known?.tools[it.tool.name])
    .map(it => proposeArgumentTemplates(it));
  const declared = [
    ...declarations.flatMap(it => it.outputs.map(({ entity }) => ({ entity, isSpoken: false }))),
    ...declarations.flatMap(it => it.inputs),
  ];
  const entities = Object.fromEntries(
    declared.map(it => [
      it.entity,
      proposeEntityTemplates(
        it.entity,
        it.isSpoken,
        hasLabel(it.entity, declarations) ? [] : listParents(it.entity, declarations),
      ),
    ]),
  );
  return {
    format: "prove/templates@1",
    server: server.name,
    ...(known?.self === undefined ? {} : { self: known.self }),
    arguments: Object.assign({}, ...args, known?.arguments) as ServerTemplates["arguments"],
    tools,
    entities: { ...entities, ...known?.entities },
    ...(known?.reasons ? { reasons: known.reasons } : {}),
  };
}

const hasLabel = (entity: string, declarations: readonly ToolDeclaration[]): boolean =>
  declarations.some(({ tool }) =>
    JSON.stringify(tool.outputSchema).includes(`"x-label":${JSON.stringify(entity)}`),
  );

/** The entities whose results show one that has no name: a book's result shows its loan. */
const listParents = (entity: string, declarations: readonly ToolDeclaration[]): string[] => [
  ...new Set(
    declarations
      .filter(it => it.tool.effect === "read" && it.outputs.some(of => of.entity === entity))
      .flatMap(it => it.inputs.filter(of => of.isRequired && of.entity !== entity))
      .map(it => it.entity),
  ),
];
